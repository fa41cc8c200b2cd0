package bindings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// mutants breaks each guard of the headers once; the script must detect it.
var mutants = []struct{ file, old, new string }{
	{"bound", "p.writable = needs.writable ? 1 : 0;", "p.writable = 0;"},
	{"bound", "p.layout = needs.contiguous ? DLPACKGEN_LAYOUT_C_CONTIGUOUS : DLPACKGEN_LAYOUT_ANY;", ""},
	{"bound", "p.dtypes[0] = needs.dtype.bits == 0 ? 0 : static_cast<std::uint32_t>(as_number(needs.dtype));", ""},
	{"bound", "p.shape[d] = fixed(needs.shape[d]);", ""},
	{"bound", "if (p.shape[dimension] == DLPACKGEN_ANY) p.shape[dimension] = extent;", ""},
	{"bound", "return extent == 0 ? DLPACKGEN_EXTENT_ZERO : extent;", "return extent;"},
	{"bound", "if (symbols_[i] == word)", "if (false)"},
	{"bound", `if (dimension >= DLPACKGEN_MAX_EXTENTS) reject(line, "there are more than 8 extents");`, ""},
	{"bound", `if (end[0] != ']' || end[1] != '\0')`, "if (false)"},
	{"bound", "if (p.leading_dims == 0 && p.ndim != dimension)", "if (false)"},
	{"bound", `if (word.empty() || word.find_first_of("[ ") != std::string::npos)`, "if (false)"},
	{"bound", "if (e.code() == ErrorCode::callee_failed) throw;", ""},
	{"bound", "while (!of_tensors[like] || (like < count && call.arguments[like].object == nullptr)) ++like;", ""},
	{"bound", "|| (like < count && call.arguments[like].object == nullptr)", ""},
	{"bound", "p.optional = needs.optional ? 1 : 0;", ""},
	{"eigen", "if (!detail::RefMap<T, Steps>::fits(*map)) return ErrorCode::strides;", ""},
	{"bound", "if (like == count) return dlpackgen_export_object(call.module, tensor.release());", ""},
	{"bound", "Made::requirements.writable ? a.flags : a.flags | flags::read_only", "a.flags"},
	{"bound", "if (!tensor) {", "if (false) {"},
	{"bound", `number < 0 ? (reject(line, "an extent is negative"), 0) : fixed(number)`, "fixed(number)"},
	{"bound", `if (*rest == '\0')`, "if (false)"},
	{"bound", "throw_if_error(value);", ""},
	{"bound", "const GilReleased<is_without_gil<Function>> released;", ""},
	{"bound", `PyErr_Format(class_of(e.class_name()), "%s(): %s", described_->function().name, e.what());`, "throw;"},
	{"bound", "parameters_[i].optional = 1;", ""},
	{"python", "access == Access::write ? static_cast<std::uint32_t>(DLPACKGEN_WRITABLE) : 0", "0"},
	{"python", "call.arguments[0].object = like;", ""},
	{"python", "if (code != ErrorCode::callee_failed || PyErr_Occurred() == nullptr)", ""},
	{"python", "Py_XDECREF(object);", ""},
	{"python", "if (!tensor) return raise(ErrorCode::null);", ""},
	{"python", "if (!owned) return raise(ErrorCode::null);", ""},
	{"error", `if (code == ErrorCode::dtype_mismatch) return "TypeError";`, ""},
	{"error", `if (code == ErrorCode::no_memory) return "MemoryError";`, ""},
	{"error", `return differs ? "ValueError" : "BufferError";`, `return "BufferError";`},
}

// nanobind is used for mutants, because its modules compile in half the time of pybind11's.
var nanobind = binders[0]

func TestMutantsAreNoticed(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds modules with mutants")
	}
	var all []mutation.Mutant
	for _, m := range mutants {
		header := m.file
		if header == "bound" { // a part of the headers for both libraries
			header = nanobind.name
		}
		all = append(all, mutation.Mutant{File: "dlpackgen/" + header + ".hpp", Old: m.old, New: m.new})
	}
	build := func(dir string, flags ...string) string {
		out := t.TempDir()
		c := gcc
		c.flags = append([]string{"-O0", "-w"}, flags...)
		nanobind.build(t, out, c, []string{generated(t)[0], dir})
		return out
	}
	mutated := mutation.Programs(t, generated(t)[1], all, build)
	for i, m := range mutants {
		t.Run(m.file+" "+m.old, func(t *testing.T) {
			dir, env := mutated(t, i)
			out, err := script(t, dir, []string{env}, "numpy")
			assert.Error(t, err, "nothing fails without this\n%s", out)
		})
	}
	dir, _ := mutated(t, 0)
	out, err := script(t, dir, nil, "numpy")
	require.NoError(t, err, out)
}
