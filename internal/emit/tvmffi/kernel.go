package tvmffi

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// kernelView is the data of a kernel for the C template.
type kernelView struct {
	Name, Function    string
	Sites             []string // of the arguments, then of the results that are tensors
	Required          int      // arguments that no call leaves out, which come first
	Arguments, Memory int      // those of a call, and the results that may follow them
	Room              int      // for values that are given
	Locals            []string
	Read, Allocate    []string
	Give, Release     []string
	Passing, Stream   string
	Doc               []string // literals
	Metadata          string
	Legacy            []legacyView // one, or none
	Direct            string       // the condition that calls the function without messages; or ""
}

// legacyView is the data of a kernel's function for TVM before 0.20.
type legacyView struct{ Name, Symbol string }

// writer writes the function of one kernel.
type writer struct {
	k        *contract.Kernel
	v        *kernelView
	returned int // values that the function returns
}

func viewKernel(k *contract.Kernel, prefix string) kernelView {
	v := kernelView{Name: k.Name, Function: emit.CLiteral(k.Name), Arguments: len(k.Args), Memory: len(memory(k)),
		Stream: "NULL", Doc: document(k), Metadata: metadata(k)}
	v.Required = required(k)
	v.Direct = direct(k)
	w := &writer{k: k, v: &v}
	w.sites()
	for _, phase := range []func(int, contract.Param){w.begin, w.read, w.finish} {
		for i, p := range k.Args {
			phase(i, p)
		}
	}
	w.results()
	w.give()
	for _, d := range k.Devices {
		if d.Name != "kDLCPU" {
			v.Stream = "dlpackgen_tvmffi_stream(kernel_.device)"
		}
	}
	if prefix != "" {
		v.Legacy = []legacyView{{k.Name, prefix + k.Name}}
	}
	return v
}

// memory returns the results for which callers may provide memory.
func memory(k *contract.Kernel) (all []contract.Param) {
	for _, p := range k.Returned() {
		if p.Kind == contract.Tensor {
			all = append(all, p)
		}
	}
	return all
}

func (w *writer) sites() {
	site := func(name string, place int) {
		w.v.Sites = append(w.v.Sites, fmt.Sprintf("{%s, %s, %d}", w.v.Function, emit.CLiteral(name), place))
	}
	for i, p := range w.k.Args {
		site(p.Name, i)
	}
	place := len(w.k.Args)
	for _, p := range w.k.Results {
		if p.Kind != contract.Tensor {
			continue
		}
		site(p.Name, place)
		if !p.Saved {
			place++
		}
	}
	if len(w.v.Sites) == 0 {
		site("", 0)
	}
}

func (w *writer) local(format string, args ...any) {
	w.v.Locals = append(w.v.Locals, fmt.Sprintf(format, args...))
}

func (w *writer) reads(format string, args ...any) {
	w.v.Read = append(w.v.Read, fmt.Sprintf(format, args...))
}

// try writes a call that returns a status.
func try(format string, args ...any) string {
	return "if ((status_ = " + fmt.Sprintf(format, args...) + ")) goto done_;"
}

// tries writes a call that returns a status in a block.
func (w *writer) tries(format string, args ...any) { w.reads("  %s", try(format, args...)) }

// isSimple reports whether Python modules read a scalar together with the tensors. The order of
// messages must be the same here.
func isSimple(p contract.Param) bool {
	switch p.Kind {
	case contract.Int, contract.Float, contract.Bool:
		return true
	}
	return false
}

// required counts the first arguments whose presence is checked only by the number of arguments. It
// ends at an argument that is read before the next one is checked, because the first mismatch is
// reported.
func required(k *contract.Kernel) int {
	for i, p := range k.Args {
		if p.Default != nil {
			return i
		}
		if p.Kind != contract.Tensor && !isSimple(p) {
			return i + 1
		}
	}
	return len(k.Args)
}

// at returns the address of an argument, or NULL.
func (w *writer) at(i int) string {
	if i < w.v.Required {
		return fmt.Sprintf("&args_[%d]", i)
	}
	return fmt.Sprintf("count_ > %d ? &args_[%d] : NULL", i, i)
}

// when begins a block, with or without a condition.
func when(condition string) string {
	if condition == "" {
		return "{"
	}
	return "if (" + condition + ") {"
}

// begin writes the steps before any tensor is read: the check for missing arguments, and the
// reading of scalars of a dtype, texts and lists.
func (w *writer) begin(i int, p contract.Param) {
	w.local("const struct dlpackgen_tvm_ffi_any* const at_%d_ = %s;", i, w.at(i))
	if i >= w.v.Required && p.Default == nil {
		w.reads("if (!at_%d_) {", i)
		w.reads("  status_ = dlpackgen_fail(message_, &sites_[%d], DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_MISSING);", i)
		w.reads("  goto done_;")
		w.reads("}")
	}
	if !p.Optional && p.Kind != contract.Tensor && (p.Default != nil || !isSimple(p)) {
		w.reads("if (dlpackgen_tvmffi_is_none(at_%d_)) {", i)
		w.reads("  status_ = dlpackgen_bad_type(&sites_[%d], %s, \"None\", message_);", i, emit.CLiteral(p.Expected()))
		w.reads("  goto done_;")
		w.reads("}")
	}
	switch p.Kind {
	case contract.Str:
		w.text(i, p)
	case contract.Ints, contract.Floats:
		w.list(i, p)
	case contract.Number:
		w.number(i, p)
	}
}

// read writes the assignment of tensors and plain scalars to the call.
func (w *writer) read(i int, p contract.Param) {
	switch p.Kind {
	case contract.Tensor:
		w.tensor(i, p)
	case contract.Int, contract.Float, contract.Bool:
		w.scalar(i, p)
	}
}

// came returns the condition under which an argument is present.
func came(i int, p contract.Param) string {
	if p.Optional {
		return fmt.Sprintf("at_%d_ && !dlpackgen_tvmffi_is_none(at_%d_)", i, i)
	}
	return fmt.Sprintf("at_%d_", i)
}

// there returns the condition under which an optional argument has a value: its own or a default.
func there(i int, p contract.Param) string {
	if literal(p) == "" {
		return came(i, p)
	}
	return fmt.Sprintf("!dlpackgen_tvmffi_is_none(at_%d_)", i)
}

// unless returns a condition for an argument that may be omitted or None, or else "".
func (w *writer) unless(i int, condition string) string {
	if i < w.v.Required && !w.k.Args[i].Optional {
		return ""
	}
	return condition
}

func (w *writer) tensor(i int, p contract.Param) {
	w.local("DLTensor* tensor_%d_ = NULL;", i)
	w.local("struct dlpackgen_tvmffi_strided storage_%d_;", i)
	w.reads("%s", when(w.unless(i, fmt.Sprintf("at_%d_", i))))
	w.tries("dlpackgen_tvmffi_read_tensor(&sites_[%d], at_%d_, %d, &storage_%d_, &tensor_%d_, message_)", i, i,
		btoi(p.Optional), i, i)
	w.reads("}")
	if devices := w.devices(p); devices != "" {
		w.reads("%s", when(w.unless(i, fmt.Sprintf("tensor_%d_", i))))
		w.reads("  static const int32_t devices_[] = {%s};", devices)
		w.tries("dlpackgen_check_device(&sites_[%d], tensor_%d_->device, devices_, %d, message_)", i, i,
			1+strings.Count(devices, ","))
		w.reads("}")
	}
}

// devices returns the device types of a tensor, or "" if there are more than messages list.
func (w *writer) devices(p contract.Param) string {
	if p.CPU {
		return "kDLCPU"
	}
	var all []string
	for _, d := range w.k.Devices {
		all = append(all, fmt.Sprint(d.Value))
	}
	if len(all) > maxDevices {
		return ""
	}
	return strings.Join(all, ", ")
}

// maxDevices is the maximum number of devices of a parameter in the base.
const maxDevices = 4

// scalar writes the assignment of a scalar without a dtype.
func (w *writer) scalar(i int, p contract.Param) {
	ctype, read := "int64_t", "integer(&sites_[%d], &scalar_, &value_%d_, message_)"
	switch p.Kind {
	case contract.Float:
		ctype, read = "double", `real(&sites_[%d], &scalar_, "float", &value_%d_, message_)`
	case contract.Bool:
		ctype, read = "bool", "truth(&sites_[%d], &scalar_, &value_%d_, message_)"
	}
	w.local("%s value_%d_ = %s;", ctype, i, or(literal(p), "0"))
	w.reads("if (%s) {", came(i, p))
	w.reads("  const struct dlpackgen_scalar_argument scalar_ = dlpackgen_tvmffi_scalar(at_%d_);", i)
	w.tries("dlpackgen_scalar_"+read, i, i)
	w.reads("}")
	w.assign(i, p, fmt.Sprintf("value_%d_", i))
}

// assign writes the assignment of a value to the call. The variable value_i_ contains a value that
// may be None.
func (w *writer) assign(i int, p contract.Param, value string) {
	into := "kernel_.args." + p.Name
	if !p.Optional {
		w.reads("%s = %s;", into, value)
		return
	}
	w.reads("%s = %s ? &value_%d_ : NULL;", into, there(i, p), i)
}

// number writes the assignment of a scalar of a dtype. If a tensor determines the dtype, the scalar
// is read after the tensor.
func (w *writer) number(i int, p contract.Param) {
	whole, fraction := emit.CNumber(p.Default)
	w.local("int64_t integer_%d_ = %s;", i, whole)
	w.local("double real_%d_ = %s;", i, fraction)
	w.local("(void)integer_%d_, (void)real_%d_;", i, i)
	if p.Var != contract.None {
		return
	}
	ctype := p.CType()
	w.reads("if (%s) {", came(i, p))
	w.reads("  const struct dlpackgen_scalar_argument scalar_ = dlpackgen_tvmffi_scalar(at_%d_);", i)
	w.tries("%s", readNumber(i, p.Types[0]))
	w.reads("}")
	value := fmt.Sprintf("(%s)integer_%d_", ctype, i)
	if ctype == "float" || ctype == "double" {
		value = fmt.Sprintf("(%s)real_%d_", ctype, i)
	}
	if p.Optional {
		w.local("%s value_%d_ = 0;", ctype, i)
		w.reads("value_%d_ = %s;", i, value)
	}
	w.assign(i, p, value)
}

// readNumber returns the call that reads a scalar of a dtype.
func readNumber(i int, d spec.DType) string {
	return contract.ScalarReadOf(d).Call("dlpackgen_scalar_", []string{fmt.Sprintf("&sites_[%d]", i), "&scalar_"},
		fmt.Sprintf("integer_%d_", i), fmt.Sprintf("real_%d_", i), "message_")
}

func (w *writer) text(i int, p contract.Param) {
	value := or(literal(p), "NULL")
	w.local("const char* string_%d_ = %s;", i, value)
	w.reads("if (%s) {", came(i, p))
	w.tries("dlpackgen_tvmffi_read_text(&sites_[%d], at_%d_, &string_%d_, message_)", i, i, i)
	w.reads("}")
	if p.Optional && value != "NULL" {
		w.reads("if (dlpackgen_tvmffi_is_none(at_%d_)) string_%d_ = NULL;", i, i)
	}
	w.reads("kernel_.args.%s = string_%d_;", p.Name, i)
}

func (w *writer) list(i int, p contract.Param) {
	ctype, real := "int64_t", 0
	if p.Kind == contract.Floats {
		ctype, real = "double", 1
	}
	w.local("struct dlpackgen_tvmffi_list list_%d_;", i)
	w.local("list_%d_.items = NULL, list_%d_.count = 0;", i, i)
	w.v.Release = append(w.v.Release, fmt.Sprintf("dlpackgen_tvmffi_drop_list(&list_%d_);", i))
	w.reads("if (%s) {", came(i, p))
	w.tries("dlpackgen_tvmffi_read_list(&sites_[%d], at_%d_, %d, &list_%d_, message_)", i, i, real, i)
	w.reads("}")
	w.reads("kernel_.args.%s.items = (const %s*)list_%d_.items;", p.Name, ctype, i)
	w.reads("kernel_.args.%s.count = list_%d_.count;", p.Name, i)
}

// finish writes the steps that need the tensors: copies, and scalars whose dtype a tensor
// determines.
func (w *writer) finish(i int, p contract.Param) {
	switch {
	case p.Kind == contract.Tensor:
		w.finishTensor(i, p)
	case p.Kind == contract.Number && p.Var != contract.None:
		w.variable(i, p)
	}
}

func (w *writer) finishTensor(i int, p contract.Param) {
	if p.Copied {
		w.local("struct dlpackgen_tvmffi_memory copy_%d_;", i)
		w.local("copy_%d_.block = NULL;", i)
		w.v.Release = append(w.v.Release, fmt.Sprintf("free(copy_%d_.block);", i))
		w.reads("%s", try("dlpackgen_tvmffi_make_contiguous(&sites_[%d], &tensor_%d_, &copy_%d_, message_)", i, i, i))
	}
	w.reads("kernel_.args.%s = tensor_%d_;", p.Name, i)
	w.reads("kernel_.flags.%s = 0;", p.Name)
}

func (w *writer) variable(i int, p contract.Param) {
	v := w.k.Vars[p.Var]
	w.reads("if (at_%d_) {", i)
	w.reads("  const struct dlpackgen_scalar_argument scalar_ = dlpackgen_tvmffi_scalar(at_%d_);", i)
	w.reads("  switch (dlpackgen_dtype_of(tensor_%d_)) {", v.Arg)
	for _, d := range v.Types {
		w.reads("    case DLPACKGEN_DTYPE(%s, %d, %d): status_ = %s; break;", d.Code, d.Bits, d.Lanes, readNumber(i, d))
	}
	w.reads("    default: break; /* the check reports the mistake */")
	w.reads("  }")
	w.reads("  if (status_) goto done_;")
	w.reads("}")
	w.reads("kernel_.args.%s.integer = integer_%d_;", p.Name, i)
	w.reads("kernel_.args.%s.real = real_%d_;", p.Name, i)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}
