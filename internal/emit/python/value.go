package python

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// pythonValue is a literal or a call in Python, on one line if it fits.
type pythonValue struct {
	head     string // up to the bracket that opens, or all of it
	items    []pythonValue
	end      string // the bracket that closes; "": no items
	sequence bool   // a tuple, which needs a comma behind a single item
	keep     bool   // it is shown without items too
}

func plain(text string) pythonValue { return pythonValue{head: text} }

func group(head string, items []pythonValue, end string) pythonValue {
	return pythonValue{head: head, items: items, end: end,
		sequence: end == ")" && (strings.HasSuffix(head, "=(") || strings.HasSuffix(head, ": ("))}
}

// present omits the groups without items.
func present(all []pythonValue) (kept []pythonValue) {
	for _, v := range all {
		if v.end == "" || len(v.items) > 0 || v.keep {
			kept = append(kept, v)
		}
	}
	return kept
}

// widest is the longest line.
const widest = 120

// text formats the value after the given number of columns; further lines are indented.
func (v pythonValue) text(indent, column int) string {
	if line := v.line(); v.end == "" || column+len(line) < widest {
		return line
	}
	var out strings.Builder
	out.WriteString(v.head + "\n")
	for _, item := range v.items {
		out.WriteString(strings.Repeat(" ", indent+4) + item.text(indent+4, indent+4) + ",\n")
	}
	return out.String() + strings.Repeat(" ", indent) + v.end
}

// line formats the value on one line.
func (v pythonValue) line() string {
	var all []string
	for _, item := range v.items {
		all = append(all, item.line())
	}
	text := v.head + strings.Join(all, ", ")
	if v.sequence && len(all) == 1 {
		text += ","
	}
	return text + v.end
}

// quoted formats a text.
func quoted(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.QuoteToASCII(text)
	}
	if strings.Contains(text, `"`) && !strings.Contains(text, "'") {
		return "'" + strings.ReplaceAll(text, `\`, `\\`) + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// dtypes formats the names of dtypes.
func dtypes(types []spec.DType) (all []pythonValue) {
	for _, d := range types {
		all = append(all, plain(quoted(d.Name)))
	}
	return all
}

// dotted returns the ellipses, by their names in extents.
func dotted(all []contract.Dim) (named []contract.Dim) {
	for _, e := range all {
		e.Name = "..." + e.Name
		named = append(named, e)
	}
	return named
}
