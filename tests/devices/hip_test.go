package devices

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

var rocmEnd = backEnd{"rocm", "libamdhip64.so.6", "libamdhip64", "hipInit"}

func rocm(t testing.TB) string { return filepath.Join(golden.Root(t), "backends", "rocm") }

// rocmParts is that folder with each part as a file, for mutants.
func rocmParts(t testing.TB) string { return testkit.Unfolded(t, device.ROCm) }

// hip returns the folder with AMD's own runtime of a version, or skips the test.
func hip(t *testing.T, version string) string {
	t.Helper()
	return filepath.Join(fetched(t, "hip", "whole"), version, "root")
}

// hipAgreement compares the backend's declarations with HIP's own headers of the version with that
// first digit.
func hipAgreement(version int) string {
	b := *backend.Embedded("rocm")
	var c strings.Builder
	c.WriteString("#define __HIP_PLATFORM_AMD__\n#include <hip/hip_runtime_api.h>\n#include " +
		"\"device_driver.h\"\n#include \"streams_memory.h\"\n")
	for i, k := range b.Constants {
		if k.Was != nil {
			c.WriteString(fmt.Sprintf("_Static_assert(DRIVER_%s_in(%d0000000) == (int)%s, \"%s\");\n", k.Name,
				version, k.Native, k.Native))
		}
		if k.Was != nil && version < 6 {
			b.Constants[i].Native = "DRIVER_" + k.Name // of the newest numbering
		}
	}
	c.WriteString(facts(&b))
	for _, f := range b.Functions {
		fmt.Fprintf(&c, "FORM(%s, __typeof__(&%s));\n", f.Name, f.Symbol)
	}
	c.WriteString("_Static_assert(DRIVER_DEFAULT_STREAM == 0, \"the default stream\");\n")
	c.WriteString("_Static_assert(sizeof(struct streams_access) == sizeof(hipMemAccessDesc) && " +
		"offsetof(hipMemAccessDesc, location.id) == 4 && " +
		"offsetof(hipMemAccessDesc, flags) == 8 && offsetof(struct streams_access, flags) == 8, \"access\");\n")
	return c.String()
}

func TestHIPsHeadersAgree(t *testing.T) {
	for _, version := range []int{5, 6} {
		assert.Empty(t, agrees(t, filepath.Join(hip(t, fmt.Sprint(version)), "usr/include"), rocmParts(t),
			hipAgreement(version)), "HIP %d", version)
	}
}

// HIP 6 renumbered the types of memory. Wrong lines of the description are detected: all of them at
// once, because each has its own error.
func TestDisagreementWithHIPIsFound(t *testing.T) {
	headers := filepath.Join(hip(t, "6"), "usr/include")
	src, err := os.ReadFile(filepath.Join(rocmParts(t), "device_driver.h"))
	require.NoError(t, err)
	b, changed := backend.Embedded("rocm"), string(src)
	for _, k := range b.Constants {
		line := fmt.Sprintf("  DRIVER_%s = %d,", k.Name, k.Value)
		changed = mutation.Once(t, changed, line, fmt.Sprintf("  DRIVER_%s = %d,", k.Name, k.Value+50))
	}
	for _, f := range b.Functions {
		changed = mutation.Once(t, changed, "(DRIVER_CALL* "+f.Name+")(",
			"(DRIVER_CALL* "+f.Name+")(struct untrusted *s, ")
	}
	text := mutation.Once(t, hipAgreement(6), "#include \"device_driver.h\"\n",
		strings.ReplaceAll(changed, "s, void)", "s)")+"\n")
	text = mutation.Once(t, text, "#include \"streams_memory.h\"\n",
		"struct streams_access { int type, ordinal, flags; };\n#define DRIVER_DEFAULT_STREAM 0\n")
	found := agrees(t, headers, rocmParts(t), text)
	for _, k := range b.Constants {
		assert.Contains(t, found, "\""+k.Native+"\"")
	}
	for _, f := range b.Functions {
		assert.Contains(t, found, "(&"+f.Symbol+")", f.Name)
	}
	assert.NotEmpty(t, agrees(t, headers, rocmParts(t), hipAgreement(5)), "the numbers of 5 are not those of 6")
	assert.NotEmpty(t, agrees(t, filepath.Join(hip(t, "5"), "usr/include"), rocmParts(t), hipAgreement(6)),
		"nor those of 6 those of 5")
}

// loaded returns the prefix that runs a program with the libraries in a folder, and their search
// path: their own loader has one, if they include it.
func loaded(t *testing.T, program, folder string) (name, path string) {
	t.Helper()
	loader := filepath.Join(folder, "ld-linux-x86-64.so.2")
	if _, err := os.Stat(loader); err != nil {
		return program, folder
	}
	script := filepath.Join(t.TempDir(), "run")
	text := fmt.Sprintf("#!/bin/sh\nexec %q --library-path %q %q \"$@\"\n", loader, folder, program)
	require.NoError(t, os.WriteFile(script, []byte(text), 0o700))
	return script, ""
}

// AMD's runtime without a GPU, in both versions: every function is found, the first error is the
// runtime's own, and the conformance checks pass.
func TestHIPWithoutADevice(t *testing.T) {
	if _, err := os.Stat("/dev/kfd"); err == nil {
		t.Skip("needs a machine without a GPU of AMD")
	}
	for version, number := range map[string]string{"5": `502\d{5}`, "6": `6\d{7}`} {
		folder := filepath.Join(hip(t, version), "usr/lib/x86_64-linux-gnu")
		program, path := loaded(t, rocmEnd.client(t, rocm(t)), folder)
		out := steps(t, program, path, "mapped", "probe", "mapped", "count", "alloc:10:0:4", "info:h")
		assert.Equal(t, "mapped 0 global 0", out[0])
		assert.Regexp(t,
			`^probe 4 100 rocm: the driver of version `+number+
				` does not start: hipErrorNoDevice \(100\): the driver sees no device: none is installed, `+
				`HIP_VISIBLE_DEVICES or `, out[1])
		assert.Equal(t, "mapped 1 global 0", out[2])
		for _, line := range out[3:] {
			_, text, _ := strings.Cut(line, " ")
			assert.Equal(t, strings.TrimPrefix(out[1], "probe "), text)
		}
		program, path = loaded(t, conformanceOf(t, rocmEnd, rocm(t)), folder)
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+path)
		lines := testkit.LinesOf(t, cmd, 77)
		assert.Regexp(t, `^not tested: checks that need a device: rocm: `, lines[len(lines)-2])
	}
}

// If two versions of the runtime are installed, the one that is already open in the process is
// used, otherwise the newest.
func TestTheRuntimeThatIsOpenIsUsed(t *testing.T) {
	gcc := testtool.Require(t, "gcc", "gcc")
	dir := testkit.Built(t, "hips", func(dir string) {
		for version := 5; version <= 7; version++ {
			source := filepath.Join(dir, "v.c")
			text := fmt.Sprintf("unsigned hipDriverGetVersion(int *v) { *v = %d; return 0; }\n", version)
			require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
			name := fmt.Sprintf("libamdhip64.so.%d", version)
			testkit.Run(t, gcc, "-shared", "-fPIC", "-Wl,-soname,"+name, "-o", filepath.Join(dir, name), source)
		}
	})
	program := rocmEnd.client(t, rocm(t))
	assert.Contains(t, steps(t, program, dir, "probe")[0], "the driver has version 7,")
	assert.Contains(t, steps(t, program, dir, "preload", "probe")[0], "the driver has version 6,",
		"which "+rocmEnd.library+" is")
}
