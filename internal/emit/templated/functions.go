package templated

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

// The functions that count, which parsed templates are made to call.
const (
	counter = "dlpackgen_steps"
	enter   = "dlpackgen_enter"
	leave   = "dlpackgen_leave"
)

// maxDepth limits templates that include themselves.
const maxDepth = 200

// maxText limits what functions make during one file: variables can double a text in each step.
const maxText = 4 * MaxOutput

// budget is what one file may still do.
type budget struct{ steps, text, depth int }

func (b *budget) reset() { b.steps, b.text, b.depth = maxSteps, maxText, maxDepth }

// spentError is a template that did too much.
type spentError struct{ text string }

// Error is the reason.
func (e *spentError) Error() string { return e.text }

func (b *budget) step(n int) (string, error) {
	if b.steps -= n; b.steps < 0 {
		return "", &spentError{fmt.Sprintf("the template took more than %d steps", maxSteps)}
	}
	return "", nil
}

func (b *budget) enter() (string, error) {
	if b.depth--; b.depth < 0 {
		return "", &spentError{fmt.Sprintf("templates include each other more than %d deep", maxDepth)}
	}
	return "", nil
}

func (b *budget) leave() string {
	b.depth++
	return ""
}

// bounded passes a text on, and counts it.
func (b *budget) bounded(text string) (string, error) {
	if b.text -= len(text); b.text < 0 {
		return "", &spentError{fmt.Sprintf("functions of the template made more than %d bytes", maxText)}
	}
	return text, nil
}

// functions are what templates can call beside the comparisons, the logic, index, len and slice of
// text/template. docs/how-to/own-target.md lists them.
func functions(b *budget) template.FuncMap {
	f := template.FuncMap{counter: b.step, enter: b.enter, leave: b.leave}
	for name, of := range map[string]func(string) string{
		"upper": strings.ToUpper, "lower": strings.ToLower, "snake": snake, "camel": camel, "pascal": pascal,
		"quote": quote,
	} {
		f[name] = func(text string) (string, error) { return b.bounded(of(text)) }
	}
	f["trimPrefix"] = func(prefix, text string) string { return strings.TrimPrefix(text, prefix) }
	f["trimSuffix"] = func(suffix, text string) string { return strings.TrimSuffix(text, suffix) }
	f["hasPrefix"] = func(prefix, text string) bool { return strings.HasPrefix(text, prefix) }
	f["replace"] = func(old, new, text string) (string, error) {
		if n := strings.Count(text, old) * len(new); n > maxText {
			return b.bounded(strings.Repeat(" ", maxText+1))
		}
		return b.bounded(strings.ReplaceAll(text, old, new))
	}
	f["join"] = func(separator string, list []any) (string, error) {
		if len(separator)*len(list) > maxText {
			return b.bounded(strings.Repeat(" ", maxText+1))
		}
		return b.bounded(join(separator, list))
	}
	f["hex"] = func(n any) (string, error) {
		v, err := integer(n)
		return fmt.Sprintf("%#x", v), err
	}
	f["dict"] = dict
	f["add"] = arithmetic(func(x, y int64) int64 { return x + y })
	f["sub"] = arithmetic(func(x, y int64) int64 { return x - y })
	f["mul"] = arithmetic(func(x, y int64) int64 { return x * y })
	addLines(f, b)
	replaceBuiltins(f, b)
	return f
}

// addLines adds the functions that lay out lines.
func addLines(f template.FuncMap, b *budget) {
	f["indent"] = func(columns int, text string) (string, error) {
		if columns < 0 || columns > maxIndent {
			return "", fmt.Errorf("indent takes 0 to %d columns, not %d", maxIndent, columns)
		}
		return b.bounded(prefixed(strings.Repeat(" ", columns), text))
	}
	f["prefix"] = func(begin, text string) (string, error) {
		if len(begin) > maxIndent {
			return "", fmt.Errorf("prefix takes up to %d bytes", maxIndent)
		}
		return b.bounded(prefixed(begin, text))
	}
	f["wrap"] = func(columns int, text string) (string, error) { return b.bounded(wrap(columns, text)) }
}

// replaceBuiltins bounds what text/template brings along, and removes what no target needs.
func replaceBuiltins(f template.FuncMap, b *budget) {
	f["print"] = func(values ...any) (string, error) { return b.bounded(fmt.Sprint(values...)) }
	f["println"] = func(values ...any) (string, error) { return b.bounded(fmt.Sprintln(values...)) }
	f["printf"] = func(format string, values ...any) (string, error) { return b.bounded(fmt.Sprintf(format, values...)) }
	for _, name := range []string{"call", "html", "js", "urlquery"} {
		f[name] = func(...any) (string, error) { return "", errors.New(name + " is not available in templates") }
	}
}

const maxIndent = 100

// words splits a name at its capitals, digits kept with what is before them, and at underscores:
// kDLCUDAHost is k, DL, CUDA, Host.
func words(name string) (out []string) {
	runes := []rune(name)
	start := 0
	cut := func(end int) {
		if word := strings.Trim(string(runes[start:end]), "_- ."); word != "" {
			out = append(out, word)
		}
		start = end
	}
	for i := 1; i < len(runes); i++ {
		switch before, now := runes[i-1], runes[i]; {
		case now == '_' || now == '-' || now == ' ' || now == '.':
			cut(i)
		case unicode.IsUpper(now) && (unicode.IsLower(before) || unicode.IsDigit(before)):
			cut(i)
		case unicode.IsLower(now) && unicode.IsUpper(before) && i-1 > start && unicode.IsUpper(runes[i-2]):
			cut(i - 1)
		}
	}
	cut(len(runes))
	return out
}

func snake(name string) string { return strings.ToLower(strings.Join(words(name), "_")) }

func pascal(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		_, n := utf8.DecodeRuneInString(w)
		b.WriteString(strings.ToUpper(w[:n]) + strings.ToLower(w[n:]))
	}
	return b.String()
}

func camel(name string) string {
	p := pascal(name)
	_, n := utf8.DecodeRuneInString(p)
	return strings.ToLower(p[:n]) + p[n:]
}

// quote is a string literal of C, Rust, Go, Python and most others: ASCII, with escapes.
func quote(text string) string { return strconv.QuoteToASCII(text) }

func join(separator string, list []any) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, separator)
}

// prefixed puts something before each line; an empty line gets it without blanks at its end.
func prefixed(begin, text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(begin+line, " ")
	}
	return strings.Join(lines, "\n")
}

// wrap breaks a text into lines of at most so many columns, where words allow.
func wrap(columns int, text string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > columns {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}

// dict makes the data of an included template from names and values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("dict takes names and values in turn")
	}
	made := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict takes a text as a name, got %v", pairs[i])
		}
		made[name] = pairs[i+1]
	}
	return made, nil
}

func integer(v any) (int64, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	}
	return 0, fmt.Errorf("expected an integer, got %v", v)
}

func arithmetic(of func(x, y int64) int64) func(x, y any) (int64, error) {
	return func(x, y any) (int64, error) {
		a, err := integer(x)
		if err != nil {
			return 0, err
		}
		b, err := integer(y)
		return of(a, b), err
	}
}
