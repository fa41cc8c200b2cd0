// Package zig builds examples/zig, whose bindings are rendered from templates, with Zig.
package zig

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// example is a copy of the example, and the compiler that builds it.
type example struct {
	testkit.Example
	zig, cache string
}

func newExample(t *testing.T) example {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the example for some seconds, and -short was given")
	}
	var e example
	e.zig, e.cache = testtool.RequireZig(t)
	e.Example = testkit.NewExample(t, "../../examples/zig", ".zig-cache", "src/dlpack", "src/legacy", "include",
		"dlpackgen.lock")
	return e
}

// run runs a verb of Zig. Zig's built libraries are cached next to the compiler, because each run
// would build them again.
func (e example) run(args ...string) (string, error) {
	cmd := exec.Command(e.zig, args...)
	cmd.Dir = e.Dir
	cmd.Env = append(os.Environ(), "ZIG_GLOBAL_CACHE_DIR="+e.cache,
		"ZIG_LOCAL_CACHE_DIR="+filepath.Join(e.Dir, ".zig-cache"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// test compiles and runs the tests of the example, like its build.zig.
func (e example) test() (string, error) {
	return e.run("test", "-Iinclude", "-cflags", "-std=c11", "-Wall", "-Wextra", "-Werror", "--", "tests/peer.c",
		"--dep", "dlpack_example", "-Mroot=tests/tensor.zig", "-Mdlpack_example=src/root.zig")
}

func (e example) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(e.Dir, filepath.FromSlash(name)), []byte(text), 0o600))
}

func TestExampleIsTested(t *testing.T) {
	e := newExample(t)
	e.Generate(t)
	out, err := e.test()
	require.NoError(t, err, out)
	assert.Contains(t, out, "All 11 tests passed.")
	out, err = e.run("fmt", "--check", "build.zig", "build.zig.zon", "src", "tests")
	assert.NoError(t, err, "zig fmt changes %s", out)
}

// The Zig build system is compiled first, which takes minutes.
func TestExampleIsBuilt(t *testing.T) {
	tier.OnlyNightly(t)
	e := newExample(t)
	e.Generate(t)
	out, err := e.run("build", "test", "--summary", "all")
	require.NoError(t, err, out)
	assert.Contains(t, out, "11/11 tests passed")
}

// mistake is a text of a template, its wrong replacement, and the place of detection: an assert of
// the layout, or a test of the example.
type mistake struct{ file, old, replacement, finding string }

// mistakes contains one of each kind.
var mistakes = map[string]mistake{
	"a wrong offset": {"layout.zig.tmpl", "{{index .offset $model.name}}", "{{add 1 (index .offset $model.name)}}",
		"lies at byte"},
	"fields in another order": {"sys.zig.tmpl", "extern struct", "struct", "in C"},
	"a type of another width": {"_types.tmpl", `u{{trimPrefix "uint" .}}`, "u32", "in C"},
	"a deleter that runs twice": {"owned.zig", "|deleter| deleter(managed);",
		"|deleter| { deleter(managed); deleter(managed); }", "in test.deinit calls the deleter once"},
	"a second deinit that releases": {"owned.zig", "orelse return;\n            self.raw = null;", "orelse return;",
		"in test.deinit calls the deleter once"},
	"another major version": {"owned.zig", "managed.version.major != sys.DLPACK_MAJOR_VERSION", "false",
		"in test.another major version is released and not read"},
	"an offset that is ignored": {"view.zig", "std.math.add(usize, data, offset)",
		"std.math.add(usize, data, 0 * offset)",
		"in test.elements lie behind byte_offset"},
}

var moreMistakes = map[string]mistake{
	"a wrong size":      {"layout.zig.tmpl", "{{$extent.size}}", "{{add 1 $extent.size}}", "bytes, and"},
	"a wrong alignment": {"layout.zig.tmpl", "{{$extent.align}}", "{{mul 2 $extent.align}}", "is aligned to"},
	"enumerators of other numbers": {"sys.zig.tmpl", `{{template "tag" .name}} = {{.value}},`,
		`{{template "tag" .name}} = {{add 40 .value}},`, "in test.a tensor of either ABI comes from C"},
	"a flag at another bit": {"sys.zig.tmpl", "packed struct(u64) {", "packed struct(u64) {\n    first: bool = false,",
		"backing"},
	"a wrong mask": {"layout.zig.tmpl", "{{hex .value}}", "{{hex (mul 2 .value)}}", "in C"},
	"a deleter that never runs": {"owned.zig", "|deleter| deleter(managed);",
		"|deleter| std.mem.doNotOptimizeAway(deleter);",
		"in test.deinit calls the deleter once"},
	"a tensor that is passed on and released": {"owned.zig", "defer self.raw = null;", "",
		"in test.intoRaw passes the tensor on"},
	"another major version that is kept": {"owned.zig",
		"self.deinit();\n                return error.OtherMajorVersion;",
		"self.raw = null;\n                return error.OtherMajorVersion;",
		"in test.another major version is released and not read"},
	"elements that are read-only": {"owned.zig", "if (self.isReadOnly()) return error.ReadOnly;", "",
		"in test.deinit calls the deleter once"},
	"memory that is not freed": {"owned.zig", "gpa.free(self.strides);", "", "leaked"},
	"memory that leaks after an error": {"owned.zig", "errdefer gpa.free(self.elements);", "",
		"in test.a failed allocation leaks nothing"},
	"an alignment that is not checked": {"view.zig", "return error.MisalignedData",
		"std.mem.doNotOptimizeAway(address)",
		"in test.elements lie behind byte_offset"},
	"strides that are not compared": {"view.zig", "if (strides[axis] != expected)",
		"if (strides[axis] != expected and false)",
		"in test.null instead of strides means contiguous"},
	"null strides": {"view.zig", "tensor.strides orelse return true", "tensor.strides orelse return false",
		"in test.null instead of strides means contiguous"},
	"memory of a device": {"view.zig", "!device.device_type.isHostReadable()", "device.device_id == 7",
		"in test.what the host cannot read is an error"},
	"another dtype": {"view.zig", "if (!std.meta.eql(tensor.dtype, dtypes.of(T))) return error.DtypeMismatch;", "",
		"in test.what the host cannot read is an error"},
	"a negative extent": {"view.zig", "if (extent < 0) return error.InvalidShape;", "",
		"in test.a failed allocation leaks nothing"},
	"a product that wraps around": {"view.zig",
		"std.math.mul(i64, product, @max(extent, 1)) catch return error.TooLarge",
		"product *% @max(extent, 1)", "in test.a failed allocation leaks nothing"},
	"a tensor that is null": {"owned.zig", "raw orelse return error.NullTensor", "raw.?",
		"in test.another major version is released and not read"},
	"a deleter that is null": {"owned.zig", "if (managed.deleter) |deleter| deleter(managed);",
		"managed.deleter.?(managed);",
		"in test.a tensor without a deleter is not released"},
	"data that are null": {"view.zig", "tensor.data orelse return error.NullData", "tensor.data.?",
		"in test.what the host cannot read is an error"},
	"a negative ndim": {"view.zig", "if (tensor.ndim < 0) return error.InvalidShape;", "",
		"in test.what the host cannot read is an error"},
}

func TestMistakesInTemplatesAreFound(t *testing.T) {
	tier.OnlyNightly(t)
	findMistakes(t, mistakes)
}

func TestMoreMistakesInTemplatesAreFound(t *testing.T) {
	tier.OnlyNightly(t)
	findMistakes(t, moreMistakes)
}

func findMistakes(t *testing.T, all map[string]mistake) {
	e := newExample(t)
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			defer e.Change(t, "templates/"+m.file, m.old, m.replacement)()
			e.Generate(t)
			out, err := e.test()
			require.Error(t, err)
			assert.Contains(t, out, m.finding)
		})
	}
}
