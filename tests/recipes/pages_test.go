package recipes

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// A fence is a fenced block of a page. The first word of its info string is the language.
type fence struct {
	lang, label, text string
	line              int
}

var (
	fenced = regexp.MustCompile("(?ms)^( *)```(\\w+) ?([^\n]*)\n(.*?)^ *```$")
	titled = regexp.MustCompile(`^title="([^"]+)"$`)
)

func fences(page string) (all []fence) {
	for _, m := range fenced.FindAllStringSubmatchIndex(page, -1) {
		indent, text := page[m[2]:m[3]], page[m[8]:m[9]]
		text = strings.ReplaceAll("\n"+text, "\n"+indent, "\n")[1:] // as in a list item
		all = append(all, fence{lang: page[m[4]:m[5]], label: page[m[6]:m[7]], text: text,
			line: 1 + strings.Count(page[:m[0]], "\n")})
	}
	return all
}

// file is the path of the file that a block shows, relative to the folder of the commands.
func (f fence) file() string {
	if m := titled.FindStringSubmatch(f.label); m != nil {
		return m[1]
	}
	return ""
}

func (f fence) isCommand() bool { return f.lang == "sh" && f.label == "run" }

// script converts a page to one shell script: its files, and its commands, whose output is stored
// in files named by the block's line.
func script(page []fence, outputs string) string {
	var s strings.Builder
	s.WriteString("set -e\n")
	for _, f := range page {
		switch name := f.file(); {
		case name != "":
			fmt.Fprintf(&s, "mkdir -p %s\ncat >%s <<'END OF %s'\n%sEND OF %[2]s\n", path.Dir(name), name, name, f.text)
		case f.isCommand():
			fmt.Fprintf(&s, "{\n%s} >%s/%d 2>&1\n", f.text, outputs, f.line)
		}
	}
	return s.String()
}

// hasLines reports whether an output contains these lines in this order, possibly with others in
// between. "..." ends a line whose rest varies.
func hasLines(output, lines string) bool {
	left := strings.Split(output, "\n")
	for line := range strings.Lines(lines) {
		shown := strings.TrimSpace(line)
		at := slices.IndexFunc(left, func(got string) bool { return isLine(strings.TrimSpace(got), shown) })
		if at < 0 {
			return false
		}
		left = left[at+1:]
	}
	return true
}

func isLine(got, shown string) bool {
	begin, varies := strings.CutSuffix(shown, "...")
	return got == shown || varies && strings.HasPrefix(got, begin)
}

// runnable returns the tutorials and how-tos with commands to run in an empty folder.
func runnable(t *testing.T) map[string][]fence {
	t.Helper()
	pages := map[string][]fence{}
	for _, folder := range []string{"tutorials", "how-to"} {
		dir := os.DirFS(filepath.Join(golden.Root(t), "docs", folder))
		names, err := fs.Glob(dir, "*.md")
		require.NoError(t, err)
		for _, name := range names {
			text, err := fs.ReadFile(dir, name)
			require.NoError(t, err)
			if all := fences(string(text)); slices.ContainsFunc(all, fence.isCommand) {
				pages[folder+"/"+name] = all
			}
		}
	}
	return pages
}

// needed are the programs with which commands begin, and their Debian packages.
var needed = map[string]string{
	"cc": "gcc", "g++": "g++", "gcc": "gcc", "go": "golang", "make": "make", "ninja": "ninja-build",
	"cmake": "cmake", "meson": "meson",
}

// requireTools skips a page whose programs or Python packages are missing.
func requireTools(t *testing.T, page []fence) (python string) {
	t.Helper()
	words := regexp.MustCompile(`(?m)^(?:\w+=\S+ )*([\w+]+)`)
	for _, f := range page {
		if !f.isCommand() {
			continue
		}
		for _, m := range words.FindAllStringSubmatch(f.text, -1) {
			switch name := m[1]; {
			case needed[name] != "":
				testtool.Require(t, name, needed[name])
			case name == "python" || name == "pip" || name == "pytest":
				python = testtool.RequirePython(t)
			}
		}
	}
	return python
}

// asks is a pip without a network: it installs a folder, and finds existing packages.
const asks = `#!/bin/sh
set -e
export CC=cc
test "$1" = install
shift
for what in "$@"; do
    case $what in
    .*) WITH_PIP -m pip --disable-pip-version-check install -q --no-build-isolation --no-deps --no-index \
        --target SITE --upgrade "${what%%\[*}" ;;
    *) PYTHON -c "import importlib.metadata as m, sys; m.version(sys.argv[1])" "${what%%\[*}" ;;
    esac
done
`

// imports is a program that runs a script in a fork of a Python that has imported the script's
// framework.
const imports = `#!/bin/sh
export PYTHONPATH=SITE:.
case "$(cat "$1" 2>/dev/null)" in
*"import paddle"*) exec WITH_PADDLE "$@" ;;
*"import torch"* | *"import tvm_ffi"*) exec WITH_TORCH "$@" ;;
*"import jax"*) exec WITH_JAX "$@" ;;
*) exec PYTHON "$@" ;;
esac
`

// withPython provides the programs of a Python environment to the project.
func (p *project) withPython(t *testing.T, python string) {
	t.Helper()
	if python == "" {
		return
	}
	site, programs := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"pip": asks, "python": imports,
		"pytest": "#!/bin/sh\nPYTHONPATH=SITE exec PYTHON -m pytest -q -p no:cacheprovider \"$@\"\n"} {
		text = strings.NewReplacer("PYTHON ", python+" ", "SITE", site,
			"WITH_PIP ", testkit.ForkedProgram(t, python, "pip._internal.cli.main,pip._internal.commands.install")+" ",
			"WITH_TORCH ", testkit.ForkedProgram(t, python, testkit.Torch)+" ",
			"WITH_JAX ", testkit.ForkedProgram(t, python, testkit.JAX)+" ",
			"WITH_PADDLE ", testkit.ForkedProgram(t, python, testkit.Frameworks)+" ").Replace(text)
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(text), 0o700)) //nolint:gosec // a program
	}
	p.env = append(p.env, "PATH="+programs+":"+os.Getenv("PATH"), "PYTHONWARNINGS=ignore", "JAX_PLATFORMS=cpu",
		"PYTHONDONTWRITEBYTECODE=1")
}

// Every command of the tutorials runs verbatim in an empty folder, and prints the documented
// output.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds modules and loads frameworks, and -short was given")
	}
	for name, page := range runnable(t) {
		t.Run(name, func(t *testing.T) {
			python := requireTools(t, page)
			outputs := t.TempDir()
			p := newProject(t, nil)
			p.withPython(t, python)
			p.env = append(p.env, "GOWORK=off", "GOFLAGS=-trimpath",
				"dlpackgen_DIR="+filepath.Join(golden.Root(t), "cmake"))
			printed, err := p.try("sh", "-c", script(page, outputs))
			last := ""
			for _, f := range page {
				switch {
				case f.isCommand():
					last = outputOf(outputs, f)
				case f.lang == "text" && f.label == "output":
					assert.True(t, hasLines(last, f.text), "line %d: got\n%s", f.line, last)
				}
				printed += fmt.Sprintf("line %d: %s\n", f.line, last)
			}
			require.NoError(t, err, "%s", printed)
		})
	}
}

// outputOf returns the output of a block, or nothing if an earlier one failed.
func outputOf(outputs string, f fence) string {
	text, err := os.ReadFile(filepath.Join(outputs, fmt.Sprint(f.line)))
	if err != nil {
		return ""
	}
	return string(text)
}

func TestTheRunnerSeesWhatIsWrong(t *testing.T) {
	assert.True(t, hasLines("a\nb\nc\n", "a\nc\n"))
	assert.False(t, hasLines("a\nb\nc\n", "c\na\n"), "another order")
	assert.False(t, hasLines("a\n", "b\n"))
	assert.False(t, hasLines("a: more\n", "a\n"), "the page leaves out the end")
	assert.True(t, hasLines("a: more\n", "a: ...\n"))
	page := fences("x\n\n```c title=\"a/b.c\"\nint x;\n```\n\n1. y\n   ```sh run\n   cat a/b.c\n   false\n   ```\n")
	require.Len(t, page, 2)
	assert.Equal(t, 8, page[1].line)
	assert.Equal(t, "cat a/b.c\nfalse\n", page[1].text)
	p := newProject(t, nil)
	outputs := t.TempDir()
	_, err := p.try("sh", "-c", script(page, outputs))
	require.Error(t, err, "a command that fails")
	text, err := os.ReadFile(filepath.Join(outputs, "8"))
	require.NoError(t, err)
	assert.Equal(t, "int x;\n", string(text))
}
