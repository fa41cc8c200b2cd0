package layout

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

var builtins = []string{"char", "int", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"}

// randomRelease has structs of random fields, each of which may contain earlier ones.
func randomRelease(rng *rand.Rand) *spec.Release {
	r := &spec.Release{Decls: []spec.Decl{
		&spec.Enum{Name: "E", CxxUnderlying: "int32", Values: []spec.EnumValue{{Value: rng.Int64N(1 << 20)}}},
		&spec.Callback{Name: "F"},
	}}
	for i := range 1 + rng.IntN(6) {
		s := &spec.Struct{Name: fmt.Sprintf("S%d", i)}
		for j := range 1 + rng.IntN(9) {
			s.Fields = append(s.Fields, spec.Field{Name: fmt.Sprintf("f%d", j), Type: randomType(rng, i)})
		}
		r.Decls = append(r.Decls, s)
	}
	return r
}

func randomType(rng *rand.Rand, structs int) spec.Type {
	switch rng.IntN(6) {
	case 0:
		return pointer(builtin("void"))
	case 1:
		return named("E")
	case 2:
		return named("F")
	case 3:
		if structs > 0 {
			return named(fmt.Sprintf("S%d", rng.IntN(structs)))
		}
	}
	return builtin(builtins[rng.IntN(len(builtins))])
}

// checkStruct is valid for every layout of a C compiler.
func checkStruct(t *testing.T, s Struct) {
	t.Helper()
	require.Zero(t, s.Size%s.Align, "%s: the size is no multiple of the alignment", s.Name)
	covered := make([]int, s.Size)
	next, widest := 0, 1
	for _, f := range s.Fields {
		require.Zero(t, f.Offset%f.Align, "%s.%s is not aligned", s.Name, f.Name)
		require.GreaterOrEqual(t, f.Offset, next, "%s.%s overlaps the field before it", s.Name, f.Name)
		require.Less(t, f.Offset-next, f.Align, "%s.%s: more padding than its alignment requires", s.Name, f.Name)
		next, widest = f.Offset+f.Size, max(widest, f.Align)
		for i := range f.Size {
			covered[f.Offset+i]++
		}
	}
	require.Equal(t, widest, s.Align, "%s: the alignment is that of its strictest field", s.Name)
	for _, h := range s.Holes {
		require.Positive(t, h.Size)
		for i := range h.Size {
			covered[h.Offset+i]++
		}
	}
	for i, n := range covered {
		require.Equal(t, 1, n, "%s: byte %d belongs to %d fields and holes", s.Name, i, n)
	}
}

func TestEveryLayoutIsSound(t *testing.T) {
	for seed := range uint64(300) {
		r := randomRelease(rand.New(rand.NewPCG(seed, 3)))
		for _, m := range append(Models(), Win32) {
			for _, lang := range []Lang{C, CXX} {
				for _, s := range Of(r, m, lang).Structs {
					checkStruct(t, s)
				}
			}
		}
	}
}
