package recipes

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestGitAttributes(t *testing.T) {
	testtool.Require(t, "git", "git")
	ours, err := os.ReadFile(filepath.Join(golden.Root(t), ".gitattributes"))
	require.NoError(t, err)
	for name, attributes := range map[string]string{"of the how-to": howTo(t, "git.md", "gitattributes"),
		"our own": string(ours)} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t,
				map[string]string{".gitattributes": attributes,
					"dlpackgen.yaml": "version: 1\ntargets: {c: {path: gen/c}}\n"})
			p.run(t, "git", "init", "--quiet")
			p.run(t, "dlpackgen", "generate")
			for _, name := range append(p.locked(t, "."), "dlpackgen.lock") {
				assert.Equal(t, name+": linguist-generated: set\n",
					p.run(t, "git", "check-attr", "linguist-generated", "--", name))
			}
			assert.Contains(t, p.run(t, "git", "check-attr", "linguist-generated", "--", "src/main.c"), "unspecified")
		})
	}
}

// locked returns every generated file in the lock of a folder.
func (p *project) locked(t *testing.T, out string) []string {
	t.Helper()
	var names []string
	for _, line := range strings.Split(strings.TrimSpace(p.read(t, out+"/dlpackgen.lock")), "\n")[1:] {
		fields := strings.Fields(line)
		names = append(names, path.Join(out, fields[len(fields)-1]))
	}
	require.NotEmpty(t, names)
	return names
}

const nothingToDo = "ninja: no work to do.\n"

// pageProject contains the files of a page about make or ninja, and a copy of the program, to be
// upgraded.
func pageProject(t *testing.T, name string) *project {
	t.Helper()
	p := newProject(t, nil)
	for _, f := range fences(page(t, "docs/how-to/"+name)) {
		if file := f.file(); file != "" {
			p.write(t, file, f.text)
		}
	}
	p.ownTool(t)
	p.write(t, "program.ninja", "program = "+p.path("bin/dlpackgen")+"\n")
	return p
}

// TestNinja changes each input of the page's build in turn, and removes each generated file.
func TestNinja(t *testing.T) {
	testtool.Require(t, "ninja", "ninja-build")
	testtool.Require(t, "gcc", "gcc")
	p := pageProject(t, "ninja.md")
	p.run(t, "ninja")
	assert.Contains(t, p.run(t, "ninja"), nothingToDo)
	assert.Contains(t, p.run(t, "ninja", "-t", "deps"), "dlpackgen.yaml", "ninja read and removed the depfile")

	for _, name := range p.locked(t, "gen") {
		require.NoError(t, os.Remove(p.path(name)))
		p.run(t, "ninja")
		assert.FileExists(t, p.path(name), "ninja tracks each generated file, and recreates it")
	}
	assert.Contains(t, p.run(t, "ninja"), nothingToDo)

	first := p.modified(t, "main.o")
	p.touch(t, "dlpackgen.yaml")
	assert.Contains(t, p.run(t, "ninja", "-v"), "dlpackgen generate", "the config is newer")
	assert.Equal(t, first, p.modified(t, "main.o"), "but the header is the same, so nothing is compiled again")
	assert.Contains(t, p.run(t, "ninja"), nothingToDo)

	p.write(t, "dlpackgen.yaml", mutant.Once(t, p.read(t, "dlpackgen.yaml"), `"1.3"`, `"1.2"`))
	p.touch(t, "dlpackgen.yaml")
	assert.Contains(t, p.run(t, "ninja", "-v"), "-c -o main.o", "another release, another header")
	assert.Contains(t, p.read(t, "gen/c/dlpack/dlpack.h"), "DLPack 1.2")
	assert.Contains(t, p.run(t, "ninja"), nothingToDo)
}

// ownTool copies the program to a project, to be upgraded.
func (p *project) ownTool(t *testing.T) (program string) {
	t.Helper()
	bin, err := built()
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(bin, "dlpackgen"))
	require.NoError(t, err)
	p.write(t, "bin/dlpackgen", string(data))
	require.NoError(t, os.Chmod(p.path("bin/dlpackgen"), 0o755))
	p.env = append(p.env, "PATH="+p.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return p.path("bin/dlpackgen")
}

// TestNinjaSeesAnUpgrade replaces the program, and names another one.
func TestNinjaSeesAnUpgrade(t *testing.T) {
	testtool.Require(t, "ninja", "ninja-build")
	testtool.Require(t, "gcc", "gcc")
	p := pageProject(t, "ninja.md")
	p.run(t, "ninja")
	assert.Contains(t, p.run(t, "ninja"), nothingToDo)
	assert.Contains(t, p.run(t, "ninja", "-t", "deps"), "bin/dlpackgen", "ninja read and removed the depfile")
	p.touch(t, "bin/dlpackgen")
	assert.Contains(t, p.run(t, "ninja", "-v"), "dlpackgen generate", "the program is newer")
	assert.Contains(t, p.run(t, "ninja"), nothingToDo)
	require.NoError(t, os.Rename(p.path("bin/dlpackgen"), p.path("bin/other")))
	p.write(t, "program.ninja", "program = "+p.path("bin/other")+"\n")
	assert.Contains(t, p.run(t, "ninja", "-v"), "other generate", "the program is another one")
	assert.Contains(t, p.run(t, "ninja"), nothingToDo)
}

// TestMake shows that make runs dlpackgen once if the config or the program is newer or a file is
// lost, and that sources with an unchanged header are not compiled again.
func TestMake(t *testing.T) {
	testtool.Require(t, "make", "make")
	testtool.Require(t, "gcc", "gcc")
	p := pageProject(t, "make.md")
	const generates, compiles = "dlpackgen generate", "-c -o main.o"
	out := p.run(t, "make")
	assert.Contains(t, out, generates)
	assert.Contains(t, out, compiles)
	assert.NotContains(t, out, "created", "--quiet")
	for what, change := range map[string]func(){
		"the config is newer":        func() { p.touch(t, "dlpackgen.yaml") },
		"the program is newer":       func() { p.touch(t, "bin/dlpackgen") },
		"the program has moved away": func() { require.NoError(t, os.Remove(p.path("bin/dlpackgen"))) },
	} {
		change()
		out := p.run(t, "make")
		assert.Contains(t, out, generates, what)
		assert.NotContains(t, out, compiles, what)
		out = p.run(t, "make")
		assert.NotContains(t, out, generates, "%s: once is enough", what)
		if what == "the program has moved away" {
			p.ownTool(t)
			p.run(t, "make")
		}
	}
	require.NoError(t, os.Remove(p.path("gen/c/dlpackgen/rules.h")))
	assert.Contains(t, p.run(t, "make"), generates, "a header is lost, which no source includes")
	assert.FileExists(t, p.path("gen/c/dlpackgen/rules.h"))
	p.write(t, "dlpackgen.yaml", mutant.Once(t, p.read(t, "dlpackgen.yaml"), `"1.3"`, `"1.2"`))
	p.touch(t, "dlpackgen.yaml")
	out = p.run(t, "make")
	assert.Contains(t, out, generates)
	assert.Contains(t, out, compiles, "another release, another header")
	out = p.run(t, "make")
	assert.NotContains(t, out, generates)
	assert.NotContains(t, out, compiles)
}

func (p *project) modified(t *testing.T, name string) time.Time {
	t.Helper()
	info, err := os.Stat(p.path(name))
	require.NoError(t, err)
	return info.ModTime()
}

// touch makes a file newer than all earlier outputs.
func (p *project) touch(t *testing.T, name string) {
	t.Helper()
	time.Sleep(20 * time.Millisecond)
	now := time.Now()
	require.NoError(t, os.Chtimes(p.path(name), now, now))
}

func TestVendoredHeader(t *testing.T) {
	testtool.Require(t, "gcc", "gcc")
	p := newProject(t,
		map[string]string{"use.c": "#include \"dlpack.h\"\nint main(void) { return (int)sizeof(DLTensor) - 48; }\n"})
	p.run(t, "sh", "-ec", howTo(t, "vendor-header.md", "sh vendor"))
	p.run(t, "gcc", "-Wall", "-Werror", "-c", "use.c")
}

// directive returns the page's directive. "go generate" calls its own go command, not that of
// GoTool, and "go tool" would compile the standard library again: only make nightly waits for it.
func directive(t *testing.T) string {
	t.Helper()
	const shown = "go tool dlpackgen"
	line := howTo(t, "go-generate.md", "go generate")
	if tier.IsNightly() {
		return line
	}
	return mutant.Once(t, line, shown, "go run github.com/dlpackgen/dlpackgen/cmd/dlpackgen")
}

// TestGoGenerate uses a user's module, which finds this one through a replace directive instead of
// the network. The tool has the version that tests/release installs, so it is compiled only once.
func TestGoGenerate(t *testing.T) {
	testtool.Require(t, "gcc", "gcc")
	if testing.Short() {
		t.Skip("compiles with cgo: left to make test")
	}
	root := golden.Root(t)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	version, err := os.ReadFile(filepath.Join(root, "VERSION"))
	require.NoError(t, err)
	p := newProject(t, map[string]string{
		"go.mod": "module example.org/user\n\ngo 1.25.0\n\nrequire github.com/dlpackgen/dlpackgen v" +
			strings.TrimSpace(string(version)) + "\n\nreplace github.com/dlpackgen/dlpackgen => " + root + "\n",
		"go.sum":                 string(sums),
		"tensors/dlpackgen.yaml": howTo(t, "go-generate.md", "yaml go-config"),
		"tensors/generate.go": "// Package tensors takes tensors.\npackage tensors\n\n" +
			directive(t),
	})
	p.run(t, "go", "-C", root, "mod", "download")
	p.env = append(p.env, "GOFLAGS=-mod=mod -trimpath", "GOWORK=off", "GOPROXY=off", "PATH="+testtool.GoTool(t))
	p.run(t, "sh", "-ec", strings.ReplaceAll(howTo(t, "go-generate.md", "sh tool"), "@latest", ""))
	p.run(t, "go", "generate", "./...")
	printed, err := testkit.Vet(p.dir, p.env, "./...")
	require.NoError(t, err, printed)
	p.run(t, "go", "tool", "dlpackgen", "check", "--config", "tensors/dlpackgen.yaml")
	assert.Contains(t, p.run(t, "go", "list", "-f", "{{.Name}} {{.CgoFiles}}", "./tensors"), "tensors [")
}
