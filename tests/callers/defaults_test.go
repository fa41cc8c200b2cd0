package callers

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// ends are numbers at the limits of 64 bits, in the form that the kernels of testdata/defaults
// return: the bits of floats.
const (
	least, most = math.MinInt64, math.MaxInt64
	negative    = math.MinInt64 // the bits of -0.0
)

func bits(number float64) int64 { return int64(math.Float64bits(number)) }

// defaults are the configs of testdata/defaults: the calling hosts, and the values that their
// kernels receive for omitted arguments.
var defaults = []struct {
	config string
	hosts  []string
	want   []string
}{
	{"edges", hosts, []string{
		fmt.Sprint("edges ", []int64{least, most, negative, bits(1 << 64), 1, least, negative, 1}),
	}},
	{"wide", []string{"python", "jax", "tvmffi", "ufunc", "paddle"}, []string{
		fmt.Sprint("wide float64 ", []int64{bits(1<<63 + 1), -1, least, bits(1 << 64), negative}),
		fmt.Sprint("wide uint64 ", []int64{least + 1, -1, least, bits(1 << 64), negative}),
		fmt.Sprint("huge ", []int64{bits(1e300), negative, least}),
	}},
}

// describedIn generates a config of testdata/defaults, and returns the macro for its author's
// source.
func describedIn(t *testing.T, config string) (dir, macro string) {
	t.Helper()
	dir = testkit.Built(t, "defaults-"+config, func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/tried\n\ngo 1.24\n"),
			0o600))
		testkit.Generate(t, "testdata/defaults/"+config+".yaml", dir)
	})
	return dir, strings.ToUpper(config)
}

// Every host passes the defaults of the description, to the last bit.
func TestDefaults(t *testing.T) {
	requireHosts(t)
	for _, tt := range defaults {
		dir, macro := describedIn(t, tt.config)
		var args []string
		for _, source := range sources {
			if file := filepath.Join(dir, source); fileExists(file) {
				args = append(args, file)
			}
		}
		library := filepath.Join(dir, "_kernels.abi3.so")
		compile(t, dir, library, append(args, "testdata/defaults/author.c", "-D"+macro)...)
		paths := []string{dir, "../onnxruntime"}
		for _, folder := range []string{"torchshim", "jax", "tvmffi", "ufunc", "paddle"} {
			paths = append(paths, filepath.Join(dir, folder))
		}
		cmd := testkit.Forked(testtool.RequirePython(t), testkit.Frameworks, "-W", "ignore", "defaults.py",
			tt.config, strings.Join(tt.hosts, ","))
		cmd.Env = append(os.Environ(), "LIBRARY="+library, "PYTHONPATH="+strings.Join(paths, ":"), "JAX_PLATFORMS=cpu",
			"PYTHONDONTWRITEBYTECODE=1")
		var want []string
		for _, host := range tt.hosts {
			want = append(want, host)
			for _, line := range tt.want {
				if host != "paddle" || !strings.HasPrefix(line, "wide uint64 ") { // it has no uint64
					want = append(want, line)
				}
			}
		}
		assert.Equal(t, want, testkit.Lines(t, cmd), tt.config)
	}
}

func fileExists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// The same for C++.
func TestDefaultsInCpp(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	gcc, gxx := testtool.RequireCompiler(t, "gcc", "gcc"), testtool.Require(t, "g++", "g++")
	for _, tt := range defaults {
		dir, macro := describedIn(t, tt.config)
		here := t.TempDir()
		args := []string{"-I" + dir + "/c", "-I" + dir + "/kernels", "-I" + dir + "/cpp", "-D" + macro, "-Wall",
			"-Wextra",
			"-Werror"}
		objects := []string{here + "/kernels.o", here + "/author.o"}
		testkit.Run(t, gcc, slices.Concat(args, []string{"-c", "-o", objects[0], dir + "/kernels/kernels.c"})...)
		testkit.Run(t, gcc, slices.Concat(args, []string{"-c", "-o", objects[1], "testdata/defaults/author.c"})...)
		testkit.Run(t, gxx, slices.Concat(args, []string{"-std=c++17", "-Wconversion", "-o", here + "/calls",
			"testdata/defaults/calls.cpp"}, objects)...)
		assert.Equal(t, tt.want, testkit.Lines(t, exec.Command(here+"/calls")), tt.config)
	}
}

// The same for Go.
func TestDefaultsInGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs with cgo for some seconds, and -short was given")
	}
	for _, tt := range defaults {
		dir, macro := describedIn(t, tt.config)
		require.NoError(t, os.CopyFS(filepath.Join(dir, "tried"), os.DirFS("testdata/defaults/go/"+tt.config)))
		require.NoError(t, os.CopyFS(filepath.Join(dir, "author"), os.DirFS("testdata/defaults/go/author")))
		author, err := os.ReadFile("testdata/defaults/author.c")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "author/author.c"), author, 0o600))
		testkit.CgoFlags(t, filepath.Join(dir, "author"), "author", "-D"+macro)
		cmd := exec.Command("go", "run", "./tried")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off", "CGO_CFLAGS="+testkit.Level())
		assert.Equal(t, tt.want, testkit.Lines(t, cmd), tt.config)
	}
}
