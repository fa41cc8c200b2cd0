package gobind

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/golang"
	"github.com/dlpackgen/dlpackgen/internal/gomod"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// module is a separate Go module, outside of this one.
type module struct {
	dir string
	env []string
}

func newModule(t *testing.T, path string) module {
	t.Helper()
	if os.Getenv(inner) != "" {
		t.Skip("a detector is on, which does not apply to modules that other processes build")
	}
	m := module{dir: t.TempDir(),
		env: []string{"GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-trimpath", "GOTOOLCHAIN=local",
			"CGO_ENABLED=1", "CGO_CFLAGS=-O0"}} // optimizing the C takes longer than any test run
	m.write(t, map[string]string{"go.mod": "module " + path + "\n\ngo 1.24\n"})
	return m
}

// with returns the module with additional environment variables.
func (m module) with(env ...string) module {
	m.env = append(m.env[:len(m.env):len(m.env)], env...)
	return m
}

func (m module) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(m.dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
}

// emit generates the bindings of a release in a folder of the module.
func (m module) emit(t *testing.T, folder, version string, options map[string]string) {
	t.Helper()
	release, err := spec.Embedded().Release(version)
	require.NoError(t, err)
	m.emitRelease(t, folder, release, options)
}

func (m module) emitRelease(t *testing.T, folder string, release *spec.Release, options map[string]string) {
	t.Helper()
	dir := filepath.Join(m.dir, filepath.FromSlash(folder))
	path, _, err := new(gomod.Reader).ImportPath(dir)
	require.NoError(t, err)
	files, err := golang.Target.Emit(&emit.Model{Release: release, Options: options, Import: path})
	require.NoError(t, err)
	for _, f := range files {
		m.write(t, map[string]string{folder + "/" + f.Path: string(f.Data)})
	}
}

// run runs the go command in the module. Its tests are vetted only if vet is tested, and have no
// time limit, which load could exceed.
func (m module) run(args ...string) (string, error) {
	if args[0] == "test" {
		args = append([]string{"test", "-vet=off", "-timeout=0"}, args[1:]...)
	}
	if args[0] == "vet" {
		return testkit.Vet(m.dir, m.env, args[1:]...)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), m.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// shared returns the module with the flag of testkit.Vet: one build serves go vet and the rest.
func (m module) shared(t *testing.T) module {
	t.Helper()
	flag, err := testtool.Checkout(m.dir)
	require.NoError(t, err)
	return m.with("GOFLAGS=-trimpath -gcflags=example.org/...=" + flag)
}

func (m module) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.run(args...)
	require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
	return out
}

// bindings creates a module with the bindings of the newest release in dlpack/.
func bindings(t *testing.T) module {
	t.Helper()
	m := newModule(t, "example.org/bindings")
	m.emit(t, "dlpack", "latest", nil)
	return m
}

// skipShort skips slow builds with -short.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles for long, and -short was given")
	}
}

// skipFatal skips tests that a sanitizer would end.
func skipFatal(t *testing.T) {
	t.Helper()
	if sanitized {
		t.Skip("the sanitizer itself ends a program that does this")
	}
}
