package traced

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// Document returns the docstring of a kernel, with its quotes. Written arguments may also be
// results. raises is the class that the host raises for every status, or "" if each status has its
// own.
func Document(k *contract.Kernel, returnsWritten bool, raises string) string {
	lines := []string{}
	if k.Doc != "" {
		lines = append(lines, k.Doc, "")
	}
	for _, p := range k.Args {
		lines = append(lines, p.Name+": "+p.Line)
	}
	for _, p := range k.Returned() {
		lines = append(lines, "returns "+p.Name+": "+p.Line)
	}
	for _, p := range k.Written() {
		if returnsWritten {
			lines = append(lines, "returns "+p.Name+": as it is written")
		}
	}
	for _, c := range k.Where {
		lines = append(lines, fmt.Sprintf("where %s", c))
	}
	lines = append(lines, emit.PythonRaises(k, raises)...)
	return emit.PythonDocstring(strings.Join(lines, "\n"), "    ")
}

// Quoted formats a name as a Python string.
func Quoted(text string) string { return `"` + text + `"` }

// Tuple formats names as a Python tuple.
func Tuple(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, Quoted(name))
	}
	return List(all)
}

// List formats formatted items as a Python tuple.
func List(all []string) string {
	if len(all) == 1 {
		return "(" + all[0] + ",)"
	}
	return "(" + strings.Join(all, ", ") + ")"
}
