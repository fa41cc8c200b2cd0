package testkit

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// isolated is a Python of this test alone, which has no packages.
func isolated(t *testing.T, modules string, args ...string) *exec.Cmd {
	if testing.Short() {
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
	cmd := isolated(t, "json", "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)")
	printed, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(printed).ReadString('\n')
	require.NoError(t, err, "the script ended before")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for { // the script would end by itself after ten minutes
		if _, err := os.Stat("/proc/" + strings.TrimSpace(line)); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A preloaded library is in the script's process, which no server has prepared.
func TestForkedScriptsKeepPreloadedLibraries(t *testing.T) {
	t.Parallel()
	cmd := isolated(t, "json", "-W", "ignore", "-c",
		"import sys; print('json' in sys.modules, 'libdl.so' in open('/proc/self/maps').read(), sys.warnoptions)")
	cmd.Env = append(cmd.Env, "LD_PRELOAD=libdl.so.2")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "False True ['ignore']\n", string(out))
}

// addressOf prints the address of the server that forked the script.
const addressOf = "import os; environ = open(f'/proc/{os.getppid()}/environ').read().split('\\0'); " +
	"print(next(v for v in environ if v.startswith('DLPACKGEN_FORKED=')).partition('=')[2])"

// Only programs of the same user may connect.
func TestForkedServersRejectOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root, to connect as another user")
	}
	out, err := isolated(t, "json", "-c", addressOf).CombinedOutput()
	require.NoError(t, err, "%s", out)
	address := &net.UnixAddr{Net: "unix", Name: "@" + strings.TrimSpace(string(out))}
	assert.Equal(t, "0", replyTo(t, address, 0), "this user's script has run")
	assert.Empty(t, replyTo(t, address, 65534))
}

// replyTo returns the reply of a server to a request of a user, which is the status of a script.
func replyTo(t *testing.T, address *net.UnixAddr, user uintptr) string {
	t.Helper()
	request := []byte(`[["-c", "pass"], "/", {}]`)
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(request)))
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	streams := syscall.UnixRights(int(null.Fd()), int(null.Fd()), int(null.Fd()))
	reply := make(chan []byte)
	go func() {
		defer close(reply)
		runtime.LockOSThread() // the thread ends with the goroutine, and its user with it
		_, _, failed := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), user, ^uintptr(0))
		connection, err := net.DialUnix("unix", nil, address)
		if !assert.Zero(t, failed) || !assert.NoError(t, err) {
			return
		}
		defer connection.Close()
		_, _, _ = connection.WriteMsgUnix(length, streams, nil) // fails if the server has closed it
		_, _ = connection.Write(request)
		text, _ := io.ReadAll(connection)
		reply <- text
	}()
	return string(<-reply)
}
