package verify

import (
	"os"
	"regexp"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// positions converts the positions of compilers, which have only lines, to positions of
// diagnostics.
type positions struct {
	compiler *compiler
	lines    map[string][]string // of files read so far
}

// at adds a column to a position: that of the word in its line, or of the first character if the
// line does not contain the word.
func (p *positions) at(pos diag.Pos, word string) (diag.Pos, string) {
	line := p.line(pos)
	file := p.compiler.show(pos.File)
	if line == "" {
		return diag.Pos{File: file, Line: pos.Line, Col: min(pos.Line, 1)}, ""
	}
	col := len(line) - len(strings.TrimLeft(line, " \t"))
	if m := regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).FindStringIndex(line); word != "" && m != nil {
		col = m[0]
	}
	return diag.Pos{File: file, Line: pos.Line, Col: col + 1}, line
}

func (p *positions) line(pos diag.Pos) string {
	if pos.File == "" || pos.Line == 0 {
		return ""
	}
	lines, known := p.lines[pos.File]
	if !known {
		data, _ := os.ReadFile(pos.File)
		lines = strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
		p.lines[pos.File] = lines
	}
	if pos.Line > len(lines) {
		return ""
	}
	return lines[pos.Line-1]
}
