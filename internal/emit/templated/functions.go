package templated

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
	"github.com/dlpackgen/dlpackgen/internal/template"
)

// The limits of a config as a whole: many files and targets must not take minutes, even if each of
// them takes little.
const (
	maxParsed = 2 << 20   // bytes of templates: a node of a few bytes takes 300 bytes of memory
	maxSteps  = 2_000_000 // nodes and operands of templates that are executed
	maxText   = MaxOutput // bytes that functions read and make: variables can double a text in each step
)

// budget charges work to the targets of a config.
type budget struct{ *emit.Spent }

// newBudget returns the budget of a folder, which the folders of a config share.
func newBudget(spent *emit.Spent) *budget {
	return &budget{cmp.Or(spent, &emit.Spent{})}
}

// take adds a cost to a part of what was spent.
func (b *budget) take(spent *int, n int, problem string, limit int) error {
	if *spent += n; *spent > limit {
		b.Over = true
		return &spentError{fmt.Sprintf(problem, limit)}
	}
	return nil
}

// spentError is the error of a template that exceeds a limit.
type spentError struct{ text string }

// Error is the reason.
func (e *spentError) Error() string { return e.text }

func (b *budget) step(n int) error {
	return b.take(&b.Steps, n, "the templates took more than %d steps", maxSteps)
}

// parses counts bytes of templates.
func (b *budget) parses(n int) error {
	return b.take(&b.Parsed, n, "the templates have more than %d bytes in total", maxParsed)
}

// writes counts bytes of files.
func (b *budget) writes(n int) error {
	return b.take(&b.Output, n, "the files from templates have more than %d bytes", MaxOutput)
}

// charge counts bytes that functions read or produce.
func (b *budget) charge(n int) error {
	return b.take(&b.Text, n, "functions of the templates read and returned more than %d bytes", maxText)
}

// callCost is the cost of a call besides its texts.
const callCost = 8

// reads counts the texts that a function reads.
func (b *budget) reads(texts ...string) error {
	n := callCost
	for _, text := range texts {
		n += len(text)
	}
	return b.charge(n)
}

// prints counts printed values with their contents.
func (b *budget) prints(values ...any) error {
	for _, v := range values {
		var err error
		switch v := v.(type) {
		case string:
			err = b.reads(v)
		case []any:
			err = errors.Join(b.charge(callCost), b.prints(v...))
		case map[string]any:
			err = b.printsMap(v)
		default:
			err = b.charge(callCost)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *budget) printsMap(values map[string]any) error {
	for key, v := range values {
		if err := b.prints(key, v); err != nil {
			return err
		}
	}
	return b.charge(callCost)
}

// makes calls a function over texts, and counts the texts and the result.
func (b *budget) makes(of func() string, texts ...string) (string, error) {
	if err := b.reads(texts...); err != nil {
		return "", err
	}
	made := of()
	return made, b.charge(len(made))
}

// functions are the functions of templates besides and, or, not, len and slice.
// docs/how-to/own-target.md lists them.
func functions(b *budget) template.Functions {
	f := template.Comparisons(b.compare)
	f["hex"] = func(n any) (string, error) {
		v, err := integer(n)
		return fmt.Sprintf("%#x", v), err
	}
	f["index"] = b.index
	f["dict"] = func(pairs ...any) (map[string]any, error) {
		// The contents of values are counted as often as they are printed: a list that contains
		// another list twice prints it twice.
		if err := b.prints(pairs...); err != nil {
			return nil, err
		}
		return dict(pairs...)
	}
	f["add"] = arithmetic((*big.Int).Add)
	f["sub"] = arithmetic((*big.Int).Sub)
	f["mul"] = arithmetic((*big.Int).Mul)
	addTexts(f, b)
	addLines(f, b)
	replacePrints(f, b)
	for _, name := range []string{"call", "html", "js", "urlquery"} { // no target needs them
		f[name] = func(...any) (string, error) { return "", errors.New(name + " is not available in templates") }
	}
	return f
}

// addTexts adds the functions that change a text.
func addTexts(f template.Functions, b *budget) {
	for name, of := range map[string]func(string) string{
		"upper": strings.ToUpper, "lower": strings.ToLower, "snake": snake, "camel": camel, "pascal": pascal,
		"quote": quote,
	} {
		f[name] = func(text string) (string, error) { return b.makes(func() string { return of(text) }, text) }
	}
	f["trimPrefix"] = func(prefix, text string) (string, error) {
		return b.makes(func() string { return strings.TrimPrefix(text, prefix) }, prefix)
	}
	f["trimSuffix"] = func(suffix, text string) (string, error) {
		return b.makes(func() string { return strings.TrimSuffix(text, suffix) }, suffix)
	}
	f["hasPrefix"] = func(prefix, text string) (bool, error) { return strings.HasPrefix(text, prefix), b.reads(prefix) }
	f["replace"] = func(old, new, text string) (string, error) {
		// The result is charged before it is built, because it can be much longer than the texts.
		if err := errors.Join(b.reads(old, text), b.charge(strings.Count(text, old)*len(new))); err != nil {
			return "", err
		}
		return b.makes(func() string { return strings.ReplaceAll(text, old, new) })
	}
	f["join"] = func(separator string, list []any) (string, error) {
		if err := errors.Join(b.prints(list...), b.charge(len(separator)*len(list))); err != nil {
			return "", err
		}
		return b.makes(func() string { return join(separator, list) })
	}
}

// addLines adds the functions that lay out lines.
func addLines(f template.Functions, b *budget) {
	begun := func(begin, text string) (string, error) {
		if err := errors.Join(b.reads(text), b.charge(strings.Count(text, "\n")*len(begin))); err != nil {
			return "", err
		}
		return b.makes(func() string { return prefixed(begin, text) })
	}
	f["indent"] = func(columns int, text string) (string, error) {
		if columns < 0 || columns > maxIndent {
			return "", fmt.Errorf("indent takes 0 to %d columns, not %d", maxIndent, columns)
		}
		return begun(strings.Repeat(" ", columns), text)
	}
	f["prefix"] = func(begin, text string) (string, error) {
		if len(begin) > maxIndent {
			return "", fmt.Errorf("prefix takes up to %d bytes", maxIndent)
		}
		return begun(begin, text)
	}
	f["wrap"] = func(columns int, text string) (string, error) {
		if columns < 1 {
			return "", fmt.Errorf("wrap takes 1 column or more, not %d", columns)
		}
		return b.makes(func() string { return wrap(columns, text) }, text)
	}
}

// compare counts the texts that it compares.
func (b *budget) compare(x, y any) (int, error) {
	if err := b.readsEach([]any{x, y}); err != nil {
		return 0, err
	}
	return template.Compare(x, y)
}

// index follows names and positions into a value, like index of text/template.
func (b *budget) index(v any, keys ...any) (any, error) {
	if err := b.readsEach(keys); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if of, ok := v.(map[string]any); ok {
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("index takes the name of a member, got %s", shown(key))
			}
			v = of[name]
			continue
		}
		list, ok := v.([]any)
		n, err := integer(key)
		if !ok || err != nil || n < 0 || n >= int64(len(list)) {
			return nil, fmt.Errorf("index takes a list and a position in it, from 0, got %s", shown(key))
		}
		v = list[n]
	}
	return v, nil
}

// readsEach counts the values that are texts, not those inside of others.
func (b *budget) readsEach(values []any) error {
	n := callCost
	for _, v := range values {
		text, _ := v.(string)
		n += len(text)
	}
	return b.charge(n)
}

// wide matches parts of a format that make printf's result longer than its texts: a width, or an
// explicit operand.
var wide = regexp.MustCompile(`%[^a-zA-Z%]*([*\[]|[0-9]{3})`)

// replacePrints replaces the functions that print with ones that count.
func replacePrints(f template.Functions, b *budget) {
	printed := func(of func() string, values []any) (string, error) {
		if err := b.prints(values...); err != nil {
			return "", err
		}
		return b.makes(of)
	}
	f["print"] = func(values ...any) (string, error) {
		return printed(func() string { return fmt.Sprint(values...) }, values)
	}
	f["println"] = func(values ...any) (string, error) {
		return printed(func() string { return fmt.Sprintln(values...) }, values)
	}
	f["printf"] = func(format string, values ...any) (string, error) {
		if wide.MatchString(strings.ReplaceAll(format, "%%", "")) {
			return "", errors.New("printf takes widths and precisions up to 99, and no operands by number or `*`")
		}
		if verb := unknownVerb.FindString(strings.ReplaceAll(format, "%%", "")); verb != "" {
			return "", fmt.Errorf("printf has no verb %s: use %%v, %%s, %%q, %%d, %%x, %%X, %%o, %%b, %%c, %%t or %%U",
				verb)
		}
		made, err := printed(func() string { return fmt.Sprintf(format, values...) }, append([]any{format}, values...))
		if err == nil && mismatched(made, format, values) {
			err = fmt.Errorf("the verbs of %q do not fit the values: %s", format, made)
		}
		return made, err
	}
}

// unknownVerb matches undocumented verbs: %p prints addresses, which differ in each run.
var unknownVerb = regexp.MustCompile(`%[-+# 0-9.]*(?:[^-+# 0-9.vsqdxXobctU]|$)`)

// mismatched reports whether fmt wrote an error, such as %!d(string=x), into a text.
func mismatched(made, format string, values []any) bool {
	const complaint = "%!"
	return strings.Contains(made, complaint) && !strings.Contains(format, "%"+complaint) &&
		!strings.Contains(fmt.Sprint(values...), complaint)
}

const maxIndent = 100

// words splits a name at capitals and underscores; digits belong to the preceding word: kDLCUDAHost
// is k, DL, CUDA, Host.
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

// prefixed inserts a prefix before each line. In empty lines, trailing blanks of the prefix are
// removed.
func prefixed(begin, text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(begin+line, " ")
	}
	return strings.Join(lines, "\n")
}

// wrap breaks a text into lines of at most the given number of columns, unless a word is longer.
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

// dict builds the data of an included template from names and values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("dict takes names and values in turn")
	}
	made := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict takes a string as a name, got %s", shown(pairs[i]))
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
	return 0, fmt.Errorf("expected an integer, got %s", shown(v))
}

// shown returns a value for a message, shortened if it is long.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		return relpath.Show(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return fmt.Sprint(v)
}

// arithmetic returns a function for an operation of math/big, which detects results that are too
// large.
func arithmetic(of func(result, x, y *big.Int) *big.Int) func(x, y any) (int64, error) {
	return func(x, y any) (int64, error) {
		a, err := integer(x)
		if err != nil {
			return 0, err
		}
		b, err := integer(y)
		if err != nil {
			return 0, err
		}
		result := of(new(big.Int), big.NewInt(a), big.NewInt(b))
		if !result.IsInt64() {
			return 0, errors.New("the result has more than 64 bits")
		}
		return result.Int64(), nil
	}
}
