package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sourcesOfMessages are the templates whose texts calls can report.
var sourcesOfMessages = []string{"c", "kernels", "python", "traced", "tvmffi", "jax", "onnxruntime", "torchshim",
	"paddle",
	"ufunc", "torch"}

// noMessages are texts of these sources that are never reported.
var noMessages = []string{
	// Documentation of functions.
	"A tensor for consumers of DLPack, such as numpy.from_dlpack and torch.from_dlpack.",
	"Returns the tensor in a capsule.",
	"Returns the type and the id of the tensor's device.",
	"Makes this table the exchange table of torch.Tensor.", "Restores the previous table of torch.Tensor.",
	"Whether this is the exchange table of torch.Tensor.", "The exchange table of torch.Tensor, compiled.",
	"The consumer, by the stable ABI of LibTorch.",
	// Asserts of the sources themselves, and parts of other texts.
	"kDLBool is one byte", "a result is made, and moved, without exceptions",
	`dlpack: panic in OnRelease: %v\n%s`, "wider elements are not packed",
	" in a function of Go", "the value of an any", "of a value",
	// Parts of names, and code that torch evaluates.
	"an unknown code", "a device of an unknown type", "GCC unroll 32", "(5, 7, 1, 2, 3)",
	"torch._efficientzerotensor((3,), dtype=torch.float32, device='cpu')",
	"torch.empty((3,), dtype=torch.float32, device='meta')",
}

var (
	blockComment = regexp.MustCompile(`(?s)/\*.*?\*/|""".*?"""`)
	lineComment  = regexp.MustCompile(`(?m)(^|\s)(//|# ).*$|^\s*#(include|error|pragma).*$`)
	literals     = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"(?:\s*\\?\n?\s*f?"(?:[^"\\\n]|\\.)*")*`)
	seam         = regexp.MustCompile(`"\s*\\?\n?\s*f?"`)
	varying      = regexp.MustCompile(`%#?(?:ll|z|\.\*|\.\d+)?[a-zA-Z]|\{[^{}]*\}|\\.`)
)

// textsOf lists the constant parts of a source's string literals with at least the given number of
// words.
func textsOf(source string, words int) (parts []string) {
	source = lineComment.ReplaceAllString(blockComment.ReplaceAllString(source, ""), "")
	for _, literal := range literals.FindAllString(source, -1) {
		literal = strings.Trim(seam.ReplaceAllString(literal, ""), `"`)
		for _, part := range varying.Split(literal, -1) {
			part = strings.Trim(part, " ,:;()'")
			isDoc := strings.Contains(literal, "use_backend(") || strings.Contains(literal, "from_dlpack(x, /")
			if len(strings.Fields(part)) >= words && !isDoc && !slices.Contains(noMessages, literal) {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// unlisted lists the texts of a source that are not on the page.
func unlisted(source, page string) (missing []string) {
	for _, part := range textsOf(source, 3) {
		if !strings.Contains(page, part) {
			missing = append(missing, part)
		}
	}
	return missing
}

func pageOfMessages(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/messages.md")
	require.NoError(t, err)
	return string(page)
}

// message is a row of the page. Words in capitals represent varying parts.
type message struct{ text, exception string }

var (
	ofRow    = regexp.MustCompile("(?m)^\\| (?:`([^`\n]+)`|`` ([^\n]+) ``) \\| `(\\w+)` \\| [A-Z].*[.] \\|$")
	ofStatus = regexp.MustCompile(`(?m)^  STATUS\((\w+), (\w+), (\d+)\)`)
)

// Each text that a generated function can report, and each sentence that is a macro, is on the page.
func TestEveryMessageOfCallsIsOnThePage(t *testing.T) {
	count, page := 0, pageOfMessages(t)
	for _, folder := range sourcesOfMessages {
		dir := "../../templates/" + folder
		require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path.Dir(name) != "." || name == "abi_check.h.tmpl" {
				return err
			}
			source, err := os.ReadFile(dir + "/" + name)
			if missing := unlisted(string(source), page); len(missing) > 0 {
				t.Errorf("templates/%s/%s: texts without a row in docs/messages.md: %q", folder, name, missing)
			}
			count += len(textsOf(string(source), 3))
			return err
		}))
	}
	assert.Greater(t, count, 150)
	const one = "put(\"it is missing here\"); fail(\"f(): %s was \"\n  \"not read\"); /* \"no text of it\" */ // \"nor of this\"\n"
	assert.Equal(t, []string{"it is missing here", "was not read"}, textsOf(one, 3))
	assert.Equal(t, []string{"was not read"}, unlisted(one, "it is missing here"))
}

// sourcesOfLibraries are the folders of Go packages and C++ headers, whose errors users see too.
var sourcesOfLibraries = []string{"go", "go/dlpackpy", "go/tvmffi", "cpp"}

// noErrors are sources whose texts are asserts of these sources themselves or describe a tensor.
var noErrors = []string{"layout.hpp.tmpl", "storage.hpp.tmpl", "managed.hpp", "format.go", "tensor_type.c"}

// Each error of the Go packages and of the C++ headers is on the page.
func TestEveryMessageOfLibrariesIsOnThePage(t *testing.T) {
	count, page := 0, pageOfMessages(t)
	for _, folder := range sourcesOfLibraries {
		dir := "../../templates/" + folder
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range files {
			if f.IsDir() || strings.Contains(f.Name(), "_test.go") || slices.Contains(noErrors, f.Name()) {
				continue
			}
			source, err := os.ReadFile(dir + "/" + f.Name())
			require.NoError(t, err)
			if missing := unlisted(string(source), page); len(missing) > 0 {
				t.Errorf("templates/%s/%s: texts without a row in docs/messages.md: %q", folder, f.Name(), missing)
			}
			count += len(textsOf(string(source), 3))
		}
	}
	assert.Greater(t, count, 120)
}

var ofKindRow = regexp.MustCompile("(?m)^\\| `(dlpack|tvmffi)\\.(Err\\w+)` \\| `([^`]+)`")

// The page and the Go packages have the same kinds of errors with the same texts.
func TestKindsOfGoAreOnThePage(t *testing.T) {
	want := map[string]string{}
	for pkg, names := range map[string][]string{"dlpack": {"errors.go", "exchange_error.go"},
		"tvmffi": {"tvmffi/errors.go"}} {
		for _, name := range names {
			source, err := os.ReadFile("../../templates/go/" + name)
			require.NoError(t, err)
			for _, m := range ofGoKind.FindAllStringSubmatch(string(source), -1) {
				want[pkg+"."+m[1]] = m[2]
			}
		}
	}
	require.Greater(t, len(want), 15)
	got := map[string]string{}
	for _, m := range ofKindRow.FindAllStringSubmatch(pageOfMessages(t), -1) {
		got[m[1]+"."+m[2]] = m[3]
	}
	assert.Equal(t, want, got)
}

var ofGoKind = regexp.MustCompile(`(?m)^\t(Err\w+) += errors\.New\("([^"]+)"\)`)

var ofMacroText = regexp.MustCompile(`(?m)^#define (DLPACKGEN_TEXT_\w+) "([^"]+)"`)

func TestEveryMacroOfAMessageIsOnThePage(t *testing.T) {
	source, err := os.ReadFile("../../templates/c/texts.h")
	require.NoError(t, err)
	page := pageOfMessages(t)
	found := ofMacroText.FindAllStringSubmatch(string(source), -1)
	require.Greater(t, len(found), 5)
	for _, macro := range found {
		assert.Empty(t, unlisted(strconv.Quote(macro[2]), page), macro[1])
	}
}

// variable is a part of a message that varies.
var variable = regexp.MustCompile(`\b(?:[A-Z]{2,}[A-Z]*|N)\b`)

// constants are words in capitals that do not vary.
var constants = []string{"NULL", "DLP", "CPU", "NUL", "UTF", "JAX", "XLA", "ONNX", "DLPACKGEN", "NaN"}

// pattern matches what a message becomes.
func (m message) pattern() *regexp.Regexp {
	var out strings.Builder
	rest := m.text
	for {
		at := variable.FindStringIndex(rest)
		if at == nil {
			break
		}
		out.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		if word := rest[at[0]:at[1]]; slices.Contains(constants, word) {
			out.WriteString(word)
		} else {
			out.WriteString("(?:.+)")
		}
		rest = rest[at[1]:]
	}
	text := strings.NewReplacer("dimensions", "dimensions?", "items", "items?", "arguments, got", "arguments?, got").
		Replace(out.String() + regexp.QuoteMeta(rest))
	return regexp.MustCompile("^" + text + "$")
}

func allMessages(t *testing.T) (all []message) {
	t.Helper()
	page := pageOfMessages(t)
	for _, row := range ofRow.FindAllStringSubmatch(page, -1) {
		all = append(all, message{row[1] + row[2], row[3]})
	}
	require.Greater(t, len(all), 150)
	rows := regexp.MustCompile("(?m)^\\| .*Error` \\| [^0-9]").FindAllString(page, -1)
	require.Len(t, rows, len(all), "each row has a message, an exception and an advice")
	return all
}

var beginnings = regexp.MustCompile(`^\w+\(\): (?:argument '[^']*' \(\d+\w\w\): |result '[^']*': )?(?:item \d+: )?`)

// listed reports whether a row has the message and its exception.
func listed(all []message, exception, text string) bool {
	texts := []string{text, beginnings.ReplaceAllString(text, "")}
	return slices.ContainsFunc(all, func(m message) bool {
		pattern := m.pattern()
		return m.exception == exception && slices.ContainsFunc(texts, pattern.MatchString)
	})
}

var (
	ofSentence = regexp.MustCompile(`(?m)^[^:\n]+: ([1-9]) (\w+\(\)[: ].*)$`)
	ofMistake  = regexp.MustCompile(`(?m)^    error: '(\w+): (.*)'$`)
)

// The golden messages of the checker, and the messages of the table of mistakes that all hosts
// report, have a row with their exception.
func TestGoldenMessagesAreOnThePage(t *testing.T) {
	all := allMessages(t)
	statuses, err := os.ReadFile("../../templates/c/message.h")
	require.NoError(t, err)
	class := map[string]string{}
	for _, s := range ofStatus.FindAllStringSubmatch(string(statuses), -1) {
		class[s[3]] = s[2]
		assert.Contains(t, pageOfMessages(t), "| `"+s[2]+"` | "+s[3]+" | `DLPACKGEN_STATUS_"+s[1]+"` |")
	}
	golden, err := os.ReadFile("../../tests/checker/testdata/sentences.txt")
	require.NoError(t, err)
	found := ofSentence.FindAllStringSubmatch(string(golden), -1)
	require.Greater(t, len(found), 20)
	for _, s := range found {
		assert.True(t, listed(all, class[s[1]], s[2]), "%s: %s", class[s[1]], s[2])
	}
	table, err := os.ReadFile("../../tests/callers/testdata/mistakes/table.yaml")
	require.NoError(t, err)
	mistakes := ofMistake.FindAllStringSubmatch(string(table), -1)
	require.Greater(t, len(mistakes), 25)
	for _, m := range mistakes {
		text := strings.ReplaceAll(m[2], "''", "'")
		if !slices.Contains(ofOthers, text) {
			assert.True(t, listed(all, m[1], text), "%s: %s", m[1], text)
		}
	}
	assert.False(t, listed(all, "ValueError", "f(): argument 'x' (1st): it is missing"), "of another class")
	assert.False(t, listed(all, "TypeError", "f(): argument 'x' (1st): it is lost"))
}

// ofOthers are messages of the table with texts of the described kernel, and of the exceptions of
// arguments' methods.
var ofOthers = []string{"mix(): the mixer is stuck", "mix(): {x*3000}",
	"mix(): argument 'places' (3rd): a place is out of range", "mix(): argument 'times' (5th): 'lost'",
	"mix(): argument 'by' (4th): 'lost'"}

// stale lists the rows of the page whose message is neither in the sources nor in a golden file.
func stale(all []message, sources, golden []string) (lines []string) {
	for _, m := range all {
		pattern := m.pattern()
		if !slices.ContainsFunc(sources, func(part string) bool { return strings.Contains(m.text, part) }) &&
			!slices.ContainsFunc(golden, pattern.MatchString) {
			lines = append(lines, m.text)
		}
	}
	return lines
}

func TestMessagesOnThePageAreInTheSources(t *testing.T) {
	var sources, golden []string
	for _, folder := range append(sourcesOfMessages, "cpp", "go", "go/dlpackpy", "go/kernels", "kernels/python") {
		files, err := os.ReadDir("../../templates/" + folder)
		require.NoError(t, err)
		for _, f := range files {
			if source, err := os.ReadFile("../../templates/" + folder + "/" + f.Name()); err == nil {
				sources = append(sources, textsOf(string(source), 2)...)
			}
		}
	}
	for _, name := range []string{"checker/testdata/sentences.txt", "callers/testdata/mistakes/table.yaml"} {
		text, err := os.ReadFile("../../tests/" + name)
		require.NoError(t, err)
		for _, m := range append(ofSentence.FindAllStringSubmatch(string(text), -1),
			ofMistake.FindAllStringSubmatch(string(text), -1)...) {
			text := strings.ReplaceAll(m[2], "''", "'")
			golden = append(golden, text, beginnings.ReplaceAllString(text, ""))
		}
	}
	assert.Empty(t, stale(allMessages(t), sources, golden), "no source has these texts")
	assert.Equal(t, []string{"no text of it"}, stale([]message{{text: "no text of it"}}, sources, golden))
}
