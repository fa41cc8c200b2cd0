package devices

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// bug is the replacement at a site, and its effect.
type bug struct{ name, fresh string }

// site is a text in the vendor's part of examples/vendor.
type site struct {
	old  string
	bugs []bug
}

// planted are vendors' bugs, by function.
//
//mutants:in examples/vendor/clusm/clusm_impl.c
var planted = []site{
	// start and pointer
	{`if (clusm.devices[i] == device) return (int32_t)i;`,
		[]bug{{"ids are in the wrong order",
			`if (clusm.devices[i] == device) return (int32_t)(clusm.count - 1 - i);`}}},
	{`info->devices = (int32_t)clusm.count;`,
		[]bug{{"a device too many", `info->devices = (int32_t)clusm.count + 1;`}}},
	{`info->ordinal = number(device);`, []bug{
		{"memory is always the first device's", `info->ordinal = 0;`},
		{"the base is the address", `info->ordinal = number(device), info->base = address;`},
		{"the size is too small", `info->ordinal = number(device), info->bytes -= 1;`},
		{"the size is far too large", `info->ordinal = number(device), info->bytes += 1 << 20;`},
	}},
	{`(DLDeviceType)(type == DRIVER_type_device ? BACKEND_device : BACKEND_managed)`,
		[]bug{{"managed memory is the device's", `(DLDeviceType)BACKEND_device`}}},
	{`if (!result && type != DRIVER_type_device && type != DRIVER_type_shared) return DLPACKGEN_BACKEND_OK;`,
		[]bug{{"the host's memory is managed", `;`}}},
	{`if (result) return vendor_fail(error, result, "pointer_attributes of %p", address);`,
		[]bug{{"pointer swallows an error", `if (result) return DLPACKGEN_BACKEND_OK;`}}},
	// allocate and deallocate
	{`clusm.devices[r->device.device_id]`, []bug{{"memory of another device", `clusm.devices[0]`}}},
	{`(int)r->device.device_type == BACKEND_device`, []bug{{"no managed memory", `1`}}},
	{`clusm.usm.on_device(clusm.context, device, NULL, bytes, 256, &result)`, []bug{
		{"too little memory", `clusm.usm.on_device(clusm.context, device, NULL, bytes - 1, 256, &result)`},
		{"memory is allocated twice",
			`(clusm.usm.on_device(clusm.context, device, NULL, bytes, 256, &result), ` +
				`clusm.usm.on_device(clusm.context, device, NULL, bytes, 256, &result))`},
	}},
	{`if (!*data) return vendor_fail(error, result, "allocate: %llu bytes", (unsigned long long)bytes);`,
		[]bug{{"allocate swallows an error", `if (!*data) return DLPACKGEN_BACKEND_OK;`}}},
	{`if (r->stream) (void)d->queue_retain(r->stream);`, []bug{
		{"the queue is not retained", `;`},
		{"the queue is retained twice",
			`if (r->stream) (void)d->queue_retain(r->stream), (void)d->queue_retain(r->stream);`},
	}},
	{`drain(d, queue)`, []bug{
		{"deallocate does not wait", `0`},
		{"deallocate waits for the default stream", `drain(d, clusm.queues[r->device.device_id])`},
		{"deallocate waits for the first device", `drain(d, clusm.queues[0])`},
	}},
	{`if (r->stream) (void)d->queue_release(queue);`, []bug{
		{"the queue is not released", `;`},
		{"the queue is released twice", `if (r->stream) (void)d->queue_release(queue), (void)d->queue_release(queue);`},
	}},
	{`clusm.usm.free(clusm.context, data)`, []bug{{"deallocate leaks the memory", `0`}}},
	{`return waited || result ? vendor_fail(error, waited ? waited : result, "deallocate: %p", data) : ` +
		`DLPACKGEN_BACKEND_OK;`, []bug{{"deallocate swallows an error", `return DLPACKGEN_BACKEND_OK;`}}},
	// owner
	{`if (result) return vendor_fail(error, result, "the queue %p", stream);`,
		[]bug{{"owner swallows an error", `if (result) return DLPACKGEN_BACKEND_OK;`}}},
	{`properties & DRIVER_out_of_order`, []bug{{"streams without order", `0`}}},
	{`*ordinal = number(device);`, []bug{
		{"all streams are the first device's", `*ordinal = 0;`},
		{"all streams are the last device's", `*ordinal = (int32_t)clusm.count - 1;`},
		{"streams fit each device", `;`},
	}},
	{`if (context == clusm.context) return DLPACKGEN_BACKEND_OK;`,
		[]bug{{"streams of other contexts", `return DLPACKGEN_BACKEND_OK;`}}},
	// mark, wait and delete_mark
	{`d->marker(queue_of(stream), 0, NULL, &event)`, []bug{
		{"a mark on the default stream", `d->marker(clusm.queues[stream->device.device_id], 0, NULL, &event)`},
		{"a mark on another device",
			`d->marker(clusm.queues[clusm.count - 1 - stream->device.device_id], 0, NULL, &event)`},
		{"a mark that is never recorded",
			`d->marker(d->queue(clusm.context, clusm.devices[0], NULL, NULL), 0, NULL, &event)`},
		{"mark waits", `(drain(d, queue_of(stream)), d->marker(queue_of(stream), 0, NULL, &event))`},
	}},
	{`return result ? vendor_fail(error, result, "a marker in the queue %p", stream->handle) : ` +
		`DLPACKGEN_BACKEND_OK;`, []bug{{"mark swallows an error", `return DLPACKGEN_BACKEND_OK;`}}},
	{`stream ? d->barrier(queue_of(stream), 1, &event, NULL) : d->event_wait(1, &event)`, []bug{
		{"wait does nothing", `0`},
		{"a stream does not wait", `stream ? 0 : d->event_wait(1, &event)`},
		{"a thread does not wait", `stream ? d->barrier(queue_of(stream), 1, &event, NULL) : 0`},
		{"the default stream waits",
			`stream ? d->barrier(clusm.queues[stream->device.device_id], 1, &event, NULL) : d->event_wait(1, ` +
				`&event)`},
		{"the thread waits instead of the stream", `d->event_wait(1, &event)`},
	}},
	{`return result ? vendor_fail(error, result, "waiting for a marker") : DLPACKGEN_BACKEND_OK;`,
		[]bug{{"wait swallows an error", `return DLPACKGEN_BACKEND_OK;`}}},
	{`(void)d->event_release(old);`, []bug{{"delete_mark leaks a mark", `(void)d, (void)old;`}}},
	// copy and synchronize
	{`clusm.usm.copy(queue_of(stream), 0, to, from, bytes, 0, NULL, NULL)`, []bug{
		{"a copy on the default stream",
			`clusm.usm.copy(clusm.queues[stream->device.device_id], 0, to, from, bytes, 0, NULL, NULL)`},
		{"a copy on another device",
			`clusm.usm.copy(clusm.queues[clusm.count - 1 - stream->device.device_id], 0, to, from, bytes, 0, ` +
				`NULL, NULL)`},
		{"a copy in the wrong direction",
			`clusm.usm.copy(queue_of(stream), 0, (void *)from, to, bytes, 0, NULL, NULL)`},
		{"a byte too few", `clusm.usm.copy(queue_of(stream), 0, to, from, bytes - 1, 0, NULL, NULL)`},
		{"a byte too many", `clusm.usm.copy(queue_of(stream), 0, to, from, bytes + 1, 0, NULL, NULL)`},
		{"copies of megabytes are cut",
			`clusm.usm.copy(queue_of(stream), 0, to, from, bytes > 4 << 20 ? 4 << 20 : bytes, 0, NULL, NULL)`},
		{"large copies are cut",
			`clusm.usm.copy(queue_of(stream), 0, to, from, bytes > 65536 ? 65536 : bytes, 0, NULL, NULL)`},
		{"a copy by the host, at once", `(memcpy(to, from, bytes), 0)`},
		{"copy waits", `clusm.usm.copy(queue_of(stream), 1, to, from, bytes, 0, NULL, NULL)`},
	}},
	{`return result ? vendor_fail(error, result, "copy of %llu bytes", (unsigned long long)bytes) : ` +
		`DLPACKGEN_BACKEND_OK;`, []bug{{"copy swallows an error", `return DLPACKGEN_BACKEND_OK;`}}},
	{`drain(d, queue_of(stream))`, []bug{
		{"synchronize does nothing", `0`},
		{"synchronize of the default stream", `drain(d, clusm.queues[stream->device.device_id])`},
		{"synchronize of another device", `drain(d, clusm.queues[clusm.count - 1 - stream->device.device_id])`},
	}},
	{`return result ? vendor_fail(error, result, "stream_synchronize: the queue %p", stream->handle) : DLPACKGEN_BACKEND_OK;`,
		[]bug{{"synchronize swallows an error", `return DLPACKGEN_BACKEND_OK;`}}},
	// the common part of deallocate and synchronize
	{`if (!result) result = d->event_wait(1, &event);`, []bug{
		{"nothing is waited for", `;`},
		{"failures of work are swallowed", `if (!result) (void)d->event_wait(1, &event);`},
	}},
	{"(void)d->event_release(event);\n  return result;", []bug{{"a mark of drain leaks", `return result;`}}},
}

// plant adds all bugs to a folder with the example's sources. It returns their names, whose numbers
// begin with 1, and flags for the compiler.
func plant(t *testing.T, dir string) (names, flags []string) {
	t.Helper()
	var rows []mutation.Mutant
	for _, s := range planted {
		for _, b := range s.bugs {
			names = append(names, b.name)
			rows = append(rows, mutation.Mutant{File: "clusm_impl.c", Old: s.old, New: b.fresh})
		}
	}
	made := mutation.Write(t, dir, rows)
	require.Empty(t, made.Apart, "bugs that need builds of their own")
	return names, made.Flags
}

// conformer runs the conformance program of examples/vendor with PoCL.
type conformer struct {
	lib, vendors, program string
}

// exampleFolder returns the folder that run.sh creates of examples/vendor.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir, here := t.TempDir(), filepath.Join(golden.Root(t), "examples/vendor")
	for _, f := range emitted(t, filepath.Join(here, "dlpackgen.yaml"), "example.com/clusm") {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if !f.Once {
			require.NoError(t, os.WriteFile(path, f.Data, 0o600))
		}
	}
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(here, "clusm"))))
	return dir
}

// conformanceOfTheExample builds the program, with all planted bugs or without.
func conformanceOfTheExample(t *testing.T, withBugs bool) (conformer, []string) {
	t.Helper()
	var names, flags []string
	pocl, dir := pocl(t), exampleFolder(t)
	if withBugs {
		names, flags = plant(t, dir)
	}
	c := conformer{filepath.Join(pocl, "root/usr/lib/x86_64-linux-gnu"), filepath.Join(pocl, "vendors"),
		filepath.Join(dir, "conformance/run")}
	sources, err := filepath.Glob(filepath.Join(dir, "*.c"))
	require.NoError(t, err)
	args := append([]string{"-std=c11", "-g", testkit.Level(), "-w", "-o", c.program,
		filepath.Join(dir, "conformance/conformance.c"), "-ldl", "-lpthread"}, sources...)
	testkit.Run(t, testtool.Require(t, "gcc", "gcc"), append(args, flags...)...)
	return c, names
}

// run returns the output of the program, and its exit.
func (c conformer) run(mutant int, env ...string) (string, error) {
	cmd := exec.Command(filepath.Join(c.lib, "ld-linux-x86-64.so.2"), "--library-path", c.lib, c.program)
	cmd.Env = append(append(os.Environ(), "OCL_ICD_VENDORS="+c.vendors+"/", "POCL_DEVICES=cpu cpu",
		fmt.Sprint("DLPACKGEN_MUTANT=", mutant)), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// catches reports whether the program detects a bug: a check fails, or the process crashes. A bug
// in the order of work is visible only if the machine reorders work during the observation, which
// load may prevent: there are three attempts.
func (c conformer) catches(mutant int) (out string, caught bool) {
	for range 3 {
		text, err := c.run(mutant, "CONFORMANCE_SECONDS=40")
		exit, failed := err.(*exec.ExitError)
		out = text
		if failed && (strings.Contains(text, "\nFAIL ") || exit.ExitCode() < 0) {
			return out, true
		}
	}
	return out, false
}

// The conformance program detects every bug in the vendor's part.
func TestConformanceFindsPlantedBugs(t *testing.T) {
	tier.OnlyNightly(t)
	c, names := conformanceOfTheExample(t, true)
	docs := contents(t, filepath.Join(golden.Root(t), "docs/records/devices.md"))
	assert.Contains(t, string(docs), fmt.Sprintf("plants %d bugs", len(names)))
	out, err := c.run(0)
	require.NoError(t, err, out)
	failed := regexp.MustCompile(`FAIL .*`)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, caught := c.catches(i + 1)
			assert.True(t, caught, out)
			t.Log(failed.FindAllString(out, -1))
		})
	}
}

// Without bugs, the program passes under any load: no check has a time limit that a slow machine
// could exceed.
func TestConformanceOnABusyMachine(t *testing.T) {
	tier.OnlyNightly(t)
	c, _ := conformanceOfTheExample(t, false)
	var burning, running sync.WaitGroup
	var done atomic.Bool
	for range 3 * runtime.NumCPU() {
		burning.Go(func() {
			for !done.Load() {
			}
		})
	}
	for range 4 {
		running.Go(func() {
			for range 5 {
				out, err := c.run(0)
				assert.NoError(t, err, out)
			}
		})
	}
	running.Wait()
	done.Store(true)
	burning.Wait()
}
