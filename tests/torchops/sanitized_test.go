package torchops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// asanOptions are those of AddressSanitizer. A library of torch frees with another operator than
// the allocating one.
const asanOptions = "ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:alloc_dealloc_mismatch=0:exitcode=0"

var (
	sanitizedOnce  sync.Once
	sanitizedError error
)

// sanitized returns the library for AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer,
// which also has mutants, and the required environment of Python.
func sanitized(t *testing.T) (p places, lib string, env []string) {
	t.Helper()
	p, _ = library(t)
	// the sanitizer looks up the latter when it starts
	runtime, standard := testkit.RequireRuntime(t, "libasan.so"), testkit.RequireRuntime(t, "libstdc++.so.6")
	lib = filepath.Join(scratch, "sanitized", "kernels.so")
	sanitizedOnce.Do(func() {
		dir := filepath.Dir(lib)
		testkit.Generate(t, "module/dlpackgen.yaml", dir)
		flags := append(withMutants(t, dir, sanitizerMutants), "-g1", "-fno-omit-frame-pointer",
			"-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=undefined")
		sanitizedError = p.build(dir, lib, flags...)
	})
	require.NoError(t, sanitizedError)
	return p, lib, []string{"LD_PRELOAD=" + runtime + " " + standard, "PYTHONMALLOC=malloc",
		"UBSAN_OPTIONS=halt_on_error=1"}
}

// sanitizedScript runs a script with that library, and with one mutant of it or none.
func sanitizedScript(t *testing.T, number string, args ...string) (string, error) {
	t.Helper()
	p, lib, env := sanitized(t)
	cmd := exec.Command(p.python, append([]string{"-W", "ignore"}, args...)...)
	cmd.Env = append(append(os.Environ(), env...), asanOptions, "LIBRARY="+lib, "DLPACKGEN_MUTANT="+number,
		"PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Calls of every form, including from threads, rejected and failing calls, and backward. Leaks are
// checked after Python's end.
func TestSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	names := []string{"forms.py", "guards.py", "gradients.py", "devices.py"}
	out, err := sanitizedScript(t, "0", append([]string{"../inturn.py"}, names...)...)
	require.NoError(t, err, out)
	assert.NotContains(t, out, "ERROR: AddressSanitizer")
	assert.NotContains(t, out, "runtime error")
	assert.Empty(t, testkit.Leaks(out))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			_, printed, _ := strings.Cut("\n"+out, "\nin "+name+"\n")
			printed, _, _ = strings.Cut(printed, "\nin ")
			assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count(printed, "ok test_"), printed)
		})
	}
}

// sanitizerMutants are mutants that only the sanitizers detect.
var sanitizerMutants = map[string]mutant{
	"a result leaks": {"described.hpp", "run(made, borrowed, place.stream()); return pack(returned);",
		"run(made, borrowed, place.stream()); new at::Tensor(returned[0]); return pack(returned);",
		"forms.py test_by_name"},
	"a result is too small": {"described.hpp", "static_cast<std::size_t>(like.ndim)", "std::size_t{0}",
		"gradients.py test_a_result_that_is_not_used"},
}

// Without a report, the test would prove nothing.
func TestSanitizersSee(t *testing.T) {
	tier.OnlyNightly(t)
	for name, report := range map[string]string{"a result leaks": " leak of ",
		"a result is too small": "ERROR: AddressSanitizer: heap-buffer-overflow"} {
		t.Run(name, func(t *testing.T) {
			number := numbered(sanitizerMutants)[name]
			out, _ := sanitizedScript(t, strconv.Itoa(number), strings.Fields(sanitizerMutants[name].script)...)
			assert.Contains(t, out, report)
			assert.Equal(t, report == " leak of ", len(testkit.Leaks(out)) > 0, out)
		})
	}
}
