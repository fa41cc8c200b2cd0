package testkit

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// growable are the calls of a backend that take a struct that can grow, and the size that
// its first version has.
var growable = []struct {
	step, call, name string
	first            int
}{
	{"alloc", "allocate", "dlpackgen_allocation", 48},
	{"probe", "probe", "dlpackgen_driver_info", 24},
	{"pointer_attributes", "pointer_attributes", "dlpackgen_pointer_attributes", 40},
	{"check_tensor", "check_tensor", "dlpackgen_pointer_attributes", 40},
}

// Grown returns a copy of a backend's folder whose structs have more members: callers that
// use the first version's are older.
func Grown(t testing.TB, source string) string {
	t.Helper()
	for _, g := range growable[:3] {
		end := "} " + g.name + ";"
		source = Mutated(t, source, "dlpackgen_backend.h", end, "  char added[64];\n"+end)
	}
	return source
}

// Sizes builds sizes.c over a backend under AddressSanitizer, and gives what it prints and
// whether it went well.
func Sizes(t testing.TB, source string, env []string, args ...string) (string, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sizes")
	Run(t, testtool.Require(t, "gcc", "gcc"), append([]string{"-std=gnu11", "-g", "-O1", "-fsanitize=address", "-I", source,
		"-o", program, "../../internal/testkit/testdata/sizes.c"}, args...)...)
	cmd := exec.Command(program)
	// What a driver keeps for ever is no concern here.
	cmd.Env = append(env, "ASAN_OPTIONS=detect_leaks=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// WantSizes returns what sizes.c prints for a backend with the first calls of growable.
func WantSizes(backend string, calls int) string {
	var want strings.Builder
	for _, g := range growable[:calls] {
		small := func(size int) {
			fmt.Fprintf(&want, "%s 7 0 0 %s: %s: expected a size of at least %d in the %s, got %d; set it to sizeof(%s)\n",
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
