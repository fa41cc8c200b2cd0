package gobind

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	source "github.com/dlpackgen/dlpackgen/spec"
)

// A view is a struct in both languages.
func TestAnotherViewIsRejected(t *testing.T) {
	skipShort(t)
	m := bindings(t)
	header := readFile(t, m, "dlpack/exchange.h")
	//mutants:in templates/go/exchange.h
	for name, test := range map[string]struct{ old, replacement string }{
		"one more field": {"int64_t dims[2 * ", "uint64_t more; int64_t dims[2 * "},
		"another order":  {"uintptr_t stream;\n  uint64_t flags;", "uint64_t flags;\n  uintptr_t stream;"},
		"less room":      {"int64_t dims[2 * ", "int64_t dims[1 * "},
		"another ndim":   {"VIEW_NDIM = DLPACKGEN_MAX_NDIM,", "VIEW_NDIM = 32,"},
	} {
		t.Run(name, func(t *testing.T) {
			m.write(t, map[string]string{"dlpack/exchange.h": mutant.Once(t, header, test.old, test.replacement)})
			out, err := m.run("build", "./dlpack")
			require.Error(t, err)
			assert.Regexp(t, `View\{\}|MaxNDim`, rejectedBy(t, m, out), out)
		})
	}
}

// The numbers of a user's spec reach both languages.
func TestOtherNumbersOfTheSpecCompile(t *testing.T) {
	skipShort(t)
	text := mutant.Once(t, string(source.YAML), "  ndim: 64\n", "  ndim: 32\n")
	text = mutant.Once(t, text, "  packed_below: 8\n", "  packed_below: 5\n")
	text = mutant.Once(t, text, "  data_alignment: 256\n", "  data_alignment: 64\n")
	s, diags := spec.Load("spec.yaml", []byte(text))
	require.NotNil(t, s, "%v", diags.Sorted())
	release, err := s.Release("latest")
	require.NoError(t, err)
	m := newModule(t, "example.org/bindings")
	m.emitRelease(t, "dlpack", release, nil)
	m.mustRun(t, "build", "./dlpack")
}

// A foreign function may be in Go, like those of our own tables: with directives that promise cgo
// the opposite, a callback would be fatal.
func TestExchangePromisesNothingOfForeignFunctions(t *testing.T) {
	files, err := filepath.Glob("../../gen/go/dlpack/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil { // otherwise a folder
			assert.NotRegexp(t, `nocallback|noescape`, string(data), name)
		}
	}
}

// Every Go function that C may call recovers from panics.
func TestExchangeEveryExportRecovers(t *testing.T) {
	files, err := filepath.Glob("../../gen/go/dlpack/*.go")
	require.NoError(t, err)
	exported := regexp.MustCompile(`(?s)\n//export (\w+)\nfunc (.*?)\n}\n`)
	count := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, function := range exported.FindAllStringSubmatch(string(data), -1) {
			count++
			assert.Regexp(t, `\tdefer (recovered\(|func\(\) \{\s+if \w+ := recover\(\))`, function[2], "%s in %s",
				function[1], name)
		}
	}
	assert.GreaterOrEqual(t, count, 6)
}

// The C files avoid problems for other programs: warnings and name clashes.
func TestExchangeIsCleanInC(t *testing.T) {
	skipShort(t)
	testtool.Require(t, "nm", "binutils")
	m := newModule(t, "example.org/m")
	m.emit(t, "dlpack", "latest", map[string]string{"import": "example.org/a"})
	for cc, debian := range map[string]string{"gcc": "gcc", "clang-16": "clang-16"} {
		for _, name := range []string{"exchange.c", "object.c", "table.c"} {
			t.Run(cc+" "+name, func(t *testing.T) {
				testtool.Require(t, cc, debian)
				object := filepath.Join(t.TempDir(), "x.o")
				out, err := exec.Command(cc, "-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes",
					"-Wconversion", "-pedantic", "-Werror",
					"-c", "-o", object, filepath.Join(m.dir, "dlpack", name)).CombinedOutput()
				require.NoError(t, err, "%s", out)
				symbols, err := exec.Command("nm", "--extern-only", "--defined-only", "--format=just-symbols",
					object).Output()
				require.NoError(t, err)
				require.NotEmpty(t, strings.Fields(string(symbols)))
				for _, symbol := range strings.Fields(string(symbols)) {
					assert.True(t, strings.HasPrefix(symbol, "dlp_94584207_"), symbol)
				}
			})
		}
	}
}

const twoTables = `package main

import (
	"fmt"
	"unsafe"

	one "example.org/two/one"
	other "example.org/two/other"
)

func main() {
	table, err := one.NewExchangeAPI(one.Producer{CurrentWorkStream: func(one.Device) (one.Stream, error) { panic("oh") }})
	fmt.Println(err)
	api, err := other.FindExchangeAPI((*other.DLPackExchangeAPIHeader)(unsafe.Pointer(table)))
	fmt.Println(err)
	var m other.Managed
	fmt.Println(api.Alloc(&m, other.DTypeFloat32, other.Device{Type: other.DeviceCPU}, 2, 3))
	object, err := api.ToPyObject(&m)
	fmt.Println(err)
	var view other.View
	fmt.Println(api.Borrow(&view, object), view.Tensor().Shape())
	_, err = api.CurrentWorkStream(other.Device{})
	fmt.Println(err)
	one.Object(object).Release()
}
`

// One copy of the bindings creates the table, with a hook that panics, and the other copy calls it.
func TestExchangeBetweenTwoCopies(t *testing.T) {
	skipShort(t)
	m := newModule(t, "example.org/two")
	m.emit(t, "one", "1.3", nil)
	m.emit(t, "other", "main", map[string]string{"package": "tensors"})
	m.write(t, map[string]string{"main.go": twoTables})
	assert.Equal(t, "<nil>\n<nil>\n<nil>\n<nil>\n<nil> [2 3]\ndlpack: current_work_stream: it reported no reason\n",
		m.mustRun(t, "run", "."))
}

// Two libraries with the same copy in one process must not share hooks or state: ELF would merge
// exported symbols.
func TestExchangeExportsNothingFromASharedLibrary(t *testing.T) {
	skipShort(t)
	testtool.Require(t, "nm", "binutils")
	m := bindings(t)
	m.write(t, map[string]string{"main.go": `package main

import "C"

import "example.org/bindings/dlpack"

//export Table
func Table() uintptr {
	table, err := dlpack.NewExchangeAPI(dlpack.Producer{CurrentWorkStream: func(dlpack.Device) (dlpack.Stream, error) { return 0, nil }})
	if err != nil {
		return 0
	}
	return table.CurrentWorkStream
}

func main() {}
`})
	library := filepath.Join(t.TempDir(), "lib.so")
	m.mustRun(t, "build", "-buildmode=c-shared", "-o", library, ".")
	out, err := exec.Command("nm", "--dynamic", "--defined-only", "--format=just-symbols", library).Output()
	require.NoError(t, err)
	symbols := strings.Fields(string(out))
	assert.Contains(t, symbols, "Table")
	for _, symbol := range symbols {
		assert.False(t, strings.HasPrefix(symbol, "dlp_"), symbol)
	}
}

// A view accepts exactly what Import accepts, and rejects everything else for the same reason.
func FuzzExchangeJudgesViewsAsImports(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 7, 7, 8, 8, 16, 3, 4, 9, 5, 1, 1, 1, 1})
	f.Add([]byte{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8})
	table := NewStrangeTable()
	api, err := dlpack.FindExchangeAPI(&table.Header)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		foreign, s := NewForeign(), NewUntrustedProducer()
		defer foreign.Free()
		defer s.Free()
		(&choices{data}).spoil(foreign)
		versioned := foreign.Versioned()
		versioned.Flags, versioned.Version = 0, dlpack.Version{Major: dlpack.MajorVersion, Minor: 3}
		*s.Raw() = versioned.DLTensor
		var view dlpack.View
		err := api.Borrow(&view, s.Object())
		require.True(t, Agrees(foreign.Fault(), err), "C returns %d, Go %v: %+v", foreign.Fault(), err, versioned)
		if err == nil {
			require.Equal(t, *s.Raw(), withPointersOf(*view.Tensor().Raw(), s.Raw()))
		}
	})
}

// withPointersOf reverts a View's changes to a tensor.
func withPointersOf(t dlpack.DLTensor, other *dlpack.DLTensor) dlpack.DLTensor {
	t.Shape, t.Strides = other.Shape, other.Strides
	return t
}
