package recipes

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// published is the version under which the tests publish the module.
var published = module.Version{Path: "github.com/dlpackgen/dlpackgen", Version: "v0.9.1"}

// committed is a file of the tree, in the form for module zips.
type committed struct {
	root string
	name string
}

func (c committed) Path() string                 { return c.name }
func (c committed) Lstat() (fs.FileInfo, error)  { return os.Lstat(filepath.Join(c.root, c.name)) }
func (c committed) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(c.root, c.name)) }

// committedFiles are the files of the tree that git does not ignore.
func committedFiles(t *testing.T, root string) []zip.File {
	t.Helper()
	ignored := []string{".git", ".venv", ".cache", "bin", "__pycache__"}
	var files []zip.File
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(ignored, entry.Name()):
			return fs.SkipDir
		case entry.Type().IsRegular() && !slices.Contains(ignored, name):
			files = append(files, committed{root, name})
		}
		return nil
	}))
	require.Greater(t, len(files), 1000, "the walk found the tree")
	return files
}

// publish stores the tree in a file-based module proxy, and returns its folder.
func publish(t *testing.T, root string) string {
	t.Helper()
	proxy := t.TempDir()
	dir := filepath.Join(proxy, published.Path, "@v")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	info, err := json.Marshal(map[string]string{"Version": published.Version})
	require.NoError(t, err)
	for ext, data := range map[string][]byte{".mod": mod, ".info": info} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, published.Version+ext), data, 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list"), []byte(published.Version+"\n"), 0o644))
	archive, err := os.Create(filepath.Join(dir, published.Version+".zip"))
	require.NoError(t, err)
	defer archive.Close()
	require.NoError(t, zip.Create(archive, published, committedFiles(t, root)))
	return proxy
}

// freshMachine is a machine without dlpackgen. Modules come from a file-based proxy: this module,
// and its requirements from this machine's cache.
func freshMachine(t *testing.T, files map[string]string) *project {
	t.Helper()
	testtool.Require(t, "go", "golang")
	root := golden.Root(t)
	p := newProject(t, files)
	p.run(t, "go", "-C", root, "mod", "download")
	p.downloadForTidy(t)
	cache := strings.TrimSpace(p.run(t, "go", "env", "GOMODCACHE"))
	home := t.TempDir()
	p.env = append(os.Environ(), "GOPATH="+home, "GOMODCACHE="+filepath.Join(home, "pkg", "mod"), "GOBIN=",
		"GOPROXY="+fileURL(publish(t, root))+","+fileURL(filepath.Join(cache, "cache", "download")),
		"GOSUMDB=off", "GOFLAGS=-modcacherw", "GOWORK=off",
		"PATH="+filepath.Join(home, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return p
}

func fileURL(dir string) string { return "file://" + filepath.ToSlash(dir) }

// A name that Windows reserves, or two names that differ only in case, would make the module
// impossible to download, and a checkout fail.
func TestTheModuleZipCanBeMade(t *testing.T) {
	checked, err := zip.CheckFiles(committedFiles(t, golden.Root(t)))
	require.NoError(t, err)
	assert.Empty(t, checked.Invalid)
	for _, omitted := range checked.Omitted { // Go omits other modules, and folders named vendor
		inModule := belongsToAnotherModule(golden.Root(t), omitted.Path)
		assert.True(t, inModule || strings.HasPrefix(omitted.Path, "examples/vendor/"), "%s: %v", omitted.Path,
			omitted.Err)
	}
	broken := []zip.File{committed{golden.Root(t), "testdata/nul"}}
	checked, err = zip.CheckFiles(broken)
	assert.Error(t, err, "the check finds what Windows reserves")
	assert.Len(t, checked.Invalid, 1)
}

// belongsToAnotherModule reports whether a parent folder of the file, below the root, has a go.mod.
func belongsToAnotherModule(root, file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(root, dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// The published module is installed, added to another module as a tool, run by go generate and
// vendored, on a machine without it.
func TestTheModuleIsPublished(t *testing.T) {
	tier.OnlyNightly(t)
	testtool.Require(t, "gcc", "gcc")
	if testing.Short() {
		t.Skip("builds the published module: left to make test")
	}
	p := freshMachine(t, map[string]string{
		"tensors/dlpackgen.yaml": howTo(t, "go-generate.md", "yaml go-config"),
		"tensors/generate.go": "// Package tensors takes tensors.\npackage tensors\n\n" +
			howTo(t, "go-generate.md", "go generate"),
	})
	install := regexp.MustCompile("(?m)^go install .*$").FindString(block(t, "README.md", "sh install"))
	p.run(t, "sh", "-ec", strings.ReplaceAll(install, "@latest", "@"+published.Version))
	installed := p.run(t, "dlpackgen", "version")
	assert.Regexp(t, `^dlpackgen `+regexp.QuoteMeta(published.Version)+` [0-9a-f]{16}\n$`, installed)
	p.run(t, "go", "mod", "init", "example.org/user")
	p.run(t, "sh", "-ec", howTo(t, "go-generate.md", "sh tool"))
	assert.Contains(t, p.read(t, "go.mod"), published.Path+" "+published.Version)
	p.run(t, "go", "generate", "./...")
	p.run(t, "go", "mod", "tidy")
	p.run(t, "go", "vet", "./...")
	assert.Equal(t, installed, p.run(t, "go", "tool", "dlpackgen", "version"))
	p.run(t, "git", "init", "--quiet")
	p.run(t, "go", "mod", "vendor")
	p.run(t, "go", "vet", "./...")
	p.env = append(p.env, "GOFLAGS=-modcacherw -buildvcs=auto")
	assert.Equal(t, installed, p.run(t, "go", "tool", "dlpackgen", "version"), "vendored, in a repository")
	for _, tool := range []string{"go tool dlpackgen", "dlpackgen"} {
		argv := append(strings.Fields(tool), "check", "--config", "tensors/dlpackgen.yaml")
		p.run(t, argv...)
	}
}

// The digest is computed from the sources, for every kind of build. The version is devel for a
// checkout, even if go build would derive one from the repository.
func TestEveryBuildHasTheSameDigest(t *testing.T) {
	tier.OnlyNightly(t)
	testtool.Require(t, "git", "git")
	if testing.Short() {
		t.Skip("builds the command three times: left to make test")
	}
	p := newProject(t, nil)
	run := p.run(t, "go", "-C", golden.Root(t), "run", "./cmd/dlpackgen", "version")
	assert.Regexp(t, `^dlpackgen devel [0-9a-f]{16}\n$`, run)
	assert.Equal(t, run, p.run(t, "dlpackgen", "version"), "go build")
	p.env = append(p.env, "GOBIN="+p.path("bin"), "GOFLAGS=-trimpath -buildvcs=false")
	p.run(t, "go", "-C", golden.Root(t), "install", "./cmd/dlpackgen")
	assert.Equal(t, run, p.run(t, p.path("bin/dlpackgen"), "version"), "go install")

	// In a separate repository, at a tag, with one changed template.
	for _, dir := range []string{"cmd", "internal", "spec", "templates"} {
		require.NoError(t, os.CopyFS(p.path("copy/"+dir), os.DirFS(filepath.Join(golden.Root(t), dir))))
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(golden.Root(t), name))
		require.NoError(t, err)
		p.write(t, "copy/"+name, string(data))
	}
	p.env = append(os.Environ(), "GOFLAGS=-buildvcs=true")
	for _, line := range []string{"init --quiet", "add .",
		"-c user.name=x -c user.email=x@example.org commit --quiet -m x", "tag v0.9.9"} {
		p.run(t, append([]string{"git", "-C", "copy"}, strings.Fields(line)...)...)
	}
	p.run(t, "go", "-C", "copy", "build", "-o", p.path("tagged"), "./cmd/dlpackgen")
	assert.Contains(t, p.run(t, "go", "version", "-m", "tagged"), "v0.9.9", "go stamps the tag")
	assert.Equal(t, run, p.run(t, "./tagged", "version"))
	p.write(t, "copy/templates/c/tensor.h", p.read(t, "copy/templates/c/tensor.h")+"/* more */\n")
	p.run(t, "go", "-C", "copy", "build", "-o", p.path("changed"), "./cmd/dlpackgen")
	assert.NotEqual(t, run, p.run(t, "./changed", "version"), "another template")
}

// downloadForTidy fills this machine's cache with the modules that go mod tidy reads, including
// those of dependencies' tests, which go mod download omits.
func (p *project) downloadForTidy(t *testing.T) {
	t.Helper()
	p.run(t, "go", "-C", golden.Root(t), "mod", "tidy", "-diff")
}

// Direct requirements are not marked as indirect, and no source imports a missing module.
func TestGoModIsTidy(t *testing.T) {
	testtool.Require(t, "go", "golang")
	p := newProject(t, nil)
	p.downloadForTidy(t)
	assert.Empty(t, p.run(t, "go", "-C", golden.Root(t), "mod", "tidy", "-diff"))
}

// oldGo creates a module with a version as its go line, and with files.
func oldGo(t *testing.T, version string, dirs map[string]string) *project {
	t.Helper()
	p := newProject(t, map[string]string{"go.mod": "module example.org/user\n\ngo " + version + "\n"})
	for to, from := range dirs {
		require.NoError(t, os.CopyFS(p.path(to), os.DirFS(filepath.Join(golden.Root(t), from))))
	}
	return p
}

// Users' modules are raised to this module's go line, so it is not newer than the standard library
// features that the tool uses.
func TestTheToolUsesTheGoThatItRequires(t *testing.T) {
	testtool.Require(t, "go", "golang")
	root := golden.Root(t)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	minor, err := strconv.Atoi(regexp.MustCompile(`(?m)^go 1\.(\d+)`).FindStringSubmatch(string(mod))[1])
	require.NoError(t, err)
	p := newProject(t, nil)
	p.write(t, "overlay.json", olderFiles(t, p, filepath.Join(root, "internal/tree"), minor-1))
	p.env = append(p.env, "GOFLAGS=-trimpath")
	out, err := p.try("go", "-C", root, "vet", "-overlay", p.path("overlay.json"), "./internal/tree")
	require.Error(t, err, "go.mod requires a newer Go than the tool uses")
	assert.Contains(t, out, fmt.Sprintf("requires go1.%d or later", minor))
}

// olderFiles returns an overlay in which the files of a package state an older Go. With an older go
// line in go.mod, all imported packages would be compiled again.
func olderFiles(t *testing.T, p *project, dir string, minor int) (overlay string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	replaced := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") || strings.Contains(string(text), "\n//go:build ") ||
			strings.HasPrefix(string(text), "//go:build ") {
			continue
		}
		base := "older/" + filepath.Base(name)
		p.write(t, base, fmt.Sprintf("//go:build go1.%d\n\n%s", minor, text))
		replaced[name] = p.path(base)
	}
	require.NotEmpty(t, replaced)
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	return string(text)
}

// introduced returns the Go 1 release of each name in the standard library: "runtime AddCleanup" ->
// 24.
func introduced(t *testing.T) map[string]int {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join(testtool.GoRoot(t), "api", "go1.*.txt"))
	require.NoError(t, err)
	if len(lists) == 0 {
		t.Skip("needs the lists of Go's API, which come with Go's own distributions, in GOROOT/api")
	}
	since := map[string]int{}
	for _, list := range lists {
		minor, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(list), "go1."), ".txt"))
		require.NoError(t, err)
		text, err := os.ReadFile(list)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^pkg (\S+)(?: \S+)?, (?:func|type|const|var) (\w+)`).
			FindAllStringSubmatch(string(text), -1) {
			key := m[1] + " " + m[2]
			if first, seen := since[key]; !seen || minor < first {
				since[key] = minor
			}
		}
	}
	return since
}

// Generated code states the oldest Go version that compiles it, and that version is necessary.
func TestGeneratedGoStatesItsMinimum(t *testing.T) {
	since := introduced(t)
	newest := 0
	for _, pattern := range []string{"gen/go/dlpack/*.go", "gen/go/dlpack/*/*.go", "backends/*/*.go"} {
		names, err := filepath.Glob(filepath.Join(golden.Root(t), pattern))
		require.NoError(t, err)
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for used := range qualified(file) {
				assert.LessOrEqual(t, since[used], 24, "%s uses %s", name, used)
				newest = max(newest, since[used])
			}
		}
	}
	assert.Equal(t, 24, newest)
	stated, err := os.ReadFile(filepath.Join(golden.Root(t), "gen/go/dlpack/go_version.go"))
	require.NoError(t, err)
	assert.Contains(t, string(stated), "//go:build !go1.24\n")
}

// qualified returns the names of imported packages that a file uses: "runtime AddCleanup".
func qualified(file *ast.File) map[string]bool {
	paths, used := map[string]string{}, map[string]bool{}
	for _, imported := range file.Imports {
		name := strings.Trim(imported.Path.Value, `"`)
		paths[path.Base(name)] = name
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok && paths[x.Name] != "" {
				used[paths[x.Name]+" "+selector.Sel.Name] = true
			}
		}
		return true
	})
	return used
}

// An older Go, simulated by this one, reports the reason and no other error.
func TestAnOlderGoReportsTheReason(t *testing.T) {
	testtool.Require(t, "gcc", "gcc")
	for _, dir := range []string{"gen/go/dlpack", "backends/cuda", "backends/shm"} {
		// The common package of backends is below them, because an older Go would look for its
		// module first.
		p := oldGo(t, "1.21", map[string]string{"old": dir, "old/device": "backends/device"})
		module := regexp.MustCompile(`(?m)^module (.*)$`).FindStringSubmatch(p.read(t, "go.mod"))[1]
		shared := strings.NewReplacer("go1.24", "go1.99", "github.com/dlpackgen/dlpackgen/backends/device",
			module+"/old/device")
		require.NoError(t, fs.WalkDir(os.DirFS(p.dir), "old", func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				p.write(t, name, shared.Replace(p.read(t, name)))
			}
			return err
		}))
		out, err := p.try("go", "build", "./old")
		require.Error(t, err, dir)
		assert.Contains(t, out, "undefined: this_package_needs_go_1_24", dir)
		assert.Equal(t, 2, strings.Count(out, "\n"), "%s: %s", dir, out)
	}
}
