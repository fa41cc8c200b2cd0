package emit

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// PythonArguments formats the parameters of a kernel for a Python definition.
func PythonArguments(k *contract.Kernel) (all []string) {
	for _, p := range k.Args {
		text := p.Name
		if p.Default != nil {
			text += "=" + p.Default.String()
		}
		all = append(all, text)
	}
	return all
}

// PythonRaises returns the section of a docstring with the exception for each status of the C
// function. all is the class that a host raises for every status, or "" if each status has its own
// class.
func PythonRaises(k *contract.Kernel, all string) (lines []string) {
	if len(k.Errors) > 0 {
		lines = append(lines, "", "Raises:")
	}
	for _, r := range k.Errors {
		text := cmp.Or(r.Text, fmt.Sprintf("the kernel failed with status %d", r.Code))
		if r.Arg != contract.None {
			text = "argument '" + k.Args[r.Arg].Name + "': " + text
		}
		lines = append(lines, "    "+cmp.Or(all, r.Class)+": "+text)
	}
	return lines
}

// Ordinal returns the number of an argument in messages, such as 2nd.
func Ordinal(n int) string {
	endings := []string{"th", "st", "nd", "rd"}
	if last := n % 10; last < 4 && n/10%10 != 1 {
		return strconv.Itoa(n) + endings[last]
	}
	return strconv.Itoa(n) + "th"
}

// PythonDocstring formats a text as the docstring of a function. Its further lines have the
// indentation of the body. Only double quotes that would end the docstring are escaped.
func PythonDocstring(text, indent string) string {
	inner := strings.TrimRight(text, `"`)
	last := strings.Repeat(`\"`, len(text)-len(inner))
	text = strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(inner) + last
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i > 0 && line != "" {
			lines[i] = indent + line
		}
	}
	return `"""` + strings.Join(lines, "\n") + `"""`
}

// CDefault formats the default of an argument in C. It returns "" without a default and for None.
func CDefault(v *notation.Value) string {
	if v == nil {
		return ""
	}
	switch v.Kind {
	case notation.Int:
		if v.Int == math.MinInt64 {
			return CInt64(v.Int)
		}
		return strconv.FormatInt(v.Int, 10)
	case notation.Natural:
		return "UINT64_C(" + v.String() + ")"
	case notation.Float:
		return v.String()
	case notation.Bool:
		if v.Bool {
			return "1"
		}
		return "0"
	case notation.Text:
		return CLiteral(v.Text)
	}
	return ""
}

// CInt64 formats an int64_t in C. The smallest int64_t has no literal.
func CInt64(n int64) string {
	if n == math.MinInt64 {
		return "INT64_MIN"
	}
	return fmt.Sprintf("INT64_C(%d)", n)
}

// CNumber formats the default of a scalar of a dtype in C twice: as an int64_t, with the bits of a
// uint64_t, and as a double. The one that the dtype does not use is 0.
func CNumber(v *notation.Value) (integer, real string) {
	integer, real = "0", "0"
	if v == nil {
		return integer, real
	}
	switch v.Kind {
	case notation.Int:
		return CDefault(v), realOf(v)
	case notation.Natural:
		return "(int64_t)" + CDefault(v), realOf(v)
	case notation.Float:
		real = CDefault(v)
	case notation.Bool:
		integer = CDefault(v)
	}
	return integer, real
}

func realOf(v *notation.Value) string {
	return notation.Value{Kind: notation.Float, Float: v.Real()}.String()
}

// CLiteral formats a text as a string literal of C and C++.
func CLiteral(text string) string {
	var out strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte(`\"?`, c) >= 0:
			out.WriteString(`\` + string(rune(c)))
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\t':
			out.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
	return `"` + out.String() + `"`
}

// CLiterals spells a text as literals that follow each other, cut behind spaces so that each keeps
// to a line.
func CLiterals(text string) (all []string) {
	const width = 92
	piece := ""
	for word := range strings.SplitAfterSeq(text, " ") {
		if piece != "" && len(CLiteral(piece+word)) > width {
			all, piece = append(all, CLiteral(piece)), ""
		}
		piece += word
	}
	return append(all, CLiteral(piece))
}

// CComment changes a text so that it does not end the surrounding comment of C and C++.
func CComment(text string) string {
	return strings.NewReplacer("*/", "* /", "/*", "/ *", `\`, `\\`).Replace(text)
}
