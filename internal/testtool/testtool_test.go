package testtool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// skipper is a test that records its skip instead of ending.
type skipper struct {
	testing.TB
	why string
}

func (s *skipper) Helper() {}

func (s *skipper) Skipf(format string, args ...any) { s.why = fmt.Sprintf(format, args...) }

func TestProgram(t *testing.T) {
	s := &skipper{TB: t}
	assert.NotEmpty(t, Require(s, "go", "golang"))
	assert.Empty(t, s.why)
	assert.Empty(t, Require(s, "no-such-program", "nothing"))
	assert.Equal(t, "needs no-such-program: apt-get install nothing", s.why)
}

func TestPython(t *testing.T) {
	s := &skipper{TB: t}
	t.Setenv("DLPACKGEN_PYTHON", "go")
	assert.Equal(t, "go", RequirePython(s))
	assert.Empty(t, s.why)
	t.Setenv("DLPACKGEN_PYTHON", "/no/such/python")
	RequirePython(s)
	assert.Equal(t, "needs /no/such/python: make setup, or set DLPACKGEN_PYTHON", s.why)
}

func TestPackagesAndHeadersOfAPython(t *testing.T) {
	python, s := RequirePython(t), &skipper{TB: t}
	assert.FileExists(t, filepath.Join(RequirePackage(s, python, "json", "none"), "__init__.py"))
	assert.Empty(t, s.why)
	assert.Empty(t, RequirePackage(s, python, "no_such_package", "make setup"))
	assert.Equal(t, "needs no_such_package: make setup", s.why)
	assert.FileExists(t, filepath.Join(RequireHeaders(t, python), "Python.h"))
	RequireHeaders(s, "/no/such/python")
	assert.Equal(t, "needs Python.h for /no/such/python: apt-get install python3-dev", s.why)
}

func TestUnoptimizedCompilers(t *testing.T) {
	Require(t, "cc", "gcc")
	dir := t.TempDir()
	AddUnoptimized(t, dir)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	AddUnoptimized(t, dir) // keeps the compilers, which would find themselves in this PATH
	if tier.IsNightly() {
		assert.NoFileExists(t, filepath.Join(dir, "cc"))
		return
	}
	source := filepath.Join(dir, "x.c")
	text := "#ifdef __OPTIMIZE__\n#error optimized\n#endif\nint main(void) { return 3; }\n"
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	out, err := exec.Command("cc", "-O3", "-o", filepath.Join(dir, "x"), source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.ErrorContains(t, exec.Command(filepath.Join(dir, "x")).Run(), "exit status 3")
}
