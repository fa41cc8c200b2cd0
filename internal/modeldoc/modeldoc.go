// Package modeldoc builds the documented model: one release of DLPack, with the layouts of its
// types and the kernels of a config, as a document with stable keys. `dlpackgen model` prints the
// document, and users' templates read it. docs/schema/model.json describes each key.
package modeldoc

import (
	"github.com/dlpackgen/dlpackgen/internal/jsontext"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Version is the version of the document. A new key does not change it; a changed meaning does.
const Version = 1

// Document is the model. All keys are always present, so that templates can test them.
type Document struct {
	Version   int        `json:"version"`
	DLPack    DLPack     `json:"dlpack"`
	Models    []Model    `json:"models"`
	Macros    []Macro    `json:"macros"`
	Flags     []Flag     `json:"flags"`
	Enums     []Enum     `json:"enums"`
	Structs   []Struct   `json:"structs"`
	Aliases   []Alias    `json:"aliases"`
	Callbacks []Callback `json:"callbacks"`
	DTypes    []DType    `json:"dtypes"`
	Elements  Elements   `json:"elements"`
	Limits    Limits     `json:"limits"`
	Streams   []Streams  `json:"streams"`
	Python    Python     `json:"python"`
	Kernels   []Kernel   `json:"kernels"`
}

// DLPack names the release.
type DLPack struct {
	Version    string `json:"version"`
	Major      int    `json:"major"`
	Minor      int    `json:"minor"`
	Unreleased bool   `json:"unreleased"`
}

// Model is a data model of C.
type Model struct {
	Name       string `json:"name"`
	Doc        string `json:"doc"`
	Pointer    int    `json:"pointer"`
	Long       int    `json:"long"`
	Int64Align int    `json:"int64_align"`
}

// Macro is a named number.
type Macro struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Literal string `json:"literal"`
	Value   int64  `json:"value"`
}

// Flag is a bit of DLManagedTensorVersioned.flags.
type Flag struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Bit   uint   `json:"bit"`
	Value uint64 `json:"value"`
}

// Extent is the size and the alignment of a type, in bytes.
type Extent struct {
	Size  int `json:"size"`
	Align int `json:"align"`
}

// Enum is an enumeration.
type Enum struct {
	Name       string            `json:"name"`
	Doc        string            `json:"doc"`
	Wire       string            `json:"wire"`
	Underlying string            `json:"underlying"`
	Unsigned   bool              `json:"unsigned"`
	Layout     map[string]Extent `json:"layout"`
	Values     []EnumValue       `json:"values"`
}

// EnumValue is an enumerator.
type EnumValue struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Value   int64    `json:"value"`
	Device  *Device  `json:"device"`
	Element *Element `json:"element"`
}

// Device is the meaning of a device type.
type Device struct {
	HostReadable bool   `json:"host_readable"`
	Opaque       bool   `json:"opaque"`
	IDZero       bool   `json:"id_zero"`
	Streams      string `json:"streams"`
	Memory       string `json:"memory"`
	Of           string `json:"of"`
}

// Element is the meaning of a type code.
type Element struct {
	Bits   int    `json:"bits"`
	Part   string `json:"part"`
	Native string `json:"native"`
}

// Struct is a structure.
type Struct struct {
	Name    string            `json:"name"`
	Doc     string            `json:"doc"`
	Tag     bool              `json:"tag"`
	Typedef bool              `json:"typedef"`
	Layout  map[string]Extent `json:"layout"`
	Fields  []Field           `json:"fields"`
}

// Field is a member of a struct.
type Field struct {
	Name       string         `json:"name"`
	Doc        string         `json:"doc"`
	Type       Type           `json:"type"`
	Null       string         `json:"null"`
	NullBefore int            `json:"null_before"`
	Owner      string         `json:"owner"`
	Offset     map[string]int `json:"offset"`
	Size       map[string]int `json:"size"`
}

// Type is a C type.
type Type struct {
	Kind    string  `json:"kind"` // builtin, named, pointer or function
	Name    string  `json:"name"`
	Const   bool    `json:"const"`
	To      *Type   `json:"to"`
	Returns *Type   `json:"returns"`
	Params  []Param `json:"params"`
	C       string  `json:"c"`
}

// Param is a parameter of a function.
type Param struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}

// Alias is an alias of a type.
type Alias struct {
	Name   string `json:"name"`
	Doc    string `json:"doc"`
	Target string `json:"target"`
}

// Callback is a type of function pointers.
type Callback struct {
	Name    string  `json:"name"`
	Doc     string  `json:"doc"`
	Returns Type    `json:"returns"`
	Params  []Param `json:"params"`
}

// DType is a named type of elements.
type DType struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Code  string `json:"code"`
	Bits  int    `json:"bits"`
	Lanes int    `json:"lanes"`
}

// Elements is the storage of elements in memory.
type Elements struct {
	PackedBelow   int    `json:"packed_below"`
	PaddedBy      string `json:"padded_by"`
	Alignments    []int  `json:"alignments"`
	DataAlignment int    `json:"data_alignment"`
}

// Limits are bounds of loops over data of others.
type Limits struct {
	NDim          int `json:"ndim"`
	ExchangeChain int `json:"exchange_chain"`
}

// Streams is the meaning of stream numbers.
type Streams struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Handle bool     `json:"handle"`
	Values []Stream `json:"values"`
}

// Stream is a number with a special meaning.
type Stream struct {
	Value   int64  `json:"value"`
	Meaning string `json:"meaning"`
}

// Python contains the names of the Python protocol.
type Python struct {
	Capsule           Capsule `json:"capsule"`
	Versioned         Capsule `json:"versioned"`
	ExchangeAttribute string  `json:"exchange_attribute"`
	ExchangeCapsule   string  `json:"exchange_capsule"`
}

// Capsule contains the names of a capsule before and after it is consumed.
type Capsule struct {
	Fresh string `json:"fresh"`
	Used  string `json:"used"`
}

// Of returns the document of a release and the kernels of a config.
func Of(r *spec.Release, kernels []contract.Kernel) Document {
	b := newBuilder(r)
	d := Document{
		Version: Version,
		DLPack:  DLPack{r.Version, r.Major, r.Minor, r.Unreleased},
		Elements: Elements{r.Elements.PackedBelow, r.Elements.PaddedBy, append([]int{}, r.Elements.Alignments...),
			r.Elements.DataAlignment},
		Limits: Limits(r.Limits),
		Python: Python{Capsule(r.Python.Capsule), Capsule(r.Python.Versioned), r.Python.ExchangeAttr,
			r.Python.ExchangeCapsule},
		Models: models(), Macros: b.macros(), Flags: b.flags(), Enums: b.enums(), Structs: b.structs(),
		Aliases: b.aliases(), Callbacks: b.callbacks(), DTypes: []DType{}, Streams: streams(r),
		Kernels: kernelsOf(kernels),
	}
	for _, t := range r.DTypes {
		d.DTypes = append(d.DTypes, DType{t.Name, t.Doc, t.Code, t.Bits, t.Lanes})
	}
	return d
}

// JSON renders the document.
func (d Document) JSON() []byte { return jsontext.Of(d) }

func models() (out []Model) {
	for _, m := range layout.Models() {
		out = append(out, Model{m.Name, m.Doc, m.Pointer, m.Long, m.Int64Align})
	}
	return out
}

func streams(r *spec.Release) []Streams {
	out := []Streams{}
	for _, t := range r.Streams {
		s := Streams{Name: t.Name, Doc: t.Doc, Handle: t.Handle, Values: []Stream{}}
		for _, v := range t.Values {
			s.Values = append(s.Values, Stream{v.Value, v.Meaning})
		}
		out = append(out, s)
	}
	return out
}
