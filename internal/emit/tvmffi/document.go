package tvmffi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

var prefixText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func checkPrefix(value string) string {
	if !prefixText.MatchString(value) {
		return fmt.Sprintf("%q cannot begin a name in C", value)
	}
	return ""
}

// literal returns a default in C. It returns "" without a default and for None.
func literal(p contract.Param) string { return emit.CDefault(p.Default) }

// lines returns the documentation of the kernel: its call, its arguments and its results.
func lines(k *contract.Kernel) []string {
	all := []string{k.Name + "(" + strings.Join(emit.PythonArguments(k), ", ") + ")"}
	if k.Doc != "" {
		all = append(all, "", k.Doc)
	}
	all = append(all, "")
	for _, p := range k.Args {
		all = append(all, p.Name+": "+p.Line)
	}
	for _, p := range k.Returned() {
		all = append(all, "returns "+p.Name+": "+p.Line)
	}
	all = append(all, k.Limits()...)
	return append(all, emit.PythonRaises(k, "")...)
}

func document(k *contract.Kernel) (literals []string) {
	for _, line := range lines(k) {
		literals = append(literals, emit.CLiterals(line+"\n")...)
	}
	return literals
}

// schema is a type in tvm-ffi's metadata.
type schema struct {
	Type string   `json:"type"`
	Args []schema `json:"args,omitempty"`
}

// kinds are the names of scalars and texts.
var kinds = map[contract.Kind]string{contract.Tensor: "ffi.Tensor", contract.Int: "int", contract.Float: "float",
	contract.Bool: "bool", contract.Str: "ffi.String"}

func schemaOf(p contract.Param) schema {
	made := schema{Type: kinds[p.Kind]}
	switch p.Kind {
	case contract.Ints:
		made = schema{Type: "ffi.Array", Args: []schema{{Type: "int"}}}
	case contract.Floats:
		made = schema{Type: "ffi.Array", Args: []schema{{Type: "float"}}}
	case contract.Number:
		made.Type = "int"
		for _, d := range p.Types {
			if c := contract.CTypes[d.Name]; c == "float" || c == "double" {
				made.Type = "float"
			}
		}
	}
	if p.Optional {
		return schema{Type: "Optional", Args: []schema{made}}
	}
	return made
}

// metadata returns the type of the form that allocates the results, as JSON inside of JSON.
func metadata(k *contract.Kernel) string {
	var params, results []schema
	for _, p := range k.Args {
		params = append(params, schemaOf(p))
	}
	for _, p := range k.Returned() {
		results = append(results, schemaOf(p))
	}
	returned := schema{Type: "None"}
	switch len(results) {
	case 0:
	case 1:
		returned = results[0]
	default:
		returned = schema{Type: "Tuple", Args: results}
	}
	function := map[string]any{"type": "ffi.Function",
		"named_args": map[string][]schema{"return": {returned}, "params": append([]schema{}, params...)}}
	text := encoded(map[string]string{"type_schema": encoded(function)})
	return emit.CLiteral(text)
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("unreachable: it holds texts alone: %v", err))
	}
	return string(text)
}
