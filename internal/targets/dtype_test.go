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
// one with two parts. Nothing else is changed.
func added(t *testing.T) *spec.Release {
	t.Helper()
	text := string(source.YAML)
	for _, line := range [][2]string{
		{"      - {name: kDLBcomplex,",
			"      - {name: kDLFloat5_e2m2fn, value: 40, since: main, element: {bits: 5}, doc: 5-bit float.}\n" +
				"      - {name: kDLPosit, value: 41, since: main, doc: Posit number.}\n" +
				"      - {name: kDLPcomplex, value: 42, since: main, element: {part: kDLPosit}, doc: Two posits.}\n"},
		{"  - {name: float4_e2m1fn,",
			"  - {name: float5_e2m2fn, code: kDLFloat5_e2m2fn, bits: 5, torch: {type: Float5_e2m2fn}}\n" +
				"  - {name: posit16, code: kDLPosit, bits: 16}\n  - {name: pcomplex32, code: kDLPcomplex, bits: 32, " +
				"torch: {type: Pcomplex}}\n"},
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
			"#define DLPACKGEN_DTYPE_FLOAT5_E2M2FN DLPACKGEN_DTYPE(kDLFloat5_e2m2fn, 5, 1)\n", `return "pcomplex32";`,
		},
		"dlpackgen/codes.h": {`case kDLFloat5_e2m2fn: return "kDLFloat5_e2m2fn";`},
		"dlpackgen/rules.h": {"    case 40: /* kDLFloat5_e2m2fn */ return 5;",
			"    case 42: /* kDLPcomplex */\n", "case 16: return 2;"},
	},
	"cpp": {
		"dlpackgen/dtype.hpp": {"DLDataType float5_e2m2fn{40, 5, 1};", `case 40: return "kDLFloat5_e2m2fn";`},
		"dlpackgen/storage.hpp": {
			"struct float5_e2m2fn {\n  std::uint8_t bits;", "struct posit16 {\n  std::uint16_t bits;",
			"struct pcomplex32 {\n  posit16 real;\n  posit16 imag;",
		},
	},
	"go": {
		"constants.go": {
			"CodeFloat5E2M2FN ", "CodeFloat5E2M2FN:\n\t\treturn 5",
			"\tcase CodeComplex, CodePcomplex, CodeBcomplex:\n\t\treturn 2",
			`return "float5_e2m2fn"`, `return "pcomplex32"`, "var alignments = [...]int{2, 4, 8, 16}",
		},
		"elements.go": {"type Float5E2M2FN struct"},
	},
	"python": {
		"dlpackgen_python.c": {
			`{"float5_e2m2fn", {kDLFloat5_e2m2fn, 5, 1}},`,
		},
	},
	"torch": {"dlpackgen_torch/dtype.hpp": {
		"{c10::ScalarType::Float5_e2m2fn, {kDLFloat5_e2m2fn, 5, 1}},",
		"{c10::ScalarType::Pcomplex, {kDLPcomplex, 32, 1}},",
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
