package targets

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	source "github.com/dlpackgen/dlpackgen/spec"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// inserted is the spec with a text inserted before each of some texts.
func inserted(t *testing.T, insertions ...[2]string) *spec.Spec {
	t.Helper()
	text := string(source.YAML)
	for _, i := range insertions {
		text = mutant.Once(t, text, "\n"+i[0], "\n"+i[1]+i[0])
	}
	return loaded(t, text)
}

func loaded(t *testing.T, text string) *spec.Spec {
	t.Helper()
	s, list := spec.Load("spec.yaml", []byte(text))
	require.NotNil(t, s, list.Sorted())
	return s
}

// assertRenders compares parts of the files of targets.
func assertRenders(t *testing.T, r *spec.Release, all map[string]map[string][]string) {
	t.Helper()
	for name, want := range all {
		files, err := row(t, name).Emit(&emit.Model{Release: r})
		require.NoError(t, err, name)
		texts := map[string]string{}
		for _, f := range files {
			texts[f.Path] = string(f.Data)
		}
		for file, parts := range want {
			for _, part := range parts {
				assert.Contains(t, texts[file], part, "%s of target %s", file, name)
			}
		}
	}
}

// A device type is added in one place, the spec: here, pinned host memory of another runtime.
func TestADeviceTypeIsAddedInTheSpecAlone(t *testing.T) {
	r, err := inserted(t, [2]string{"      - name: kDLTPU\n", `      - name: kDLGrace
        value: 40
        since: main
        doc: Pinned host memory of another runtime.
        device: {memory: pinned, of: kDLCUDA, host_readable: true, id_zero: true, streams: cuda}
`}).Release("main")
	require.NoError(t, err)
	assertRenders(t, r, map[string]map[string][]string{
		"c": {
			"dlpack/dlpack.h":       {"  kDLGrace = 40,\n"},
			"dlpackgen/abi_check.h": {"DLPACKGEN_ABI_NUMBER(kDLGrace, 40);"},
			"dlpackgen/codes.h": {
				`case kDLGrace: return "kDLGrace";`, "case kDLGrace: return kDLCUDA;",
				"    case kDLGrace:\n    case kDLTPUHost: return 1;\n    default: return 0;\n  }\n}\n\n" +
					"/** Returns the device type whose runtime",
			},
			"dlpackgen/parameter.h": {`case kDLGrace: return "grace";`},
		},
		"cpp": {
			"dlpackgen/layout.hpp": {"static_assert(kDLGrace == 40,"},
			"dlpackgen/dtype.hpp": {"constexpr bool id_is_zero",
				"    case 40: return true;\n    case 20: return true;\n"},
		},
		"go": {"constants.go": {
			"DeviceGrace ", "IDIsZero() bool {\n\tswitch v {\n\tcase DeviceCPU, DeviceCUDAHost, DeviceROCMHost, " +
				"DeviceCUDAManaged, DeviceGrace, DeviceTPUHost:\n\t\treturn true\n",
		}},
		"python": {"dlpackgen_python.h": {"case kDLGrace: return DLPACKGEN_STREAMS_CUDA;"}},
	})
}

// The kind of the numbers of a type code is in one place, the spec: here, integers of the other
// sign.
func TestTheKindOfNumbersIsInTheSpecAlone(t *testing.T) {
	text := string(source.YAML)
	for _, code := range [][3]string{{"kDLInt", "int", "uint"}, {"kDLUInt", "uint", "int"}} {
		row := regexp.MustCompile(`(\{name: ` + code[0] + `, .*native: )` + code[1] + `\}`)
		require.Len(t, row.FindAllString(text, -1), 1, code[0])
		text = row.ReplaceAllString(text, "${1}"+code[2]+"}")
	}
	r, err := loaded(t, text).Release("1.3")
	require.NoError(t, err)
	assertRenders(t, r, map[string]map[string][]string{
		"go": {"constants.go": {"codeInt   = CodeUint", "codeUint  = CodeInt", "codeFloat = CodeFloat"}},
	})
	read := func(name string) contract.ScalarRead {
		i := slices.IndexFunc(r.DTypes, func(d spec.DType) bool { return d.Name == name })
		require.GreaterOrEqual(t, i, 0, name)
		return contract.ScalarReadOf(r.DTypes[i])
	}
	assert.Equal(t, []string{`"int8"`, "8", "0"}, read("int8").Limits)
	assert.Equal(t, []string{`"uint8"`, "8", "1"}, read("uint8").Limits)
	assert.Equal(t, contract.ScalarRead{Function: "within", Limits: []string{`"float16"`, "0x1.ffcp+15"}, Real: true},
		read("float16"))
	assert.Equal(t, contract.ScalarRead{Function: "real", Limits: []string{`"float64"`}, Real: true}, read("float64"))
	assert.Equal(t, contract.ScalarRead{Function: "bits", Limits: []string{`"bool"`, "1", "0"}}, read("bool"))
}

// A release is added in one place, the spec: here, a release with the declarations of branch main.
func TestAReleaseIsAddedInTheSpecAlone(t *testing.T) {
	s, next := loaded(t, emittest.WithNextRelease(string(source.YAML))), emittest.NextVersion()
	assert.Equal(t, next, s.Latest())
	r, err := s.Release(next)
	require.NoError(t, err)
	namespace := "namespace v" + strings.ReplaceAll(next, ".", "_") + " {"
	assertRenders(t, r, map[string]map[string][]string{
		"c": {"dlpack/dlpack.h": {" * DLPack " + next + ": tensors"},
			"dlpackgen/codes.h": {"type codes of DLPack " + next}},
		"cpp":    {"dlpackgen/layout.hpp": {"has the ABI of DLPack " + next + ".", namespace}},
		"go":     {"constants.go": {"DLPack " + next}},
		"python": {"dlpackgen_python.h": {"DLPack " + next + " uses in Python"}},
		"torch":  {"dlpackgen_torch/dtype.hpp": {namespace}},
		"cuda":   {"dlpackgen_cuda.h": {"/* DLPack " + next + ";"}},
	})
}
