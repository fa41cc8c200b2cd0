package golang

import (
	"maps"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The entities whose meaning the runtime uses, not only their layout.
const (
	deviceEnum  = "DLDeviceType"
	dtypeStruct = "DLDataType"
	dtypeEnum   = "DLDataTypeCode"
)

// deviceRules renders the methods of the runtime about devices and strides.
func (b *binding) deviceRules(f *jen.File) {
	comment(f.Group, "nullStridesBefore is the minor version before which producers may leave strides NULL.")
	f.Const().Id("nullStridesBefore").Op("=").Lit(b.release.NullStridesBefore())
	b.deviceRule(f, "HostReadable", true,
		"reports whether the host may read the data through its pointer. It is false for a device without a name "+
			"here.",
		func(r *spec.DeviceRule) bool { return r.HostReadable })
	b.deviceRule(f, "Opaque", false,
		"reports whether the data pointer may be a handle, with which no arithmetic is possible. It is true for a "+
			"device without a name here.",
		func(r *spec.DeviceRule) bool { return !r.Opaque })
	b.deviceRule(f, "isManaged", true,
		"reports whether host and devices share the memory, which makes its device id meaningless. It is false for a "+
			"device without a name here.",
		func(r *spec.DeviceRule) bool { return r.Memory == spec.MemoryManaged })
	b.deviceRule(f, "IDIsZero", true,
		"reports whether the id of such a device is always 0. It is false for a device without a name here.",
		func(r *spec.DeviceRule) bool { return r.IDZero })
}

// deviceRule renders a method that returns the given result for the selected devices, and the
// opposite for all others, including unknown ones.
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
			g.Switch(jen.Id("v")).Block(jen.Case(filled(cases)...).Block(jen.Return(jen.Lit(answer))))
		}
		g.Return(jen.Lit(!answer))
	})
}

// filled breaks the list of a case into lines.
func filled(list []jen.Code) []jen.Code {
	var out []jen.Code
	column := len("    case ")
	for _, item := range list {
		width := len(jen.Add(item).GoString()) + len(", ")
		if column += width; column > maxColumns {
			item, column = jen.Line().Add(item), len("        ")+width
		}
		out = append(out, item)
	}
	return out
}

// dtypes renders the named data types and their names.
func (b *binding) dtypes(f *jen.File) {
	comment(f.Group, "The data types with a name. Treat them as constants.")
	f.Var().DefsFunc(func(g *jen.Group) {
		for _, d := range b.release.DTypes {
			comment(g, d.Doc)
			g.Id(dtype(d.Name)).Op("=").Id(b.typeName(dtypeStruct)).Add(b.dtypeFields(d))
		}
	})
	comment(f.Group, "name returns the name of a data type above, or an empty string.")
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

// elementRules renders the properties of the elements of type codes. A code of a later release is a
// number.
func (b *binding) elementRules(f *jen.File) {
	comment(f.Group, "packedBelow is the width in bits of the narrowest lane that is not packed.")
	f.Const().Id("packedBelow").Op("=").Lit(b.release.Elements.PackedBelow)
	comment(f.Group, "Alignment is the alignment of a [Buffer]'s memory, in bytes. DLPack recommends this value. It "+
		"suffices for every vector instruction and cache line.")
	f.Const().Id("Alignment").Op("=").Lit(b.release.Elements.DataAlignment)
	comment(f.Group, "MaxNDim is the maximum number of dimensions of a tensor, which is NumPy's limit. DLPack has no "+
		"limit; this one bounds the reads if ndim is invalid.")
	f.Const().Id("MaxNDim").Op("=").Lit(b.release.Limits.NDim)
	comment(f.Group, "maxTables limits the number of visited exchange tables, because a chain may be circular.")
	f.Const().Id("maxTables").Op("=").Lit(b.release.Limits.ExchangeChain)
	comment(f.Group, "fixedBits is the only width that a code allows, or 0 where the bits may differ.")
	b.codeRule(f, "fixedBits", func(c spec.CodeRule) int { return c.Bits }, 0)
	b.nativeCodes(f)
	comment(f.Group, "parts is the number of numbers in an element.")
	b.codeRule(f, "parts", spec.CodeRule.Parts, 1)
	comment(f.Group, "alignments are the sizes of lanes, in bytes, that are aligned to their size.")
	f.Var().Id("alignments").Op("=").Index(jen.Op("...")).Int().ValuesFunc(func(g *jen.Group) {
		for _, size := range b.release.Elements.Alignments {
			g.Lit(size)
		}
	})
}

// nativeCodes renders the type codes of Go's own numbers, which checks in hot paths compare.
func (b *binding) nativeCodes(f *jen.File) {
	comment(f.Group, "The type codes of Go's own integers and floats.")
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, kind := range []string{spec.NativeInt, spec.NativeUint, spec.NativeFloat} {
			g.Id("code" + strings.ToUpper(kind[:1]) + kind[1:]).Op("=").Add(b.nativeCode(kind))
		}
	})
}

// nativeCode returns the constant of the first type code with a kind of numbers, or nil.
func (b *binding) nativeCode(kind string) jen.Code {
	enum := spec.Find[*spec.Enum](b.release, dtypeEnum)
	if enum == nil {
		return nil
	}
	i := slices.IndexFunc(enum.Values, func(v spec.EnumValue) bool {
		return v.Element != nil && v.Element.Native == kind
	})
	if i < 0 {
		return nil
	}
	return jen.Id(b.enumerator(enum, enum.Values[i].Name))
}

// codeRule renders a method of type codes that returns a number, with a default for most codes.
func (b *binding) codeRule(f *jen.File, method string, number func(spec.CodeRule) int, usual int) {
	byNumber := map[int][]jen.Code{}
	for _, c := range b.release.Codes {
		if n := number(c); n != usual {
			byNumber[n] = append(byNumber[n], b.codeName(c))
		}
	}
	f.Func().Params(jen.Id("v").Id(b.typeName(dtypeEnum))).Id(method).Params().Uint8().Block(
		jen.Switch(jen.Id("v")).BlockFunc(func(g *jen.Group) {
			for _, n := range slices.Sorted(maps.Keys(byNumber)) {
				g.Case(filled(byNumber[n])...).Block(jen.Return(jen.Lit(n)))
			}
		}),
		jen.Return(jen.Lit(usual)),
	)
}

// codeName returns the constant of a code, or its number if the release lacks it.
func (b *binding) codeName(c spec.CodeRule) jen.Code {
	enum := spec.Find[*spec.Enum](b.release, dtypeEnum)
	if slices.ContainsFunc(enum.Values, func(v spec.EnumValue) bool { return v.Name == c.Name }) {
		return jen.Id(b.enumerator(enum, c.Name))
	}
	return jen.Lit(int(c.Value))
}
