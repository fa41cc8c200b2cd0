package golang

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// words are parts of C names with a special spelling in Go.
var words = map[string]string{
	"api":      "API",
	"dl":       "DL",
	"dltensor": "DLTensor",
	"dtype":    "DType",
	"id":       "ID",
	"ndim":     "NDim",
	"Bfloat":   "BFloat",
	"UInt":     "Uint",
}

// typed are the integer fields that contain an enumerator or flags.
var typed = map[string]string{
	"DLDataType.code":                "DLDataTypeCode",
	"DLManagedTensorVersioned.flags": flagsType,
}

// flagsType is the Go type of all flags, which has no C counterpart.
const flagsType = "Flags"

// prefixes are the prefixes of an enum's enumerators in C and in Go.
var prefixes = map[string]string{
	"DLDeviceType":   "Device",
	"DLDataTypeCode": "Code",
}

// typeName returns the Go name of a type. A struct with pointers is a raw mirror and keeps its C
// name. Other structs have Go names.
func (b *binding) typeName(name string) string {
	if s := spec.Find[*spec.Struct](b.release, name); s != nil && b.hasPointers(s) {
		return name
	}
	for _, prefix := range []string{"DLPack", "DL"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return rest
		}
	}
	return camel(name)
}

func (b *binding) hasPointers(s *spec.Struct) bool {
	for _, f := range s.Fields {
		if b.isPointer(f.Type) {
			return true
		}
		if inner := spec.Find[*spec.Struct](b.release,
			b.table.Underlying(f.Type).Name); inner != nil && b.hasPointers(inner) {
			return true
		}
	}
	return false
}

func (b *binding) isPointer(t spec.Type) bool {
	t = b.table.Underlying(t)
	return t.Kind == spec.Pointer || t.Kind == spec.Function ||
		t.Kind == spec.Named && spec.Find[*spec.Callback](b.release, t.Name) != nil
}

// fieldName returns the Go name of a field: device_type of Device is Type.
func (b *binding) fieldName(s *spec.Struct, name string) string {
	noun := strings.ToLower(b.typeName(s.Name)) + "_"
	return camel(strings.TrimPrefix(name, noun))
}

// enumerator returns the Go name of a constant: kDLFloat8_e4m3 is CodeFloat8E4M3.
func (b *binding) enumerator(e *spec.Enum, name string) string {
	prefix, ok := prefixes[e.Name]
	if !ok {
		prefix = b.typeName(e.Name)
	}
	return prefix + camel(strings.TrimPrefix(name, "kDL"))
}

// flag returns the Go name of a flag: DLPACK_FLAG_BITMASK_READ_ONLY is
// FlagReadOnly.
func flag(name string) string {
	return "Flag" + camel(strings.ToLower(strings.TrimPrefix(name, "DLPACK_FLAG_BITMASK_")))
}

// macro returns the Go name of a number: DLPACK_MAJOR_VERSION is MajorVersion.
func macro(name string) string {
	return camel(strings.ToLower(strings.TrimPrefix(name, "DLPACK_")))
}

// dtype returns the Go name of a data type: uint8 is DTypeUint8.
func dtype(name string) string {
	if rest, ok := strings.CutPrefix(name, "bfloat"); ok {
		return "DTypeBFloat" + rest
	}
	if rest, ok := strings.CutPrefix(name, "bcomplex"); ok {
		return "DTypeBComplex" + rest
	}
	return "DType" + camel(name)
}

// camel joins the parts of a name between underscores. A part with a digit after
// its first letter is a format such as e4m3fn, which Go writes in capitals.
func camel(name string) string {
	var out strings.Builder
	for i, word := range strings.Split(name, "_") {
		switch special, ok := words[word]; {
		case word == "":
		case ok:
			out.WriteString(special)
		case i > 0 && len(word) > 1 && unicode.IsDigit(rune(word[1])):
			out.WriteString(strings.ToUpper(word))
		default:
			out.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return out.String()
}

// clashes finds the names of a release that are equal in Go.
func clashes(r *spec.Release) []emit.Clash {
	b := &binding{release: r, table: layout.Of(r, layout.LP64, layout.C)}
	var found []emit.Clash
	u := newUnique(&found)
	for _, s := range spec.Of[*spec.Struct](r) {
		u.add(b.typeName(s.Name), s.Name)
		fields := newUnique(&found)
		for _, f := range s.Fields {
			fields.add(b.fieldName(s, f.Name), s.Name+"."+f.Name)
		}
	}
	for _, e := range spec.Of[*spec.Enum](r) {
		u.add(b.typeName(e.Name), e.Name)
		for _, v := range e.Values {
			u.add(b.enumerator(e, v.Name), v.Name)
		}
	}
	for _, e := range b.elements() {
		if e.own != nil {
			u.add(e.name(), "the data type "+e.Name)
		}
	}
	return found
}

// unique collects the pairs of C names with the same Go name.
type unique struct {
	taken map[string]string // names of C by those of Go
	found *[]emit.Clash
}

func newUnique(found *[]emit.Clash) unique { return unique{map[string]string{}, found} }

func (u unique) add(goName, cName string) {
	if before, taken := u.taken[goName]; taken {
		text := fmt.Sprintf("%s and %s would both be named %s in Go", before, cName, goName)
		*u.found = append(*u.found, emit.Clash{Names: [2]string{before, cName}, Text: text})
	}
	u.taken[goName] = cName
}
