package emit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// literalsOf returns the words in quotes of a source in C, C++, Go or Python, without its comments.
func literalsOf(l language, source string) (all []string) {
	l.scan(source, func(text string) { all = append(all, words.FindAllString(text, -1)...) }, func(string) {})
	return all
}

// The names of the Python protocol are in the spec. Sources use the macros of codes.h.
func TestNoSourceRepeatsANameOfTheProtocol(t *testing.T) {
	r, err := spec.Embedded().Release("main")
	require.NoError(t, err)
	p := r.NewestPython
	names := []string{
		p.Capsule.Fresh, p.Capsule.Used, p.Versioned.Fresh, p.Versioned.Used, p.ExchangeAttr, p.ExchangeCapsule,
		p.OlderExchange,
	}
	assert.NotContains(t, names, "")
	checked := 0
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(file string, d fs.DirEntry, err error) error {
		l, ok := languageOf(file)
		if err != nil || d.IsDir() || !ok {
			return err
		}
		text, err := fs.ReadFile(templates.Files, file)
		checked++
		for _, word := range literalsOf(l, string(text)) {
			assert.NotContains(t, names, word, "%s repeats a name of spec/dlpack.yaml: use its macro", file)
		}
		return err
	}))
	assert.Greater(t, checked, 200)
	assert.Equal(t, []string{"a", "dltensor", "b"},
		literalsOf(languageC, "x = \"a\"; /* \"used\" */ y(\"dltensor b\");"))
}

// Which type codes are integers, and which are truth values, is in the spec: see spec.DType.
func TestNoEmitterRepeatsTheKindOfATypeCode(t *testing.T) {
	code := regexp.MustCompile(`"kDL(Int|UInt|Bool)"`)
	// What the sources need of a user's spec.
	listed := []string{filepath.Join("emit", "needs.go")}
	checked := 0
	require.NoError(t, filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") ||
			slices.Contains(listed, strings.TrimPrefix(file, ".."+string(filepath.Separator))) {
			return err
		}
		text, err := os.ReadFile(file)
		checked++
		assert.Empty(t, code.FindAllString(string(text), -1), "%s: use IsInteger, IsSigned or IsBool", file)
		return err
	}))
	assert.Greater(t, checked, 100)
}

// numberLists returns the lists of integers in a Go source: the elements or keys of a literal, the
// values of a case, and the numbers with which a condition compares one expression.
func numberLists(source ast.Node) (all [][]int) {
	ast.Inspect(source, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			all = append(all, integers(n.Elts))
		case *ast.CaseClause:
			all = append(all, integers(n.List))
		case *ast.BinaryExpr:
			compared := map[string][]ast.Expr{}
			comparisons(n, compared)
			for _, numbers := range compared {
				all = append(all, integers(numbers))
			}
		}
		return true
	})
	return all
}

// integers returns the values, if all of them are decimal numbers.
func integers(values []ast.Expr) (numbers []int) {
	for _, value := range values {
		if pair, ok := value.(*ast.KeyValueExpr); ok {
			value = pair.Key
		}
		literal, ok := value.(*ast.BasicLit)
		if !ok {
			return nil
		}
		number, err := strconv.Atoi(literal.Value)
		if err != nil {
			return nil
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// comparisons collects the operands with which a condition compares each expression.
func comparisons(condition ast.Expr, compared map[string][]ast.Expr) {
	switch c := condition.(type) {
	case *ast.ParenExpr:
		comparisons(c.X, compared)
	case *ast.BinaryExpr:
		switch c.Op {
		case token.LOR, token.LAND:
			comparisons(c.X, compared)
			comparisons(c.Y, compared)
		case token.EQL, token.NEQ:
			x := types.ExprString(c.X)
			compared[x] = append(compared[x], c.Y)
		}
	}
}

// The properties of device types and of type codes are in the spec. A list of their numbers would
// miss those that it adds. Lists of two numbers may have other meanings, and so may powers of two,
// such as widths and alignments.
func TestNoSourceListsNumbersOfTheProtocol(t *testing.T) {
	listsOf := func(name, text string) [][]int {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		require.NoError(t, err)
		return slices.DeleteFunc(numberLists(file), func(numbers []int) bool {
			isOther := func(number int) bool { return number&(number-1) != 0 }
			return len(numbers) < 3 || !slices.ContainsFunc(numbers, isOther)
		})
	}
	for _, bad := range []string{"[]int{1, 3, 11, 13}", "map[int]bool{1: true, 3: true, 11: true}",
		"x == 1 || (x == 3 || x == 11)", "y && x.Type != 2 && x.Type != 13 && x.Type != 10",
		"func() { switch x { case 0, 1, 6: } }"} {
		assert.NotEmpty(t, listsOf("a.go", "package p\nvar v = "+bad), bad)
	}
	for _, good := range []string{"[]int{8, 16, 32}", "[]int{1, 3}", "[]string{\"1\", \"3\"}",
		"x == 1 || y == 3 || z == 11"} {
		assert.Empty(t, listsOf("a.go", "package p\nvar v = "+good), good)
	}
	checked := 0
	for _, root := range []string{"..", "../../cmd"} {
		require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") ||
				strings.Contains(filepath.ToSlash(file), "/testdata/") {
				return err
			}
			text, err := os.ReadFile(file)
			checked++
			assert.Empty(t, listsOf(file, string(text)), "%s: use the fields of spec/dlpack.yaml", file)
			return err
		}))
	}
	assert.Greater(t, checked, 200)
}

// The exceptions of the statuses are in <dlpackgen/message.h>: Python sources include statuses.py.
func TestNoSourceRepeatsTheStatuses(t *testing.T) {
	list := regexp.MustCompile(`TypeError,\s+(?:\d+: )?ValueError,\s+(?:\d+: )?BufferError,\s+(?:\d+: )?SystemError`)
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates.Files, file)
		assert.NotRegexp(t, list, string(text), file)
		return err
	}))
	assert.Regexp(t, list, "{1: TypeError, 2: ValueError, 3: BufferError, 4: SystemError}")
	assert.Regexp(t, list, "[None, TypeError, ValueError, BufferError, SystemError]")
}
