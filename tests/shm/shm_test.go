// Package shm tests backends/shm between processes in C, Go and Python: peers that follow the
// rules, peers that do not, and peers that die.
package shm

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/shm"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

func TestMain(m *testing.M) {
	if runtime.GOOS != "linux" {
		return // the backend is only for Linux
	}
	os.Exit(testkit.Main(m, "shm"))
}

// backend is the folder of the backend.
func backend(t testing.TB) string { return filepath.Join(golden.Root(t), "backends", "shm") }

// parts is that folder with each part as a file, for mutants.
func parts(t testing.TB) string { return testkit.Unfolded(t, shm.Target) }

// client returns the C program, under AddressSanitizer.
func client(t testing.TB) string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	dir := testkit.Built(t, "client", func(dir string) {
		testkit.Run(t, gcc, append(append([]string{"-std=gnu11", "-g", testkit.Level(), "-Wall", "-Wextra", "-Werror",
			"-I",
			backend(t), "-o", filepath.Join(dir, "client")}, testkit.Sanitized...),
			"testdata/client.c", filepath.Join(backend(t), "dlpackgen_shm.c"), "-lpthread")...)
	})
	return filepath.Join(dir, "client")
}

// does runs the client, and returns its output lines.
func does(t testing.TB, program string, words ...string) []string {
	t.Helper()
	return testkit.Lines(t, exec.Command(program, words...))
}

func TestEveryDialectOfC(t *testing.T) {
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	for _, dialect := range []string{"c99", "c11", "gnu17"} {
		testkit.Run(t, gcc, "-std="+dialect, "-O2", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-pedantic",
			"-Werror",
			"-c", "-o", os.DevNull, filepath.Join(backend(t), "dlpackgen_shm.c"))
	}
}

// One symbol is exported. No function is called that could name memory, which would outlive a
// killed process.
func TestItExportsOneSymbol(t *testing.T) {
	gcc, nm := testtool.RequireCompiler(t, "gcc", "gcc"), testtool.Require(t, "nm", "binutils")
	object := filepath.Join(t.TempDir(), "shm.o")
	testkit.Run(t, gcc, "-O2", "-c", "-o", object, filepath.Join(backend(t), "dlpackgen_shm.c"))
	out, err := exec.Command(nm, "--defined-only", "--extern-only", "--format=just-symbols", object).Output()
	require.NoError(t, err)
	assert.Equal(t, "dlpackgen_shm\n", string(out))
	out, err = exec.Command(nm, "--undefined-only", "--format=just-symbols", object).Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "memfd_create")
	assert.NotRegexp(t,
		`(?m)^(_*(shm_|sem_|mq_)?open(at)?(64)?(_2)?|shmget|link(at)?|rename|mkstemp|f?open(64)?|creat(64)?)$`,
		string(out))
}

// scenario is the behaviour of a peer, and the result; nothing ever remains.
type scenario struct{ name, want string }

const header = " 71 0 shm: receive: the header "

var scenarios = []scenario{
	{"fair", " ok [3 4] flags 0 sum 66 aligned 1"},
	{"empty", " ok [0 4] flags 0"},
	{"credentials", " ok [3 4] flags 0 sum 66 aligned 1"},
	{"killed", " ok [3 4] flags 0 sum 66 aligned 1"},
	{"scribble", " 71 0 shm: receive: the memory does not begin with a header of this version"},
	{"magic", " 71 0 shm: receive: the memory does not begin with a header of this version"},
	{"flag-readonly", header + "has the flags 0x1, of which 0x4 may be set"},
	{"flag-copied", header + "has the flags 0x2, of which 0x4 may be set"},
	{"flag-unknown", header + "has the flags 0x8000000000000000, of which 0x4 may be set"},
	{"ndim-negative", header + "describes no tensor: ndim is negative"},
	{"ndim-65", header + "has 65 dimensions; the most is 64"},
	{"ndim-huge", header + "has 2147483647 dimensions"},
	{"extent-negative", header + "describes no tensor: an extent of shape is negative"},
	{"extents-overflow", header + "describes no tensor: the tensor has more elements"},
	{"bytes-overflow", header + "describes no tensor: the tensor has more elements or bytes"},
	{"wraps-to-size", header + "describes no tensor: the tensor has more elements"},
	{"dtype-code", header + "describes no tensor: the type code of dtype is unknown"},
	{"dtype-bits", header + "describes no tensor: dtype.bits is 0"},
	{"dtype-bool", header + "describes no tensor: dtype.bits is 0 or does not fit"},
	{"dtype-lanes", header + "describes no tensor: dtype.lanes is 0"},
	{"extent-larger", " 70 0 shm: receive: the memory has 4144 bytes; its header declares 64 of elements"},
	{"extent-smaller", " 70 0 shm: receive: the memory has 4144 bytes; its header declares 32 of elements"},
	{"extent-zero", " 70 0 shm: receive: the memory has 4144 bytes; its header declares 0 of elements"},
	{"dtype-wider", " 70 0 shm: receive: the memory has 4144 bytes; its header declares 96 of elements"},
	{"no-shrink", " 69 0 shm: receive: the memory has the seals 0x5"},
	{"no-grow", " 69 0 shm: receive: the memory has the seals 0x3"},
	{"no-seal", " 69 0 shm: receive: the memory has the seals 0x6"},
	{"no-seals", " 69 0 shm: receive: the memory has the seals 0;"},
	{"too-large", " 70 0 shm: receive: the memory has 4145 bytes; its header declares 48"},
	{"too-small", " 70 0 shm: receive: the memory has 4143 bytes; its header declares 48"},
	{"header-alone", " 70 0 shm: receive: the memory has 536 bytes"},
	{"half-a-header", " 70 0 shm: receive: the memory has 100 bytes, fewer than a header"},
	{"no-bytes", " 70 0 shm: receive: the memory has 0 bytes, fewer than a header"},
	{"huge-pages", " 68 0 shm: receive: the descriptor is of a file system of type 0x958458f6"},
	{"dev-null", " 68 22 shm: receive: the descriptor is not of a memfd"},
	{"a-socket", " 68 22 shm: receive: the descriptor is not of a memfd"},
	{"an-epoll", " 68 22 shm: receive: the descriptor is not of a memfd"},
	{"a-path", " 68 9 shm: receive: the descriptor is not of a memfd"},
	{"no-descriptor", " 67 0 shm: receive: a message of 1 bytes, 0 descriptors;"},
	{"two-descriptors", " 67 0 shm: receive: a message of 1 bytes, 2 descriptors;"},
	{"five-descriptors", " 67 0 shm: receive: a message of 1 bytes, 5 descriptors;"},
	{"many-descriptors", " descriptors and more that did not fit"},
	{"another-byte", " 67 0 shm: receive: a message of 1 bytes, 1 descriptors;"},
	{"packet-empty", " 67 0 shm: receive: a message of 0 bytes, 1 descriptors;"},
	{"packet-nothing", " 67 0 shm: receive: a message of 0 bytes, 0 descriptors;"},
	{"packet-long", " 67 0 shm: receive: a message of 1 bytes, 1 descriptors;"},
	{"starved", " 67 0 shm: receive: a message of 1 bytes, 0 descriptors and more that did not fit"},
	{"closed", " 65 0 shm: receive: the peer closed the socket"},
	{"packet-closed", " 65 0 shm: receive: the peer closed the socket"},
}

func TestPeers(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			out := does(t, client(t), s.name)
			require.Len(t, out, 2)
			assert.Contains(t, out[0], s.want)
			assert.Equal(t, "left 0 0", out[1], "descriptors and mappings")
		})
	}
}

// groups are steps within one process.
var groups = map[string][]string{
	"read-only": {"read-only ok [3 4] flags 1 sum 66 aligned 1", "mprotect -1 mmap 0 write 0 truncate 0 cloexec 1",
		"left 0 0"},
	"race": {"race both 1 bad 0 left 0"},
	"sending": {"null 7 shm: send: NULL instead of the tensor", "flags 7 ",
		"part 18 shm: send: a part or another view", "strides 18 ",
		"dtype 18 ", "own 18 shm: send: the tensor is not in shared memory", "tcp 66 ", "no-socket 66 ",
		"receive-tcp 66 ", "receive-null 7 ",
		"sent 0", "sent-again 0", "then-read-only 7 shm: send: the tensor was sent before", "received 0",
		"forwarded 0", "twice 0", "shared 111",
		"peer-gone 65 "},
	"threads":           {"threads failed 0 left 0"},
	"threads-and-forks": {"threads failed 0 left 0"},
	"waiting":           {"not-ready 64 ", "full 64 ", "signal 64 ", "native 1"},
	"forking":           {"child left 0 wrote 42", "left 0"},
	"allocating": {"scalar 0", "type 8 ", "id 9 ", "stream 10 ", "extent 7 ", "no-shape 7 ", "overflow 7 ",
		"code 7 ", "bool 7 ", "far 7 ", "null 7 ", "limit 19 ", "left 0"},
	"host": {"probe 0", "count 0", "info 0", "found 1 48 0 1", "info-past 0", "found -1 1", "number 10 ", "none 0",
		"copy 0", "copied 11",
		"copy-dtype 17 ", "copy-read-only 7 ", "order 0", "finish 0", "keep 0", "free-null 0"},
}

// fits reports whether each line has its expected beginning.
func fits(want, got []string) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			return false
		}
	}
	return true
}

func TestSteps(t *testing.T) {
	for name, want := range groups {
		t.Run(name, func(t *testing.T) {
			if name == "threads-and-forks" && testing.Short() {
				t.Skip("forks 300 times")
			}
			out := does(t, client(t), name)
			assert.True(t, fits(want, out), "%s", strings.Join(out, "\n"))
		})
	}
}

// The kernel frees the memory of dead processes, including memory in an unreceived message.
func TestMemoryOfDeadProcessesIsFreed(t *testing.T) {
	assert.Equal(t, []string{"in a message 1", "left 0"}, does(t, client(t), "dying"))
}

// threaded runs the threads under ThreadSanitizer.
func threaded(t *testing.T, source string) (string, error) {
	t.Helper()
	gcc, setarch, program := testtool.RequireCompiler(t, "gcc", "gcc"), testtool.Require(t, "setarch",
		"util-linux"), filepath.Join(t.TempDir(), "client")
	testkit.Run(t, gcc, "-std=gnu11", "-g", testkit.Level(), "-w", "-fsanitize=thread", "-I", source, "-o", program,
		"testdata/client.c",
		filepath.Join(source, "dlpackgen_shm.c"), "-lpthread")
	cmd := exec.Command(setarch, "-R", program, "threads")
	cmd.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("runs threads under ThreadSanitizer")
	}
	out, err := threaded(t, backend(t))
	require.NoError(t, err, out)
	assert.Equal(t, "threads failed 0 left 0\n", out)
}

// The headers, owners and exceptions of every backend work in C++.
func TestCpp(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C++")
	}
	gcc, gpp, dir := testtool.RequireCompiler(t, "gcc", "gcc"), testtool.RequireCompiler(t, "g++", "g++"), t.TempDir()
	object, program := filepath.Join(dir, "shm.o"), filepath.Join(dir, "program")
	testkit.Run(t, gcc, testkit.Level(), "-c", "-o", object, filepath.Join(backend(t), "dlpackgen_shm.c"))
	testkit.Run(t, gpp, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", backend(t), "-o", program,
		"testdata/client.cpp", object, "-lpthread")
	assert.Equal(t, []string{"allocated 12, then shm: allocate: there is no device 1; the CPU is 0"}, does(t, program))
}
