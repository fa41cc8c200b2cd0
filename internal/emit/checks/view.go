package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cformat"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// kernelView is the data of a kernel for the C templates.
type kernelView struct {
	Name, Title    string
	Function, Text string // expressions: the name in sentences, and the text of a status
	Lines          []string
	Functions      []prototype
	Args           []argument
	Tensors        []tensor
	Dims           []string
	Vars           []variable
	Results        []string // those that are tensors
	Forms          []resultForm
	Made           string // their addresses
	Place          string // the address of their memory
	Sites          []site
	ResultSites    []site
	Zeroed         []zeroed
	Locals         []string
	Steps          []step
	Rules          [][]step // functions of steps that only few calls need
	Devices        []device
	Raises         []raise
	RunHead        string // the heads of two functions
	CallHead       string
	RunArguments   string
	Unused         string // parameters that a build without any device's functions does not use
	PassedResults  string
	Assigns        []string
	Serial         bool
	Direct         []direct // one, or none
	Passed         string   // the parameters of a call except the stream
}

// prototype is the prototype of a function that the author writes.
type prototype struct{ Symbol, Text string }

type argument struct{ Name, Field string }

// tensor is an argument with its index among all arguments. Its String is its name.
type tensor struct {
	Kernel, Name string
	Number       int
	There        string // begins a condition about one that may be None
}

func (t tensor) String() string { return t.Name }

type zeroed struct{ Function, Argument, Name string }

type variable struct{ Name, Table, DTypes string }

type site struct {
	Function, Argument string
	Number             int
}

type device struct {
	Case string
	// Without is the macro of a build without the functions of the device; "" if the CPU also uses
	// them.
	Without string
	// Function and Says are the name of the kernel, and the message of a call in that build.
	Function, Says string
	Switch         string // which of Calls; "" for a single one
	Calls          []string
}

type raise struct {
	Code                         int64
	Function, Site, Status, Text string
}

// step is a part of the check.
type step struct {
	Comment, If string
	Lines       []string
	Apart       bool // a function does it,
	Rules       int  // of that number
}

// resultForm describes a result: its number of dimensions, whether there may be more, and the
// indices of the earlier results.
type resultForm struct {
	Name       string
	Rank, More int
	Before     []int
}

func viewKernel(k *contract.Kernel) kernelView {
	v := kernelView{Name: k.Name, Title: cmp.Or(k.Doc, k.Name+"."), Function: emit.CLiteral(k.Name),
		Text:   statusText(k),
		Serial: k.Serial}
	for i, p := range k.Args {
		v.Lines = append(v.Lines, p.Name+": "+emit.CComment(p.Line))
		v.Args = append(v.Args, argument{p.Name, field(p)})
		v.Sites = append(v.Sites, site{v.Function, emit.CLiteral(p.Name), i})
		if p.Kind == contract.Tensor {
			v.Tensors = append(v.Tensors, tensor{k.Name, p.Name, i, present(p, "call->args."+p.Name)})
		}
	}
	for i, p := range k.Results {
		v.Lines = append(v.Lines, "returns "+p.Name+": "+emit.CComment(p.Line))
		if p.Kind == contract.Tensor {
			v.Results = append(v.Results, p.Name)
			rank, ellipsis := p.Rank()
			v.Forms = append(v.Forms, resultForm{p.Name, rank, btoi(ellipsis != contract.None), numbers(len(v.Forms))})
			if p.Zeroed {
				v.Zeroed = append(v.Zeroed, zeroed{v.Function, emit.CLiteral(p.Name), p.Name})
			}
			v.ResultSites = append(v.ResultSites, site{v.Function, emit.CLiteral(p.Name), len(k.Args) + i})
		}
	}
	for _, line := range k.Limits() {
		v.Lines = append(v.Lines, emit.Wrap(emit.CComment(line), commentWidth)...)
	}
	v.viewNames(k)
	v.viewSignatures(k)
	v.viewDispatch(k)
	v.Place = "call->device"
	if place(k) == contract.None {
		v.Place = "dlpackgen_host()"
	}
	c := checker{k: k, short: hasUsual(k)}
	c.check()
	v.Direct = viewDirect(k)
	v.Steps, v.Rules, v.Locals = c.steps, c.rules, cformat.AlignComments(c.locals)
	return v
}

// commentWidth leaves room for the beginning of a line.
const commentWidth = 97

// numbers counts from 0.
func numbers(count int) (all []int) {
	for i := range count {
		all = append(all, i)
	}
	return all
}

func (v *kernelView) viewNames(k *contract.Kernel) {
	for _, d := range k.Dims {
		v.Dims = append(v.Dims, contract.Member(d.Name))
	}
	for i, t := range k.Vars {
		v.Vars = append(v.Vars, variable{contract.Member(t.Name), table(k, i), dtypes(t.Types)})
	}
	var made []string
	for _, name := range v.Results {
		made = append(made, "&call->results."+name)
	}
	v.Made, v.PassedResults = strings.Join(made, ", "), strings.Join(v.Results, ", ")
}

// table names the dtypes of a variable.
func table(k *contract.Kernel, i int) string { return fmt.Sprintf("dlpackgen_types_%s_%d", k.Name, i) }

// dtypes lists dtypes as numbers.
func dtypes(all []spec.DType) string {
	var list []string
	for _, d := range all {
		list = append(list, fmt.Sprintf("DLPACKGEN_DTYPE(%s, %d, %d)", d.Code, d.Bits, d.Lanes))
	}
	return strings.Join(list, ", ")
}

// ctype returns the C type of a scalar. number is the type of a scalar whose dtype is determined in
// the call.
func ctype(p contract.Param, number string) string {
	if p.Kind == contract.Number && p.Var != contract.None {
		return number
	}
	return p.CType()
}

const anyNumber = "struct dlpackgen_number"

// field declares an argument in the struct of a call.
func field(p contract.Param) string {
	switch p.Kind {
	case contract.Ints:
		return "struct {\n      const int64_t* items;\n      int64_t count;\n    } " + p.Name
	case contract.Floats:
		return "struct {\n      const double* items;\n      int64_t count;\n    } " + p.Name
	}
	return parameter(p, anyNumber)
}

// parameter declares an argument of a function. A list has two parameters.
func parameter(p contract.Param, number string) string {
	star := ""
	if p.Optional {
		star = "*"
	}
	switch p.Kind {
	case contract.Tensor:
		if p.Writes() {
			return "DLTensor* " + p.Name
		}
		return "const DLTensor* " + p.Name
	case contract.Str:
		return "const char* " + p.Name
	case contract.Ints:
		return fmt.Sprintf("const int64_t* %s, int64_t %s_count_", p.Name, p.Name)
	case contract.Floats:
		return fmt.Sprintf("const double* %s, int64_t %s_count_", p.Name, p.Name)
	}
	if p.Optional {
		return fmt.Sprintf("const %s%s %s", ctype(p, number), star, p.Name)
	}
	return ctype(p, number) + " " + p.Name
}

// result declares a result of a function. It is a void * if its dtype is determined in the call.
func result(p contract.Param, number string) string {
	if p.Kind == contract.Tensor {
		return "DLTensor* " + p.Name
	}
	return ctype(p, number) + "* " + p.Name
}

func (v *kernelView) viewSignatures(k *contract.Kernel) {
	run, call := []string{"const struct dlpackgen_kernel_" + k.Name + "* call_"}, []string{}
	var names []string
	for _, p := range k.Args {
		call = append(call, parameter(p, anyNumber))
		v.Assigns = append(v.Assigns, assign("call_", p, "")...)
		names = append(names, p.Name)
	}
	for _, p := range k.Results {
		names = append(names, p.Name)
		run, call = append(run, result(p, "void")), append(call, result(p, "void"))
		v.RunArguments += ", " + p.Name
	}
	v.Passed = strings.Join(names, ", ")
	last := []string{"void* stream", "struct dlpackgen_message* message_"}
	v.RunHead = fmt.Sprintf("int dlpackgen_run_kernel_%s(%s)", k.Name, strings.Join(append(run, last...), ", "))
	v.CallHead = fmt.Sprintf("int dlpackgen_call_kernel_%s(%s)", k.Name,
		strings.Join(append(call, last...), ", "))
}

// assign copies an argument, whose parameter has the name with a prefix, into the struct of a call.
func assign(call string, p contract.Param, prefix string) []string {
	to, from := call+".args."+p.Name, prefix+p.Name
	switch p.Kind {
	case contract.Ints, contract.Floats:
		return []string{fmt.Sprintf("%s.items = %s;", to, from), fmt.Sprintf("%s.count = %s_count_;", to, from)}
	case contract.Tensor:
		return []string{fmt.Sprintf("%s = %s;", to, from), fmt.Sprintf("%s.flags.%s = 0;", call, p.Name)}
	}
	return []string{fmt.Sprintf("%s = %s;", to, from)}
}

// viewDispatch returns the function for each device and each choice of dtypes.
func (v *kernelView) viewDispatch(k *contract.Kernel) {
	for _, d := range k.Devices {
		made := device{Case: fmt.Sprint(d.Value), Switch: choice(k, d)}
		if isLeftOut(k, d) {
			made.Without = without(d)
			made.Function, made.Says = v.Function, emit.CLiteral("this build has no functions for "+d.Platform())
		}
		for _, f := range d.Functions {
			made.Calls = append(made.Calls, call(k, f))
			p := prototype{f.Symbol, head(k, f) + ";"}
			if !slices.Contains(v.Functions, p) {
				v.Functions = append(v.Functions, p)
			}
		}
		v.Devices = append(v.Devices, made)
	}
	if !slices.ContainsFunc(v.Devices, func(d device) bool { return d.Without == "" }) {
		for _, p := range k.Results {
			v.Unused += "(void)" + p.Name + ", "
		}
		v.Unused += "(void)stream;"
	}
	for _, r := range k.Errors {
		v.Raises = append(v.Raises, viewRaise(k, r))
	}
}

// isLeftOut reports whether a build may omit the functions of a device: the CPU uses none of them.
func isLeftOut(k *contract.Kernel, d contract.Device) bool {
	for _, host := range k.Devices {
		if host.Name == "kDLCPU" && slices.ContainsFunc(host.Functions, func(f contract.Function) bool {
			return slices.ContainsFunc(d.Functions, func(g contract.Function) bool { return f.Symbol == g.Symbol })
		}) {
			return false
		}
	}
	return true
}

// without returns the macro that omits the functions of a platform.
func without(d contract.Device) string {
	return "DLPACKGEN_WITHOUT_" + strings.ToUpper(d.Platform())
}

// choice returns the expression for the index of a device's function.
func choice(k *contract.Kernel, d contract.Device) string {
	if len(d.Functions) == 1 {
		return ""
	}
	var terms []string
	factor := 1
	for i, t := range d.Functions[0].Types {
		if t == contract.None {
			continue
		}
		terms = append(terms, fmt.Sprintf("%d * call_->types.%s", factor, contract.Member(k.Vars[i].Name)))
		factor *= len(k.Vars[i].Types)
	}
	return strings.TrimPrefix(strings.Join(terms, " + "), "1 * ")
}

// spelled returns the C type of a scalar parameter.
func spelled(p contract.Param, f contract.Function, k *contract.Kernel) string {
	if p.Kind == contract.Number && p.Var != contract.None {
		return contract.CTypes[k.Vars[p.Var].Types[f.Types[p.Var]].Name]
	}
	return ""
}

// head declares a function that the author writes.
func head(k *contract.Kernel, f contract.Function) string {
	return "int " + f.Symbol + "(" + parameters(k, f) + ")"
}

// Head declares a function that the author writes, in C.
func Head(k *contract.Kernel, f contract.Function) string { return head(k, f) }

func parameters(k *contract.Kernel, f contract.Function) string {
	var all []string
	for _, p := range k.Args {
		all = append(all, parameter(p, spelled(p, f, k)))
	}
	for _, p := range k.Results {
		all = append(all, result(p, spelled(p, f, k)))
	}
	return strings.Join(append(all, "void* stream"), ", ")
}

// call is the call of a function.
func call(k *contract.Kernel, f contract.Function) string {
	var all []string
	for _, p := range k.Args {
		all = append(all, passed(p, spelled(p, f, k)))
	}
	for _, p := range k.Results {
		if number := spelled(p, f, k); number != "" {
			all = append(all, "("+number+"*)"+p.Name)
			continue
		}
		all = append(all, p.Name)
	}
	return f.Symbol + "(" + strings.Join(append(all, "stream"), ", ") + ")"
}

// passed returns an argument of a call. number is its type if its dtype is determined in the call.
func passed(p contract.Param, number string) string {
	at := "call_->args." + p.Name
	switch {
	case p.Access == contract.OfResult:
		return passedPrefix + p.Name
	case p.Kind == contract.Ints || p.Kind == contract.Floats:
		return at + ".items, " + at + ".count"
	case number == "":
		return at
	case number == "float" || number == "double":
		return fmt.Sprintf("(%s)%s.real", number, at)
	case number == "bool":
		return at + ".integer != 0"
	}
	return fmt.Sprintf("(%s)%s.integer", number, at)
}

// statusText returns the expression for the text of a status: a call of the author's function, if
// there is one.
func statusText(k *contract.Kernel) string {
	if k.Error == "" {
		return "DLPACKGEN_CODES_NULL"
	}
	return k.Error + "(failure_)"
}

// statusOf returns the status of <dlpackgen/message.h> for an exception of Python.
func statusOf(exception string) string {
	all := emit.Statuses()
	at := slices.IndexFunc(all, func(s emit.Status) bool { return s.Exception == exception })
	return "DLPACKGEN_STATUS_" + all[at].Name
}

func viewRaise(k *contract.Kernel, r contract.Raise) raise {
	made := raise{Code: r.Code, Function: emit.CLiteral(k.Name), Site: "DLPACKGEN_CODES_NULL",
		Status: statusOf(r.Class), Text: statusText(k)}
	if r.Arg != contract.None {
		made.Site = fmt.Sprintf("&dlpackgen_sites_%s[%d]", k.Name, r.Arg)
	}
	if r.Text != "" {
		made.Text = emit.CLiteral(r.Text)
	}
	return made
}
