package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// replaced are the older keys of kernels, with PyTorch's schema, and their replacements.
var replaced = [][2]string{
	{"like", "write the result as a line of returns, with the dtype and the extents of that argument"},
	{"layout", "omit it, or write `strided` after the type of each argument that may have any strides"},
	{"strided", "write `strided` after the type of each argument that may have any strides"},
	{"header", "omit it: the author's C includes kernels.h of target kernels"},
	{"error_string", "write error: and the name of the function"},
}

// oldForm reports the keys of a schema. Nothing else of a kernel with `schema:` is read.
func (r *reader) oldForm() bool {
	for _, e := range replaced {
		if n := r.m.Former(e[0]); n != nil && r.m.Former("schema") == nil {
			n.Errorf("kernel-form", e[1], "kernel %s has %s: args and returns describe a kernel", r.Name, e[0])
		}
	}
	n := r.m.Former("schema")
	if n == nil {
		return false
	}
	hint := "omit it"
	if r.m.Get("args") == nil && r.m.Get("returns") == nil {
		hint = "write args and returns, as docs/kernels.md describes"
		if lines := r.translated(n.Value); len(lines) > 0 {
			hint = "write this instead, and narrow the dtypes and the extents:\n" + strings.Join(lines, "\n")
		}
	}
	n.Errorf("kernel-form", hint, "kernel %s has a schema: args and returns describe a kernel", r.Name)
	return true
}

// oldArgument is an argument of a schema.
type oldArgument struct {
	name, kind       string
	writes, optional bool
	group            string // its extents
	variable         string // of its dtype, or ""
}

var (
	oldSchema   = regexp.MustCompile(`^\s*\((.*)\)\s*->\s*(.*)$`)
	oldParam    = regexp.MustCompile(`^(Tensor|int|float|bool)(\([a-z]!\))?(\?)?\s+([A-Za-z]\w*)$`)
	oldResult   = regexp.MustCompile(`^Tensor(?:\s+([A-Za-z]\w*))?$`)
	oldVars     = []string{"T", "U", "V", "W"}
	oldElements = "[float32, float64]"
)

// translated returns the lines of a description for a schema, or nothing if the schema is not
// supported.
func (r *reader) translated(schema string) []string {
	parts := oldSchema.FindStringSubmatch(schema)
	if parts == nil {
		return nil
	}
	args, known := oldArguments(parts[1])
	results := pieces(strings.TrimSuffix(strings.TrimPrefix(parts[2], "("), ")"))
	likes := r.likes(len(results))
	if !known || len(likes) < len(results) {
		return nil
	}
	types, returns := []string{}, []string{}
	for i, text := range results {
		found := oldResult.FindStringSubmatch(text)
		at := slices.IndexFunc(args, func(a oldArgument) bool { return a.name == likes[i] && a.kind == "Tensor" })
		if found == nil || at == None || args[at].variable == "" && len(types) == len(oldVars) {
			return nil
		}
		if a := &args[at]; a.variable == "" {
			a.variable = oldVars[len(types)]
			types = append(types, a.variable+": "+oldElements)
		}
		returns = append(returns, resultName(found[1], i, args)+": "+args[at].variable+"["+args[at].group+"]")
	}
	return r.written(types, args, returns)
}

// oldArguments reads the arguments of a schema, and reports whether all types are supported.
func oldArguments(list string) (args []oldArgument, known bool) {
	for _, text := range pieces(list) {
		found := oldParam.FindStringSubmatch(text)
		if found == nil {
			return nil, false
		}
		args = append(args, oldArgument{name: found[4], kind: found[1], writes: found[2] != "",
			optional: found[3] != "", group: "..." + found[4] + "_dims"})
	}
	return args, true
}

// pieces splits a list at its commas.
func pieces(list string) (all []string) {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// likes returns the argument for each result, which `like:` names once for all results or in a
// list.
func (r *reader) likes(results int) (all []string) {
	n := r.m.Get("like")
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.Scalar:
		return slices.Repeat([]string{n.Value}, results)
	}
	for _, item := range n.Items {
		all = append(all, item.Value)
	}
	return all
}

func resultName(name string, i int, args []oldArgument) string {
	if name == "" {
		name = fmt.Sprintf("result%d", i)
	}
	for slices.ContainsFunc(args, func(a oldArgument) bool { return a.name == name }) {
		name += "x"
	}
	return name
}

// written returns the lines of the keys that replace the older ones.
func (r *reader) written(types []string, args []oldArgument, returns []string) (lines []string) {
	section := func(key string, entries []string) {
		if len(entries) > 0 {
			lines = append(lines, key+":")
		}
		for _, e := range entries {
			lines = append(lines, "  "+e)
		}
	}
	var takes []string
	for _, a := range args {
		takes = append(takes, oldName(a.name, len(returns) > 0)+": "+r.oldLine(a))
	}
	section("types", types)
	section("args", takes)
	section("returns", returns)
	if n := r.m.Get("error_string"); n != nil {
		lines = append(lines, "error: "+n.Value)
	}
	if n := r.m.Get("devices"); n != nil && n.Kind == yaml.List {
		var devices []string
		for _, item := range n.Items {
			devices = append(devices, item.Value+": {}")
		}
		section("devices", devices)
	}
	if n := r.m.Get("backward"); n != nil && n.Kind == yaml.Scalar {
		lines = append(lines, oldBackward(n.Value, args))
	}
	return lines
}

// oldName returns the name of an argument. With results, `out` is a keyword of callers and is
// changed.
func oldName(name string, results bool) string {
	switch {
	case name == "out" && results:
		return "to"
	case slices.Contains(booleans, lower(name)) && len(name) != 1:
		return `"` + name + `"`
	}
	return name
}

// oldLine returns the line of an argument. Arguments that were only read used to be made
// contiguous, unless the layout was `any`.
func (r *reader) oldLine(a oldArgument) string {
	if a.kind != "Tensor" {
		return a.kind
	}
	element := a.variable
	if element == "" {
		element = "any"
	}
	line := element + "[" + a.group + "]"
	if a.optional {
		line += "?"
	}
	if n := r.m.Get("layout"); n != nil && n.Value == "any" {
		line += " strided"
	} else if !a.writes {
		line += " copied"
	}
	if a.writes {
		line += " inout"
	}
	return line
}

// oldBackward returns the key `backward` with the old arguments: the gradients, then every
// argument.
func oldBackward(kernel string, args []oldArgument) string {
	var saves, of []string
	for _, a := range args {
		saves = append(saves, a.name)
		if a.kind == "Tensor" {
			of = append(of, a.name)
		}
	}
	return "backward: {kernel: " + kernel + ", saves: [" + strings.Join(saves, ", ") + "], of: [" +
		strings.Join(of, ", ") + "]}"
}
