package golang

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func dtypeOf(d spec.DType) string { return "dlpack." + dtype(d.Name) }

// tensors returns the results that are tensors.
func (w *callWriter) tensors() (all []contract.Param) {
	for _, p := range w.k.Results {
		if p.Kind == contract.Tensor {
			all = append(all, p)
		}
	}
	return all
}

// makes reports whether callers receive a tensor.
func (w *callWriter) makes() bool {
	for _, p := range w.tensors() {
		if !p.Saved {
			return true
		}
	}
	return false
}

func (w *callWriter) check(format string, args ...any) {
	w.v.Check = append(w.v.Check, fmt.Sprintf(format, args...))
}

func (w *callWriter) after(format string, args ...any) {
	w.v.After = append(w.v.After, fmt.Sprintf(format, args...))
}

// results writes the C variables for the results, and the code that returns them.
func (w *callWriter) results() {
	if w.makes() {
		w.params = append(w.params, "bool make_")
		w.pass = append(w.pass, "MAKE")
	}
	if len(w.tensors()) > 0 {
		w.present()
	}
	n := 0
	for i, p := range w.k.Results {
		if p.Kind != contract.Tensor {
			w.scalarResult(i, p)
			continue
		}
		w.v.Run += fmt.Sprintf(", passed_[%d]", n)
		if !p.Saved {
			w.v.Answer = append(w.v.Answer, fmt.Sprintf("void* r%d", i))
			w.after("answer_.r%d = made_[%d];", i, n)
			w.after("made_[%d] = NULL;", n)
		}
		n++
	}
	if n > 0 {
		after := w.v.After
		w.v.After = []string{"if (!status_) {"}
		for _, line := range after {
			w.v.After = append(w.v.After, "  "+line)
		}
		w.after("}")
		w.after("dlpackgen_give_up(made_, %d);", n)
	}
}

// present writes the assignment of the caller's tensors, and the allocation of the other results.
func (w *callWriter) present() {
	n := len(w.tensors())
	sites := ""
	for i, p := range w.k.Results {
		if p.Kind == contract.Tensor {
			sites += fmt.Sprintf("{%q, %q, %d}, ", w.k.Name, p.Name, len(w.k.Args)+i)
		}
	}
	w.before("static const struct dlpackgen_site sites_[] = {%s};", sites)
	w.before("DLManagedTensorVersioned* made_[%d] = {NULL};", n)
	w.before("DLTensor* passed_[%d] = {NULL};", n)
	w.before("uint64_t flags_[%d] = {0};", n)
	for i, p := range w.tensors() {
		if p.Saved {
			continue
		}
		w.params = append(w.params, fmt.Sprintf("const uint64_t* r%d", i), fmt.Sprintf("uint64_t r%df", i))
		w.pass = append(w.pass, "RESULT "+identifier(p.Name), "FLAGS "+identifier(p.Name))
		w.before("passed_[%d] = (DLTensor*)(uintptr_t)r%d;", i, i)
		w.before("flags_[%d] = r%df;", i, i)
		w.check("if (!status_ && !make_) status_ = dlpackgen_check_there(&sites_[%d], passed_[%d] != NULL, "+
			"&message_);", i, i)
	}
	w.check("if (!status_) status_ = dlpackgen_check_results_kernel_%s(&call_, (const DLTensor* const*)passed_, flags_, "+
		"sites_, &message_);", w.k.Name)
	for i, p := range w.tensors() {
		w.check("if (!status_ && !passed_[%d]) {", i)
		w.check("  status_ = dlpackgen_new_result(%q, %q, &call_.results.%s, call_.device, &made_[%d], &message_);",
			w.k.Name, p.Name, p.Name, i)
		w.check("  if (!status_) passed_[%d] = &made_[%d]->dl_tensor;", i, i)
		w.check("}")
	}
}

// scalarResult writes one that C returns by value.
func (w *callWriter) scalarResult(i int, p contract.Param) {
	at := fmt.Sprintf("r%d", i)
	w.v.Run += fmt.Sprintf(", &%s_", at)
	if ctype := p.CType(); ctype != "" {
		w.before("%s %s_ = 0;", ctype, at)
		w.v.Answer = append(w.v.Answer, ctype+" "+at)
		w.after("answer_.%s = %s_;", at, at)
		return
	}
	w.variableResult(at, w.k.Vars[p.Var])
}

// variableResult writes a scalar result whose dtype is determined in the call.
func (w *callWriter) variableResult(at string, v contract.Var) {
	w.v.Answer = append(w.v.Answer, "struct "+w.prefix+"kernel_number "+at)
	var members, known []string
	for _, d := range v.Types {
		ctype := contract.CTypes[d.Name]
		if member := ctype + " as_" + ctype + ";"; !strings.Contains(strings.Join(known, " "), member) {
			known = append(known, member)
			members = append(members, member)
		}
	}
	w.before("union {")
	for _, member := range members {
		w.before("  %s", member)
	}
	w.before("} %s_ = {0};", at)
	w.after("switch (call_.types.%s) {", contract.Member(v.Name))
	for n, d := range v.Types {
		ctype := contract.CTypes[d.Name]
		value := fmt.Sprintf("%s_.as_%s", at, ctype)
		w.after("  case %d: answer_.%s = (struct %skernel_number){%s, (double)%s, %d}; break;", n, at, w.prefix,
			whole(ctype, value), value, numberKind(ctype))
	}
	w.after("  default: break;")
	w.after("}")
}

// whole is an integer of C; 0 for a float.
func whole(ctype, value string) string {
	if ctype == "float" || ctype == "double" {
		return "0"
	}
	return "(int64_t)" + value
}

// numberKind returns the kind of a number, as in templates/go/kernels/values.go.
func numberKind(ctype string) int {
	switch {
	case ctype == "bool":
		return 4
	case ctype == "float" || ctype == "double":
		return 3
	case strings.HasPrefix(ctype, "uint"):
		return 2
	}
	return 1
}

func (w *callWriter) head() {
	params := "void"
	if len(w.params) > 0 {
		params = strings.Join(w.params, ", ")
	}
	w.v.Head = fmt.Sprintf("struct %sanswer_%s %scall_%s(%s)", w.prefix, w.k.Name, w.prefix, w.k.Name, params)
}

// forms writes the function with results as parameters, and the function that allocates them.
func (w *callWriter) forms() {
	w.v.Forms = append(w.v.Forms, w.form(false))
	if w.makes() {
		w.v.Forms = append(w.v.Forms, w.form(true))
	}
}

func (w *callWriter) form(makes bool) form {
	name, args := w.v.Go, append([]string{}, w.args...)
	if makes {
		name += "New"
	}
	var types, values, zeros []string
	for i, p := range w.k.Results {
		at := fmt.Sprintf("answer.r%d", i)
		switch {
		case p.Saved:
			continue
		case p.Kind == contract.Tensor && !makes:
			args = append(args, identifier(p.Name)+" dlpack.Tensor")
			continue
		case p.Kind == contract.Tensor:
			types, values, zeros = append(types, "*dlpack.Managed"), append(values, "take("+at+")"), append(zeros,
				"nil")
		default:
			of, value, zero := goResult(p, at)
			types, values, zeros = append(types, of), append(values, value), append(zeros, zero)
		}
	}
	if len(w.v.Fields) > 0 {
		args = append(args, "o "+w.v.Go+"Options")
	}
	returned := strings.Join(append(types, "error"), ", ")
	if len(types) > 0 {
		returned = "(" + returned + ")"
	}
	return form{Doc: w.document(name, makes), Signature: name + "(" + strings.Join(args, ", ") + ") " + returned,
		Lines: w.body(makes, values, zeros)}
}

// goResult returns the type of a scalar result, its value, and the value to return with an error.
func goResult(p contract.Param, at string) (of, value, zero string) {
	switch of = goTypes[p.CType()]; of {
	case "":
		return "Number", "resultOf(" + at + ")", "Number{}"
	case "bool":
		return of, "bool(" + at + ")", "false"
	}
	return of, of + "(" + at + ")", "0"
}

// body writes the lines of a function.
func (w *callWriter) body(makes bool, values, zeros []string) []string {
	fail := func(err string) string {
		return "return " + strings.Join(append(append([]string{}, zeros...), err), ", ")
	}
	var lines, pass []string
	for _, line := range w.first {
		if line == "RETURN" {
			line = fail("err")
		}
		lines = append(lines, line)
	}
	for _, value := range w.pass {
		pass = append(pass, passed(value, makes))
	}
	lines = append(lines, fmt.Sprintf("answer := C.%scall_%s(%s)", w.prefix, w.k.Name, strings.Join(pass, ", ")),
		"if answer.failure != nil {", fail(fmt.Sprintf("failed(%q, answer.failure)", w.k.Name)), "}")
	return append(lines, "return "+strings.Join(append(append([]string{}, values...), "nil"), ", "))
}

// passed is a value in one of the forms.
func passed(value string, makes bool) string {
	kind, name, result := strings.Cut(value, " ")
	switch {
	case value == "MAKE":
		return fmt.Sprint(makes)
	case !result || kind != "RESULT" && kind != "FLAGS":
		return value
	case makes && kind == "RESULT":
		return "nil"
	case makes:
		return "0"
	case kind == "RESULT":
		return "pointerOf(unsafe.Pointer(" + name + ".Raw()))"
	}
	return "C.uint64_t(" + name + ".Flags())"
}

// document writes the comment of a function.
func (w *callWriter) document(name string, makes bool) []string {
	doc := []string{name + " calls the kernel " + w.k.Name + "."}
	if makes {
		return []string{name + " is [" + w.v.Go + "] with results that it allocates on the CPU: release them."}
	}
	if w.k.Doc != "" {
		doc = append(doc, "")
		for line := range strings.SplitSeq(w.k.Doc, "\n") {
			doc = append(doc, strings.TrimRight(line, " \t\r"))
		}
	}
	var lines []string
	for _, p := range w.k.Args {
		lines = append(lines, "\t"+p.Name+": "+p.Line)
	}
	for _, p := range w.k.Returned() {
		lines = append(lines, "\treturns "+p.Name+": "+p.Line)
	}
	if len(lines) == 0 {
		return doc
	}
	return append(append(doc, ""), lines...)
}
