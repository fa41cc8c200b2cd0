package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// isolated is a Python of this test alone, which has no packages.
func isolated(t *testing.T, modules string, args ...string) *exec.Cmd {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("starts servers, and -short was given")
	}
	cmd := Forked(testtool.RequirePython(t), modules, args...)
	cmd.Env = append(os.Environ(), "LD_OF_TEST="+t.Name())
	return cmd
}

func TestForkedScriptsRunAsOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "beside.py"), []byte("NAME = 'beside'\n"), 0o600))
	script := filepath.Join(dir, "script.py")
	require.NoError(t, os.WriteFile(script, []byte("import multiprocessing.process, os, sys, beside\n"+
		"print(beside.NAME, sys.argv[1:], os.environ['GIVEN'], 'json' in sys.modules, os.path.basename(os.getcwd()))\n"+
		"assert multiprocessing.process.ORIGINAL_DIR == os.getcwd()\n"+
		"print(sys.stdin.read(), __name__, sys.warnoptions, sys.dont_write_bytecode, file=sys.stderr)\n"), 0o600))
	for range 2 {
		cmd := isolated(t, "json,multiprocessing.process", "-W", "ignore", script, "a b", "c")
		cmd.Env = append(cmd.Env, "GIVEN=variable", "PYTHONDONTWRITEBYTECODE=1")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader("input")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.ElementsMatch(t, []string{fmt.Sprintf("beside ['a b', 'c'] variable True %s", filepath.Base(dir)),
			"input __main__ ['ignore'] True"}, strings.Split(strings.TrimSpace(string(out)), "\n"))
	}
}

func TestForkedScriptsEndAsOthers(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"pass":                                "",
		"raise SystemExit":                    "",
		"raise SystemExit(3)":                 "exit status 3",
		"raise SystemExit('why')":             "why\nexit status 1",
		"raise KeyError(2)":                   "KeyError: 2\nexit status 1",
		"import os; os._exit(4)":              "exit status 4",
		"import os; os.kill(os.getpid(), 11)": "signal: segmentation fault",
		"import absent":                       "ModuleNotFoundError: No module named 'absent'\nexit status 1",
		"import threading, time; threading.Thread(target=lambda: [time.sleep(.1), print('late')]).start()": "late",
	} {
		out, err := isolated(t, "absent", "-c", code).CombinedOutput()
		got := string(out)
		if err != nil {
			got += err.Error()
		}
		if want == "" || strings.Contains(want, "signal") {
			assert.Equal(t, want, got, code)
		} else {
			assert.True(t, strings.HasSuffix(strings.TrimSpace(got), want), "%s: %s", code, got)
		}
	}
	out, err := isolated(t, "absent", "-m", "json.tool", "/dev/null").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "Expecting value")
}

// A script ends with the program that waits for it.
func TestForkedScriptsAreEnded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	cmd := isolated(t, "json", "-c",
		"import os, sys, time; open(sys.argv[1] + '.new', 'w').write(str(os.getpid()));"+
			"os.rename(sys.argv[1] + '.new', sys.argv[1]); time.sleep(600)", file)
	require.NoError(t, cmd.Start())
	var pid []byte
	for pid == nil {
		pid, _ = os.ReadFile(file)
		time.Sleep(10 * time.Millisecond)
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for {
		if _, err := os.Stat("/proc/" + string(pid)); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
