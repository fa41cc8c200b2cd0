package shm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// mutants are the backend with one change, which a scenario or a group of steps must detect.
var mutants = []struct{ file, old, fresh, scenario string }{
	{"shm_header.h", "if (header->magic != SHM_MAGIC)", "if (0)", "magic"},
	{"shm_header.h", "if (header->flags & ~(uint64_t)SHM_FLAGS)", "if (0)", "flag-readonly"},
	{"shm_header.h", "if (header->ndim > SHM_MAX_NDIM)", "if (0)", "ndim-65"},
	{"shm_header.h",
		"dlpackgen_error_code rule = dlpackgen_validate(&t, header->flags, DLPACKGEN_ACCEPT_NULL_STRIDES);",
		"dlpackgen_error_code rule = DLPACKGEN_OK;", "dtype-code"},
	{"shm_receive.h", "code = shm_check_header(&header, &bytes, error);",
		"code = shm_check_header(&header, &bytes, error), (void)pread(fd, &header, sizeof header, 0);", "race"},
	{"shm_header.h", "if (n == (ssize_t)sizeof *header)", "if (n >= 0)", "half-a-header"},
	{"shm_receive.h", "(seals & SHM_SIZE_SEALS) != SHM_SIZE_SEALS", "!(seals & F_SEAL_GROW)", "no-shrink"},
	{"shm_receive.h", "(seals & SHM_SIZE_SEALS) != SHM_SIZE_SEALS", "!(seals & F_SEAL_SHRINK)", "no-grow"},
	{"shm_receive.h", "(seals & SHM_SIZE_SEALS) != SHM_SIZE_SEALS", "!(seals & F_SEAL_SHRINK)", "no-seal"},
	{"shm_receive.h", "filesystem.f_type != SHM_TMPFS || ", "", "huge-pages"},
	{"shm_receive.h", "seals < 0 || mode < 0", "0", "dev-null"},
	{"shm_receive.h", "size != bytes + SHM_DATA", "size < bytes + SHM_DATA", "too-large"},
	{"shm_receive.h", "size != bytes + SHM_DATA", "size > bytes + SHM_DATA", "too-small"},
	{"shm_receive.h", "!(seals & SHM_WRITE_SEALS) && ", "", "read-only"},
	{"shm_receive.h", "header.flags | (writable ? 0 : DLPACK_FLAG_BITMASK_READ_ONLY)", "header.flags", "read-only"},
	{"shm_receive.h", "if (code || block->fd < 0) (void)close(fd);", "if (block && block->fd < 0) (void)close(fd);",
		"magic"},
	{"shm_receive.h", "if (code || block->fd < 0) (void)close(fd);", "if (code) (void)close(fd);", "empty"},
	{"shm_receive.h", "\t\t\telse if (fd >= 0)\n\t\t\t\t(void)close(fd);\n", "", "five-descriptors"},
	{"shm_receive.h", "if (*fd >= 0) (void)close(*fd);", "", "two-descriptors"},
	{"shm_receive.h", " && count == 1", " && count >= 1", "two-descriptors"},
	{"shm_receive.h", " && byte == shm_byte", "", "another-byte"},
	{"shm_receive.h", " && !(message.msg_flags & (MSG_CTRUNC | MSG_TRUNC))", "", "packet-long"},
	{"shm_receive.h", "(!rights && c->cmsg_type != SHM_PIDFD)", "!rights", "credentials"},
	{"shm_receive.h", "4 * sizeof(int)) + 512", "sizeof(int))", "credentials"},
	{"shm_receive.h", "MSG_CMSG_CLOEXEC", "0", "read-only"},
	{"shm_receive.h", "if (n == 0 && count == 0 && shm_has_ended(socket))", "if (0)", "closed"},
	{"shm_receive.h", " && shm_has_ended(socket)", "", "packet-nothing"},
	{"shm_receive.h", "n == 0 && count == 0 && ", "", "no-descriptor"},
	{"shm_receive.h", `shm_check_socket("receive", socket, error)`, "0", "sending"},
	{"shm_send.h", "if (domain == AF_UNIX)", "if (1)", "sending"},
	{"shm_send.h", "MSG_NOSIGNAL", "0", "sending"},
	{"shm_send.h", "if (reads && !(seals & SHM_WRITE_SEALS))", "if (0)", "sending"},
	{"shm_send.h", "SHM_SIZE_SEALS | (reads ? F_SEAL_FUTURE_WRITE : 0)", "SHM_SIZE_SEALS", "read-only"},
	{"shm_send.h", "F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL", "F_SEAL_GROW | F_SEAL_SEAL", "no-shrink"},
	{"shm_send.h", "native == EAGAIN || native == EWOULDBLOCK || native == EINTR", "native == EINTR", "waiting"},
	{"shm_send.h", " || native == EINTR", "", "waiting"},
	{"shm_send.h", "native == EPIPE || ", "", "sending"},
	{"shm_send.h", " && dlpackgen_is_contiguous(t)", "", "sending"},
	{"shm_send.h", "t->dtype.bits == ours->dtype.bits &&", "", "sending"},
	{"shm_send.h", "memcmp(t->shape, ours->shape, (size_t)t->ndim * sizeof *t->shape) == 0", "1", "sending"},
	{"shm_send.h", "flags & ~(uint32_t)DLPACKGEN_SHM_READ_ONLY", "0", "sending"},
	{"shm_memory.h", "size > limit.rlim_cur", "0", "allocating"},
	{"device_allocation.h", "if (rule != DLPACKGEN_OK)", "if (0)", "allocating"},
	{"shm_memory.h", "if (r->device.device_type != kDLCPU)", "if (0)", "allocating"},
	{"shm_memory.h", "if (!shm_fits_id(r->device))", "if (0)", "allocating"},
	{"shm_memory.h", "return device.device_id == 0 || ", "return ", "allocating"},
	{"shm_memory.h", "if (r->stream)", "if (0)", "allocating"},
	{"shm_block.h", "(void)munmap(block->base, block->size);", "", "fair"},
	{"shm_block.h", "(void)close(block->fd);", "", "fair"},
	{"shm_block.h", "(void)pthread_once(&shm_blocks.once, shm_at_fork);", "", "threads-and-forks"},
	{"shm_block.h", "shm_unlink_block(block);", "", "sending"},
	{"shm_block.h", "(uintptr_t)pointer - data < block->size - SHM_DATA", "1", "host"},
	{"shm_host.h", "if (number)", "if (0)", "host"},
	{"shm_host.h", "if (block && block->tensor.flags & DLPACK_FLAG_BITMASK_READ_ONLY)", "if (0)", "host"},
	{"device_allocation.h", "to->dtype.code != from->dtype.code || ", "", "host"},
}

// notices reports whether a mutant behaves differently from the unchanged backend.
func notices(scenario, program string, env ...string) bool {
	cmd := testkit.Limited(program, scenario)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil {
		return true
	}
	if want := groups[scenario]; want != nil {
		return !fits(want, lines)
	}
	for _, s := range scenarios {
		if s.name == scenario {
			return len(lines) != 2 || !strings.Contains(lines[0], s.want) || lines[1] != "left 0 0"
		}
	}
	return false
}

// plainly builds a client with the backend in a folder, without optimization.
func plainly(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	object := filepath.Join(testkit.Built(t, "plain", func(dir string) {
		testkit.Run(t, gcc, "-std=gnu11", "-w", "-g", "-c", "-I", backend(t), "-o", filepath.Join(dir, "client.o"),
			"testdata/client.c")
	}), "client.o")
	program := filepath.Join(dir, "client")
	args := append([]string{"-std=gnu11", "-w", "-g", "-fsanitize=address", "-I", dir, "-o", program, object}, flags...)
	testkit.Run(t, gcc, append(args, filepath.Join(dir, "dlpackgen_shm.c"), "-lpthread")...)
	return program
}

func TestEachGuardIsMissed(t *testing.T) {
	tier.OnlyNightly(t)
	var all []mutation.Mutant
	for _, m := range mutants {
		all = append(all, mutation.Mutant{File: m.file, Old: m.old, New: m.fresh})
	}
	programOf := mutation.Programs(t, parts(t), all,
		func(dir string, flags ...string) string { return plainly(t, dir, flags...) })
	for i, m := range mutants {
		t.Run(m.file+" "+m.scenario, func(t *testing.T) {
			program, env := programOf(t, i)
			noticed := notices(m.scenario, program, env)
			for tries := 1; tries < 10 && !noticed && m.scenario == "race"; tries++ { // undetected on a busy machine
				noticed = notices(m.scenario, program, env)
			}
			assert.True(t, noticed, "%s -> %s is not detected", m.old, m.fresh)
		})
	}
	for _, s := range scenarios {
		assert.False(t, notices(s.name, client(t)), "%s without a mutant", s.name)
	}
}

// Without the lock of the list, ThreadSanitizer reports a race.
func TestARaceIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("runs threads under ThreadSanitizer")
	}
	lock, unlock := "{ (void)pthread_mutex_lock(&shm_blocks.lock); }\n\n", "static void shm_unlock(void) { "+
		"(void)pthread_mutex_unlock(&shm_blocks.lock); }"
	out, err := threaded(t, testkit.Mutated(t, parts(t), "shm_block.h", lock+unlock,
		"{}\n\nstatic void shm_unlock(void) {}"))
	require.Error(t, err)
	assert.Regexp(t, `data race .*in shm_`, out)
}
