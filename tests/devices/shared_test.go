package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// One Go function accepts the values of any backend: a request, a stream, a pointer, an error, a
// tensor. Without a driver, each backend returns an error of the same type.
func TestOneFunctionAcceptsTensorsOfAnyBackend(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program in Go")
	}
	for cgo, shm := range map[string]string{"0": "shm 1\n", "1": "shm freed\n"} {
		cmd := exec.Command("go", "run", "-trimpath", "./testdata/everyone")
		cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, "cuda 1\nrocm 1\noneapi 1\n"+shm, string(out), "CGO_ENABLED=%s", cgo)
	}
}

// A backend in a config shares the types too; without the shared package, it has separate types,
// which functions of other backends reject.
func TestAVendorsPackageSharesTheTypes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", []byte("module example.com/m\n\ngo 1.24\n"))
	write(t, dir, "use_test.go",
		[]byte("package m\n\nimport (\n\t\"example.com/m/acme\"\n\t\"example.com/m/device\"\n)\n\nvar _ "+
			"func(device.Allocation) = func(acme.Allocation) {}\n"))
	shared := &emit.Model{Release: release13(t)}
	writeFiles(t, filepath.Join(dir, "device"), device.Shared, shared)
	vet := func(imports map[string]string) (string, error) {
		m := &emit.Model{Release: release13(t), Options: map[string]string{"import": "example.com/m/acme"},
			Imports: imports}
		writeFiles(t, filepath.Join(dir, "acme"), acmeTarget(t), m)
		return testkit.Vet(dir, []string{"CGO_ENABLED=0", "GOWORK=off"}, "./...")
	}
	out, err := vet(map[string]string{emit.SharedDevice: "example.com/m/device"})
	require.NoError(t, err, out)
	out, err = vet(nil)
	require.Error(t, err)
	assert.Regexp(t, `cannot use .*func\(acme\.Allocation\)`, out)
}

func release13(t *testing.T) *spec.Release {
	t.Helper()
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	return release
}

// acmeTarget is the target of the backend in testdata/acme.yaml, for releases with its declared
// device types.
func acmeTarget(t *testing.T) emit.Target {
	t.Helper()
	const file = "testdata/acme.yaml"
	cfg, _ := config.Decode(file, contents(t, file), spec.Embedded(), targets.Table(), config.Choice{})
	require.NotNil(t, cfg)
	target := device.Vendor(cfg.Backends[0])
	manifest := target.Manifest
	target.Manifest = func(m *emit.Model) (emit.Manifest, error) {
		m.Release = cfg.Extend(m.Release)
		return manifest(m)
	}
	return target
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, data, 0o600))
}

func writeFiles(t *testing.T, dir string, target emit.Target, m *emit.Model) {
	t.Helper()
	files, err := target.Emit(m)
	require.NoError(t, err)
	for _, f := range files {
		write(t, dir, f.Path, f.Data)
	}
}
