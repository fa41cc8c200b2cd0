package spec

import (
	"math"
	"regexp"
	"strconv"

	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// Each reader sets the values in a mapping and keeps the others, so that a past form contains only
// the differences.

// SymbolName is the form of a library's symbol, which becomes part of C code.
var SymbolName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,100}$`)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// reserved names belong to the compiler, such as __LINE__.
var reserved = regexp.MustCompile(`^_[_A-Z]`)

// readName reads the name of an entity: under the key of its kind in the present form, and under
// "name" in a past form.
func readName(m *yaml.Map, kind string, name *string) {
	n := m.Get(kind)
	if n == nil && *name != "" {
		n = m.Get("name")
	}
	if n == nil {
		return
	}
	*name = identifierOf(n)
}

// identifierOf reads a valid C and C++ identifier.
func identifierOf(n *yaml.Node) string {
	name := n.Text("the name")
	switch {
	case n.Kind != yaml.Scalar:
	case !identifier.MatchString(name):
		n.Errorf("invalid-name", "", "%q is not a name in C", name)
	case keywords[name]:
		n.Errorf("invalid-name", "", "%q is a keyword of C or C++", name)
	case reserved.MatchString(name):
		n.Errorf("invalid-name", "",
			"%q is reserved: C reserves names that begin with two underscores, or with one and a capital letter", name)
	}
	return name
}

func setDoc(m *yaml.Map, doc *string) {
	if m.Get("doc") != nil {
		*doc = m.Doc()
	}
}

func readLinkage(m *yaml.Map, v *Linkage) {
	readName(m, "linkage", &v.Name)
	setDoc(m, &v.Doc)
	if n := m.Get("kind"); n != nil {
		v.Kind = LinkageKind(n.OneOf("kind", []string{string(LinkageExternC), string(LinkageDLL)}))
	}
	if n := m.Get("exports"); n != nil {
		v.Exports = identifierOf(n)
	}
	if v.Kind == LinkageDLL && v.Exports == "" {
		m.Require("exports")
	}
}

var literalForm = regexp.MustCompile(`^(0|[1-9][0-9]*|0[0-7]+|0x[0-9A-Fa-f]+)$`)

func readMacro(m *yaml.Map, v *Macro) {
	readName(m, "macro", &v.Name)
	setDoc(m, &v.Doc)
	n := m.Get("literal")
	if n == nil {
		return
	}
	v.Literal = n.Text("literal")
	value, err := strconv.ParseInt(v.Literal, 0, 64)
	switch {
	case !literalForm.MatchString(v.Literal) || err != nil:
		n.Errorf("invalid-literal", "", "%q is not an integer literal of C without a suffix", v.Literal)
	case value > math.MaxInt32:
		n.Errorf("invalid-literal", "", "%s is not an int on every target: more than %d", v.Literal, math.MaxInt32)
	}
	v.Value = value
}

func readFlag(m *yaml.Map, v *Flag) {
	readName(m, "flag", &v.Name)
	setDoc(m, &v.Doc)
	if n := m.Get("bit"); n != nil {
		v.Bit = uint(n.Int("bit", 0, 63))
	}
}

func readAlias(m *yaml.Map, v *Alias) {
	readName(m, "alias", &v.Name)
	setDoc(m, &v.Doc)
	readText(m, "target", &v.Target)
}

func readEnum(m *yaml.Map, v *Enum) {
	readName(m, "enum", &v.Name)
	setDoc(m, &v.Doc)
	if n := m.Get("wire"); n != nil {
		v.Wire = n.OneOf("wire", integers)
	}
	if n := m.Get("cxx_underlying"); n != nil && n.Value == "" && n.Kind == yaml.Scalar {
		v.CxxUnderlying = ""
	} else if n != nil {
		v.CxxUnderlying = n.OneOf("cxx_underlying", integers)
	}
	if m.Get("unsigned") != nil {
		v.Unsigned = m.Bool("unsigned")
	}
}

func readEnumValue(m *yaml.Map, v *EnumValue) {
	readName(m, "name", &v.Name)
	setDoc(m, &v.Doc)
	if n := m.Get("value"); n != nil {
		v.Value = n.Int("value", -1<<31, 1<<31-1)
	}
	if n := m.Get("device"); n != nil {
		dm := n.Map("device")
		v.Device = ReadDeviceRule(dm)
		readMemory(dm, v.Device)
		if t := dm.Get("torch"); t != nil {
			v.Device.Torch = readTorchDevice(t.Map("torch"))
		}
		dm.Close()
	}
	if n := m.Get("element"); n != nil {
		em := n.Map("element")
		v.Element = readElementRule(em)
		em.Close()
	}
}

// ReadDeviceRule reads the properties of a device type from a mapping, which may contain other
// keys: a vendor's config has the same keys.
func ReadDeviceRule(m *yaml.Map) *DeviceRule {
	return &DeviceRule{
		HostReadable: m.Bool("host_readable"), Opaque: m.Bool("opaque"),
		IDZero: m.Bool("id_zero"), Streams: m.Text("streams"),
	}
}

func readStruct(m *yaml.Map, v *Struct) {
	if v.Name == "" {
		v.Typedef = true
	}
	readName(m, "struct", &v.Name)
	setDoc(m, &v.Doc)
	if m.Get("tag") != nil {
		v.Tag = m.Bool("tag")
	}
	if m.Get("typedef") != nil {
		v.Typedef = m.Bool("typedef")
	}
}

var (
	nulls  = []string{string(NullNever), string(NullAllowed), string(NullEmpty), string(NullScalar)}
	owners = []string{"producer", "managed", "static"}
)

func readField(m *yaml.Map, v *Field) {
	readName(m, "name", &v.Name)
	setDoc(m, &v.Doc)
	if n := m.Get("type"); n != nil {
		v.Type = readType(n)
	}
	if n := m.Get("nullable"); n != nil {
		v.Null = Null(n.OneOf("nullable", nulls))
	}
	if n := m.Get("owner"); n != nil {
		v.Owner = n.OneOf("owner", owners)
	}
}

func readCallback(m *yaml.Map, v *Callback) {
	readName(m, "callback", &v.Name)
	setDoc(m, &v.Doc)
	if m.Get("returns") != nil {
		v.Func = readFunc(m, 0)
	}
}

func readCapsule(m *yaml.Map, v *CapsuleNames) {
	readText(m, "fresh", &v.Fresh)
	readText(m, "used", &v.Used)
}

func readExchange(m *yaml.Map, v *exchangeNames) {
	readText(m, "attribute", &v.attribute)
	readText(m, "capsule", &v.capsule)
}

func readText(m *yaml.Map, key string, v *string) {
	if n := m.Get(key); n != nil {
		*v = n.Text(key)
	}
}
