package golang

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func TestEmitNamesWhatASpecLacks(t *testing.T) {
	bare := `spec: 1
releases: [{version: "1.3"}]
declarations: [{struct: DLDevice, fields: [{name: id, type: int32}]}]
python:
  capsule: {fresh: a, used: b}
  versioned: {fresh: c, used: d}
  exchange: {attribute: e, capsule: f}
`
	s, list := spec.Load("spec.yaml", []byte(bare))
	require.NotNil(t, s, list.Sorted())
	release, err := s.Release("1.3")
	require.NoError(t, err)
	_, err = Emit(&emit.Model{Release: release})
	for _, name := range []string{deviceEnum, dtypeEnum, dtypeStruct, "DLTensor", "DLManagedTensor", "DLManagedTensorVersioned"} {
		assert.ErrorContains(t, err, name+", which DLPack 1.3 of this spec lacks")
	}
}
