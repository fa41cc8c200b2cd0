package device

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// acme is a vendor's description.
func acme() *backend.Backend {
	return &backend.Backend{
		Name: "acme", Title: "Acme", Doc: "Acme's devices.", Implementation: backend.Custom,
		InstallHint: "Acme's driver",
		StatusType:  "int",
		Devices: []backend.Device{
			{Type: "kDLCUDAManaged", Value: backend.NoValue, Memory: "managed", ID: "zero"},
			{Type: "kDLExtDev", Value: backend.NoValue, Memory: "device", ID: "ordinal"},
		},
		Streams: backend.Streams{Given: true, None: 1, Rejected: []int64{0},
			Aliases: []backend.StreamAlias{{Number: 1, Handle: 8}}},
		Library: backend.Library{Linux: []string{"libacme.so.1"}},
		Functions: []backend.Function{{Name: "name", Symbol: "acmeName", Plain: "acmeName", Params: "int device",
			Returns: "const char *"}},
		Errors: []backend.Error{{Name: "ACME_NONE", Value: -1, Kind: "no_device", Text: "there is none"}},
	}
}

// A vendor's part is written once and has no banner. All other files have one, and differ between
// vendors only where the description does.
func TestAVendorsBackEnd(t *testing.T) {
	files, err := Vendor(acme()).Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Options: map[string]string{"import": "example.com/acme"}})
	require.NoError(t, err)
	texts := map[string]string{}
	for _, f := range files {
		texts[f.Path] = string(f.Data)
		starter := f.Path == "acme_impl.c" || f.Path == "conformance/acme_hooks.h"
		assert.Equal(t, starter, f.Once, f.Path)
		assert.Equal(t, !starter, emit.HasBanner(f.Data), f.Path)
		assert.False(t, strings.HasPrefix(f.Path, "streams"), f.Path)
	}
	for _, name := range []string{"acme.go", "acme_impl.c", "dlpackgen_acme.c", "dlpackgen_acme.h", "vendor_impl.h",
		"conformance/conformance.c", "conformance/conformance_hooks.h", "conformance/acme_hooks.h"} {
		assert.Contains(t, texts, name)
	}
	assert.True(t, strings.HasPrefix(texts["acme_impl.c"],
		emit.StarterLine("a.c")+"\n//go:build go1.24 && cgo && !nodevice\n"))
	texts = rendered(t, emittest.Release(t, "1.3"), acme())
	assert.Contains(t, texts["device_driver.h"],
		"  BACKEND_device = kDLExtDev,\n  BACKEND_host = -1,\n  BACKEND_managed = kDLCUDAManaged,\n")
	assert.Contains(t, texts["device_driver.h"], "  const char*(DRIVER_CALL* name)(int device);\n")
	assert.Contains(t, texts["device_driver.h"],
		"    {-1, DLPACKGEN_BACKEND_NO_DEVICE, \"ACME_NONE\", \"there is none\"},\n")
	assert.Contains(t, texts["vendor_rules.h"], "    {kDLExtDev, 0},\n    {kDLCUDAManaged, 1},\n};")
	assert.Contains(t, texts["numbers_rules.h"], "    {0, 1, 0},\n    {1, 0, 8},\n};")
	assert.Contains(t, texts["numbers_rules.h"], "DRIVER_DEFAULT_STREAM ((uintptr_t)8)")
	assert.Contains(t, texts["vendor_rules.h"], "VENDOR_STREAMS = 1 ")
}

// A device without streams, and a device with the stream rules of CUDA.
func TestAVendorsStreams(t *testing.T) {
	b := acme()
	b.Streams = backend.Streams{}
	texts := rendered(t, emittest.Release(t, "1.3"), b)
	assert.Contains(t, texts["vendor_rules.h"], "VENDOR_STREAMS = 0 ")
	assert.Contains(t, texts["numbers_rules.h"], "driver_numbers[] = {\n    {-2, 1, 0},\n};")
	b.Streams = backend.Streams{Given: true, Table: "cuda", None: 1,
		Aliases: []backend.StreamAlias{{Number: 1, Handle: 1}}}
	text := rendered(t, emittest.Release(t, "1.3"), b)["numbers_rules.h"]
	assert.Contains(t, text, "    {0, 1, 0},\n    {1, 0, 1},\n    {2, 0, 0},\n};")
}

// Each source is only in the folders of the backends that use it.
func TestSourcesServeTheirRuntime(t *testing.T) {
	for name := range rendered(t, emittest.Release(t, "1.3"), backend.Embedded("cuda")) {
		assert.False(t, strings.Contains(name, "vendor") || strings.Contains(name, "_impl"), name)
	}
}

// A backend with the name of a common file would have two files of that name.
func TestNamesOfFilesAreNoNamesOfBackEnds(t *testing.T) {
	texts := rendered(t, emittest.Release(t, "1.3"), acme())
	for _, name := range embedded {
		maps.Copy(texts, rendered(t, emittest.Release(t, "1.3"), backend.Embedded(name)))
	}
	found := 0
	for name := range texts {
		m := regexp.MustCompile(`^(?:dlpackgen_)?([a-z]+)\.(?:go|h|c)$`).FindStringSubmatch(name)
		if m == nil || m[1] == "acme" || m[1] == "dlpack" || slices.Contains(embedded, m[1]) {
			continue
		}
		found++
		diags := &diag.List{}
		backend.Decode("x.yaml", []byte("backend: 1\nname: "+m[1]+"\n"), diags)
		assert.Contains(t, diag.Text(diags.Sorted(), false), "is reserved: every backend has a file of this name", name)
	}
	assert.GreaterOrEqual(t, found, 3)
}
