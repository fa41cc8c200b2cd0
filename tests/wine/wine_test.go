package wine

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// machine is a separate wine prefix, with the Windows build in it.
type machine struct {
	wine, program string
	env           []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("wine runs the windows/amd64 build on amd64 only")
	}
	wine := testtool.Require(t, "wine", "wine")
	prefix, err := os.MkdirTemp("", "dlpackgen-wine-")
	require.NoError(t, err)
	m := &machine{wine: wine, env: append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all",
		"WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=")}
	t.Cleanup(func() {
		// The server writes to the prefix until it has ended.
		_, _ = m.run(t, t.TempDir(), "wineboot", "--kill")
		for os.RemoveAll(prefix) != nil {
			time.Sleep(100 * time.Millisecond)
		}
	})
	code, out := m.run(t, t.TempDir(), "wineboot", "--init")
	require.Zero(t, code, out)
	m.giveRandom(t, filepath.Join(prefix, "drive_c/windows/system32/bcryptprimitives.dll"))
	m.program = compile(t, "windows", "amd64", deleteFix(t)...)
	return m
}

// giveRandom adds the DLL that every Go program loads, if wine has none.
func (m *machine) giveRandom(t *testing.T, dll string) {
	t.Helper()
	if _, err := os.Stat(dll); err == nil {
		return
	}
	cc, err := exec.LookPath("x86_64-w64-mingw32-gcc")
	if err != nil {
		t.Skip("this wine lacks bcryptprimitives.dll, and building it needs mingw: apt-get install mingw-w64")
	}
	out, err := exec.Command(cc, "-shared", "-o", dll, "testdata/bcryptprimitives.c", "-ladvapi32").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// run returns the exit code of a Windows program and all its output. It may be called from any
// goroutine, so it never ends the test.
func (m *machine) run(t *testing.T, dir string, argv ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(m.wine, argv...)
	cmd.Dir, cmd.Env = dir, m.env
	// Child processes of wine keep a pipe open long after its end, but may keep a file.
	log, err := os.CreateTemp(t.TempDir(), "log")
	if !assert.NoError(t, err) {
		return -1, ""
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err = cmd.Run(); cmd.ProcessState == nil {
		return -1, err.Error()
	}
	out, err := os.ReadFile(log.Name())
	assert.NoError(t, err)
	return cmd.ProcessState.ExitCode(), string(out)
}

func (m *machine) dlpackgen(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	return m.run(t, dir, append([]string{m.program}, args...)...)
}

// files returns every file below a folder by its path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		found[name] = string(data)
		return err
	}))
	return found
}

func TestUnderWine(t *testing.T) {
	tier.OnlyNightly(t)
	m := newMachine(t)
	t.Run("generate, check and clean", m.testCycle)
	t.Run("two runs at once", m.testTwoRuns)
	t.Run("a path in other letters", m.testOtherLetters)
	t.Run("the Go bindings conform", m.testBindings)
}

func (m *machine) testCycle(t *testing.T) {
	dir := t.TempDir()
	native := exec.Command(compile(t, runtime.GOOS, runtime.GOARCH), "generate", "--no-config", "--out", "native")
	native.Dir = dir
	printed, err := native.CombinedOutput()
	require.NoError(t, err, "%s", printed)

	cycle := func(want int, verb string, more ...string) string {
		t.Helper()
		code, out := m.dlpackgen(t, dir, append([]string{verb, "--no-config", "--out", "out"}, more...)...)
		require.Equal(t, want, code, "%s %v: %s", verb, more, out)
		return out
	}
	cycle(0, "generate")
	want, got := files(t, filepath.Join(dir, "native")), files(t, filepath.Join(dir, "out"))
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for name := range want {
		assert.Equal(t, want[name], got[name], "the same bytes on every system: %s", name)
	}
	cycle(0, "check")

	header := filepath.Join(dir, "out/c/dlpack/dlpack.h")
	ours, err := os.ReadFile(header)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(header, bytes.ReplaceAll(ours, []byte("DLTensor"), []byte("DLTenor")), 0o644))
	assert.Contains(t, strings.ReplaceAll(cycle(1, "check"), `\`, "/"), "c/dlpack/dlpack.h")
	cycle(1, "generate")
	cycle(0, "generate", "--force")
	healed, err := os.ReadFile(header)
	require.NoError(t, err)
	assert.Equal(t, string(ours), string(healed))

	cycle(0, "clean")
	assert.NotContains(t, files(t, dir), "out/c/dlpack/dlpack.h")
}

func (m *machine) testTwoRuns(t *testing.T) {
	dir := t.TempDir()
	codes := make(chan int)
	for range 2 {
		go func() {
			code, _ := m.dlpackgen(t, dir, "generate", "--no-config", "--out", "out")
			codes <- code
		}()
	}
	assert.Zero(t, <-codes+<-codes, "the second run waits for the first")
	code, out := m.dlpackgen(t, dir, "check", "--no-config", "--out", "out")
	assert.Zero(t, code, out)
}

// Wine ignores case like Windows: a path in different case in the config is the same folder, whose
// files are neither stale nor edited.
func (m *machine) testOtherLetters(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "dlpackgen.yaml")
	for _, path := range []string{"gen/C", "gen/c", "GEN/c"} {
		require.NoError(t, os.WriteFile(config, []byte("version: 1\ntargets: {c: {path: "+path+"}}\n"), 0o644))
		for _, verb := range []string{"generate", "check"} {
			code, out := m.dlpackgen(t, dir, verb)
			require.Zero(t, code, "%s of %s: %s", verb, path, out)
			assert.NotContains(t, out, "deleted")
		}
		assert.Contains(t, files(t, dir), "gen/C/dlpack/dlpack.h", path)
	}
	code, out := m.dlpackgen(t, dir, "clean")
	assert.Zero(t, code, out)
	assert.Equal(t, []string{"dlpackgen.yaml"}, slices.Collect(maps.Keys(files(t, dir))))
}
