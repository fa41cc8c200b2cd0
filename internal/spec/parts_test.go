package spec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The parts of an element are as wide as the element together.
func TestPartsOfElements(t *testing.T) {
	r, parts := release(t, "main"), map[string]string{}
	for _, d := range r.DTypes {
		if part, ok := r.PartOf(d); ok {
			parts[d.Name] = part.Name
			assert.Equal(t, d.Bits, r.CodeOf(d).Parts()*part.Bits, d.Name)
		}
	}
	assert.Equal(t, map[string]string{
		"complex32": "float16", "complex64": "float32", "complex128": "float64", "bcomplex32": "bfloat16",
	}, parts)
}
