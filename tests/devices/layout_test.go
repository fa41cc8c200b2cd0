package devices

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
)

// layout lists the offsets and sizes with which programs were compiled, for pointers of 8 bytes. A
// change of one of these must increment DLPACKGEN_BACKEND_ABI_VERSION. New members are added at the
// end of the table, or of a struct that begins with its size.
var layout = map[string]string{
	"dlpackgen_backend_error":      "code 0 driver_code 4 text 8 = 512",
	"dlpackgen_stream":             "handle 0 device 8 flags 16 reserved 20 = 24",
	"dlpackgen_stream_source":      "current 0 state 8 handles 16 count 24 = 32",
	"dlpackgen_driver_info":        "size 0 version 8 devices 16 reserved 20 = 24",
	"dlpackgen_pointer_attributes": "size 0 device 8 ordinal 16 reserved 20 base 24 bytes 32 = 40",
	"dlpackgen_allocation":         "size 0 device 8 dtype 16 ndim 20 shape 24 stream 32 flags 40 = 48",
	"dlpackgen_backend": "size 0 abi_version 8 device_type 12 name 16 probe 24 device_count 32 pointer_attributes 40 allocate 48 " +
		"deallocate 56 " +
		"current_work_stream 64 stream_from_dlpack 72 stream_wait 80 keep_until 88 copy 96 stream_synchronize " +
		"104 = 112",
}

// asserted is a C file that compares a header with the layout.
func asserted() string {
	var c strings.Builder
	c.WriteString("#include <stddef.h>\n#include " +
		"\"dlpackgen_backend.h\"\n_Static_assert(DLPACKGEN_BACKEND_ABI_VERSION == 1, \"version\");\n")
	for name, text := range layout {
		fields, size, _ := strings.Cut(text, " = ")
		words := strings.Fields(fields)
		for i := 0; i < len(words); i += 2 {
			fmt.Fprintf(&c, "_Static_assert(offsetof(%s, %s) == %s, \"%s.%s\");\n", name, words[i], words[i+1], name,
				words[i])
		}
		fmt.Fprintf(&c, "_Static_assert(sizeof(%s) == %s, \"%s\");\n", name, size, name)
	}
	return c.String()
}

func TestTheInterfaceKeepsItsLayout(t *testing.T) {
	assert.Empty(t, agrees(t, cuda(t), cuda(t), asserted()))
	header, err := os.ReadFile(filepath.Join(cuda(t), "dlpackgen_backend.h"))
	require.NoError(t, err)
	for old, want := range map[string]string{
		"char text[504];":         "dlpackgen_backend_error",
		"int32_t ndim; /* 0":      "dlpackgen_allocation",
		"const char* name;":       "dlpackgen_backend.probe",
		"int32_t ordinal;":        "dlpackgen_pointer_attributes.base",
		"void* const* handles;":   "dlpackgen_stream_source.count",
		"int32_t devices; ":       "dlpackgen_driver_info",
		"void* handle;\n  DLDev":  "dlpackgen_stream.device",
		"_ABI_VERSION 1":          "version",
		"uint32_t abi_version; /": "dlpackgen_backend.name",
	} {
		fresh := "char *added; " + old
		if old == "_ABI_VERSION 1" {
			fresh = "_ABI_VERSION 2"
		}
		changed := mutation.Once(t, string(header), old, fresh)
		text := mutation.Once(t, asserted(), "#include \"dlpackgen_backend.h\"\n", changed+"\n")
		assert.Contains(t, agrees(t, cuda(t), cuda(t), text), "\""+want, old)
	}
}
