// Package dispatcher contains the common part of targets torch and torchshim: PyTorch's schema of a
// described kernel, its dispatch keys, its rules for torch.vmap, and the shapes of its results as
// expressions over symbols.
package dispatcher

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Key returns PyTorch's backend for a device, or "".
func Key(r *spec.Release, d contract.Device) string { return cmp.Or(d.Torch, r.TorchKey(d.Name)) }

// namespaces are PyTorch's own namespaces, to which no operators may be added. attributes are the
// attributes of namespaces in torch.ops.
var (
	namespaces = []string{
		"aten", "c10", "classes", "higher_order", "import_module", "load_library", "loaded_libraries", "prim", "prims",
		"profiler", "quantized", "torch",
	}
	attributes = []string{"name"}
)

// Unregistered reports the parts of a kernel that PyTorch's dispatcher cannot express.
func Unregistered(r *spec.Release, k *contract.Kernel) (errs []error) {
	fail := func(param, format string, args ...any) {
		errs = append(errs, emit.CannotMake(k.Name, param, format, args...))
	}
	if slices.Contains(namespaces, k.Namespace) {
		fail("", "is in the namespace %s, which is PyTorch's own: write namespace: mylib", k.Namespace)
	}
	if slices.Contains(attributes, k.Name) {
		fail("", "has a name that torch.ops.%s has as an attribute", k.Namespace)
	}
	if !slices.ContainsFunc(k.Args, func(p contract.Param) bool { return p.Kind == contract.Tensor }) {
		fail("", "takes no tensor: PyTorch finds the backend of an operator by its tensors")
	}
	for _, p := range k.Args {
		if p.Kind == contract.Tensor && p.Optional && p.Writes() {
			fail(p.Name, "writes to %s, which may be None: PyTorch has no such argument", p.Name)
		}
		if v := p.Default; v != nil && v.Kind == notation.Natural && isInteger(p) {
			fail(p.Name, "has the default %s for %s, and PyTorch's integers end at %d", v, p.Name, math.MaxInt64)
		}
	}
	if written := k.Written(); len(written) > 26 {
		fail("", "writes to %d arguments: PyTorch's schemas have letters for 26", len(written))
	}
	for _, p := range k.Results {
		if p.Kind != contract.Tensor {
			fail(p.Name, "returns the scalar %s, which PyTorch cannot compute for a graph: write %s for a tensor "+
				"of rank 0", p.Name, p.AsTensor())
		}
	}
	if k.Backward != nil {
		errs = append(errs, unsaved(k)...)
	}
	for _, d := range k.Devices {
		if Key(r, d) == "" {
			fail("", "is for %s, which PyTorch has no backend for", d.Name)
		}
	}
	return errs
}

// unsaved reports the values that autograd cannot save.
func unsaved(k *contract.Kernel) (errs []error) {
	for _, name := range k.Backward.Saves {
		i := k.Arg(name)
		if i == contract.None || !k.Args[i].Optional {
			continue
		}
		if kind := k.Args[i].Kind; kind == contract.Str || kind == contract.Ints || kind == contract.Floats {
			errs = append(errs, emit.CannotMake(k.Name, name,
				"saves %s, which may be None: PyTorch saves no optional string or list", name))
		}
	}
	return errs
}

// SavingName begins with a prefix that no kernel has.
func SavingName(k *contract.Kernel) string { return "_" + k.Name + "_saving" }

// WrittenAlias marks an argument that the kernel writes to.
func WrittenAlias(p contract.Param) string {
	if p.Kind == contract.Tensor && p.Writes() {
		return "a!"
	}
	return ""
}

// Schema returns PyTorch's schema of a kernel.
func Schema(k *contract.Kernel, results []contract.Param) string {
	return schemaOf(k, results, func(p contract.Param) []string {
		text := schemaType(p) + " " + p.Name
		if p.Default != nil {
			text += "=" + schemaDefault(p)
		}
		return []string{text}
	})
}

// NumbersSchema returns a schema with three arguments for each scalar of a variable: its integer
// value, its float value, and which of them is used. PyTorch's C shim has no Scalar.
func NumbersSchema(k *contract.Kernel, results []contract.Param) string {
	return schemaOf(k, results, func(p contract.Param) []string {
		if IsScalar(p) {
			return []string{"int " + p.Name, "float " + p.Name + "_real_", "int " + p.Name + "_is_"}
		}
		return []string{schemaType(p) + " " + p.Name}
	})
}

// IsScalar reports whether an argument is a Scalar in PyTorch.
func IsScalar(p contract.Param) bool { return p.Kind == contract.Number && p.Var != contract.None }

func schemaOf(k *contract.Kernel, results []contract.Param, spell func(contract.Param) []string) string {
	var args []string
	written := 0
	for _, p := range k.Args {
		if WrittenAlias(p) != "" {
			args = append(args, fmt.Sprintf("Tensor(%c!) %s", 'a'+written, p.Name))
			written++
			continue
		}
		args = append(args, spell(p)...)
	}
	out := strings.Join(slices.Repeat([]string{"Tensor"}, len(results)), ", ")
	if len(results) != 1 {
		out = "(" + out + ")"
	}
	return "(" + strings.Join(args, ", ") + ") -> " + out
}

// schemaKinds are PyTorch's types, by kind.
var schemaKinds = map[contract.Kind]string{contract.Tensor: "Tensor", contract.Int: "int", contract.Float: "float",
	contract.Bool: "bool", contract.Str: "str", contract.Ints: "int[]", contract.Floats: "float[]"}

func schemaType(p contract.Param) string {
	text := schemaKinds[p.Kind]
	if p.Kind == contract.Number {
		text = schemaKinds[NumberKind(p)]
		if p.Var != contract.None {
			text = "Scalar"
		}
	}
	if p.Optional {
		text += "?"
	}
	return text
}

// NumberKind returns PyTorch's type for a scalar of a dtype.
func NumberKind(p contract.Param) contract.Kind {
	switch contract.CTypes[p.Types[0].Name] {
	case "float", "double":
		return contract.Float
	case "bool":
		return contract.Bool
	}
	return contract.Int
}

func schemaDefault(p contract.Param) string {
	v := p.Default
	isNumber := p.Kind == contract.Number && p.Var == contract.None
	isFloat := p.Kind == contract.Float || isNumber && NumberKind(p) == contract.Float
	switch {
	case v.Kind == notation.Bool:
		return map[bool]string{true: "True", false: "False"}[v.Bool]
	case v.Kind == notation.Natural || v.Kind == notation.Int && isFloat:
		return v.String() + ".0" // PyTorch treats an optional float's 1 as an int, and has no unsigned 64-bit integer
	}
	return v.String()
}

// isInteger reports whether a scalar of a dtype, or of a variable, can be an integer.
func isInteger(p contract.Param) bool {
	return slices.ContainsFunc(p.Types, spec.DType.IsInteger)
}
