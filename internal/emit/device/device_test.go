package device

import (
	"go/format"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/emit/header"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

const (
	ourFolder = "github.com/dlpackgen/dlpackgen/backends/"
	ourImport = ourFolder + "cuda"
)

// rendered returns the files of a backend, each part as a separate file.
func rendered(t *testing.T, r *spec.Release, b *backend.Backend) map[string]string {
	t.Helper()
	m, err := Vendor(b).Manifest(&emit.Model{Release: r, Options: map[string]string{"import": ourImport}})
	require.NoError(t, err)
	files, err := emit.Render(r.Version, m.Unfolded())
	return emittest.Texts(t, files, err)
}

// Programs include only interfaces: no part is in their folders.
func TestOnlyInterfacesLieInTheFolder(t *testing.T) {
	files, err := CUDA.Emit(&emit.Model{Release: emittest.Release(t, "latest")})
	texts := emittest.Texts(t, files, err)
	assert.Equal(t, []string{"conformance/conformance.c", "conformance/conformance_hooks.h", "cuda.go",
		"device_answer.h", "dlpack.h", "dlpackgen_backend.h",
		"dlpackgen_backend.hpp", "dlpackgen_cuda.c", "dlpackgen_cuda.h", "doc.go", "go_version.go", "off.go",
		"types.go"},
		slices.Sorted(maps.Keys(texts)))
	for name, text := range texts {
		for _, line := range regexp.MustCompile(`(?m)^#include "([^"]+)"`).FindAllStringSubmatch(text, -1) {
			assert.Contains(t, texts, path.Join(path.Dir(name), line[1]), "%s includes it", name)
		}
	}
}

// shared is the folder of the types of all backends in this repository.
var shared = map[string]string{emit.SharedDevice: ourFolder + "device"}

// embedded are the built-in backends.
var embedded = []string{"cuda", "rocm", "oneapi"}

func TestBackendsHoldTheNewestRelease(t *testing.T) {
	for _, name := range embedded {
		dir := filepath.Join(golden.Root(t), "backends", name)
		m := &emit.Model{Release: emittest.Release(t, "latest"),
			Options: map[string]string{"import": ourFolder + name}, Imports: shared}
		files, err := Vendor(backend.Embedded(name)).Emit(m)
		texts := emittest.Texts(t, files, err)
		there := 0
		require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				there++
			}
			return err
		}))
		assert.Len(t, texts, there)
		for file, text := range texts {
			got, err := os.ReadFile(filepath.Join(dir, file))
			require.NoError(t, err, "run: make generate")
			assert.Equal(t, text, string(got), "backends/%s/%s is out of date; run: make generate", name, file)
		}
	}
}

func TestEveryFileCarriesTheBannerAndNoLooseEnds(t *testing.T) {
	texts := rendered(t, emittest.Release(t, "main"), acme())
	for _, name := range embedded {
		maps.Copy(texts, rendered(t, emittest.Release(t, "main"), backend.Embedded(name)))
	}
	for name, text := range texts {
		starter := name == "acme_impl.c" || name == "conformance/acme_hooks.h"
		assert.Equal(t, !starter, emit.HasBanner([]byte(text)), name)
		assert.NotRegexp(t,
			`(?m)[ \t]+$|\n\n\n|<no value>|\{\{[.-]|\{\{range|go:build ignore|dlpackgen_device_(?:name|entry)`, text,
			name)
		if strings.HasSuffix(name, ".go") {
			formatted, err := format.Source([]byte(text))
			require.NoError(t, err, name)
			assert.Equal(t, string(formatted), text, "gofmt has nothing to change")
		}
		for line := range strings.SplitSeq(text, "\n") {
			// one driver function a line; one C call a line
			if name != "device_driver.h" && name != "streams_rules.h" && path.Ext(name) != ".go" {
				assert.LessOrEqual(t, len([]rune(strings.ReplaceAll(line, "\t", "    "))), 120, "%s: %s", name, line)
			}
		}
	}
}

// A different description with the same runtime results in a different backend from the same
// sources: they do not name CUDA.
func TestTheSourcesServeOtherDescriptions(t *testing.T) {
	other := *backend.Embedded("cuda")
	other.Name, other.Title = "acme", "Acme"
	other.Library.Linux = []string{"libacme.so"}
	texts := rendered(t, emittest.Release(t, "1.3"), &other)
	for _, name := range []string{"acme.go", "dlpackgen_acme.c", "dlpackgen_acme.h", "device_driver.h"} {
		require.Contains(t, texts, name)
	}
	assert.Contains(t, texts["acme.go"], "\npackage acme\n")
	assert.Contains(t, texts["device_driver.h"], "\"libacme.so\",\n")
	for name, text := range texts {
		copied := "dlpackgen/" + strings.TrimPrefix(name, "dlpackgen_")
		if name != "device_driver.h" && name != "streams_rules.h" && name != "conformance/conformance_device.h" &&
			!slices.Contains(header.Helpers, copied) && name != "dlpack.h" {
			assert.NotContains(t, strings.ToLower(strings.ReplaceAll(text, `"cuda"`, "")), "cuda", name)
		}
	}
}

// Two copies in one program differ in their only symbol.
func TestTheSymbolFollowsTheImportPath(t *testing.T) {
	entry := func(path string) string {
		files, err := CUDA.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
			Options: map[string]string{"import": path}})
		require.NoError(t, err)
		i := slices.IndexFunc(files, func(f emit.File) bool { return f.Path == "cuda.go" })
		_, rest, _ := strings.Cut(string(files[i].Data), "-DDLPACKGEN_CUDA_ENTRY=")
		symbol, _, _ := strings.Cut(rest, "\n")
		return symbol
	}
	assert.Regexp(t, `^dlp_[0-9a-f]{8}_cuda$`, entry("a"))
	assert.NotEqual(t, entry("a"), entry("b"))
}

// A user's spec may lack names that the sources use.
func TestSpecsWithoutTheUsualNames(t *testing.T) {
	changed := *emittest.Release(t, "1.3")
	changed.Streams = nil
	_, err := CUDA.Emit(&emit.Model{Release: &changed})
	assert.ErrorContains(t, err,
		"the backend cuda builds on the stream table cuda, which DLPack 1.3 of this spec lacks")
	other := *backend.Embedded("cuda")
	other.Devices = []backend.Device{{Type: "kDLAcme", Memory: "device"}}
	_, err = Vendor(&other).Emit(&emit.Model{Release: emittest.Release(t, "1.3")})
	assert.ErrorContains(t, err,
		"the backend cuda builds on the enumerator DLDeviceType.kDLAcme, which DLPack 1.3 of this spec lacks")
}

func TestNumbersOfStreamsComeFromTheSpec(t *testing.T) {
	text := rendered(t, emittest.Release(t, "1.3"), backend.Embedded("cuda"))["numbers_rules.h"]
	assert.Contains(t, text, "    {0, 1, 0},\n    {1, 0, 1},\n    {2, 0, 2},\n};")
	assert.Contains(t, text, "DRIVER_DEFAULT_STREAM ((uintptr_t)1)")
	rocm := *backend.Embedded("cuda")
	rocm.Streams = backend.Streams{Table: "rocm"}
	text = rendered(t, emittest.Release(t, "1.3"), &rocm)["numbers_rules.h"]
	assert.Contains(t, text, "    {0, 0, 0},\n    {1, 1, 0},\n    {2, 1, 0},\n};")
	assert.Contains(t, text, "DRIVER_DEFAULT_STREAM ((uintptr_t)0)")
}
