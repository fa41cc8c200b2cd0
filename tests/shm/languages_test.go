package shm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	shmtarget "github.com/dlpackgen/dlpackgen/internal/emit/shm"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// golang builds the Go program.
func golang(t *testing.T, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "golang")
	testkit.Run(t, "go", append(append([]string{"build", "-o", program}, flags...), "./testdata/golang")...)
	return program
}

// python builds the module, and returns a command that runs testdata/peer.py with it.
func python(t *testing.T) []string {
	t.Helper()
	interpreter, gcc, dir := testtool.RequirePython(t), testtool.RequireCompiler(t, "gcc", "gcc"), t.TempDir()
	testkit.Run(t, gcc, "-std=c11", testkit.Level(), "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
		"-fvisibility=hidden", "-DPy_LIMITED_API=0x030B0000",
		"-I", testtool.RequireHeaders(t, interpreter), "-I", filepath.Join(golden.Root(t), "gen", "c"), "-I",
		backend(t),
		"-o", filepath.Join(dir, "dlpackgen_shm.abi3.so"),
		filepath.Join(backend(t), "python", "dlpackgen_shm_module.c"),
		filepath.Join(backend(t), "dlpackgen_shm.c"))
	program := testkit.ForkedProgram(t, interpreter, testkit.Torch)
	return []string{"env", "PYTHONPATH=" + dir, program, "-W", "ignore", "testdata/peer.py"}
}

// connected runs two programs whose standard inputs are the ends of a socket, and returns the
// second one's output.
func connected(t *testing.T, from, to []string) string {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	cmds, outs := [2]*exec.Cmd{exec.Command(from[0], from[1:]...), exec.Command(to[0], to[1:]...)}, [2]bytes.Buffer{}
	for i, cmd := range cmds {
		end := os.NewFile(uintptr(fds[i]), "socket")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = end, &outs[i], &outs[i]
		require.NoError(t, cmd.Start())
		require.NoError(t, end.Close())
	}
	for i, cmd := range cmds {
		require.NoError(t, cmd.Wait(), "%s%s", outs[0].String(), outs[i].String())
	}
	return strings.TrimSpace(outs[1].String())
}

// Each language sends to each other one, and the sender has ended when the tensor is read.
func TestBetweenLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in C, Go and Python")
	}
	c, goes, py := client(t), golang(t), python(t)
	senders := map[string][]string{"c": {c, "untrusted-sends"}, "go": {goes, "send"},
		"python": append(py[:len(py):len(py)], "send")}
	receivers := map[string]struct {
		command []string
		want    string
	}{
		"c":     {[]string{c, "untrusted-receives"}, "receive ok [3 4] flags 0 sum 66 aligned 1"},
		"go":    {[]string{goes, "receive"}, "received [3 4] 48 66"},
		"numpy": {append(py[:len(py):len(py)], "receive", "numpy"), "received (3, 4) 66.0 writable"},
		"torch": {append(py[:len(py):len(py)], "receive", "torch.utils.dlpack"), "received (3, 4) 66.0 writable"},
	}
	for from, sends := range senders {
		for to, r := range receivers {
			t.Run(from+" to "+to, func(t *testing.T) {
				assert.Equal(t, r.want, connected(t, sends, r.command))
			})
		}
	}
	t.Run("read-only", func(t *testing.T) {
		for _, from := range [][]string{senders["go"], senders["python"]} {
			from = append(from[:len(from):len(from)], "read-only")
			assert.Equal(t, "received (3, 4) 66.0 read-only", connected(t, from, receivers["numpy"].command))
			assert.Equal(t, "receive ok [3 4] flags 1 sum 66 aligned 1", connected(t, from, receivers["c"].command))
		}
	})
}

func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module for Python")
	}
	command := python(t)
	printed := func(what string) string {
		out, err := exec.Command(command[0], append(command[1:], what)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	assert.Equal(t, strings.Join([]string{
		"('ValueError', 'shm: send: the tensor is not in shared memory; copy it into a tensor of allocate')",
		"TypeError", "('ValueError', 'shm: allocate: dimension 0 has the extent -1')",
		"('ValueError', 'empty(): the shape has more than 64 dimensions')",
		"TypeError", "OSError", "BlockingIOError",
		"('BufferError', 'shm: receive: the descriptor is not of a memfd: Invalid argument')",
		"BrokenPipeError", "left 0", "",
	}, "\n"), printed("mistakes"))
	assert.Equal(t, "('TimeoutError', 'rang') True\n", printed("interrupted"), "a signal's handler runs while it waits")
}

func TestGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in Go")
	}
	for _, flags := range [][]string{nil, {"-race", "-trimpath"}} {
		program := golang(t, flags...)
		assert.Equal(t, "Send and Receive 3\nPointerAttributes 1\nCopy 1",
			connected(t, []string{"true"}, []string{program, "crossings"}),
			"one each for Send, Receive and Deallocate")
		assert.Equal(t, "true", connected(t, []string{"cat"}, []string{program, "deadline"}),
			"cat stays as long as the program")
		assert.Equal(t, "shm: send: unknown flags; expected DLPACKGEN_SHM_READ_ONLY",
			connected(t, []string{"true"}, []string{program, "flags"}))
	}
	off := "shm: this program was built for a system other than Linux, without cgo, or with the tag nodevice; " +
		"build it with cgo, for Linux true"
	assert.Equal(t, off, connected(t, []string{"true"}, []string{golang(t, "-tags", "nodevice"), "send"}))
	elsewhere := [][]string{{"CGO_ENABLED=1", "GOOS=windows"}}
	if tier.IsNightly() {
		elsewhere = append(elsewhere, []string{"CGO_ENABLED=0", "GOOS=darwin", "GOARCH=arm64"})
	}
	for _, env := range elsewhere {
		out, err := testkit.Vet("../../backends/shm", env) // with cgo, no C file may be left over
		assert.NoError(t, err, "%v %s", env, out)
	}
}

// Two copies in one program differ in their only symbol.
func TestTheSymbolFollowsTheImportPath(t *testing.T) {
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	entry := func(path string) string {
		files, err := shmtarget.Target.Emit(&emit.Model{Release: release, Options: map[string]string{"import": path}})
		require.NoError(t, err)
		for _, f := range files {
			if f.Path == "shm.go" {
				_, rest, _ := strings.Cut(string(f.Data), "-DDLPACKGEN_SHM_ENTRY=")
				symbol, _, _ := strings.Cut(rest, "\n")
				return symbol
			}
		}
		return ""
	}
	assert.Regexp(t, `^dlp_[0-9a-f]{8}_shm$`, entry("a"))
	assert.NotEqual(t, entry("a"), entry("b"))
}
