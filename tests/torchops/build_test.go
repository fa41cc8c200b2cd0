// Package torchops tests the kernels that target torch registers with a real PyTorch: scripts of
// this folder call them through torch.ops.
package torchops

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// scratch is the common folder of all tests; built are the errors of attempted builds.
var (
	scratch string
	once    sync.Once
	built   error
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dlpackgen-torchops")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return m.Run()
}

// places are the paths of PyTorch, Python and C++'s dependencies.
type places struct{ python, torch, headers, gcc, gxx string }

// torch finds PyTorch, or skips the test.
func torch(t *testing.T) places {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles against libtorch for half a minute, and -short was given")
	}
	python := testtool.RequirePython(t)
	torch := testtool.RequirePackage(t, python, "torch", "pip install -r tests/requirements-frameworks.txt")
	return places{python, torch, testtool.RequireHeaders(t, python), testtool.RequireRunCompiler(t, "gcc"),
		testtool.RequireRunCompiler(t, "g++")}
}

// flags are those of every compilation.
func (p places) flags(headers string) []string {
	return []string{"-std=c++20", testkit.Level(), "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow",
		"-pedantic",
		"-Werror",
		"-I", headers, "-isystem", filepath.Join(p.torch, "include"), "-isystem", p.headers}
}

func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// build builds a library from a folder with the generated sources. The operators and the backend
// are one unit, so that libtorch's headers are compiled once.
func (p places) build(headers, library string, more ...string) error {
	operators := library + ".cpp.o"
	link := []string{"-shared", "-o", library, operators}
	for i, source := range []string{"module/kernels.c", filepath.Join(headers, "kernels.c")} {
		link = append(link, fmt.Sprint(library, i, ".c.o"))
		c := append([]string{"-std=c11", testkit.Level(), "-fPIC", "-Wall", "-Wextra", "-pedantic", "-Werror",
			"-I", headers, "-c",
			"-o", link[len(link)-1], source}, more...)
		if err := command("", p.gcc, c...); err != nil {
			return err
		}
	}
	cpp := append(p.flags(headers), "-c", "-o", operators, "-include", "module/device.cpp",
		filepath.Join(headers, "dlpackgen_torch", "described_kernels.cpp"))
	if err := command("", p.gxx, append(cpp, more...)...); err != nil {
		return err
	}
	lib := filepath.Join(p.torch, "lib")
	link = append(link, "-L", lib, "-ltorch_cpu", "-ltorch_python", "-ltorch", "-lc10", "-Wl,-rpath,"+lib)
	return command("", p.gxx, append(link, more...)...)
}

// library returns the library that the scripts load.
func library(t *testing.T) (places, string) {
	t.Helper()
	p := torch(t)
	once.Do(func() {
		headers := filepath.Join(scratch, "generated")
		testkit.Generate(t, "module/dlpackgen.yaml", headers)
		built = p.build(headers, filepath.Join(scratch, "kernels.so"))
	})
	require.NoError(t, built)
	return p, filepath.Join(scratch, "kernels.so")
}

// scripts are the files whose functions are tests.
var scripts = []string{"forms.py", "guards.py", "gradients.py", "compiled.py", "devices.py"}

func TestScripts(t *testing.T) {
	p, lib := library(t)
	var pairs []string
	for _, name := range scripts {
		pairs = append(pairs, "0", name)
	}
	printed := p.forked(t, lib, pairs...)
	for _, name := range scripts {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			out, isFine := printed["missed 0 "+name]
			assert.True(t, isFine, printed["caught 0 "+name])
			assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count(out, "ok test_"), "%s", out)
		})
	}
}
