package golang

import (
	"github.com/dave/jennifer/jen"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The entities whose meaning, and not only whose layout, the run time knows.
const (
	deviceEnum  = "DLDeviceType"
	dtypeStruct = "DLDataType"
	dtypeEnum   = "DLDataTypeCode"
)

// narrowLimit is the widest float, in bits, whose width its code fixes.
const narrowLimit = 8

// deviceRules renders what the run time asks about a device.
func (b *binding) deviceRules(f *jen.File) {
	b.deviceRule(f, "HostReadable", true, "tells whether the host may read the data through its pointer. It is false for a device without a name here.",
		func(r *spec.DeviceRule) bool { return r.HostReadable })
	b.deviceRule(f, "Opaque", false, "tells whether the data pointer may be a handle, with which no arithmetic is possible. It is true for a device without a name here.",
		func(r *spec.DeviceRule) bool { return !r.Opaque })
}

// deviceRule renders a method that gives the answer for those devices that the
// test picks, and the opposite for all others, unknown ones too.
func (b *binding) deviceRule(f *jen.File, method string, answer bool, doc string, picks func(*spec.DeviceRule) bool) {
	enum := spec.Find[*spec.Enum](b.release, deviceEnum)
	var cases []jen.Code
	for _, v := range enum.Values {
		if v.Device != nil && picks(v.Device) {
			cases = append(cases, jen.Id(b.enumerator(enum, v.Name)))
		}
	}
	comment(f.Group, method+" "+doc)
	f.Func().Params(jen.Id("v").Id(b.typeName(deviceEnum))).Id(method).Params().Bool().BlockFunc(func(g *jen.Group) {
		if cases != nil { // a spec of one's own may have no such device
			g.Switch(jen.Id("v")).Block(jen.Case(cases...).Block(jen.Return(jen.Lit(answer))))
		}
		g.Return(jen.Lit(!answer))
	})
}

// dtypes renders the data types that have a name, and their names.
func (b *binding) dtypes(f *jen.File) {
	comment(f.Group, "The data types with a name. Treat them as constants.")
	f.Var().DefsFunc(func(g *jen.Group) {
		for _, d := range b.release.DTypes {
			comment(g, d.Doc)
			g.Id(dtype(d.Name)).Op("=").Id(b.typeName(dtypeStruct)).Add(b.dtypeFields(d))
		}
	})
	comment(f.Group, "name is that of a data type among those above, or empty.")
	f.Func().Params(jen.Id("t").Id(b.typeName(dtypeStruct))).Id("name").Params().String().Block(
		jen.Switch(jen.Id("t")).BlockFunc(func(g *jen.Group) {
			for _, d := range b.release.DTypes {
				g.Case(jen.Id(dtype(d.Name))).Block(jen.Return(jen.Lit(d.Name)))
			}
		}),
		jen.Return(jen.Lit("")),
	)
}

// dtypeFields renders a data type as a literal without its type.
func (b *binding) dtypeFields(d spec.DType) jen.Code {
	enum := spec.Find[*spec.Enum](b.release, dtypeEnum)
	return jen.Values(
		jen.Id("Code").Op(":").Id(b.enumerator(enum, d.Code)),
		jen.Id("Bits").Op(":").Lit(d.Bits),
		jen.Id("Lanes").Op(":").Lit(d.Lanes),
	)
}

// fixedBits renders the widths that are part of a code's meaning.
func (b *binding) fixedBits(f *jen.File) {
	enum := spec.Find[*spec.Enum](b.release, dtypeEnum)
	byBits := map[int][]jen.Code{}
	for _, v := range enum.Values {
		if bits := b.onlyBits(v.Name); bits != 0 {
			byBits[bits] = append(byBits[bits], jen.Id(b.enumerator(enum, v.Name)))
		}
	}
	comment(f.Group, "fixedBits is the only width that a code allows, or 0 where the bits may differ.")
	f.Func().Params(jen.Id("v").Id(b.typeName(dtypeEnum))).Id("fixedBits").Params().Uint8().Block(
		jen.Switch(jen.Id("v")).BlockFunc(func(g *jen.Group) {
			for bits := range narrowLimit + 1 {
				if cases := byBits[bits]; cases != nil {
					g.Case(cases...).Block(jen.Return(jen.Lit(bits)))
				}
			}
		}),
		jen.Return(jen.Lit(0)),
	)
}

// onlyBits is the width of a code that one narrow data type alone has: DLPack
// fixes the bits of truth values and of the floats of a byte or less.
func (b *binding) onlyBits(code string) int {
	found := 0
	for _, d := range b.release.DTypes {
		switch {
		case d.Code != code:
		case found != 0 || d.Bits > narrowLimit:
			return 0
		default:
			found = d.Bits
		}
	}
	return found
}
