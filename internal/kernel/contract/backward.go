package contract

import (
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// described returns a hint with the description of the backward kernel.
func (k *Kernel) described(name string) string {
	lines := []string{"describe it like this:", name + ":"}
	section := func(key string, entries []string) {
		if len(entries) > 0 {
			lines = append(lines, "  "+key+":")
		}
		for _, e := range entries {
			lines = append(lines, "    "+e)
		}
	}
	if k.Namespace != defaultNamespace {
		lines = append(lines, "  namespace: "+k.Namespace)
	}
	section("types", k.spelledTypes())
	section("args", k.gradientArgs())
	section("returns", k.gradients())
	return strings.Join(lines, "\n")
}

// spelledTypes returns the lines of the variables.
func (k *Kernel) spelledTypes() (lines []string) {
	for _, v := range k.Vars {
		lines = append(lines, v.Name+": ["+strings.Join(v.TypeNames(), ", ")+"]")
	}
	return lines
}

// gradientArgs returns the lines of the backward kernel's arguments.
func (k *Kernel) gradientArgs() (lines []string) {
	for _, p := range k.Returned() {
		lines = append(lines, k.free("grad_"+p.Name)+": "+typeOf(p))
	}
	for _, p := range k.passed() {
		line := typeOf(p)
		if p.Optional {
			line += "?"
		}
		lines = append(lines, p.Name+": "+line)
	}
	return lines
}

// gradients returns the lines of its results.
func (k *Kernel) gradients() (lines []string) {
	for _, i := range k.Backward.Of {
		lines = append(lines, k.free("grad_"+k.Args[i].Name)+": "+typeOf(k.Args[i]))
	}
	return lines
}

// free returns a name that is not used by an argument or a result.
func (k *Kernel) free(name string) string {
	for slices.Contains(k.Backward.Saves, name) {
		name += "x"
	}
	return name
}

// typeOf returns the line of a parameter without modifiers and default.
func typeOf(p Param) string {
	line, err := notation.ParseLine(p.Line)
	if err != nil {
		return p.Line
	}
	return line.Type.String()
}
