package torchshim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// operator is the data of a PyTorch operator for C and Python.
type operator struct {
	Index                  int
	Type                   string // in identifiers
	Namespace, Name        string
	Kernel, Doc            string
	Schema                 string // a literal
	BoxedName, BoxedSchema string // a literal, or NULL
	Keys                   []string
	Arguments              []string // of C
	Results                []string
	Returned               []int // the results that callers get
	IsDifferentiable       bool
	Fill, Numbers          []string // lines of C
	Python                 []string // the arguments in Python
	Symbols, Shapes        []string // lines and items of Python
	Fields                 []string // in Python, beside these
	// Lists in Python.
	ResultNames, ReturnedPlaces, KeyNames string
	Device                                int64 // the first of the kernel's
}

// viewOperators returns the operator of a kernel and, if its backward saves results, a second one
// that returns these as well.
func viewOperators(r *spec.Release, k *contract.Kernel) []operator {
	all := []operator{viewOperator(r, k, k.Returned(), k.Name)}
	if k.Saves() {
		all = append(all, viewOperator(r, k, k.Results, dispatcher.SavingName(k)))
	}
	return all
}

func viewOperator(r *spec.Release, k *contract.Kernel, results []contract.Param, name string) operator {
	schema := dispatcher.Schema(k, results)
	op := operator{Namespace: k.Namespace, Name: name, Type: name, Kernel: k.Name,
		Schema: emit.CLiteral(name + schema), BoxedName: name, BoxedSchema: "NULL",
		IsDifferentiable: k.Backward != nil}
	op.Doc = emit.CComment(strings.TrimSpace(fmt.Sprintf("%s::%s%s. %s", k.Namespace, name, schema, k.Doc)))
	if slices.ContainsFunc(k.Args, dispatcher.IsScalar) {
		op.BoxedName = "_numbers_" + name
		op.BoxedSchema = emit.CLiteral(op.BoxedName + dispatcher.NumbersSchema(k, results))
	}
	for _, d := range k.Devices {
		key := dispatcher.Key(r, d)
		if !slices.Contains(op.Keys, key) {
			op.Keys = append(op.Keys, key)
		}
	}
	for i, p := range k.Args {
		op.Arguments = append(op.Arguments, argument(p))
		op.Fill = append(op.Fill, fill(i, p)...)
		op.Numbers = append(op.Numbers, number(k, i, p)...)
		op.Python = append(op.Python, pythonArgument(k, p))
	}
	for i, p := range k.Results {
		op.Results = append(op.Results, p.Name)
		if slices.ContainsFunc(results, func(g contract.Param) bool { return g.Name == p.Name }) {
			op.Returned = append(op.Returned, i)
		}
	}
	op.Symbols, op.Shapes = symbols.Shapes(k)
	op.Fields, op.Device = fields(k, &op), k.Devices[0].Value
	op.ResultNames, op.KeyNames = quoted(op.Results), quoted(op.Keys)
	op.ReturnedPlaces = strings.Trim(strings.ReplaceAll(fmt.Sprint(op.Returned), " ", ", "), "[]")
	return op
}

// kinds are the kinds of values.h.
var kinds = map[contract.Kind]string{contract.Tensor: "TENSOR", contract.Int: "INT", contract.Float: "FLOAT",
	contract.Bool: "BOOL", contract.Str: "STR", contract.Ints: "INTS", contract.Floats: "FLOATS"}

// kind returns the kind of an argument on the stack.
func kind(p contract.Param) string {
	switch {
	case dispatcher.IsScalar(p):
		return "NUMBER"
	case p.Kind == contract.Number:
		return kinds[dispatcher.NumberKind(p)]
	}
	return kinds[p.Kind]
}

// argument is an entry of the table in C.
func argument(p contract.Param) string {
	text := fmt.Sprintf("{.name = %s, .kind = DLPACKGEN_SHIM_%s", emit.CLiteral(p.Name), kind(p))
	for _, flag := range []struct {
		name string
		on   bool
	}{{"optional", p.Optional}, {"writes", dispatcher.WrittenAlias(p) != ""}, {"copied", p.Copied}} {
		if flag.on {
			text += ", ." + flag.name + " = true"
		}
	}
	return text + "}"
}

// fill writes the assignment of an argument to the struct of a call.
func fill(i int, p contract.Param) []string {
	to, from := "call_->args."+p.Name, fmt.Sprintf("values_[%d]", i)
	switch p.Kind {
	case contract.Tensor:
		return []string{fmt.Sprintf("%s = %s.present ? &%s.tensor : NULL;", to, from, from),
			fmt.Sprintf("call_->flags.%s = 0;", p.Name)}
	case contract.Ints, contract.Floats:
		return []string{fmt.Sprintf("%s.items = %s.present ? %s.items : NULL;", to, from, from),
			fmt.Sprintf("%s.count = %s.present ? %s.count : 0;", to, from, from)}
	case contract.Str:
		return []string{fmt.Sprintf("%s = %s.present ? %s.text : NULL;", to, from, from)}
	case contract.Number:
		if dispatcher.IsScalar(p) {
			return []string{fmt.Sprintf("%s.integer = %s.integer;", to, from),
				fmt.Sprintf("%s.real = %s.real;", to, from)}
		}
		return append(fits(i, p), scalar(to, from, p.CType(), p)...)
	}
	return scalar(to, from, p.CType(), p)
}

// scalar writes the assignment of a number, or of its address if it may be None.
func scalar(to, from, ctype string, p contract.Param) []string {
	value := fmt.Sprintf("(%s)%s.integer", ctype, from)
	switch ctype {
	case "float", "double":
		value = fmt.Sprintf("(%s)%s.real", ctype, from)
	case "bool":
		value = from + ".integer != 0"
	}
	if !p.Optional {
		return []string{fmt.Sprintf("%s = %s;", to, value)}
	}
	buffer := from + ".buffer.as_" + ctype
	return []string{fmt.Sprintf("if (%s.present) %s = %s;", from, buffer, value),
		fmt.Sprintf("%s = %s.present ? &%s : NULL;", to, from, buffer)}
}

// fits writes the comparison of a scalar with the range of its dtype.
func fits(i int, p contract.Param) []string {
	how := map[contract.Kind]string{contract.Float: "real", contract.Int: "integer"}[dispatcher.NumberKind(p)]
	if how == "" {
		return nil
	}
	d := p.Types[0]
	return []string{fmt.Sprintf("at_ = dlpackgen_shim_site(op_, %d);", i),
		fmt.Sprintf("status_ = dlpackgen_shim_fit_%s(&at_, (DLDataType){%s, %d, %d}, &values_[%d], message_);", how,
			d.Code, d.Bits, d.Lanes, i),
		"if (status_) return status_;"}
}

// number writes the comparison of a variable's scalar with the dtype of the call.
func number(k *contract.Kernel, i int, p contract.Param) []string {
	if !dispatcher.IsScalar(p) {
		return nil
	}
	binder := k.Args[k.Vars[p.Var].Arg].Name
	return []string{fmt.Sprintf("at_ = dlpackgen_shim_site(op_, %d);", i),
		fmt.Sprintf("if (!status_) status_ = dlpackgen_shim_fit_number(&at_, call_->args.%s->dtype, &values_[%d], "+
			"message_);", binder, i)}
}

// quoted formats a list of texts in Python.
func quoted(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return `"` + strings.Join(all, `", "`) + `"`
}
