package oneapi

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
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// structs are our structs, the real ones, and the names of their fields.
var structs = map[string]string{
	"levelzero_properties": "ze_device_properties_t type:stype next:pNext kind:type vendor:vendorId device:deviceId flags:flags " +
		"subdevice:subdeviceId " +
		"rate:coreClockRate largest:maxMemAllocSize contexts:maxHardwareContexts " +
		"priority:maxCommandQueuePriority threads:numThreadsPerEU width:physicalEUSimdWidth " +
		"units:numEUsPerSubslice subslices:numSubslicesPerSlice slices:numSlices resolution:timerResolution " +
		"bits:timestampValidBits " +
		"kernel_bits:kernelTimestampValidBits uuid:uuid name:name",
	"levelzero_list_desc": "ze_command_queue_desc_t type:stype next:pNext ordinal:ordinal index:index flags:flags mode:mode " +
		"priority:priority",
	"levelzero_pool_desc":   "ze_event_pool_desc_t type:stype next:pNext flags:flags count:count",
	"levelzero_event_desc":  "ze_event_desc_t type:stype next:pNext index:index signal:signal wait:wait",
	"levelzero_memory_desc": "ze_device_mem_alloc_desc_t type:stype next:pNext flags:flags ordinal:ordinal",
	"levelzero_allocation":  "ze_memory_allocation_properties_t type:stype next:pNext kind:type id:id page:pageSize",
	"levelzero_free_desc":   "ze_memory_free_ext_desc_t type:stype next:pNext policy:freePolicy",
}

// agreement is a C file that compares the backend's declarations with Level Zero's own headers:
// each constant, error, handle, function type and field.
func agreement(b *backend.Backend) string {
	var c strings.Builder
	c.WriteString("#include <level_zero/ze_api.h>\n#include \"device_driver.h\"\n#include " +
		"\"levelzero_types.h\"\n#include <stddef.h>\n")
	c.WriteString("#define SAME(a, b) _Static_assert(__builtin_types_compatible_p(a, b), #a \" is \" #b)\n")
	c.WriteString("#define SIZE(s, r) _Static_assert(sizeof(struct s) == sizeof(r), #s \" is \" #r)\n")
	c.WriteString("#define FIELD(s, f, r, g) _Static_assert(offsetof(struct s, f) == offsetof(r, g) && " +
		"sizeof(((struct s *)0)->f) == sizeof(((r *)0)->g), #s \".\" #f)\n")
	for _, k := range b.Constants {
		fmt.Fprintf(&c, "_Static_assert(DRIVER_%s == (int)%s, \"%s\");\n", k.Name, k.Native, k.Native)
	}
	for _, e := range b.Errors {
		fmt.Fprintf(&c, "_Static_assert(%d == (int)%s, \"%s\");\n", e.Value, e.Name, e.Name)
	}
	for _, h := range b.Handles {
		fmt.Fprintf(&c, "SAME(driver_%s, %s);\n", h.Name, h.Native)
	}
	for _, f := range b.Functions {
		fmt.Fprintf(&c, "SAME(__typeof__(((struct driver *)0)->%s), __typeof__(&%s));\n", f.Name, f.Symbol)
	}
	for ours, text := range structs {
		words := strings.Fields(text)
		fmt.Fprintf(&c, "SIZE(%s, %s);\n", ours, words[0])
		for _, word := range words[1:] {
			field, real, _ := strings.Cut(word, ":")
			fmt.Fprintf(&c, "FIELD(%s, %s, %s, %s);\n", ours, field, words[0], real)
		}
	}
	return c.String()
}

// agrees compiles an agreement, and returns the compiler's output.
func agrees(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agree.c")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.Command(testtool.Require(t, "gcc", "gcc"), "-std=gnu11", "-fsyntax-only", "-w", "-I", parts(t),
		"-isystem", filepath.Join(levelZero(t), "root/usr/include"), file).CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

func TestLevelZerosHeadersAgree(t *testing.T) {
	assert.Empty(t, agrees(t, agreement(backend.Embedded("oneapi"))))
}

// Each wrong line of the description and each wrong field is detected, all at once, because a
// compiler continues after a failed assert.
func TestDisagreementIsFound(t *testing.T) {
	b := backend.Embedded("oneapi")
	text := agreement(b)
	driver, err := os.ReadFile(filepath.Join(parts(t), "device_driver.h"))
	require.NoError(t, err)
	types, err := os.ReadFile(filepath.Join(parts(t), "levelzero_types.h"))
	require.NoError(t, err)
	broken := string(driver)
	replace := func(old, fresh string) {
		broken = mutant.Once(t, broken, old, fresh)
	}
	var wants []string
	for _, k := range b.Constants {
		replace(fmt.Sprintf("  DRIVER_%s = %d", k.Name, k.Value), fmt.Sprintf("  DRIVER_%s = %d", k.Name, k.Value+1))
		wants = append(wants, `"`+k.Native+`"`)
	}
	for _, f := range b.Functions {
		replace("(DRIVER_CALL* "+f.Name+")(", "(DRIVER_CALL* "+f.Name+")(struct untrusted *s, ")
		wants = append(wants, "&"+f.Symbol+")")
	}
	out := agrees(t, strings.NewReplacer(`#include "device_driver.h"`, broken).Replace(text))
	for _, want := range wants {
		assert.True(t, strings.Contains(out, want), want)
	}
	for i, e := range b.Errors {
		text = mutant.Once(t, text, fmt.Sprintf("(%d == (int)%s,", e.Value, e.Name),
			fmt.Sprintf("(%d == (int)%s,", i-1, e.Name))
	}
	handles := string(driver)
	for _, h := range b.Handles {
		line := regexp.MustCompile(`typedef [^;]* ?\*?driver_` + h.Name + `;`).FindString(handles)
		handles = mutant.Once(t, handles, line, mutant.Once(t, line, "_ze_", "_no_"))
	}
	out = agrees(t, strings.NewReplacer(`#include "device_driver.h"`, handles).Replace(text))
	for _, e := range b.Errors {
		assert.True(t, strings.Contains(out, `"`+e.Name+`"`), e.Name)
	}
	for _, h := range b.Handles {
		assert.True(t, strings.Contains(out, `"driver_`+h.Name+` is `+h.Native+`"`), h.Name)
	}
	grown := strings.ReplaceAll(string(types), "void* next;", "char more[64];\n  void* next;")
	out = agrees(t, strings.NewReplacer(`#include "levelzero_types.h"`, grown).Replace(agreement(b)))
	for ours, text := range structs {
		assert.True(t, strings.Contains(out, `"`+ours+` is `), ours)
		for _, word := range strings.Fields(text)[2:] {
			field, _, _ := strings.Cut(word, ":")
			assert.True(t, strings.Contains(out, `"`+ours+"."+field+`"`), "%s.%s", ours, field)
		}
	}
}
