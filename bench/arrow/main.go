// Command arrow compares an exchange through DLPack with the same exchange through arrow-go's
// package cdata: a slice of float32 is exported, imported, read and released. It prints the results
// as JSON, like gobench. It is a separate module, so that no other package needs arrow-go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

const elements = 1024

func main() {
	rounds, slice := pair.Flags()
	flag.Parse()
	results := pair.Measure(pairs(), *rounds, *slice)
	err := broken
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(results)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "arrow:", err)
		os.Exit(2)
	}
}

// broken is the first error.
var broken error

func must(err error) {
	if err != nil && broken == nil {
		broken = err
	}
}

// read prevents the compiler from removing reads.
var read float32

// pairs are the exchange with arrow passing the type along, as DLPack does, and without, which is
// cheaper for arrow.
func pairs() []pair.Pair {
	ours := pair.Loop(exchange(make([]float32, elements)))
	a := newArray(make([]float32, elements))
	return []pair.Pair{
		{Name: "arrow", Limit: 0.2, What: "Export, Init, Data, Release", Than: "arrow-go: array alone",
			Ours: ours, Bare: pair.Loop(func(n int) { exchangeArrays(a, n) })},
		{Name: "arrow-schema", What: "Export, Init, Data, Release", Than: "arrow-go: array and schema",
			Ours: ours, Bare: pair.Loop(func(n int) { exchangeBoth(a, n) })},
	}
}

func exchange(data []float32) func(n int) {
	return func(n int) {
		for range n {
			p, err := dlpack.Export(data)
			must(err)
			var m dlpack.Managed
			must(m.Init(p))
			values, err := dlpack.Data[float32](m.Tensor())
			must(err)
			read = values[elements-1]
			m.Release()
		}
	}
}

func newArray(data []float32) arrow.Array {
	buffer := memory.NewBufferBytes(arrow.Float32Traits.CastToBytes(data))
	d := array.NewData(arrow.PrimitiveTypes.Float32, len(data), []*memory.Buffer{nil, buffer}, nil, 0, 0)
	defer d.Release()
	return array.NewFloat32Data(d)
}

func exchangeArrays(a arrow.Array, n int) {
	for range n {
		var out cdata.CArrowArray
		cdata.ExportArrowArray(a, &out, nil)
		use(cdata.ImportCArrayWithType(&out, arrow.PrimitiveTypes.Float32))
	}
}

func exchangeBoth(a arrow.Array, n int) {
	for range n {
		var out cdata.CArrowArray
		var schema cdata.CArrowSchema
		cdata.ExportArrowArray(a, &out, &schema)
		_, imported, err := cdata.ImportCArray(&out, &schema)
		use(imported, err)
	}
}

func use(imported arrow.Array, err error) {
	must(err)
	if err == nil {
		read = imported.(*array.Float32).Float32Values()[elements-1]
		imported.Release()
	}
}
