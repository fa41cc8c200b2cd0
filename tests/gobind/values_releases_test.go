package gobind

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The release with bcomplex32 has a type for it, and all types of the others.
const pairsOfMain = `package main

import (
	"fmt"

	"example.org/bindings/dlpack"
)

func main() {
	data := []dlpack.BComplex32{dlpack.BComplex32From(1 - 2i), {Real: 0x3f80}}
	p, err := dlpack.Export(data)
	if err != nil {
		panic(err)
	}
	m, err := dlpack.Import(p)
	if err != nil {
		panic(err)
	}
	defer m.Release()
	values, err := dlpack.Data[dlpack.BComplex32](m.Tensor())
	fmt.Println(m.Tensor(), values[0].Complex64(), err)
	_, err = dlpack.Data[dlpack.Complex32](m.Tensor())
	fmt.Println(err)
}
`

func TestTheNewestPairOfFloats(t *testing.T) {
	skipShort(t)
	m := newModule(t, "example.org/bindings")
	m.emit(t, "dlpack", "main", nil)
	m.write(t, map[string]string{"main.go": pairsOfMain})
	assert.Equal(t, "bcomplex32[2] on CPU:0 [(1-2i) (1+0i)] (1-2i) <nil>\n"+
		"dlpack: unsuitable data type: elements are bcomplex32, requested complex32\n", m.mustRun(t, "run", "."))
}
