package spec

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	source "github.com/dlpackgen/dlpackgen/spec"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

func release(t *testing.T, version string) *Release {
	t.Helper()
	r, err := Embedded().Release(version)
	require.NoError(t, err)
	return r
}

func names[D Decl](r *Release) []string {
	var out []string
	for _, d := range Of[D](r) {
		out = append(out, d.DeclName())
	}
	return out
}

func TestEveryReleaseIsThereOldestFirst(t *testing.T) {
	var versions []string
	for _, r := range Embedded().Releases() {
		versions = append(versions, r.Version)
		assert.Equal(t, r.Version == "main", r.Unreleased)
	}
	assert.Equal(t, strings.Fields("0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 1.0 1.1 1.2 1.3 main"), versions)
	assert.Equal(t, "1.3", Embedded().Latest())
}

func TestReleaseTakesTheFormsThatUsersWrite(t *testing.T) {
	for query, want := range map[string]string{"1.3": "1.3", "v0.8": "0.8", "latest": "1.3", "main": "main"} {
		assert.Equal(t, want, release(t, query).Version)
	}
	for _, query := range []string{"", "1", "1.9", "v", "vmain ", "Latest"} {
		_, err := Embedded().Release(query)
		assert.ErrorContains(t, err, "there are 0.1, 0.2", "%q", query)
	}
}

func TestMainHasTheNumberOfTheReleaseBeforeIt(t *testing.T) {
	r := release(t, "main")
	assert.Equal(t, [2]int{1, 3}, [2]int{r.Major, r.Minor})
	assert.True(t, r.Unreleased)
}

func TestRenamesApplyToReferencesToo(t *testing.T) {
	r := release(t, "0.3")
	assert.Contains(t, names[*Struct](r), "DLContext")
	assert.NotContains(t, names[*Struct](r), "DLDevice")
	field := Find[*Struct](r, "DLTensor").Fields[1]
	assert.Equal(t, Field{Name: "ctx", Type: Type{Kind: Named, Name: "DLContext"}, Doc: field.Doc}, field)
	assert.Contains(t, release(t, "0.1").DTypes,
		DType{Name: "float32", Code: "kFloat", Native: NativeFloat, Bits: 32, Lanes: 1, Torch: TorchType{"Float", 1}})
}

func TestHistoriesOfEveryKind(t *testing.T) {
	for version, want := range map[string]string{"0.1": "010", "0.2": "010", "0.5": "050", "0.6": "60", "0.8": "80"} {
		assert.Equal(t, want, Find[*Macro](release(t, version), "DLPACK_VERSION").Literal, version)
	}
	assert.Equal(t, int64(40), Find[*Macro](release(t, "0.5"), "DLPACK_VERSION").Value)
	assert.Nil(t, Find[*Macro](release(t, "1.0"), "DLPACK_VERSION"))
	assert.Equal(t, []string{"DLContext"}, names[*Alias](release(t, "0.4")))
	assert.Empty(t, names[*Alias](release(t, "0.5")))
	assert.False(t, Find[*Struct](release(t, "1.1"), "DLManagedTensorVersioned").Typedef)
	assert.True(t, Find[*Struct](release(t, "1.2"), "DLManagedTensorVersioned").Typedef)
	assert.Empty(t, Find[*Enum](release(t, "0.6"), "DLDeviceType").CxxUnderlying)
	assert.Equal(t, "int32", Find[*Enum](release(t, "0.7"), "DLDeviceType").CxxUnderlying)
	assert.Equal(t, uint64(4), Find[*Flag](release(t, "1.1"), "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED").Value())
}

func TestMeaningFollowsTheRelease(t *testing.T) {
	strides := func(version string) Null { return Find[*Struct](release(t, version), "DLTensor").Fields[5].Null }
	assert.Equal(t, NullAllowed, strides("1.1"))
	assert.Equal(t, NullScalar, strides("1.2"))
	for version, minor := range map[string]int{"1.1": 0, "1.2": 2, "main": 2} {
		assert.Equal(t, minor, Find[*Struct](release(t, version), "DLTensor").Fields[5].NullBefore, version)
	}
	assert.Equal(t, Python{Capsule: CapsuleNames{"dltensor", "used_dltensor"}}, release(t, "0.8").Python)
	assert.Equal(t, "__c_dlpack_exchange_api__", release(t, "1.2").Python.ExchangeAttr)
	assert.Empty(t, release(t, "1.2").Python.ExchangeCapsule)
	assert.Empty(t, release(t, "1.2").Python.OlderExchange)
	assert.Equal(t, "__c_dlpack_exchange_api__", release(t, "1.3").Python.OlderExchange)
	assert.Equal(t, "dlpack_exchange_api", release(t, "1.3").Python.ExchangeCapsule)
}

// TestDevicesMeanWhatTheProtocolSays compares the rules with a separate list, taken from the header
// and the array API standard.
func TestDevicesMeanWhatTheProtocolSays(t *testing.T) {
	want := map[string]DeviceRule{
		"kDLCPU":         {HostReadable: true, IDZero: true, Memory: MemoryHost, Torch: TorchDevice{Key: "CPU"}},
		"kDLCUDA":        {Streams: "cuda", Torch: TorchDevice{Key: "CUDA"}},
		"kDLCUDAHost":    {HostReadable: true, IDZero: true, Streams: "cuda", Memory: MemoryPinned, Of: "kDLCUDA"},
		"kDLOpenCL":      {Opaque: true},
		"kDLVulkan":      {Opaque: true},
		"kDLMetal":       {Opaque: true, Torch: TorchDevice{Key: "MPS"}},
		"kDLVPI":         {Opaque: true},
		"kDLROCM":        {Streams: "rocm", Torch: TorchDevice{Key: "CUDA", Build: TorchROCm}},
		"kDLROCMHost":    {HostReadable: true, IDZero: true, Streams: "rocm", Memory: MemoryPinned, Of: "kDLROCM"},
		"kDLExtDev":      {Opaque: true, Torch: TorchDevice{Key: "PrivateUse1"}},
		"kDLCUDAManaged": {HostReadable: true, IDZero: true, Streams: "cuda", Memory: MemoryManaged, Of: "kDLCUDA"},
		"kDLOneAPI":      {Torch: TorchDevice{Key: "XPU"}},
		"kDLWebGPU":      {Opaque: true},
		"kDLHexagon":     {},
		"kDLMAIA":        {Torch: TorchDevice{Key: "MAIA"}},
		"kDLTrn":         {},
		"kDLTPU":         {},
		"kDLTPUHost":     {IDZero: true, Memory: MemoryPinned, Of: "kDLTPU"},
		"kDLAscend":      {},
	}
	got := map[string]DeviceRule{}
	for _, v := range Find[*Enum](release(t, "main"), "DLDeviceType").Values {
		got[v.Name] = *v.Device
	}
	assert.Equal(t, want, got)
}

// TestTypeCodesMeanWhatTheProtocolSays does the same for type codes.
func TestTypeCodesMeanWhatTheProtocolSays(t *testing.T) {
	want := map[string]ElementRule{
		"kDLInt": {Native: "int"}, "kDLUInt": {Native: "uint"}, "kDLFloat": {Native: "float"},
		"kDLBool":    {Bits: 8, Native: "bool"},
		"kDLComplex": {Part: "kDLFloat"}, "kDLBcomplex": {Part: "kDLBfloat"},
		"kDLFloat6_e2m3fn": {Bits: 6}, "kDLFloat6_e3m2fn": {Bits: 6}, "kDLFloat4_e2m1fn": {Bits: 4},
	}
	for _, name := range []string{"e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu"} {
		want["kDLFloat8_"+name] = ElementRule{Bits: 8}
	}
	for _, version := range []string{"0.8", "main"} {
		got := map[string]ElementRule{}
		for _, c := range release(t, version).Codes {
			got[c.Name] = c.ElementRule
		}
		assert.Equal(t, want, got, "an old release meets later codes, too")
	}
	assert.Equal(t, Elements{8, "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED", []int{2, 4, 8, 16}, 256},
		release(t, "1.3").Elements)
	assert.Equal(t, Limits{NDim: 64, ExchangeChain: 64}, release(t, "1.3").Limits)
	assert.Empty(t, release(t, "1.0").Elements.PaddedBy, "the flag was added later")
}

func TestStreamNumbersAreThoseOfTheArrayAPI(t *testing.T) {
	got := map[string]map[int64]string{}
	for _, table := range release(t, "1.3").Streams {
		assert.True(t, table.Handle, table.Name)
		got[table.Name] = map[int64]string{}
		for _, v := range table.Values {
			got[table.Name][v.Value] = v.Meaning
		}
	}
	assert.Equal(t, map[string]map[int64]string{
		"cuda": {-1: "no_sync", 0: "rejected", 1: "legacy_default", 2: "per_thread_default"},
		"rocm": {-1: "no_sync", 0: "default", 1: "rejected", 2: "rejected"},
	}, got)
}

func TestHostReadableDevicesAreThoseThatNumPyReads(t *testing.T) {
	var readable []int64
	for _, v := range Find[*Enum](release(t, "1.3"), "DLDeviceType").Values {
		if v.Device.HostReadable {
			readable = append(readable, v.Value)
		}
	}
	assert.Equal(t, []int64{1, 3, 11, 13}, readable)
}

func TestOneOfEachHoldsEveryKindOfDeclaration(t *testing.T) {
	src, err := os.ReadFile("testdata/one-of-each.yaml")
	require.NoError(t, err)
	s, diags := Load("one-of-each.yaml", src)
	require.Empty(t, diags.Sorted())
	now, err := s.Release("main")
	require.NoError(t, err)
	old, err := s.Release("0.9")
	require.NoError(t, err)
	assert.Equal(t, []string{"ACME_EXTERN_C", "ACME_DLL"}, names[*Linkage](now))
	assert.Equal(t, "ACME_BUILD", Of[*Linkage](old)[1].Exports)
	assert.Equal(t, int64(15), Of[*Macro](old)[0].Value)
	assert.Equal(t, uint64(1)<<63, Of[*Flag](now)[0].Value())
	assert.Equal(t, []string{"AcmeSort", "AcmeBits"}, names[*Enum](old))
	assert.Equal(t, Pointer, Of[*Struct](old)[0].Fields[0].Type.Kind)
	assert.Equal(t, "AcmeOldNode", Of[*Struct](old)[0].Fields[0].Type.Elem.Name)
	assert.Equal(t, "AcmeWalk", Of[*Callback](old)[0].Name)
	assert.Empty(t, Of[*Callback](old)[0].Func.Params)
	assert.Equal(t, []string{"AcmeNode", "AcmeTable"}, names[*Struct](now))
}

func TestAMissingDocIsAWarning(t *testing.T) {
	src := mutant.Once(t, string(source.YAML), "doc: The device of a tensor's data.\n", "\n")
	s, diags := Load("s.yaml", []byte(src))
	require.NotNil(t, s)
	require.Len(t, diags.Sorted(), 1)
	d := diags.Sorted()[0]
	assert.Equal(t, diag.Warning, d.Severity)
	assert.Equal(t, "struct DLDevice has no doc", d.Text)
}

func TestTheDigestDoesNotDependOnLineEnds(t *testing.T) {
	unix, _ := Load("s.yaml", source.YAML)
	dos, _ := Load("s.yaml", []byte(strings.ReplaceAll(string(source.YAML), "\n", "\r\n")))
	require.NotNil(t, dos)
	assert.Equal(t, unix.SHA256, dos.SHA256)
}

func TestAllFindingsOfARunComeAtOnce(t *testing.T) {
	_, diags := Load("s.yaml", []byte(`spec: 1
releases: [{version: "1.0"}, {version: "x"}]
colour: red
declarations:
  - struct: S
    fields: [{name: a, type: int, ofset: 1}, {name: b}]
`))
	var codes []string
	for _, d := range diags.Sorted() {
		codes = append(codes, d.Code)
	}
	assert.Equal(t, []string{"invalid-version", "unknown-key", "unknown-key", "missing-key"}, codes)
}
