package zig

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// models are the columns of golden ABI tables, with a Zig target for each data model. Compilers
// with short enums have other enums than Zig.
var models = []struct{ name, target string }{
	{"lp64", "x86_64-linux"}, {"llp64", "x86_64-windows"}, {"i386", "x86-linux"}, {"ilp32", "arm-linux"},
}

// columns is the number of data models in a golden table.
const columns = 5

var (
	structHead = regexp.MustCompile(`^[A-Z]\w+$`)
	fieldName  = regexp.MustCompile(`[ *](\w+)(?:\)\(.*)?$`)
)

// asserts are those of a release under a data model: Zig's number, and the number of the golden
// table, which a C compiler measured.
func asserts(t *testing.T, release string, model int) (lines []string) {
	t.Helper()
	table, err := os.ReadFile(filepath.Join(golden.Root(t), "golden", "abi", release+".txt"))
	require.NoError(t, err)
	of := ""
	for line := range strings.SplitSeq(string(table), "\n") {
		if structHead.MatchString(line) {
			of = module(release) + ".sys." + line
			continue
		}
		numbers := leading(line)
		switch name := fieldName.FindStringSubmatch(line); {
		case of == "" || name == nil:
		case len(numbers) == columns:
			builtin := map[string]string{"size": "sizeOf", "alignment": "alignOf"}[name[1]]
			lines = append(lines, fmt.Sprintf("@%s(%s), %d", builtin, of, numbers[model]))
		case len(numbers) == 2*columns:
			lines = append(lines, fmt.Sprintf("@offsetOf(%s, %q), %d", of, name[1], numbers[2*model]))
		}
	}
	return lines
}

// leading matches the numbers at the beginning of a line.
func leading(line string) (numbers []int) {
	for _, word := range strings.Fields(line) {
		n, err := strconv.Atoi(word)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// module returns the name of a release's bindings.
func module(release string) string { return "v" + strings.ReplaceAll(release, ".", "_") }

// releases are those with a golden table.
func releases(t *testing.T) (names []string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(golden.Root(t), "golden", "abi", "*.txt"))
	require.NoError(t, err)
	require.Greater(t, len(tables), 12)
	for _, table := range tables {
		names = append(names, strings.TrimSuffix(filepath.Base(table), ".txt"))
	}
	return names
}

// everything uses all declarations of a release's bindings, so that Zig compiles them.
const everything = `
fn equal(comptime what: []const u8, comptime zig: usize, comptime c: usize) void {
    if (zig != c) @compileError(what);
}

fn Everything(comptime dlpack: type) type {
    return struct {
        fn view(tensor: *const dlpack.sys.DLTensor) ![]f32 {
            return dlpack.view.slice(tensor, f32);
        }

        fn owned(comptime T: type) type {
            return struct {
                fn call(gpa: std.mem.Allocator) !void {
                    var made: T = try .alloc(gpa, u16, &.{ 2, 3 });
                    var tensor: T = try .fromRaw(made.intoRaw());
                    defer tensor.deinit();
                    for (try tensor.mutableItems(u16)) |*x| x.* = 1;
                    if ((try tensor.items(u16)).len != (try tensor.shape()).len * 3) unreachable;
                }
            };
        }
    };
}

fn compile(comptime dlpack: type) void {
    _ = &Everything(dlpack).view;
    if (@hasDecl(dlpack, "Tensor")) _ = &Everything(dlpack).owned(dlpack.Tensor).call;
    if (@hasDecl(dlpack, "LegacyTensor")) _ = &Everything(dlpack).owned(dlpack.LegacyTensor).call;
}
`

// root is a program of the bindings of all releases, with the asserts under a data model.
func root(t *testing.T, model int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("const std = @import(\"std\");\n" + everything + "\ncomptime {\n    @setEvalBranchQuota(100_000);\n")
	for _, release := range releases(t) {
		name, lines := module(release), asserts(t, release, model)
		require.Greater(t, len(lines), 15, release)
		fmt.Fprintf(&b, "    const %s = @import(\"%s/dlpack.zig\");\n    compile(%s);\n", name, name, name)
		for _, line := range lines {
			fmt.Fprintf(&b, "    equal(%q, %s);\n", line, line)
		}
	}
	return b.String() + "}\n"
}

// newReleases returns the example with bindings of each release.
func newReleases(t *testing.T) example {
	t.Helper()
	e := newExample(t)
	config := "version: 1\ndlpack: \"1.3\"\ntargets:\n"
	for _, release := range releases(t) {
		name := module(release)
		config += fmt.Sprintf("  %s: {templates: templates, path: src/%s, dlpack: %q}\n", name, name, release)
	}
	e.write(t, "dlpackgen.yaml", config)
	e.Generate(t)
	return e
}

// Zig lays out the structs of each release like C compilers, on a target of each data model. No
// machine code is needed, so none is generated.
func TestLayoutIsThatOfC(t *testing.T) {
	e := newReleases(t)
	for i, model := range models {
		t.Run(model.name, func(t *testing.T) {
			e.write(t, "src/golden.zig", root(t, i))
			out, err := e.run("build-obj", "-fno-emit-bin", "-target", model.target, "src/golden.zig")
			assert.NoError(t, err, out)
		})
	}
}

// A number of a golden table that differs from Zig's stops the build.
func TestAnotherLayoutIsFound(t *testing.T) {
	e := newReleases(t)
	const offset = `@offsetOf(v1_3.sys.DLTensor, "byte_offset"), `
	const right, wrong = offset + "40);", offset + "32);"
	e.write(t, "src/golden.zig", mutant.Once(t, root(t, 0), right, wrong))
	out, err := e.run("build-obj", "-fno-emit-bin", "-target", models[0].target, "src/golden.zig")
	require.Error(t, err)
	assert.Contains(t, out, "byte_offset")
}
