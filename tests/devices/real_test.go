package devices

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// cudaHeaders returns the folder of NVIDIA's own headers, from the wheels of torch, or skips the
// test.
func cudaHeaders(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(golden.Root(t),
		".venv/lib/python3*/site-packages/nvidia/cu1*/include/cudaTypedefs.h"))
	require.NoError(t, err)
	if len(found) == 0 {
		t.Skip("needs NVIDIA's headers: make setup installs torch with its CUDA wheels")
	}
	return filepath.Dir(found[0])
}

// agreement is a C file that compares the backend's declarations with the driver's own headers:
// each constant, error, handle and function type.
func agreement(b *backend.Backend) string {
	var c strings.Builder
	c.WriteString("#include <cuda.h>\n#include <cudaTypedefs.h>\n#include \"device_driver.h\"\n#include " +
		"\"streams_memory.h\"\n")
	c.WriteString(facts(b))
	for _, f := range b.Functions {
		fmt.Fprintf(&c, "FORM(%s, PFN_%s_v%d);\n", f.Name, f.Symbol, f.Since)
	}
	c.WriteString("SAME(driver_lookup_0, PFN_cuGetProcAddress_v12000);\nSAME(driver_lookup_1, " +
		"PFN_cuGetProcAddress_v11030);\n")
	c.WriteString("_Static_assert((uintptr_t)CU_STREAM_LEGACY == DRIVER_DEFAULT_STREAM && " +
		"(uintptr_t)CU_STREAM_PER_THREAD == 2, \"streams\");\n")
	c.WriteString("_Static_assert(DRIVER_LOOKUP_FLAGS == CU_GET_PROC_ADDRESS_LEGACY_STREAM, \"flags\");\n")
	c.WriteString("_Static_assert(sizeof(struct streams_access) == sizeof(CUmemAccessDesc) && " +
		"offsetof(CUmemAccessDesc, location.id) == 4 && " +
		"offsetof(CUmemAccessDesc, flags) == 8 && offsetof(struct streams_access, flags) == 8, \"access\");\n")
	return c.String()
}

// facts compares the constants, errors and handles of a description with headers.
func facts(b *backend.Backend) string {
	var c strings.Builder
	c.WriteString("#define SAME(a, b) _Static_assert(__builtin_types_compatible_p(a, b), #a \" is \" #b)\n")
	c.WriteString("#define FORM(f, p) SAME(__typeof__(((struct driver *)0)->f), p)\n")
	for _, k := range b.Constants {
		fmt.Fprintf(&c, "_Static_assert(DRIVER_%s == (int)%s, \"%s\");\n", k.Name, k.Native, k.Native)
	}
	for _, e := range b.Errors {
		fmt.Fprintf(&c, "_Static_assert(%d == (int)%s, \"%s\");\n", e.Value, e.Name, e.Name)
	}
	for _, h := range b.Handles {
		fmt.Fprintf(&c, "SAME(driver_%s, %s);\n", h.Name, h.Native)
	}
	return c.String()
}

// agrees compiles an agreement, and returns the compiler's output.
func agrees(t *testing.T, headers, source, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agree.c")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.Command(testtool.Require(t, "gcc", "gcc"), "-std=gnu11", "-fsyntax-only", "-w", "-I", source,
		"-isystem", headers, file).CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

func TestNVIDIAsHeadersAgree(t *testing.T) {
	assert.Empty(t, agrees(t, cudaHeaders(t), cudaParts(t), agreement(backend.Embedded("cuda"))))
}

// wrongIn returns the compiler's output for a description with changed texts: pairs of an existing
// text and its replacement.
func wrongIn(t *testing.T, headers, text string, changes ...string) string {
	t.Helper()
	for i := 0; i < len(changes); i += 2 {
		text = mutation.Once(t, text, changes[i], changes[i+1])
	}
	return agrees(t, headers, cudaParts(t), text)
}

// Each wrong line of the description is detected. All lines of a kind are wrong at once.
func TestDisagreementIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles NVIDIA's headers")
	}
	headers, b := cudaHeaders(t), backend.Embedded("cuda")
	src, err := os.ReadFile(filepath.Join(cudaParts(t), "device_driver.h"))
	require.NoError(t, err)
	text := mutation.Once(t, agreement(b), "#include \"device_driver.h\"\n", string(src))
	var constants, handles, functions, errors []string
	for _, k := range b.Constants {
		constants = append(constants, fmt.Sprintf("  DRIVER_%s = %d,", k.Name, k.Value),
			fmt.Sprintf("  DRIVER_%s = %d,", k.Name, k.Value+1))
	}
	for _, h := range b.Handles {
		line := regexp.MustCompile(`typedef [^;]*?\*? ?driver_` + h.Name + `;`).FindString(string(src))
		handles = append(handles, line, "typedef short driver_"+h.Name+";")
	}
	for _, f := range b.Functions {
		at := "(DRIVER_CALL* " + f.Name + ")("
		functions = append(functions, at, at+"struct untrusted *s, ")
	}
	for _, e := range b.Errors {
		errors = append(errors, fmt.Sprintf("(%d == (int)%s,", e.Value, e.Name),
			fmt.Sprintf("(%d == (int)%s,", e.Value+1, e.Name))
	}
	printed := wrongIn(t, headers, text, constants...)
	for _, k := range b.Constants {
		assert.Contains(t, printed, "static assertion failed: \""+k.Native+"\"")
	}
	printed = wrongIn(t, headers, text, handles...)
	for _, h := range b.Handles {
		assert.Contains(t, printed, "static assertion failed: \"driver_"+h.Name+" is ")
	}
	printed = wrongIn(t, headers, text, functions...)
	for _, f := range b.Functions {
		assert.Contains(t, printed, " is PFN_"+f.Symbol+"_v")
	}
	printed = wrongIn(t, headers, text, errors...)
	for _, e := range b.Errors {
		assert.Contains(t, printed, "static assertion failed: \""+e.Name+"\"")
	}
}

// realDriver returns the folder of NVIDIA's own libcuda.so.1, or skips the test.
func realDriver(t *testing.T) string {
	t.Helper()
	const library = "root/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1"
	return filepath.Dir(filepath.Join(fetched(t, "libcuda", library), library))
}

// controlNode is the device file of the driver itself.
const controlNode = "/dev/nvidiactl"

// NVIDIA's driver without a GPU: every function is found, and the first error is the driver's own.
func TestNVIDIAsDriverWithoutADevice(t *testing.T) {
	driver := realDriver(t)
	if _, err := os.Stat("/proc/driver/nvidia"); err == nil {
		t.Skip("needs a machine without the kernel module of NVIDIA; tests/gpu is for the others")
	}
	if _, err := os.Stat(controlNode); os.IsNotExist(err) {
		t.Cleanup(func() { _ = os.Remove(controlNode) }) // root's driver creates one while it searches for a device
	}
	out := steps(t, client(t, cuda(t)), driver, "mapped", "probe", "mapped", "count", "alloc:2:0:4", "info:h")
	assert.Equal(t, "mapped 0 global 0", out[0])
	assert.Regexp(t,
		`^probe 4 100 cuda: the driver of version \d{5} does not start: CUDA_ERROR_NO_DEVICE \(100\): the `+
			`driver sees no device`, out[1])
	assert.Equal(t, "mapped 1 global 0", out[2])
	for _, line := range out[3:] {
		_, text, _ := strings.Cut(line, " ")
		assert.Equal(t, strings.TrimPrefix(out[1], "probe "), text)
	}
}

// Its lookup has every function in the described version, and rejects a function of an earlier
// version, so it compares versions.
func TestNVIDIAsDriverHasEachVersion(t *testing.T) {
	driver, dir := realDriver(t), t.TempDir()
	var c strings.Builder
	c.WriteString("#include <dlfcn.h>\n#include <stdint.h>\n#include <stdio.h>\nint main(void) {\n" +
		"\tint (*f)(const char *, void **, int, uint64_t, unsigned *) = (void *)0;\n" +
		"\tvoid *l = dlopen(\"libcuda.so.1\", RTLD_NOW), *p = l ? dlsym(l, \"cuGetProcAddress_v2\") : 0;\n\tif " +
		"(!p) return 3;\n\t*(void **)&f = p;\n\tunsigned found;\n\tint r;\n")
	for _, f := range backend.Embedded("cuda").Functions {
		fmt.Fprintf(&c, "\tp = 0; r = f(\"%s\", &p, %d, 1, &found); printf(\"%s %%d %%d\\n\", r, p != 0);\n",
			f.Symbol, f.Since, f.Name)
		if f.Since >= 11020 {
			fmt.Fprintf(&c, "\tp = 0; r = f(\"%s\", &p, %d, 1, &found); printf(\"early %%d %%d\\n\", r, p != 0);\n",
				f.Symbol, f.Since-10)
		}
	}
	c.WriteString("}\n")
	source, program := filepath.Join(dir, "find.c"), filepath.Join(dir, "find")
	require.NoError(t, os.WriteFile(source, []byte(c.String()), 0o600))
	testkit.Run(t, testtool.Require(t, "gcc", "gcc"), "-w", "-o", program, source, "-ldl")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+driver)
	out, err := cmd.Output()
	require.NoError(t, err)
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		if strings.HasPrefix(line, "early ") {
			assert.Regexp(t, `^early (0|500) 0$`, line, "nothing was found")
		} else {
			assert.Regexp(t, `^\w+ 0 1$`, line)
		}
	}
	assert.Greater(t, strings.Count(string(out), "\n"), len(backend.Embedded("cuda").Functions))
}
