package mutant

import (
	"go/ast"
	"go/parser"
	positions "go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// GoFile is the file of a Go package that provides the number of the process's mutant.
const GoFile = "dlpackgen_mutant.go"

// goChooser limits the time of a process with a mutant on Linux, like chooser.
const goChooser = `
import (
	"os"
	"strconv"
	"syscall"
)

var dlpackgen_chosen, _ = strconv.Atoi(os.Getenv("` + Variable + `"))

func init() {
	const time = 0 // RLIMIT_CPU
	var limit syscall.Rlimit
	if dlpackgen_chosen > 0 && syscall.Getrlimit(time, &limit) == nil && limit.Cur == 1<<64-1 {
		limit.Cur, limit.Max = 120, 120
		_ = syscall.Setrlimit(time, &limit)
	}
}

func dlpackgen_mutant(number int) bool { return dlpackgen_chosen == number }
`

func isGo(path string) bool { return filepath.Ext(path) == ".go" }

// parseGo finds the statement lists of a Go source.
func parseGo(t testing.TB, text string) *source {
	t.Helper()
	set := positions.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	require.NoError(t, err)
	s := &source{text: text, goPackage: file.Name.Name}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			s.lists = append(s.lists, list(set, n.List))
		case *ast.CaseClause:
			s.lists = append(s.lists, list(set, n.Body))
		case *ast.CommClause:
			s.lists = append(s.lists, list(set, n.Body))
		}
		return true
	})
	return s
}

// statement is a Go statement, with the information whether later ones may use its declarations.
type statement struct {
	begin, end int
	declares   bool
}

func list(set *positions.FileSet, of []ast.Stmt) (made []statement) {
	for _, s := range of {
		declares := false
		switch s := s.(type) {
		case *ast.CaseClause, *ast.CommClause: // the body of a switch
			return nil
		case *ast.DeclStmt:
			declares = true
		case *ast.AssignStmt:
			declares = s.Tok == positions.DEFINE
		}
		made = append(made, statement{set.Position(s.Pos()).Offset, set.Position(s.End()).Offset, declares})
	}
	return made
}

// chooseGo finds the statements that a mutant changes, in the innermost list that contains them.
func (s *source) chooseGo(m Mutant, number int) (found choice, ok bool) {
	at := m.places(s.text)[0]
	old := s.text[at[0]:at[1]]
	begin := at[1] - len(strings.TrimLeft(old, " \t\n"))
	end := at[0] + len(strings.TrimRight(old, " \t\n"))
	for _, l := range s.lists {
		from, to := within(l, begin, end)
		if to > 0 && (!ok || to-from < found.end-found.begin) {
			instead := s.text[from:begin] + m.New + s.text[end:to]
			found, ok = choice{begin: from, end: to, number: number, instead: instead}, true
		}
	}
	return found, ok
}

// within returns the beginning and end of the statements of a list that overlap a part of the
// source, or 0.
func within(l []statement, begin, end int) (from, to int) {
	declares := false
	for _, s := range l {
		if s.end > begin && (s.begin < end || declares) {
			if to == 0 {
				from = s.begin
			}
			to, declares = s.end, declares || s.declares
		}
	}
	if from > begin || to < end {
		return 0, 0
	}
	return from, to
}
