package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// Scope contains the names that descriptions may use: the dtypes and devices of the selected
// releases.
type Scope struct {
	DTypes  []spec.DType
	Devices map[string]int64
	Torch   map[string]string // PyTorch's dispatch keys by device, if a vendor declares one
	// Owners are the devices whose runtime allocates the memory of others, such as pinned memory.
	Owners  map[string]string
	MaxNDim int // the largest ndim of a valid tensor, or 0 for no limit
}

// Reading is a description with the positions of its parts, for findings.
type Reading struct {
	Kernel
	Valid    bool // nothing in it is wrong by itself
	name     *yaml.Node
	symbols  []symbolAt
	backward *yaml.Node
	err      *yaml.Node
}

// symbolAt is the position of a C symbol.
type symbolAt struct {
	symbol string
	node   *yaml.Node
}

// Read resolves a description. The list receives its findings.
func Read(e yaml.Entry, scope Scope, diags *diag.List) *Reading {
	before := diags.Len()
	r := &reader{Reading: &Reading{name: e.Key}, scope: scope, diags: diags, taken: map[string]string{}}
	r.Name = e.Key.Value
	named := checkKernel(e.Key)
	r.m = e.Value.Map(r.label())
	if !r.oldForm() {
		r.read(before, named)
	}
	r.Valid = diags.Len() == before
	return r.Reading
}

// reader is the state of one Read.
type reader struct {
	*Reading
	scope Scope
	diags *diag.List
	m     *yaml.Map
	args  []line
	gives []line
	taken map[string]string // names, and their meanings
	lost  doubt             // of arguments, results, symbols and variables
}

// defaultNamespace is the namespace of a kernel without that key.
const defaultNamespace = "dlpackgen"

// line is a parsed line of a parameter.
type line struct {
	notation.Line
	key, at *yaml.Node
	named   bool // its name is valid
	whole   bool // all of it was read
}

// label returns the name of the kernel in findings.
func (r *reader) label() string {
	if r.Name == "" {
		return "the kernel without a name"
	}
	return "kernel " + cut(r.Name)
}

// Keys are those of a description. A test compares them with the schema.
var Keys = []string{"args", "backward", "batch", "devices", "doc", "error", "errors", "form", "gil", "lang",
	"namespace",
	"returns", "serial", "symbol", "test", "types", "where"}

// read resolves the parts of a description. A part that cannot be read does not hide mistakes in
// the others. named: the kernel has a valid name.
func (r *reader) read(before int, named bool) {
	r.Namespace = defaultNamespace
	if n := r.m.Get("namespace"); n != nil {
		r.Namespace = name(n, "a namespace")
	}
	r.Doc = r.m.Doc()
	typesBefore := r.diags.Len()
	r.types(r.m.Get("types"))
	typed := r.diags.Len() == typesBefore
	isMisspelled := func(key string) bool { return r.m.Misspells(key, Keys) }
	r.lost.all = r.lost.all || slices.ContainsFunc([]string{"types", "args", "returns"}, isMisspelled)
	if r.m.Node().Kind == yaml.Mapping && r.m.Get("args") == nil && r.m.Get("returns") == nil && !r.lost.all {
		r.name.Errorf("missing-key", "as in `args: {x: \"float32[n]\"}`", "%s has neither args nor returns",
			r.label())
		r.lost.all = true
	}
	r.args = r.lines("args", kernel.MaxArguments, "put values of one dtype into a tensor, such as float32[n]")
	r.gives = r.lines("returns", kernel.MaxResults, "put results of one dtype into a tensor, such as float32[n]")
	r.resolve()
	r.functions(typed && named && !r.lost.all && !isMisspelled("symbol"))
	r.failures()
	r.rest()
	r.m.Close()
	r.where(r.conditions())
	if r.diags.Len() == before {
		r.checkUse()
	}
}

// resolve converts the lines whose types were read to parameters.
func (r *reader) resolve() {
	for i, l := range r.args {
		r.Args = append(r.Args, r.param(l))
		r.argument(i)
	}
	for i, l := range r.gives {
		r.Results = append(r.Results, r.param(l))
		r.result(i)
	}
	r.checkNames()
	r.bindVars()
	r.extents()
}

// lines reads a section of parameters. fewer is the hint if there are too many.
func (r *reader) lines(key string, most int, fewer string) []line {
	section := r.m.Get(key)
	if section == nil || isEmpty(section) {
		return nil
	}
	if section.Kind == yaml.List {
		section.Errorf("type-mismatch", "write a line for each, as in `x: float32[n]`",
			"%s must be a mapping, not a list", key)
		r.lost.all = true
		return nil
	}
	if !section.Is(yaml.Mapping, key) {
		r.lost.all = true
		return nil
	}
	if n := len(section.Entries); n > most {
		section.Errorf("too-many", fewer, "%s has %d entries, more than %d", key, n, most)
	}
	var all []line
	for _, e := range section.Entries {
		if l := readLine(e); l.Typed {
			all = append(all, l)
		} else {
			r.lost.add(key + ":") // no name has a colon
			r.lost.addLine(e)
		}
	}
	return all
}

func readLine(e yaml.Entry) line {
	l := line{key: e.Key, at: e.Value, named: checkKey(e.Key, "an argument or a result")}
	if e.Value.Kind != yaml.Scalar {
		e.Value.Errorf("type-mismatch", "begin with the dtype, as in float32[m, n]; inside { }, write it in quotes",
			"%s must be a line such as float32[m, n], not %s", e.Key.Value, e.Value.Kind)
		return l
	}
	read, err := notation.ParseLine(e.Value.Value)
	l.Line, l.whole = read, err == nil
	if err != nil {
		reportLine(e.Value, err, "invalid-line")
	}
	return l
}

// lineHints show a correct line if the parser has no specific hint.
var lineHints = map[string]string{
	"invalid-line":      "as in float32[m, n] strided, T[..., n]? = None, or int = 1",
	"invalid-condition": `as in n >= 1 and m % n == 0, T in float32|float64, or mode in "a"|"b"`,
}

// reportLine reports an error in a line. If YAML treated the end of the line as a comment, the
// finding explains that instead.
func reportLine(n *yaml.Node, err *notation.Error, code string) {
	hint := cmp.Or(err.Hint, lineHints[code])
	if comment := n.Comment(); comment != "" {
		hint = "in YAML, " + comment + " is a comment: write the whole line in quotes"
	}
	if err.TooMany {
		n.ErrorfAt(err.At, "too-many", hint, "%s", err.Text)
		return
	}
	n.ErrorfAt(err.At, code, hint, "%s", err.Text)
}

// booleans are the words that YAML 1.1 parsers, such as PyYAML, read as true, false or null.
var booleans = []string{"y", "yes", "on", "n", "no", "off", "true", "false", "null", "~", ""}

// Keys of one letter stay strings in PyYAML.
func isTrap(n *yaml.Node) bool {
	return !n.Quoted && slices.Contains(booleans, lower(n.Value)) && len(n.Value) != 1
}

// checkKey reports an invalid name.
func checkKey(n *yaml.Node, what string) bool {
	if isTrap(n) && n.Value != "" {
		n.Errorf("unquoted", "write it in quotes, or choose another name",
			"other YAML parsers do not read %q as a string", n.Value)
		return false
	}
	return checkName(n, n.Value, what)
}

// checkKernel reports a name that is not valid for a Python or C++ function.
func checkKernel(n *yaml.Node) bool {
	if !checkKey(n, "a kernel") {
		return false
	}
	problem := kernel.CheckKernel(n.Value)
	if problem != "" {
		n.Errorf("invalid-name", "choose another name, such as my_"+n.Value, "%q is not a name for a kernel: it %s",
			n.Value, problem)
	}
	return problem == ""
}

func name(n *yaml.Node, what string) string {
	text := n.Text(what)
	if n.Kind == yaml.Scalar {
		checkName(n, text, what)
	}
	return text
}

// nameHint returns a valid name that is similar to an invalid one.
func nameHint(name string) string {
	if mine := "my_" + lower(name); kernel.CheckName(mine) == "" {
		return "choose another name, such as " + mine
	}
	return "choose another name of letters, digits and single underscores between them, such as my_name"
}

func checkName(n *yaml.Node, name, what string) bool {
	problem := misnamed(name, what)
	if problem != "" {
		n.Errorf("invalid-name", nameHint(name), "%s", problem)
	}
	return problem == ""
}

// misnamed returns why a text is not a valid name, or "".
func misnamed(name, what string) string {
	if name == "" {
		return "the name of " + what + " is empty"
	}
	problem := kernel.CheckName(name)
	if problem != "" {
		problem = fmt.Sprintf("%q is not a name for %s: it %s", cut(name), what, problem)
	}
	return problem
}

// cut shortens a long name for a message.
func cut(name string) string {
	if len(name) <= kernel.MaxName {
		return name
	}
	return strings.ToValidUTF8(name[:32], "") + "..."
}

// isEmpty reports whether a key has no value.
func isEmpty(n *yaml.Node) bool { return n.Kind == yaml.Scalar && n.Value == "" && !n.Quoted }
