package spec

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindNeverAnswersFromAnotherSlice(t *testing.T) {
	r, err := Embedded().Release("1.3")
	require.NoError(t, err)
	tensor := Find[*Struct](r, "DLTensor")
	require.NotNil(t, tensor)
	assert.Nil(t, Find[*Enum](r, "DLTensor"), "another kind")
	assert.Nil(t, Find[*Struct](r, "DLTenor"))

	changed := *r
	changed.Decls = slices.Clone(r.Decls)
	longer := *tensor
	changed.Decls[slices.Index(changed.Decls, Decl(tensor))] = &longer
	assert.Same(t, &longer, Find[*Struct](&changed, "DLTensor"))
	changed.Decls = changed.Decls[:1]
	assert.Nil(t, Find[*Struct](&changed, "DLTensor"))
	assert.Same(t, tensor, Find[*Struct](r, "DLTensor"))
}
