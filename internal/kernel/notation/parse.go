package notation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// depth is the maximum nesting depth of expressions, so that the parser does not overflow the
// stack.
const depth = 64

// MaxOperators is the maximum number of operators in an extent or a condition. Generated code
// contains a nested call for each.
const MaxOperators = 32

// parser reads tokens from left to right. Its first error moves it to the end, where every
// production ends too.
type parser struct {
	text    string
	tokens  []token
	at      int
	depth   int
	count   int  // of operators
	cut     bool // the tokens end before the text does
	err     *Error
	missing string // the mark whose absence is the error
}

// parse runs a production over a whole text.
func parse[T any](text string, production func(p *parser) T) (T, *Error) {
	tokens, err := lex(text)
	p := &parser{text: text, tokens: tokens, cut: err != nil}
	made := production(p)
	if err != nil {
		return made, err
	}
	if t := p.peek(); t.sign != end {
		p.fail(t.at, trailingHint(text[t.at:]), "expected the end of the line, got %q", t.text)
	}
	if p.err != nil && p.missing != "" {
		p.err.Hint = completed(p, production)
	}
	return made, p.err
}

// trailingHint returns a hint for tokens after a complete text.
func trailingHint(rest string) string {
	switch kind := strings.TrimSpace(rest); {
	case strings.HasPrefix(rest, "||"):
		return "write or between two conditions"
	case strings.HasPrefix(rest, "("), strings.HasPrefix(rest, "<"):
		return "write the extents in [ ], such as float32[m, n]"
	case strings.HasPrefix(rest, "|") && slices.Contains(nothing, strings.TrimSpace(kind[1:])):
		return "write ? after the type"
	case strings.HasPrefix(rest, ",") && separates(rest):
		return "separate modifiers with spaces"
	}
	return "remove " + strings.TrimSpace(rest)
}

// nothing is what other languages call a missing value.
var nothing = []string{"None", "null", "nil"}

// separates reports whether a modifier, or a common synonym of one, follows a comma.
func separates(rest string) bool {
	tokens, _ := lex(rest)
	word := tokens[1]
	return word.sign == name && (slices.Contains(Modifiers, word.text) || synonyms[strings.ToLower(word.text)] != "")
}

// completed returns the text with the missing token, if that is its only error.
func completed[T any](p *parser, production func(p *parser) T) string {
	fixed := p.text[:p.err.At] + p.missing + p.text[p.err.At:]
	if p.missing == "," {
		fixed = strings.TrimRight(p.text[:p.err.At], " \t") + ", " + p.text[p.err.At:]
	}
	if tokens, err := lex(fixed); err == nil {
		again := &parser{text: fixed, tokens: tokens}
		if production(again); again.err == nil && again.peek().sign == end {
			return "write " + fixed
		}
	}
	return p.err.Hint
}

func (p *parser) fail(at int, hint, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{At: at, Text: fmt.Sprintf(format, args...), Hint: hint}
	}
	p.at = len(p.tokens) - 1
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.sign != end {
		p.at++
	}
	return t
}

// accept consumes the next token if it is this sign or word.
func (p *parser) accept(text string) bool {
	t := p.peek()
	if is := (t.sign == mark || t.sign == name) && t.text == text; is {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text, where, hint string) {
	t := p.peek()
	if p.accept(text) {
		return
	}
	if p.err == nil {
		p.missing = text
	}
	p.fail(t.at, hint, "expected %q %s, got %s", text, where, show(t))
}

// show formats a token for a message.
func show(t token) string {
	if t.sign == end {
		return "the end of the line"
	}
	return strconv.Quote(t.text)
}

// ParseLine parses an argument or a result. With an error, it returns the parts before the error.
func ParseLine(text string) (Line, *Error) { return parse(text, (*parser).line) }

func (p *parser) line() Line {
	l := Line{Type: p.typ()}
	l.Typed = p.err == nil && !(p.cut && p.peek().sign == end)
	if t := p.peek(); t.text == "?" && p.apart() {
		p.fail(t.at, "write it directly after the type: "+l.Type.String()+"?", "there is a space before ?")
	}
	l.OptionalAt, l.Optional = p.peek().at, p.accept("?")
	for p.peek().sign == name {
		if w := p.modifier(); slices.Contains(Modifiers, w.Text) {
			l.Modifiers = append(l.Modifiers, w)
		}
	}
	if t := p.peek(); t.text == "?" && l.Optional {
		p.fail(t.at, "write ? once", "a type has at most one ?")
	} else if t.text == "?" {
		p.fail(t.at, "write it directly after the type: "+spell(l.Type)+"?",
			"write ? after the type, before all modifiers")
	}
	if p.accept("=") {
		v := p.value()
		l.Default = &v
	}
	return l
}

// spell formats a type in a hint.
func spell(t Type) string {
	var names []string
	for _, e := range t.Elements {
		names = append(names, e.Text)
	}
	text := strings.Join(names, "|")
	if t.Kind == Tensor {
		text += "[...]"
	}
	return text
}

func (p *parser) typ() Type {
	first := p.element()
	if first.Text == "list" {
		return p.list(first)
	}
	t := Type{Kind: Scalar, Elements: []Name{first}}
	for p.accept("|") {
		t.Elements = append(t.Elements, p.element())
	}
	p.joined(t)
	if open := p.peek(); p.accept("[") {
		t.Kind, t.Extents = Tensor, p.extents(open)
	} else if len(t.Elements) > 1 {
		p.fail(open.at, "write [] after it for a tensor of rank 0",
			"a scalar has one type, and alternatives are for tensors")
	}
	return t
}

// apart reports whether there is a space before the next token.
func (p *parser) apart() bool {
	before := p.tokens[max(p.at-1, 0)]
	return before.at+len(before.text) < p.peek().at
}

// joined reports a space before the brackets of a tensor.
func (p *parser) joined(t Type) {
	if open := p.peek(); open.text == "[" && p.apart() {
		p.fail(open.at, "write "+spell(t)+"[...]", "there is a space before [")
	}
}

func (p *parser) element() Name {
	t := p.next()
	if t.sign != name {
		p.fail(t.at, "begin with a dtype, a name of types:, any, int, float, bool, str, or list[...]",
			"expected a type, got %s", show(t))
	}
	return Name{t.text, t.at}
}

// list reads the part after the word `list`.
func (p *parser) list(word Name) Type {
	p.joined(Type{Kind: Scalar, Elements: []Name{word}})
	if t := p.peek(); !p.accept("[") {
		p.fail(t.at, "write list[int] or list[float]", "a list names the type of its items, got %s", show(t))
	}
	t := Type{Kind: List, Elements: []Name{p.element()}}
	if p.accept(",") {
		n := p.next()
		t.Count = p.number(n, "write how many items the list has, as in list[int, 2]")
		if t.Count == 0 {
			p.fail(n.at, "write 1 or more, or omit it", "a list of 0 items cannot be an argument")
		}
	}
	p.expect("]", "after the items of "+word.Text, "as in list[int] or list[float, 2]")
	return t
}

func (p *parser) number(t token, hint string) int64 {
	if t.sign != integer {
		p.fail(t.at, hint, "expected a whole number, got %s", show(t))
	}
	p.checkZeros(t)
	n, err := strconv.ParseInt(t.text, 10, 64)
	if err != nil {
		p.fail(t.at, "write 9223372036854775807 or less", "%s needs more than 63 bits", t.text)
	}
	return n
}

// extents reads the part after the opening bracket.
func (p *parser) extents(open token) []Extent {
	all := []Extent{}
	if p.accept("]") {
		return all
	}
	for p.err == nil {
		e := p.extent()
		if e.Form == Ellipsis && slices.ContainsFunc(all, func(e Extent) bool { return e.Form == Ellipsis }) {
			p.fail(e.At, "write _ or a symbol for one dimension", "a tensor has at most one ...")
		}
		all = append(all, e)
		if t := p.peek(); p.accept("]") {
			return all
		} else if t.sign == end {
			p.fail(open.at, "write ] after the last extent", "this [ is not closed")
		}
		p.expect(",", "between two extents", betweenHint(e))
	}
	return all
}

// betweenHint returns a hint for a token after an extent that is not a comma.
func betweenHint(before Extent) string {
	if before.Form == Sized {
		return "write a comma there, as in T[m, n]"
	}
	return "give the extent a name to compute with it, as in T[n + 1]"
}

func (p *parser) extent() Extent {
	t := p.peek()
	switch {
	case p.accept("_"):
		return Extent{Form: Unnamed, At: t.at}
	case p.accept("..."):
		e := Extent{Form: Ellipsis, At: t.at}
		if n := p.peek(); n.sign == name && n.at == t.at+len("...") {
			e.Name = p.next().text
		}
		return e
	}
	p.count = 0
	return Extent{Form: Sized, Size: p.sum(), At: t.at}
}

// Modifiers are the keywords that may follow a type.
var Modifiers = []string{
	"strided", "inner", "any_order", "column_major", "aligned", "inout", "out", "cpu", "copied", "zeroed", "saved",
	"aliases",
}

// synonyms are hints for modifiers of other languages and libraries. A line without such a modifier
// may be valid and have a different meaning.
var synonyms = map[string]string{
	"mutable":       "write inout, if the function also reads it, or out",
	"mut":           "write inout, if the function also reads it, or out",
	"writable":      "write inout, if the function also reads it, or out",
	"writeable":     "write inout, if the function also reads it, or out",
	"in_out":        "write inout",
	"output":        "write out",
	"const":         "remove const: an argument is read-only by default",
	"readonly":      "remove readonly: an argument is read-only by default",
	"in":            "remove in: an argument is read-only by default",
	"contiguous":    "remove contiguous: a tensor is C-contiguous by default",
	"c_contiguous":  "remove c_contiguous: a tensor is C-contiguous by default",
	"row_major":     "remove row_major: a tensor is C-contiguous by default",
	"transposed":    "write strided",
	"noncontiguous": "write strided",
	"fortran":       "write column_major",
	"optional":      optionalHint,
	"nullable":      optionalHint,
}

// optionalHint is the hint for modifiers that mean an optional argument.
const optionalHint = "write ? directly after the type, as in float32[n]?"

// alignments is the hint after `aligned`.
const alignments = "write 16, 32, 64 ..."

func (p *parser) modifier() Modifier {
	t := p.next()
	w := Modifier{Name: Name{t.text, t.at}}
	switch {
	case !slices.Contains(Modifiers, t.text):
		p.fail(t.at, cmp.Or(synonyms[strings.ToLower(t.text)], nearest(t.text), "remove "+t.text),
			"%q is not a modifier: %s", t.text,
			strings.Join(Modifiers, ", "))
	case t.text == "aligned":
		n := p.next()
		w.Number = p.number(n, alignments)
		if w.Number <= 0 || w.Number&(w.Number-1) != 0 {
			p.fail(n.at, alignments, "an alignment is a power of two, in bytes, not %d", w.Number)
		}
	case t.text == "aliases":
		n := p.next()
		if n.sign != name {
			p.fail(n.at, "write the name of the argument", "expected the argument that it may overlap, got %s", show(n))
		}
		w.Of = n.text
	}
	return w
}

// ParseValue reads a default.
func ParseValue(text string) (Value, *Error) { return parse(text, (*parser).value) }

func (p *parser) value() Value {
	t := p.next()
	v := Value{At: t.at}
	negative := t.sign == mark && t.text == "-"
	if negative {
		t = p.next()
	}
	switch {
	case t.sign == integer:
		p.integer(t, negative, &v)
	case t.sign == real:
		v.Kind, v.Float = Float, p.float(t, negative)
	case negative:
		p.fail(t.at, "as in -1", "expected a number after -, got %s", show(t))
	case t.sign == quoted:
		v.Kind, v.Text = Text, p.unquote(t)
	case t.sign == name:
		p.named(t, &v)
	case t.sign == mark && t.text == "[":
		p.fail(t.at, "append ? to the type and write = None", "a list has no default except None")
	default:
		p.fail(t.at, `as in = 1, = 0.5, = True, = None or = "mean"`,
			"expected a value: a number, a string in quotes, True, False or None; got %s", show(t))
	}
	return v
}

// named reads a word as a value.
func (p *parser) named(t token, v *Value) {
	switch t.text {
	case "None":
	case "True", "False":
		v.Kind, v.Bool = Bool, t.text == "True"
	case "true", "false", "none", "null":
		spelled := map[string]string{"true": "True", "false": "False", "none": "None", "null": "None"}
		p.fail(t.at, "write "+spelled[t.text], "values are spelled as in Python, got %q", t.text)
	default:
		v.Kind, v.Text = Bare, t.text
	}
}

// checkZeros rejects 010, as Python does: in C it is 8.
func (p *parser) checkZeros(t token) {
	if digits := strings.TrimLeft(t.text, "0"); t.sign == integer && digits != "" && digits != t.text {
		p.fail(t.at, "write "+digits, "%s begins with a zero", t.text)
	}
}

// integer reads one of 64 bits, with a sign or without one.
func (p *parser) integer(t token, negative bool, v *Value) {
	p.checkZeros(t)
	text := t.text
	if negative {
		text = "-" + text
	}
	var err, wide error
	v.Kind = Int
	if v.Int, err = strconv.ParseInt(text, 10, 64); err == nil {
		return
	}
	v.Kind, v.Int = Natural, 0
	if v.Natural, wide = strconv.ParseUint(text, 10, 64); wide != nil {
		p.fail(t.at,
			"write a number from -9223372036854775808 to 18446744073709551615, or a float with a point, such as 1.0e20",
			"%s does not fit in 64 bits", text)
	}
}

func (p *parser) float(t token, negative bool) float64 {
	x, err := strconv.ParseFloat(t.text, 64)
	if err != nil {
		p.fail(t.at, "write 1.7976931348623157e308 or less", "%s is too large for a double", t.text)
	}
	if negative {
		return -x
	}
	return x
}

// unquote reads a text with the escapes \' \" \\ \n \t. It rejects characters that C or Python
// literals cannot contain, and invisible ones, such as U+202E, which changes the displayed order of
// code.
func (p *parser) unquote(t token) string {
	var out strings.Builder
	body := t.text[1 : len(t.text)-1]
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '\\' {
			i++
			at := strings.IndexByte(`'"\nt`, body[i])
			if at < 0 {
				p.fail(t.at+i, `write \', \", \\, \n or \t`, `\%c is not an escape sequence`, body[i])
				return ""
			}
			c = "'\"\\\n\t"[at]
		}
		out.WriteByte(c)
	}
	if i := strings.IndexByte(body, 0); i >= 0 {
		p.fail(t.at+1+i, "remove it", "a string must not contain NUL, which would end it in C")
	}
	if i := strings.IndexFunc(body, hidden); i >= 0 {
		p.fail(t.at+1+i, "remove it, or write \\n or \\t",
			"a string must not contain non-printable characters, such as %+q", []rune(body[i:])[0])
	}
	return out.String()
}

// hidden reports whether a text must contain a character only as an escape, because it is
// invisible.
func hidden(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }

// nearest returns a hint with the word that was probably meant.
func nearest(text string) string {
	if text == "" {
		return ""
	}
	return diag.DidYouMean(text, append(slices.Clone(Modifiers), "size", "shape"))
}
