package emit

import (
	"regexp"
	"sync"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Status is a failure that kernels and their checks return.
type Status struct {
	Name      string // in C, without its prefix
	Exception string // of Python
	Number    string
}

var statusRow = regexp.MustCompile(`(?m)^  STATUS\((\w+), (\w+), (\d+)\)`)

// Statuses returns the rows of DLPACKGEN_STATUSES in <dlpackgen/message.h>, which is the only list.
var Statuses = sync.OnceValue(func() (all []Status) {
	text, _ := templates.Text("c/message.h") // embedded; a test counts the rows
	for _, row := range statusRow.FindAllStringSubmatch(text, -1) {
		all = append(all, Status{Name: row[1], Exception: row[2], Number: row[3]})
	}
	return all
})

// PythonStatuses is the part of Python sources that call checks in C through ctypes.
func PythonStatuses(r *spec.Release) Asset {
	cpu, _ := r.ValueOf("DLDeviceType", "kDLCPU")
	view := struct {
		CPU      int64
		Statuses []Status
	}{cpu, Statuses()}
	return Asset{From: "traced/statuses.py.tmpl", To: "statuses.py", View: view}
}
