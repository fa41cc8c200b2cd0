package testkit

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// growable are a backend's functions with an extensible struct, and the size of the struct's first
// version.
var growable = []struct {
	step, call, name string
	first            int
}{
	{"alloc", "allocate", "dlpackgen_allocation", 48},
	{"probe", "probe", "dlpackgen_driver_info", 24},
	{"pointer_attributes", "pointer_attributes", "dlpackgen_pointer_attributes", 40},
	{"check_tensor", "check_tensor", "dlpackgen_pointer_attributes", 40},
}

// Grown returns a copy of a backend's folder whose structs have additional members, for tests with
// older callers.
func Grown(t testing.TB, source string) string {
	t.Helper()
	for _, g := range growable[:3] {
		end := "} " + g.name + ";"
		source = Mutated(t, source, "dlpackgen_backend.h", end, "  char added[64];\n"+end)
	}
	return source
}

// Sizes builds sizes.c with a backend under AddressSanitizer, and returns its output and whether it
// succeeded.
func Sizes(t testing.TB, source string, env []string, args ...string) (string, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sizes")
	Run(t, testtool.Require(t, "gcc", "gcc"),
		append([]string{"-std=gnu11", "-g", Level(), "-fsanitize=address", "-I", source,
			"-o", program, "../../internal/testkit/testdata/sizes.c"}, args...)...)
	cmd := exec.Command(program)
	// Memory that a driver never frees is not tested here.
	cmd.Env = append(env, "ASAN_OPTIONS=detect_leaks=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// WantSizes returns the expected output of sizes.c for a backend with the first functions of
// growable.
func WantSizes(backend string, calls int) string {
	var want strings.Builder
	for _, g := range growable[:calls] {
		small := func(size int) {
			fmt.Fprintf(&want,
				"%s 7 0 0 %s: %s: expected a size of at least %d in the %s, got %d; set it to sizeof(%s)\n",
				g.step, backend, g.call, g.first, g.name, size, g.name)
		}
		good := g.step + " 0 0 0 \n"
		want.WriteString(good)
		small(0)
		small(g.first - 1)
		want.WriteString(good + good)
	}
	return want.String()
}
