package layout

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// longModels are the models for which formulas are valid: all except short enums, which the emitted
// checks reject.
func longModels() []Model { return []Model{LP64, LLP64, I386, ILP32, Win32} }

// assertFormulas compares all formulas of a release with the computed layout under each model, in
// both languages.
func assertFormulas(t *testing.T, r *spec.Release) {
	t.Helper()
	formulas := Formulas(r)
	for _, m := range longModels() {
		for _, lang := range []Lang{C, CXX} {
			table := Of(r, m, lang)
			require.Len(t, formulas, len(table.Structs))
			for i, want := range table.Structs {
				assertFormula(t, fmt.Sprintf("%s, %s, %s", r.Version, m.Name, lang), m, want, formulas[i])
			}
		}
	}
}

func assertFormula(t *testing.T, where string, m Model, want Struct, got *FormulaStruct) {
	t.Helper()
	require.Equal(t, want.Name, got.Name, where)
	assert.Equal(t, want.Size, got.Size.In(m), "size of %s, %s", want.Name, where)
	assert.Equal(t, want.Align, got.Align.In(m), "alignment of %s, %s", want.Name, where)
	require.Len(t, got.Fields, len(want.Fields), where)
	for i, f := range want.Fields {
		g := got.Fields[i]
		assert.Equal(t, f.Name, g.Name)
		assert.Equal(t, f.Offset, g.Offset.In(m), "offset of %s.%s, %s", want.Name, f.Name, where)
		assert.Equal(t, f.Size, g.Size.In(m), "size of %s.%s, %s", want.Name, f.Name, where)
	}
}

func TestFormulasAgreeWithTheArithmetic(t *testing.T) {
	assertFormulas(t, tensor())
}

// For any structs, the formulas return the numbers of every model.
func TestFormulasOfRandomStructs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		assertFormulas(t, randomRelease(rng))
	}
}

// A name for an integer, a struct or an enum has its size.
func TestFormulasFollowAliases(t *testing.T) {
	r := tensor()
	r.Decls = append(r.Decls, &spec.Alias{Name: "Number", Target: "int64"},
		&spec.Alias{Name: "Again", Target: "Tensor"},
		&spec.Struct{Name: "Both",
			Fields: []spec.Field{{Name: "n", Type: named("Number")}, {Name: "t", Type: named("Again")}}})
	assertFormulas(t, r)
}

// Formulas are as simple as possible: only numbers that some model pads are rounded up.
func TestFormulasRoundOnlyWhereAModelPads(t *testing.T) {
	formulas := Formulas(tensor())
	sum := Formula{Const: 16, Pointers: 3}
	got := formulas[len(formulas)-1]
	require.Equal(t, "Tensor", got.Name)
	offset := got.Fields[len(got.Fields)-1].Offset
	assert.Equal(t, Formula{Rounded: &Rounded{Of: sum, To: AlignInt64}}, offset)
	assert.Equal(t, Formula{Const: 8, Rounded: offset.Rounded}, got.Size)
	for _, f := range got.Fields[:len(got.Fields)-1] {
		assert.Nil(t, f.Offset.Rounded, f.Name)
	}
}

// Every release of the spec, under every model and in both languages.
func TestFormulasOfEveryRelease(t *testing.T) {
	embedded := spec.Embedded()
	for _, info := range embedded.Releases() {
		release, err := embedded.Release(info.Version)
		require.NoError(t, err)
		assertFormulas(t, release)
	}
}

// In returns the unit in bytes under a model.
func (u Unit) In(m Model) int {
	switch u {
	case AlignPointer:
		return m.Pointer
	case AlignInt64:
		return m.Int64Align
	default:
		return 1 << u
	}
}

// In evaluates the formula under a model, in bytes.
func (f Formula) In(m Model) int {
	n := f.Const + f.Pointers*m.Pointer
	for _, s := range f.Structs {
		n += s.Size.In(m)
	}
	if f.Rounded != nil {
		n += roundUp(f.Rounded.Of.In(m), f.Rounded.To.In(m))
	}
	return n
}
