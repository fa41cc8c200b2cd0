package contract

import (
	"go/token"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// Languages are the languages of kernels. The first is the default.
var Languages = []string{"c", "go"}

// GoError is the C function that returns the text of a Go function's error.
const GoError = "dlpackgen_error_of_go"

// language reads lang:, and reports whether it is go.
func (r *reader) language() bool {
	n := r.m.Get("lang")
	return n != nil && n.OneOf("lang", Languages) == "go"
}

// goFunction reads the key that a kernel in Go has instead of symbols and devices. Its C functions
// are generated: one for each choice of dtypes, all of which call the one Go function.
func (r *reader) goFunction(fine bool) {
	r.GoFunc, r.Error = goName(r.Name), GoError
	at := r.name
	if n := r.m.Get("symbol"); n != nil {
		at, r.GoFunc = n, pattern(n)
		r.checkGoName(n)
	}
	r.checkGoDevices(r.m.Get("devices"))
	if n := r.m.Get("error"); n != nil {
		n.Errorf("invalid-lang", "remove error:", "a kernel in Go returns the text of an error itself")
	}
	symbol := "dlpackgen_go_" + r.Name
	for _, v := range r.Vars {
		symbol += "_{" + v.Name + "}"
	}
	if fine {
		r.generated(at, symbol)
	}
}

// generated adds the CPU with the generated C functions of a kernel in Go.
func (r *reader) generated(at *yaml.Node, symbol string) {
	used, choices := r.placeholders(at, symbol)
	if choices > MaxFunctions {
		at.Errorf("too-many", fewerFunctions, "%s has %d choices of dtypes, more than %d", r.Name, choices,
			MaxFunctions)
		return
	}
	d := r.deviceOf(defaultDevice)
	for i := range choices {
		d.Functions = append(d.Functions, r.function(symbol, used, i))
		r.symbols = append(r.symbols, symbolAt{d.Functions[i].Symbol, at})
	}
	r.Devices = append(r.Devices, d)
}

// goName returns the default function of a kernel in Go: RmsNorm for rms_norm.
func goName(name string) string {
	made := ""
	for _, word := range strings.Split(name, "_") {
		if word != "" {
			made += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return made
}

func (r *reader) checkGoName(n *yaml.Node) {
	if n.Kind == yaml.Scalar && (!token.IsIdentifier(r.GoFunc) || !token.IsExported(r.GoFunc)) {
		n.Errorf("invalid-symbol", "as in symbol: "+goName(r.Name),
			"%q is not an exported function of Go; with types: it is generic, and has one name", r.GoFunc)
	}
}

// checkGoDevices reports devices other than the CPU.
func (r *reader) checkGoDevices(section *yaml.Node) {
	if section == nil || isEmpty(section) || !section.Is(yaml.Mapping, "devices") {
		return
	}
	for _, e := range section.Entries {
		if e.Key.Value != defaultDevice {
			e.Key.Errorf("invalid-lang", "describe a kernel in C for other devices",
				"a kernel in Go runs on the CPU, and not on %s", e.Key.Value)
		} else if !isEmpty(e.Value) && (e.Value.Kind != yaml.Mapping || len(e.Value.Entries) > 0) {
			e.Value.Errorf("invalid-lang", "write "+defaultDevice+": {}",
				"a kernel in Go has nothing to set per device")
		}
	}
}

// checkGoStatus reports a status that Go errors never have.
func (r *reader) checkGoStatus(at *yaml.Node, code int64) {
	if r.GoFunc != "" && code < 0 {
		at.Errorf("out-of-range", "give the error of Go a positive status",
			"the statuses of a kernel in Go are positive; errors without one and panics are RuntimeErrors")
	}
}
