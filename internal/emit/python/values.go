package python

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// literal returns a default in C. It returns "" without a default and for None.
func literal(p contract.Param) string { return emit.CDefault(p.Default) }

// read writes the conversion of a Python argument, and its assignment to the call.
func (w *wrapper) read(i int, p contract.Param) {
	at := fmt.Sprintf("passed_[%d]", i)
	into := "kernel_.args." + p.Name
	if p.Default == nil {
		w.before("if (!%s) {", at)
		w.before("  dlpackgen_argument_error(&call_, %d, PyExc_TypeError, DLPACKGEN_TEXT_MISSING);", i)
		w.before("  goto done;")
		w.before("}")
	}
	if !p.Optional && p.Kind != contract.Tensor && (p.Default != nil || kind(p) == "") {
		w.before("if (%s == Py_None) {", at)
		w.before("  dlpackgen_argument_error(&call_, %d, PyExc_TypeError, \"expected %s, got None\");", i, p.Expected())
		w.before("  goto done;")
		w.before("}")
	}
	switch p.Kind {
	case contract.Tensor:
		w.tensor(i, p, into)
	case contract.Int, contract.Float, contract.Bool:
		w.scalar(i, p, at, into)
	case contract.Number:
		w.number(i, p, at, into)
	case contract.Str:
		w.text(i, p, at, into)
	default:
		w.list(i, p, at, into)
	}
}

func (w *wrapper) tensor(i int, p contract.Param, into string) {
	from := fmt.Sprintf("call_.arguments[%d]", i)
	if p.Copied {
		w.v.Locals = append(w.v.Locals, fmt.Sprintf("DLManagedTensorVersioned* copy_%d_ = NULL;", i))
		w.v.Release = append(w.v.Release, fmt.Sprintf("if (copy_%d_) dlpackgen_delete(copy_%d_);", i, i))
	}
	w.after("%s = %s.object ? &%s.tensor : NULL;", into, from, from)
	if p.Copied {
		w.after("if (%s && dlpackgen_make_contiguous(&call_, %d, &%s, &copy_%d_)) goto done;", into, i, into, i)
	}
	w.after("kernel_.flags.%s = %s.flags;", p.Name, from)
}

// scalar writes the assignment of a scalar that the base has read.
func (w *wrapper) scalar(i int, p contract.Param, at, into string) {
	value := fmt.Sprintf("call_.arguments[%d].integer", i)
	ctype := "int64_t"
	switch p.Kind {
	case contract.Float:
		value, ctype = fmt.Sprintf("call_.arguments[%d].real", i), "double"
	case contract.Bool:
		value, ctype = value+" != 0", "bool"
	}
	if !p.Optional {
		w.after("%s = %s;", into, value)
		return
	}
	w.v.Locals = append(w.v.Locals, fmt.Sprintf("%s value_%d_ = 0;", ctype, i))
	w.after("value_%d_ = %s;", i, value)
	w.after("%s = %s ? &value_%d_ : NULL;", into, w.there(p, at), i)
}

// there returns the condition under which an optional argument has a value: its own, or a default
// other than None.
func (w *wrapper) there(p contract.Param, at string) string {
	if literal(p) == "" {
		return fmt.Sprintf("%s && %s != Py_None", at, at)
	}
	return fmt.Sprintf("%s != Py_None", at)
}

// came opens a block for an argument that is present.
func (w *wrapper) came(p contract.Param, at string) {
	condition := at
	if p.Optional {
		condition += " && " + at + " != Py_None"
	}
	w.before("if (%s) {", condition)
}

// number writes a scalar of a dtype.
func (w *wrapper) number(i int, p contract.Param, at, into string) {
	integer, real := fmt.Sprintf("integer_%d_", i), fmt.Sprintf("real_%d_", i)
	whole, fraction := emit.CNumber(p.Default)
	w.v.Locals = append(w.v.Locals, fmt.Sprintf("int64_t %s = %s;", integer, whole),
		fmt.Sprintf("double %s = %s;", real, fraction),
		fmt.Sprintf("(void)%s, (void)%s;", integer, real))
	if p.Var != contract.None {
		w.variable(i, p, at, integer, real)
		return
	}
	w.came(p, at)
	w.before("  if (%s) goto done;",
		readNumber(i, p.Types[0], at, integer, real))
	w.before("}")
	ctype := p.CType()
	spelled := fmt.Sprintf("(%s)%s", ctype, integer)
	if ctype == "float" || ctype == "double" {
		spelled = fmt.Sprintf("(%s)%s", ctype, real)
	}
	if !p.Optional {
		w.after("%s = %s;", into, spelled)
		return
	}
	w.v.Locals = append(w.v.Locals, fmt.Sprintf("%s value_%d_ = 0;", ctype, i))
	w.after("value_%d_ = %s;", i, spelled)
	w.after("%s = %s ? &value_%d_ : NULL;", into, w.there(p, at), i)
}

// variable writes the conversion of a scalar that has the dtype of a tensor. The scalar is
// converted to a number before any tensor is read, and to the dtype when that is known. The second
// conversion runs no foreign code.
func (w *wrapper) variable(i int, p contract.Param, at, integer, real string) {
	v := w.k.Vars[p.Var]
	plain := fmt.Sprintf("plain_%d_", i)
	w.v.Locals = append(w.v.Locals, fmt.Sprintf("PyObject* %s = NULL;", plain))
	w.v.Release = append(w.v.Release, fmt.Sprintf("Py_XDECREF(%s);", plain))
	maybeBool := slices.ContainsFunc(v.Types, spec.DType.IsBool)
	w.before("if (dlpackgen_make_plain(&call_, %d, %s, %d, &%s)) goto done;", i, at, btoi(maybeBool), plain)
	w.after("if (%s) {", plain)
	w.after("  int failed_ = 0;")
	w.after("  switch (dlpackgen_dtype_of(&call_.arguments[%d].tensor)) {", v.Arg)
	for _, d := range v.Types {
		real_ := contract.ScalarReadOf(d).Real
		w.after("    case DLPACKGEN_DTYPE(%s, %d, %d):", d.Code, d.Bits, d.Lanes)
		w.after("      failed_ = dlpackgen_check_plain(&call_, %d, %s, %s, %d, %s);", i, at, plain, btoi(real_),
			emit.CLiteral(d.Name))
		w.after("      if (!failed_) failed_ = %s;", readNumber(i, d, plain, integer, real))
		w.after("      break;")
	}
	w.after("    default: break; /* the check reports the mistake */")
	w.after("  }")
	w.after("  if (failed_) goto done;")
	w.after("}")
	w.after("kernel_.args.%s.integer = %s;", p.Name, integer)
	w.after("kernel_.args.%s.real = %s;", p.Name, real)
}

// readNumber returns the call that reads a scalar of a dtype.
func readNumber(i int, d spec.DType, at, integer, real string) string {
	return contract.ScalarReadOf(d).Call("dlpackgen_read_", []string{"&call_", strconv.Itoa(i), at}, integer, real)
}

func (w *wrapper) text(i int, p contract.Param, at, into string) {
	value := literal(p)
	if value == "" {
		value = "NULL"
	}
	w.v.Locals = append(w.v.Locals, fmt.Sprintf("const char* string_%d_ = %s;", i, value))
	w.came(p, at)
	w.before("  if (dlpackgen_read_text(&call_, %d, %s, &string_%d_)) goto done;", i, at, i)
	w.before("}")
	if p.Optional && value != "NULL" {
		w.before("if (%s == Py_None) string_%d_ = NULL;", at, i)
	}
	w.after("%s = string_%d_;", into, i)
}

func (w *wrapper) list(i int, p contract.Param, at, into string) {
	ctype, real := "int64_t", 0
	if p.Kind == contract.Floats {
		ctype, real = "double", 1
	}
	w.v.Locals = append(w.v.Locals, fmt.Sprintf("struct dlpackgen_numbers list_%d_ = {NULL, 0};", i))
	w.v.Release = append(w.v.Release, fmt.Sprintf("PyMem_Free(list_%d_.items);", i))
	w.came(p, at)
	w.before("  if (dlpackgen_read_numbers(&call_, %d, %s, %d, &list_%d_)) goto done;", i, at, real, i)
	w.before("}")
	w.after("%s.items = (const %s*)list_%d_.items;", into, ctype, i)
	w.after("%s.count = list_%d_.count;", into, i)
}

// allocate writes the memory of the results: that of out=, or memory that an argument's library
// allocates.
func (w *wrapper) allocate() {
	if n := len(w.tensors()); n > 0 {
		w.checkOuts(n)
	}
	w.chooseLike()
	out := 0
	for i, p := range w.k.Results {
		if p.Kind != contract.Tensor {
			w.v.Locals = append(w.v.Locals, scalarResult(p, i))
			w.v.Results += fmt.Sprintf(", &scalar_%d_", i)
			continue
		}
		w.v.Locals = append(w.v.Locals, fmt.Sprintf("DLManagedTensorVersioned* made_%d_ = NULL;", i),
			fmt.Sprintf("DLTensor* result_%d_ = NULL;", i))
		w.v.Release = append(w.v.Release, fmt.Sprintf("if (made_%d_) dlpackgen_delete(made_%d_);", i, i))
		w.v.Results += fmt.Sprintf(", result_%d_", i)
		place := contract.None
		if !p.Saved {
			place = w.outs + out
			out++
		}
		w.alloc("if (dlpackgen_allocate_result(&call_, like_, %d, %s, &kernel_.results.%s, &made_%d_, &result_%d_)) "+
			"goto done;",
			place, emit.CLiteral(p.Name), p.Name, i, i)
	}
}

func (w *wrapper) alloc(format string, args ...any) {
	w.v.Allocate = append(w.v.Allocate, fmt.Sprintf(format, args...))
}

// scalarResult declares the variable of a scalar result.
func scalarResult(p contract.Param, i int) string {
	return p.ZeroScalar(fmt.Sprintf("scalar_%d_", i)) + ";"
}

// checkOuts writes the checks of out=.
func (w *wrapper) checkOuts(n int) {
	var tensors, flags []string
	for i := range n {
		at := fmt.Sprintf("call_.arguments[%d]", w.outs+i)
		tensors = append(tensors, fmt.Sprintf("%s.object ? &%s.tensor : NULL", at, at))
		flags = append(flags, at+".flags")
	}
	place := 0
	var passed, bits, sites []string
	for _, p := range w.k.Results {
		switch {
		case p.Kind != contract.Tensor:
		case p.Saved:
			passed, bits, sites = append(passed, "NULL"), append(bits, "0"), append(sites,
				fmt.Sprintf("dlpackgen_outs_of_%s[0]", w.v.Name))
		default:
			passed, bits = append(passed, tensors[place]), append(bits, flags[place])
			sites = append(sites, fmt.Sprintf("dlpackgen_outs_of_%s[%d]", w.v.Name, place))
			place++
		}
	}
	w.alloc("{")
	w.alloc("  const DLTensor* const outs_[] = {%s};", strings.Join(passed, ", "))
	w.alloc("  const uint64_t flags_[] = {%s};", strings.Join(bits, ", "))
	w.alloc("  const struct dlpackgen_site sites_[] = {%s};", strings.Join(sites, ", "))
	w.alloc("  status_ = dlpackgen_check_results_kernel_%s(&kernel_, outs_, flags_, sites_, &message_);", w.k.Name)
	w.alloc("  if (status_) goto failed;")
	w.alloc("}")
}

// chooseLike writes the selection of the argument whose library allocates the results.
func (w *wrapper) chooseLike() {
	all := w.candidates()
	hasTensors := false
	for _, p := range w.k.Results {
		hasTensors = hasTensors || p.Kind == contract.Tensor
	}
	if !hasTensors {
		return
	}
	if len(all) == 0 {
		w.v.Locals = append(w.v.Locals, fmt.Sprintf("const int like_ = %d;", w.v.Count-1))
		return
	}
	w.v.Locals = append(w.v.Locals, fmt.Sprintf("int like_ = %d;", all[0]))
	for i := len(all) - 1; i >= 0; i-- { // the first one wins
		if w.k.Args[all[0]].Optional {
			w.alloc("if (call_.arguments[%d].object) like_ = %d;", all[i], all[i])
		}
	}
}

// give writes the return value. All objects are created before the tuple, because foreign code that
// runs meanwhile could otherwise find an incomplete tuple.
func (w *wrapper) give() {
	objects := 0
	out := w.outs
	for i, p := range w.k.Results {
		object := ""
		switch {
		case p.Saved:
			continue
		case p.Kind == contract.Tensor:
			object = fmt.Sprintf("dlpackgen_result_object(&call_, like_, %d, %s, &made_%d_)", out,
				emit.CLiteral(p.Name), i)
			out++
		default:
			object = scalarObject(w.k, p, i)
		}
		w.v.Give = append(w.v.Give, fmt.Sprintf("objects_[%d] = %s;", objects, object),
			fmt.Sprintf("if (!objects_[%d]) goto done;", objects))
		objects++
	}
	if objects > 0 {
		w.v.Locals = append(w.v.Locals, fmt.Sprintf("PyObject* objects_[%d] = {NULL};", objects))
		w.v.Release = append(w.v.Release, fmt.Sprintf("dlpackgen_drop_results(objects_, %d);", objects))
	}
	switch objects {
	case 0:
		w.v.Give = append(w.v.Give, "made_object_ = Py_NewRef(Py_None);")
	case 1:
		w.v.Give = append(w.v.Give, "made_object_ = Py_NewRef(objects_[0]);")
	default:
		w.v.Give = append(w.v.Give, fmt.Sprintf("made_object_ = dlpackgen_pack(objects_, %d);", objects))
	}
}

// scalarObject writes the creation of an object from a scalar.
func scalarObject(k *contract.Kernel, p contract.Param, i int) string {
	return k.ScalarOf(p, fmt.Sprintf("scalar_%d_", i), numberObject)
}

// numberObject returns the expression that creates an object from a scalar of a C type.
func numberObject(ctype, at string) string {
	switch ctype {
	case "float", "double":
		return "PyFloat_FromDouble((double)" + at + ")"
	case "bool":
		return "PyBool_FromLong(" + at + ")"
	case "uint64_t":
		return "PyLong_FromUnsignedLongLong(" + at + ")"
	}
	return "PyLong_FromLongLong(" + at + ")"
}
