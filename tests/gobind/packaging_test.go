package gobind

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// proxy serves a module as v1.0.0 from a folder, like a network proxy.
func proxy(t *testing.T, m module) (url string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "example.org", "bindings", "@v")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	var archive bytes.Buffer
	out := zip.NewWriter(&archive)
	require.NoError(t, fs.WalkDir(os.DirFS(m.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(m.dir, name))
		require.NoError(t, err)
		entry, err := out.Create("example.org/bindings@v1.0.0/" + name)
		require.NoError(t, err)
		_, err = entry.Write(data)
		return err
	}))
	require.NoError(t, out.Close())
	mod, err := os.ReadFile(filepath.Join(m.dir, "go.mod"))
	require.NoError(t, err)
	for name, data := range map[string][]byte{
		"list":        []byte("v1.0.0\n"),
		"v1.0.0.info": []byte(`{"Version":"v1.0.0"}`),
		"v1.0.0.mod":  mod,
		"v1.0.0.zip":  archive.Bytes(),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	return "file://" + filepath.ToSlash(filepath.Dir(filepath.Dir(filepath.Dir(dir))))
}

// published returns a module whose proxy is a folder with the bindings, and a program that uses
// them in cmd/roundtrip.
func published(t *testing.T) module {
	t.Helper()
	m := bindings(t)
	m.write(t, map[string]string{"cmd/roundtrip/main.go": roundTrip})
	consumer := newModule(t, "example.org/consumer")
	// The module cache is read-only by default, and could not be deleted.
	return consumer.with("GOPROXY="+proxy(t, m), "GOMODCACHE="+t.TempDir(), "GOFLAGS=-trimpath -modcacherw")
}

func TestGoInstall(t *testing.T) {
	skipShort(t)
	bin := t.TempDir()
	published(t).with("GOBIN="+bin).mustRun(t, "install", "example.org/bindings/cmd/roundtrip@v1.0.0")
	out, err := exec.Command(filepath.Join(bin, "roundtrip")).CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, roundTripSays, string(out))
}

// The go command vendors only the files in a package's own folder, so the header is there.
func TestGoGetAndVendorFromASecondModule(t *testing.T) {
	skipShort(t)
	m := published(t)
	m.write(t, map[string]string{"main.go": roundTrip})
	m.mustRun(t, "get", "example.org/bindings/dlpack@v1.0.0")
	m.mustRun(t, "vet", ".")
	m.mustRun(t, "mod", "vendor")
	for _, name := range []string{"dlpack.h", "export.h", "export.c"} {
		assert.FileExists(t, filepath.Join(m.dir, "vendor", "example.org", "bindings", "dlpack", name))
	}
	vendored := m.with("GOPROXY=off", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-trimpath -mod=vendor")
	assert.Equal(t, roundTripSays, vendored.mustRun(t, "run", "."))
}

const twoCopies = `package main

import (
	"fmt"
	"unsafe"

	one "example.org/two/one"
	onepy "example.org/two/one/dlpackpy"
	other "example.org/two/other"
	otherpy "example.org/two/other/dlpackpy"
)

var modules = []any{&onepy.Module{Name: "one"}, (*onepy.Module).Init, &otherpy.Module{Name: "other"}, (*otherpy.Module).Init}

func main() {
	p, err := one.Export([]int64{7, 8, 9})
	if err != nil {
		panic(err)
	}
	m, err := other.Import((*other.DLManagedTensorVersioned)(unsafe.Pointer(p)))
	if err != nil {
		panic(err)
	}
	values, err := other.Data[int64](m.Tensor())
	fmt.Println(values, err, one.Drain(), other.Drain())
	m.Release()
	fmt.Println(one.Drain(), other.Drain())
}
`

func TestTwoCopiesLinkIntoOneProgram(t *testing.T) {
	skipShort(t)
	m := newModule(t, "example.org/two")
	m.emit(t, "one", "1.3", nil)
	m.emit(t, "other", "main", map[string]string{"package": "tensors"})
	m.write(t, map[string]string{"main.go": twoCopies})
	assert.Equal(t, "[7 8 9] <nil> 1 0\n0 0\n", m.mustRun(t, "run", "."))

	m.emit(t, "other", "1.3", map[string]string{"import": "example.org/two/one"})
	out, err := m.run("build", "-o", filepath.Join(t.TempDir(), "program"), ".")
	require.Error(t, err, "with one prefix for both, the linker cannot distinguish them")
	assert.Contains(t, out, "multiple definition")
}

func TestEveryGlobalNameOfCHasThePrefix(t *testing.T) {
	testtool.Require(t, "nm", "binutils")
	m := newModule(t, "example.org/m")
	m.emit(t, "dlpack", "latest", map[string]string{"import": "example.org/a"})
	sources, err := filepath.Glob(filepath.Join(m.dir, "dlpack", "*.c"))
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, source := range sources {
		object := filepath.Join(t.TempDir(), "source.o")
		out, err := exec.Command("gcc", "-c", "-o", object, source).CombinedOutput()
		require.NoError(t, err, "%s", out)
		symbols, err := exec.Command("nm", "--extern-only", "--defined-only", "--format=just-symbols", object).Output()
		require.NoError(t, err)
		names := strings.Fields(string(symbols))
		assert.NotEmpty(t, names, source)
		for _, name := range names {
			assert.True(t, strings.HasPrefix(name, "dlp_94584207_"), name)
		}
	}
}
