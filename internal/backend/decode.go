package backend

import (
	"cmp"
	"fmt"
	"go/token"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// The forms of texts that become C code or file names.
var (
	backendName = regexp.MustCompile(`^[a-z][a-z0-9]{0,30}$`)
	fieldName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,60}$`)
	symbolName  = spec.SymbolName
	typeText    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*( [A-Za-z_][A-Za-z0-9_]*)*( ?\*+)?$`)
	// compared with numbers
	statusText = regexp.MustCompile(`^(((un)?signed )?(char|short|int|long|long long)|u?int(8|16|32|64)_t)$`)
	parameters = regexp.MustCompile(`^(void|[A-Za-z_][A-Za-z0-9_]*( \**[A-Za-z_][A-Za-z0-9_]*)+(, ` +
		`[A-Za-z_][A-Za-z0-9_]*( \**[A-Za-z_][A-Za-z0-9_]*)+)*)$`)
	libraryName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}$`)
	sentence    = regexp.MustCompile(`^[ !#-$&-.0-\[\]-~/]{1,300}$`) // no quote, backslash or % to upset C
)

// formHints show an example of each form.
var formHints = map[*regexp.Regexp]string{
	backendName: "write lower-case letters and digits, such as acme",
	fieldName:   "write lower-case letters, digits and underscores, such as memory_host",
	symbolName:  "write letters, digits and underscores, such as acmeInit",
	typeText:    "write a C type, such as struct acme_event *",
	statusText:  "write a C integer type, such as int or uint32_t",
	parameters:  "write void, or each parameter with its type and name, such as int *count, unsigned int flags",
	libraryName: "write the name of a file without a folder, such as libacme.so.1",
	sentence:    `write 1 to 300 characters of ASCII, without ", \ and %`,
}

// Keys and values before 0.1.0. Their errors name the new ones.
var (
	renamedKeys = map[string]string{"runtime": "implementation", "package": "install_hint",
		"result": "status_type", "oldest": "min_version"}
	renamedImplementations = map[string]string{"vendor": Custom, "streams": "cuda", "ordinals": "hip",
		"levelzero": "level_zero"}
	renamedKinds = map[string]string{"bad_device": "invalid_device", "bad_stream": "invalid_stream",
		"driver": "driver_error", "ended": "shutting_down", "lost": "device_lost", "old_driver": "driver_too_old",
		"stub": "driver_stub"}
)

// Decode reads a description, and adds all findings to the list. The description is nil if one of
// them is an error.
func Decode(file string, src []byte, diags *diag.List) *Backend {
	b, _ := decodeFile(file, src, diags)
	return b
}

func decodeFile(file string, src []byte, diags *diag.List) (*Backend, *yaml.Map) {
	root := yaml.Parse(file, src, diags)
	if root == nil {
		return nil, nil
	}
	m := root.Map("the backend")
	if v := m.Require("backend"); v != nil {
		v.Int("backend", Version, Version)
	}
	b := Read(m, m.Require("name"), diags)
	if diags.Failed() {
		return nil, nil
	}
	return b, m
}

// Read reads a description from a mapping, of which the caller may have read other keys, and closes
// the mapping. The result is valid only if no error was added to the list.
func Read(m *yaml.Map, name *yaml.Node, diags *diag.List) *Backend {
	before := diags.Len()
	b := decode(m, name)
	m.Close()
	if diags.Len() == before && m.Node().Kind == yaml.Mapping {
		b.check(m)
	}
	return b
}

func decode(m *yaml.Map, name *yaml.Node) *Backend {
	m.Renamed(renamedKeys)
	b := &Backend{
		Name: nameOf(name), Title: form(m.Require("title"), "title", sentence),
		Doc:         form(m.Require("doc"), "doc", sentence),
		InstallHint: form(m.Require("install_hint"), "install_hint", sentence),
		StatusType:  form(m.Require("status_type"), "status_type", statusText),
		Call:        form(m.Get("call"), "call", symbolName),
	}
	if n := m.Require("implementation"); n != nil {
		b.Implementation = n.OneOfRenamed("implementation", Implementations, renamedImplementations)
	}
	require, known := requirements[b.Implementation]
	require.optional = require.optional || !known // the needs of an unknown implementation are unknown
	b.MinVersion = number(require.get(m, "min_version"), "min_version", 0, math.MaxInt32)
	for _, n := range m.List("devices") {
		b.Devices = append(b.Devices, decodeDevice(n))
	}
	b.Streams = decodeStreams(require.streams(m))
	b.Library = decodeLibrary(m.Require("library"))
	rows(require.get(m, "handles"), "handles", func(e yaml.Entry) { b.Handles = append(b.Handles, decodeHandle(e)) })
	rows(require.get(m, "constants"), "constants",
		func(e yaml.Entry) { b.Constants = append(b.Constants, decodeConstant(e)) })
	rows(m.Require("functions"), "functions", func(e yaml.Entry) {
		f := decodeFunction(e.Value, functionName(e.Key), require.optional)
		b.Functions = append(b.Functions, f)
	})
	rows(m.Require("errors"), "errors", func(e yaml.Entry) { b.Errors = append(b.Errors, decodeError(e)) })
	return b
}

// form reads a text of a form; nil reads as "".
func form(n *yaml.Node, what string, want *regexp.Regexp) string {
	if n == nil {
		return ""
	}
	text := n.Text(what)
	switch {
	case n.Kind != yaml.Scalar:
	case !want.MatchString(text):
		n.Errorf("invalid-name", formHints[want], "%s %q must match %s", what, text, want)
	case want == sentence:
		n.CheckDoc(what, text)
	}
	return text
}

// functionName reads the name of a field of C.
func functionName(n *yaml.Node) string {
	name := form(n, "a function", fieldName)
	if spec.IsKeyword(name) {
		n.Errorf("invalid-name", "write another name, such as "+name+"_call",
			"%q is not a valid name for a function: it is a keyword of C or C++", name)
	}
	return name
}

// ctype reads a type of C.
func ctype(n *yaml.Node, what string) string {
	text := form(n, what, typeText)
	if typeText.MatchString(text) {
		checkType(n, what, words(text))
	}
	return text
}

// params reads the parameters of a function: types and names that C accepts, once each.
func params(n *yaml.Node) string {
	text, seen := form(n, "params", parameters), map[string]bool{}
	if text == "void" || !parameters.MatchString(text) {
		return text
	}
	for one := range strings.SplitSeq(text, ", ") {
		all := words(one)
		name := all[len(all)-1]
		checkType(n, "params", all[:len(all)-1])
		switch {
		case spec.IsKeyword(name):
			n.Errorf("invalid-name", "write a name after the type, such as int *count",
				"params: %q has no parameter name: %s is a keyword of C or C++", one, name)
		case seen[name]:
			n.Errorf("duplicate-name", "rename one of them", "params: two parameters have the name %s", name)
		}
		seen[name] = true
	}
	return text
}

// words are the names and keywords in a type or a parameter.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '*' })
}

// typeWords are the keywords that a type may have.
var typeWords = strings.Fields(`void bool char short int long float double signed unsigned const volatile struct union
	enum`)

// checkType reports a keyword that no type has.
func checkType(n *yaml.Node, what string, all []string) {
	for _, word := range all {
		if spec.IsKeyword(word) && !slices.Contains(typeWords, word) {
			n.Errorf("invalid-name", formHints[typeText], "%s: %s is a keyword of C or C++, not a type", what, word)
			return
		}
	}
}

// files are names that a backend must not have, because all backends contain files of these names.
var files = []string{"doc", "device", "backend", "codes", "elements", "off", "rules", "tensor", "types", "usm"}

// folders are names of folders that Go does not build, or that other modules cannot import.
var folders = []string{"internal", "testdata", "vendor"}

// nameOf reads the name of a backend, which is also the name of a Go package.
func nameOf(n *yaml.Node) string {
	name := form(n, "name", backendName)
	hint := "choose another name, such as " + name + "rt"
	switch {
	case token.IsKeyword(name) || name == "main":
		n.Errorf("invalid-name", hint, "name %q cannot be the name of a Go package", name)
	case slices.Contains(folders, name):
		n.Errorf("invalid-name", hint,
			"name %q is reserved: other modules cannot import a Go package in a folder of this name", name)
	case slices.Contains(files, name):
		n.Errorf("invalid-name", hint, "name %q is reserved: every backend has a file of this name", name)
	}
	return name
}

func number(n *yaml.Node, what string, low, high int64) int64 {
	if n == nil {
		return low
	}
	return n.Int(what, low, high)
}

// rows reads a mapping whose keys are names.
func rows(n *yaml.Node, what string, read func(yaml.Entry)) {
	if n == nil || !n.Is(yaml.Mapping, what) {
		return
	}
	for _, e := range n.Entries {
		read(e)
	}
}

func decodeDevice(n *yaml.Node) Device {
	m := n.Map("a device")
	d := Device{Type: form(m.Require("type"), "type", symbolName), Value: NoValue}
	if v := m.Get("value"); v != nil {
		d.Value = v.Int("value", 0, math.MaxInt32)
	}
	if v := m.Require("memory"); v != nil {
		d.Memory = v.OneOf("memory", Memories)
	}
	if v := m.Require("id"); v != nil {
		d.ID = v.OneOf("id", IDs)
	}
	if v := m.Get("torch"); v != nil {
		d.Torch = v.OneOf("torch", TorchKeys)
	}
	m.Close()
	return d
}

func decodeStreams(n *yaml.Node) Streams {
	if n == nil {
		return Streams{}
	}
	m := n.Map("streams")
	m.Renamed(map[string]string{"handles": "aliases", "refused": "rejected"})
	s := Streams{Given: true, None: number(m.Require("none"), "none", 0, math.MaxInt32)}
	rejected, table := m.Get("rejected"), m.Get("table")
	switch {
	case rejected != nil && table != nil:
		table.Errorf("invalid-backend", "keep one of them: a table of DLPack has its own rejected numbers",
			"streams has both table and rejected")
	case rejected == nil && m.Misspells("rejected", []string{"none", "table", "rejected", "aliases"}):
	case rejected == nil:
		s.Table = form(m.Require("table"), "table", fieldName)
	default:
		for _, v := range rejected.List("rejected") {
			s.Rejected = append(s.Rejected, v.Int("a rejected number", 0, math.MaxInt32))
		}
	}
	rows(m.Get("aliases"), "aliases", func(e yaml.Entry) {
		at, err := strconv.ParseInt(e.Key.Value, 10, 31)
		if err != nil || at < 0 {
			e.Key.Errorf("type-mismatch", "write the DLPack number that stands for the handle, such as {1: 0}",
				"a stream number must be a decimal integer, not %q", e.Key.Value)
		}
		s.Aliases = append(s.Aliases, StreamAlias{at, e.Value.Int("a handle", 0, math.MaxInt32)})
	})
	m.Close()
	return s
}

func decodeLibrary(n *yaml.Node) Library {
	if n == nil {
		return Library{}
	}
	m := n.Map("library")
	var l Library
	for _, name := range m.List("linux") {
		l.Linux = append(l.Linux, form(name, "a library", libraryName))
	}
	for _, name := range m.List("windows") {
		l.Windows = append(l.Windows, form(name, "a library", libraryName))
	}
	for _, f := range m.List("lookups") {
		l.Lookups = append(l.Lookups, decodeFunction(f, "", true))
	}
	l.LookupFlags = number(m.Get("lookup_flags"), "lookup_flags", 0, math.MaxInt32)
	m.Close()
	return l
}

func decodeHandle(e yaml.Entry) Handle {
	h := Handle{Name: form(e.Key, "a handle", fieldName)}
	m := e.Value.Map("handle " + h.Name)
	h.C = ctype(m.Require("c"), "c")
	h.Native = ctype(m.Require("native"), "native")
	m.Close()
	return h
}

func decodeConstant(e yaml.Entry) Constant {
	c := Constant{Name: form(e.Key, "a constant", fieldName)}
	m := e.Value.Map("constant " + c.Name)
	c.Value = number(m.Require("value"), "value", 0, math.MaxInt32)
	c.Native = form(m.Require("native"), "native", symbolName)
	if n := m.Get("was"); n != nil {
		was := n.Map("was")
		c.Was = &Past{Until: number(was.Require("until"), "until", 1, math.MaxInt32),
			Value: number(was.Require("value"), "value", 0, math.MaxInt32)}
		was.Close()
	}
	m.Close()
	return c
}

// decodeFunction reads a function of the driver. The lookup function has no name and no version,
// and functions of a custom backend need none.
func decodeFunction(n *yaml.Node, name string, unversioned bool) Function {
	m := n.Map(cmp.Or(name, "a lookup"))
	m.Renamed(map[string]string{"takes": "params", "gives": "returns"})
	f := Function{Name: name, Symbol: form(m.Require("symbol"), "symbol", symbolName),
		Params: params(m.Require("params"))}
	f.Plain = f.Symbol
	if name != "" {
		f.Plain = cmp.Or(form(m.Get("plain"), "plain", symbolName), f.Symbol)
		f.Returns = ctype(m.Get("returns"), "returns")
		f.Optional = m.Bool("optional")
		since := m.Get("since")
		if since == nil && !unversioned {
			since = m.Require("since")
		}
		f.Since = number(since, "since", 0, math.MaxInt32)
	}
	m.Close()
	return f
}

func decodeError(e yaml.Entry) Error {
	r := Error{Name: form(e.Key, "an error", symbolName)}
	m := e.Value.Map("error " + r.Name)
	r.Value = number(m.Require("value"), "value", math.MinInt32, math.MaxInt32)
	if v := m.Require("kind"); v != nil {
		r.Kind = v.OneOfRenamed("kind", Kinds, renamedKinds)
	}
	r.Text = form(m.Require("text"), "text", sentence)
	m.Close()
	return r
}

// check reports values that are valid separately but not together.
func (b *Backend) check(m *yaml.Map) {
	complain := func(hint, format string, args ...any) { m.Node().Errorf("invalid-backend", hint, format, args...) }
	if len(b.Library.Linux)+len(b.Library.Windows) == 0 {
		complain("write the library's file, such as linux: [libacme.so.1]",
			"the backend names no library for any system")
	}
	b.checkNeeds(complain)
	b.checkDevices(complain)
	b.checkStreams(complain)
	for _, text := range again(b.Errors, func(e Error) string { return fmt.Sprint(e.Value) }) {
		complain("keep one of the two", "two errors have the value %s", text)
	}
	if slices.ContainsFunc(b.Errors, func(e Error) bool { return e.Value == 0 }) {
		complain("remove that error", "an error has the value 0, which is success")
	}
}

// checkStreams reports rejected numbers that also have a meaning.
func (b *Backend) checkStreams(complain func(hint, format string, args ...any)) {
	none := b.Streams.Given && slices.Contains(b.Streams.Rejected, b.Streams.None)
	for _, h := range b.Streams.Aliases {
		if slices.Contains(b.Streams.Rejected, h.Number) {
			none = none && h.Number != b.Streams.None // one finding is enough
			complain(fmt.Sprintf("remove %d from rejected: or from aliases:", h.Number),
				"stream number %d is listed under both rejected: and aliases:", h.Number)
		}
	}
	if none {
		complain(fmt.Sprintf("remove %d from rejected:, or write another number for none:", b.Streams.None),
			"stream number %d is listed under both rejected: and none:", b.Streams.None)
	}
}

// checkDevices reports device types that contradict each other.
func (b *Backend) checkDevices(complain func(hint, format string, args ...any)) {
	const deviceHint = "add a device, such as {type: kDLAcme, memory: device, id: ordinal}"
	if len(b.Devices) == 0 {
		complain(deviceHint, "the backend lists no device type")
	} else if !slices.ContainsFunc(b.Devices, func(d Device) bool { return d.Memory == "device" }) {
		complain(deviceHint, "no device type has device memory")
	}
	for _, text := range again(b.Devices, func(d Device) string { return d.Memory }) {
		complain("keep one of the two, or give the other another memory: "+strings.Join(Memories, ", "),
			"two device types have %s memory", text)
	}
	for _, text := range again(b.Devices, func(d Device) string { return d.Type }) {
		complain("keep one of the two", "device type %s is listed twice", text)
	}
	if slices.ContainsFunc(b.Devices, func(d Device) bool { return d.Type == "kDLCPU" }) {
		complain("remove the device kDLCPU", "kDLCPU stands for memory that the backend does not recognize")
	}
}

// checkNeeds reports names that the implementation needs and the description lacks.
func (b *Backend) checkNeeds(complain func(hint, format string, args ...any)) {
	require := requirements[b.Implementation]
	if len(b.Library.Lookups) != require.lookups {
		hint := "remove lookups:"
		if require.lookups > 0 {
			hint = fmt.Sprintf("list %d functions under lookups:", require.lookups)
		}
		complain(hint, "the sources %s use %d lookups, and the library has %d", b.Implementation, require.lookups,
			len(b.Library.Lookups))
	}
	if len(b.Functions) == 0 {
		complain("add a function, such as init: {symbol: acmeInit, params: void}", "the backend has no function")
	}
	if len(b.Errors) == 0 {
		complain("add an error, such as ACME_NO_DEVICE: {value: 1, kind: no_device, text: no device}",
			"the backend has no error")
	}
	lacks := func(what, section string, names []string) {
		for _, name := range names {
			complain("add "+name+" to "+section+":, or choose implementation: "+Custom, "the sources %s need %s %s",
				b.Implementation, what, name)
		}
	}
	lacks("the handle", "handles", missing(require.handles, b.Handles, func(h Handle) string { return h.Name }))
	lacks("the constant", "constants", missing(require.constants, b.Constants, nameOfConstant))
	lacks("the function", "functions", missing(
		require.functions, b.Functions, func(f Function) string { return f.Name }))
	for _, name := range missing(require.renumbered, renumbered(b.Constants), nameOfConstant) {
		complain("add was: with until: and value: to "+name, "the sources %s need the earlier value of the constant %s",
			b.Implementation, name)
	}
}

func nameOfConstant(c Constant) string { return c.Name }

// renumbered returns the constants that had another value in older drivers.
func renumbered(all []Constant) []Constant {
	return slices.DeleteFunc(slices.Clone(all), func(c Constant) bool { return c.Was == nil })
}
