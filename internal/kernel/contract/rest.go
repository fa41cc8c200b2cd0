package contract

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// failures reads error: and errors:.
func (r *reader) failures() {
	if n := r.m.Get("error"); n != nil {
		r.err = n
		r.Error = name(n, "a function")
		if problem := kernel.CheckSymbol(r.Error); problem != "" {
			n.Errorf("invalid-name", "as in error: mylib_error", "the function %s %s", r.Error, problem)
		}
	}
	section := r.m.Get("errors")
	if section == nil || isEmpty(section) || !section.Is(yaml.Mapping, "errors") {
		return
	}
	for _, e := range section.Entries {
		if made, is := r.raise(e); is {
			r.Errors = append(r.Errors, made)
		}
	}
}

func (r *reader) raise(e yaml.Entry) (Raise, bool) {
	made := Raise{Arg: None}
	if e.Value.Kind == yaml.Scalar && slices.Contains(Classes, e.Key.Value) {
		e.Key.Errorf("type-mismatch", fmt.Sprintf("write %s: {raise: %s}", cmp.Or(e.Value.Value, "1"), e.Key.Value),
			"a status must be a decimal integer, not %q", e.Key.Value)
		return made, false
	}
	made.Code = e.Key.Int("a status", math.MinInt32, math.MaxInt32)
	if made.Code == 0 {
		e.Key.Errorf("out-of-range", "write another number, such as 1", "0 is success")
	}
	if e.Value.Kind == yaml.Scalar && slices.Contains(Classes, e.Value.Value) {
		e.Value.Errorf("type-mismatch", "write {raise: "+e.Value.Value+"}", "status %s must be a mapping, not a value",
			e.Key.Value)
		return made, false
	}
	m := e.Value.Map("status " + e.Key.Value)
	if e.Value.Kind != yaml.Mapping {
		return made, false
	}
	if n := m.RequireAs("raise", "as in raise: IndexError"); n != nil {
		made.Class = n.OneOf("raise", Classes)
	}
	if n := m.Get("arg"); n != nil {
		made.Arg = r.place(n, "arg")
	}
	r.checkGoStatus(e.Key, made.Code)
	made.Text = text(m.Get("text"))
	m.Close()
	return made, true
}

// place reads the name of an argument.
func (r *reader) place(n *yaml.Node, what string) int {
	name := n.Text(what)
	i := r.Arg(name)
	if n.Kind == yaml.Scalar && i == None && len(r.Args) > 0 && !r.lost.has(name) {
		n.Errorf("unknown-name", oneOf(name, r.names(None)), "%s: %q is not an argument", what, name)
	}
	return i
}

// sentence matches texts that need no escapes in a C literal.
var sentence = regexp.MustCompile(`^[ !#-$&-\[\]-~]{1,200}$`)

// text reads a sentence for a message.
func text(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	read := n.Text("text")
	if n.Kind == yaml.Scalar && (!sentence.MatchString(read) || strings.Contains(read, "??")) {
		n.Errorf("invalid-text", textHint(read), "text must be a line of ASCII without \", %%, ?? and backslashes")
	}
	return read
}

// plain replaces characters that a text must not contain.
var plain = strings.NewReplacer(`"`, "'", "%", "percent", "??", "?", `\`, "/", "\n", " ")

// textHint returns a hint with the text without invalid characters.
func textHint(read string) string {
	fixed := plain.Replace(read)
	if sentence.MatchString(fixed) && !strings.Contains(fixed, "??") {
		return fmt.Sprintf("write %q", fixed)
	}
	return `write 1 to 200 letters, digits and signs of ASCII, as in "an index is out of range"`
}

// rest reads the keys that only some callers use.
func (r *reader) rest() {
	r.Serial = r.m.Bool("serial")
	r.Form = kernel.Forms[0]
	if n := r.m.Get("form"); n != nil {
		r.Form = n.OneOf("form", kernel.Forms)
	}
	if n := r.m.Get("gil"); n != nil {
		r.gil(n)
	}
	if n := r.m.Get("batch"); n != nil {
		r.batch(n)
	}
	if n := r.m.Get("backward"); n != nil {
		r.readBackward(n)
	}
	if n := r.m.Get("test"); n != nil {
		r.test(n)
	}
}

func (r *reader) gil(n *yaml.Node) {
	r.HoldsGIL = true
	if n.Kind != yaml.Scalar || n.Value != "held" {
		n.Errorf("unknown-value", "omit gil for a module that releases it", "gil must be held")
	}
}

func (r *reader) batch(n *yaml.Node) {
	r.NoBatch = true
	switch {
	case n.Kind != yaml.Scalar || n.Value != "none" && !isTrap(n):
		n.Errorf("unknown-value", "omit batch if ... describes the batched form", "batch must be none")
	case isTrap(n):
		n.Errorf("unquoted", "write batch: none", "other YAML parsers read %q as false or true", n.Value)
	}
}

func (r *reader) readBackward(n *yaml.Node) {
	if n.Kind == yaml.Scalar {
		n.Errorf("type-mismatch", "write backward: {kernel: "+n.Value+", saves: [...], of: [...]}",
			"backward must be a mapping, not a value")
		return
	}
	m := n.Map("backward")
	if n.Kind != yaml.Mapping {
		return
	}
	r.backward = n
	b, before := &Backward{}, r.diags.Len()
	if named := m.RequireAs("kernel", "as in kernel: "+r.Name+"_backward"); named != nil {
		r.backward, b.Kernel = named, named.Text("kernel")
	}
	for _, item := range m.List("saves") {
		name := r.saved(item)
		once(item, slices.Contains(b.Saves, name), "saves")
		b.Saves = append(b.Saves, name)
	}
	isLost := r.lost.all
	if of := m.RequireAs("of", "list the arguments that have gradients, as in of: [x]"); of != nil {
		b.Of = r.differentiated(of.List("of"))
		isLost = isLost || slices.ContainsFunc(of.Items, func(n *yaml.Node) bool { return r.lost.has(n.Value) })
	}
	m.Close()
	if r.Backward = b; r.diags.Len() == before && !isLost && (slices.Contains(b.Saves, "") || len(b.Of) == 0) {
		n.Errorf("missing-key", "as in of: [x]", "backward names nothing that has a gradient")
	}
	r.checkBackward(n)
}

// once reports a duplicate entry of a list.
func once(n *yaml.Node, again bool, list string) {
	if again {
		n.Errorf("duplicate-name", "keep one of them", "%s is repeated under %s:", n.Value, list)
	}
}

func (r *reader) saved(n *yaml.Node) string {
	name := n.Text("an entry of saves")
	if n.Kind == yaml.Scalar && r.Arg(name) == None && r.Result(name) == None && !r.lost.has(name) {
		n.Errorf("unknown-name", cmp.Or(oneOf(name, r.names(None)), "remove it"),
			"%q is neither an argument nor a result", name)
	}
	return name
}

func (r *reader) differentiated(items []*yaml.Node) (all []int) {
	for _, n := range items {
		if i := r.place(n, "of"); i != None {
			if (r.Args[i].Kind != Tensor || r.Args[i].Writes()) && !r.lost.has(r.Args[i].Name) {
				n.Errorf("invalid-backward", "remove "+r.Args[i].Name+" from of:",
					"%s has no gradient: it is not a read-only tensor", r.Args[i].Name)
			}
			once(n, slices.Contains(all, i), "of")
			all = append(all, i)
		}
	}
	return all
}

// checkBackward reports kernels that cannot have gradients.
func (r *reader) checkBackward(n *yaml.Node) {
	switch {
	case len(r.Returned()) == 0 && !r.lost.has("returns:"):
		n.Errorf("invalid-backward",
			"give the kernel a result, as in returns: {y: \"float32[n]\"}, or remove backward:",
			"a kernel without a result has no gradient")
	case slices.ContainsFunc(r.Args, Param.Writes):
		n.Errorf("invalid-backward", "return it as a result instead, or remove backward:",
			"a kernel that writes to an argument has no gradient")
	}
}

// function matches a Python function with its module.
var function = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)

func (r *reader) test(n *yaml.Node) {
	m := n.Map("test")
	made := &Test{Reference: m.Text("reference")}
	if at := m.Get("reference"); at != nil && at.Kind == yaml.Scalar && !function.MatchString(made.Reference) {
		at.Errorf("invalid-name", "as in mylib.reference:rms_norm", "%q is not of the form module:function",
			made.Reference)
	}
	for _, e := range entries(m.Get("sizes"), "sizes") {
		made.Sizes = append(made.Sizes, r.sizes(e))
	}
	for _, e := range entries(m.Get("tolerance"), "tolerance") {
		made.Tolerance = append(made.Tolerance, r.tolerance(e))
	}
	m.Close()
	r.Test = made
}

func entries(n *yaml.Node, what string) []yaml.Entry {
	if n == nil || !n.Is(yaml.Mapping, what) {
		return nil
	}
	return n.Entries
}

func (r *reader) sizes(e yaml.Entry) Sizes {
	made := Sizes{Dim: r.Dim(e.Key.Value)}
	if made.Dim == None && !r.lost.shapes && r.lost.once(e.Key.Value) {
		e.Key.Errorf("unknown-name", r.unbound(e.Key.Value), "%q is not a symbol", e.Key.Value)
	}
	for _, n := range e.Value.List("the sizes of " + e.Key.Value) {
		made.Values = append(made.Values, n.Int("a size", 0, math.MaxInt32))
	}
	return made
}

// yamlFloat matches a number that every YAML parser reads as one: YAML 1.1 requires a decimal
// point.
var yamlFloat = regexp.MustCompile(`^([0-9]+\.[0-9]*([eE][-+][0-9]+)?|[0-9]+)$`)

func (r *reader) tolerance(e yaml.Entry) Tolerance {
	made := Tolerance{}
	d, known := r.dtype(e.Key.Value)
	if !known {
		e.Key.Errorf("unknown-dtype", r.unknownDType(e.Key.Value), "there is no dtype %q", e.Key.Value)
	}
	v, err := notation.ParseValue(e.Value.Value)
	switch {
	case e.Value.Kind != yaml.Scalar || err != nil || e.Value.Quoted || !slices.Contains(valueKinds[Float], v.Kind):
		e.Value.Errorf("type-mismatch", "as in 1.0e-5", "a tolerance must be a number")
	case v.Real() < 0:
		e.Value.Errorf("out-of-range", "write 0 or more, as in 1.0e-5", "a tolerance must not be negative, got %s", v)
	case !yamlFloat.MatchString(e.Value.Value):
		e.Value.Errorf("unquoted", "write "+pointed(v), "other YAML parsers read %s as a string", e.Value.Value)
	}
	made.Type, made.Value = d, v.Real()
	return made
}

// pointed returns a number with the decimal point that YAML 1.1 requires.
func pointed(v notation.Value) string {
	text := strconv.FormatFloat(v.Real(), 'e', -1, 64)
	if !strings.Contains(text, ".") {
		text = strings.Replace(text, "e", ".0e", 1)
	}
	return text
}
