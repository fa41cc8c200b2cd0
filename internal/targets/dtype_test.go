package targets

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	source "github.com/dlpackgen/dlpackgen/spec"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// added is the spec with one more data type of each kind: one of a fixed width that is packed, and
// one with two parts. Nothing else is changed. No release will have their names and values.
func added(t *testing.T) *spec.Release {
	t.Helper()
	text := string(source.YAML)
	for _, line := range [][2]string{
		{"      - {name: kDLBcomplex,",
			"      - {name: kDLFloat5_e1m3b9fn, value: 240, since: main, element: {bits: 5}, doc: 5-bit float.}\n" +
				"      - {name: kDLUnreal, value: 241, since: main, doc: Number of no format.}\n" +
				"      - {name: kDLUnrealpair, value: 242, since: main, element: {part: kDLUnreal}, doc: Two of them.}\n"},
		{"  - {name: float4_e2m1fn,",
			"  - {name: float5_e1m3b9fn, code: kDLFloat5_e1m3b9fn, bits: 5, torch: {type: Float5_e1m3b9fn}}\n" +
				"  - {name: unreal16, code: kDLUnreal, bits: 16}\n  - {name: unrealpair32, code: kDLUnrealpair, bits: 32, " +
				"torch: {type: Unrealpair}}\n"},
	} {
		text = mutant.Once(t, text, "\n"+line[0], "\n"+line[1]+line[0])
	}
	s, list := spec.Load("spec.yaml", []byte(text))
	require.NotNil(t, s, list.Sorted())
	r, err := s.Release("main")
	require.NoError(t, err)
	return r
}

// Names, widths, validity and alignment, by the rendered file.
var ofAddedTypes = map[string]map[string][]string{
	"c": {
		"dlpackgen/parameter.h": {
			"#define DLPACKGEN_DTYPE_FLOAT5_E1M3B9FN DLPACKGEN_DTYPE(kDLFloat5_e1m3b9fn, 5, 1)\n",
			`return "unrealpair32";`,
		},
		"dlpackgen/codes.h": {`case kDLFloat5_e1m3b9fn: return "kDLFloat5_e1m3b9fn";`},
		"dlpackgen/rules.h": {"    case 240: /* kDLFloat5_e1m3b9fn */ return 5;",
			"    case 242: /* kDLUnrealpair */\n", "case 16: return 2;"},
	},
	"cpp": {
		"dlpackgen/dtype.hpp": {"DLDataType float5_e1m3b9fn{240, 5, 1};", `case 240: return "kDLFloat5_e1m3b9fn";`},
		"dlpackgen/storage.hpp": {
			"struct float5_e1m3b9fn {\n  std::uint8_t bits;", "struct unreal16 {\n  std::uint16_t bits;",
			"struct unrealpair32 {\n  unreal16 real;\n  unreal16 imag;",
		},
	},
	"go": {
		"constants.go": {
			"CodeFloat5E1M3B9FN ", "CodeFloat5E1M3B9FN:\n\t\treturn 5",
			"\tcase CodeComplex, CodeUnrealpair, CodeBcomplex:\n\t\treturn 2",
			`return "float5_e1m3b9fn"`, `return "unrealpair32"`, "var alignments = [...]int{2, 4, 8, 16}",
		},
		"elements.go": {"type Float5E1M3B9FN struct"},
	},
	"python": {
		"dlpackgen_python.c": {
			`{"float5_e1m3b9fn", {kDLFloat5_e1m3b9fn, 5, 1}},`,
		},
	},
	"torch": {"dlpackgen_torch/dtype.hpp": {
		"{c10::ScalarType::Float5_e1m3b9fn, {kDLFloat5_e1m3b9fn, 5, 1}},",
		"{c10::ScalarType::Unrealpair, {kDLUnrealpair, 32, 1}},",
	}},
}

func row(t *testing.T, name string) emit.Target {
	t.Helper()
	i := slices.Index(Names(), name)
	require.GreaterOrEqual(t, i, 0, name)
	return All()[i]
}

// A data type is added in one place, the spec.
func TestADataTypeIsAddedInTheSpecAlone(t *testing.T) {
	r := added(t)
	assertRenders(t, r, ofAddedTypes)
}
