package golang

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func TestEmitNamesWhatASpecLacks(t *testing.T) {
	bare := `spec: 1
releases: [{version: "1.3"}]
declarations:
  - {struct: DLDevice, fields: [{name: id, type: int32}]}
  - {enum: DLDataTypeCode, wire: uint8, values: [{name: kDLInt, value: 0}]}
python:
  capsule: {fresh: a, used: b}
  versioned: {fresh: c, used: d}
  exchange: {attribute: e, capsule: f}
`
	s, list := spec.Load("spec.yaml", []byte(bare))
	require.NotNil(t, s, list.Sorted())
	release, err := s.Release("1.3")
	require.NoError(t, err)
	_, err = Target.Emit(&emit.Model{Release: release})
	for _, name := range []string{
		deviceEnum, "DLDataTypeCode.kDLBool", dtypeStruct, "DLTensor", "DLManagedTensor", "DLManagedTensorVersioned",
		"DLPackExchangeAPI",
		"a type code with native: float",
		"DLDevice.device_type", "DLDevice.device_id", "DLPACK_MAJOR_VERSION", "DLPACK_FLAG_BITMASK_READ_ONLY",
	} {
		assert.ErrorContains(t, err, name+", which DLPack 1.3 of this spec lacks")
	}
}

func TestFieldsThatGoCannotTellApart(t *testing.T) {
	r := *emittest.Release(t, "1.3")
	version := *spec.Find[*spec.Struct](&r, "DLPackVersion")
	version.Fields = append(slices.Clone(version.Fields), spec.Field{Name: "Major", Type: version.Fields[0].Type})
	r.Decls = slices.Clone(r.Decls)
	r.Decls[slices.IndexFunc(r.Decls, func(d spec.Decl) bool { return d.DeclName() == "DLPackVersion" })] = &version
	_, err := Target.Emit(&emit.Model{Release: &r})
	assert.ErrorContains(t, err, "DLPackVersion.major and DLPackVersion.Major would both be named Major in Go")
}
