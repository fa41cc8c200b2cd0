package cpp

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// parametersOf lists the required arguments, memory for the results, then the optional arguments.
func parametersOf(k *contract.Kernel, makes bool) (all []string) {
	for _, p := range k.Args {
		if p.Default == nil {
			all = append(all, parameterType(p)+" "+parameterName(p.Name))
		}
	}
	for _, p := range k.Returned() {
		if p.Kind == contract.Tensor && !makes {
			all = append(all, "const TensorOut& "+parameterName(p.Name))
		}
	}
	for _, p := range k.Args {
		if p.Default != nil {
			all = append(all, parameterType(p)+" "+parameterName(p.Name)+" = "+defaultOf(p))
		}
	}
	if hasStreams(k) {
		all = append(all, "void* stream = nullptr")
	}
	return all
}

// hasStreams reports whether a device of the kernel has streams.
func hasStreams(k *contract.Kernel) bool {
	return slices.ContainsFunc(k.Devices, func(d contract.Device) bool { return d.Name != "kDLCPU" })
}

// cxxScalars are the C++ types of scalars, by their C types.
var cxxScalars = map[string]string{"int8_t": "std::int8_t", "int16_t": "std::int16_t", "int32_t": "std::int32_t",
	"int64_t": "std::int64_t", "uint8_t": "std::uint8_t", "uint16_t": "std::uint16_t", "uint32_t": "std::uint32_t",
	"uint64_t": "std::uint64_t", "float": "float", "double": "double", "bool": "bool"}

// scalarType returns the type of a scalar: Number if its dtype is determined in the call.
func scalarType(p contract.Param) string {
	if p.Var != contract.None {
		return "Number"
	}
	return cxxScalars[p.CType()]
}

// parameterType is the type of an argument.
func parameterType(p contract.Param) string {
	optional := ""
	if p.Optional {
		optional = "Optional"
	}
	switch p.Kind {
	case contract.Tensor:
		if p.Writes() {
			return "const " + optional + "TensorOut&"
		}
		return "const " + optional + "TensorIn&"
	case contract.Str:
		return "const " + optional + "Text&"
	case contract.Ints:
		return "const " + optional + "List<std::int64_t>&"
	case contract.Floats:
		return "const " + optional + "List<double>&"
	}
	if p.Optional {
		return "std::optional<" + scalarType(p) + ">"
	}
	return scalarType(p)
}

// defaultOf formats a default.
func defaultOf(p contract.Param) string {
	switch v := p.Default; v.Kind {
	case notation.None:
		return "std::nullopt"
	case notation.Text:
		return emit.CLiteral(v.Text)
	case notation.Bool:
		return strconv.FormatBool(v.Bool)
	case notation.Float:
		return realLiteral(v.Float, scalarType(p))
	case notation.Natural:
		if of := scalarType(p); of == "float" || of == "double" {
			return realLiteral(float64(v.Natural), of)
		}
		return emit.CDefault(v)
	default:
		return integerLiteral(v.Int, scalarType(p))
	}
}

// realLiteral formats a float of a type.
func realLiteral(value float64, of string) string {
	text := strconv.FormatFloat(value, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	if of == "float" {
		text += "F"
	}
	return text
}

// integerLiteral formats an integer of a type. The smallest int64 has no literal.
func integerLiteral(value int64, of string) string {
	switch {
	case of == "float" || of == "double":
		return realLiteral(float64(value), of)
	case value == math.MinInt64:
		return fmt.Sprintf("INT64_C(%d) - 1", value+1)
	case of == "Number":
		return fmt.Sprintf("INT64_C(%d)", value)
	}
	return strconv.FormatInt(value, 10)
}

// resultWriter writes the code of a function for its results.
type resultWriter struct {
	k       *contract.Kernel
	makes   bool
	lines   []string
	run     []string // their addresses, behind the call's
	types   []string // of what the function returns
	values  []string
	members []string
}

func (w *resultWriter) line(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *resultWriter) write() {
	if !w.makes {
		w.passed()
	}
	for _, p := range w.k.Results {
		switch {
		case p.Kind != contract.Tensor:
			w.scalar(p)
		case w.makes || p.Saved:
			w.allocated(p)
		default:
			w.run = append(w.run, parameterName(p.Name)+".get()")
		}
	}
	stream := "nullptr"
	if hasStreams(w.k) {
		stream = "stream"
	}
	w.line("if (!status_) status_ = ::dlpackgen_run_kernel_%s(%s);", w.k.Name,
		strings.Join(slices.Concat([]string{"&call_"}, w.run, []string{stream, "&check_.message"}), ", "))
}

// passed writes the checks of memory that the caller provides.
func (w *resultWriter) passed() {
	var tensors, flags, sites, there []string
	for i, p := range w.k.Results {
		if p.Kind != contract.Tensor {
			continue
		}
		sites = append(sites, fmt.Sprintf("sites_[%d]", len(w.k.Args)+i))
		if p.Saved {
			tensors, flags = append(tensors, "nullptr"), append(flags, "0")
			continue
		}
		name := parameterName(p.Name)
		there = append(there, fmt.Sprintf("if (!status_) status_ = check_.there(%s, %s.get());", sites[len(sites)-1],
			name))
		tensors, flags = append(tensors, name+".get()"), append(flags, name+".flags()")
	}
	if len(there) == 0 {
		return
	}
	w.line("const DLTensor* const passed_[] = {%s};", strings.Join(tensors, ", "))
	w.line("const std::uint64_t flags_[] = {%s};", strings.Join(flags, ", "))
	w.line("static constexpr dlpackgen_site passed_sites_[] = {%s};", strings.Join(sites, ", "))
	w.lines = append(w.lines, there...)
	w.line("if (!status_) status_ = ::dlpackgen_check_results_kernel_%s(&call_, passed_, flags_, passed_sites_, "+
		"&check_.message);", w.k.Name)
}

// allocated writes the allocation of a result, which the caller receives unless it is saved.
func (w *resultWriter) allocated(p contract.Param) {
	made := p.Name + "_made_"
	w.line("detail::Made %s;", made)
	w.line("if (!status_) status_ = %s.allocate(check_, %s, %s, call_.results.%s, call_.device);", made,
		emit.CLiteral(w.k.Name),
		emit.CLiteral(p.Name), p.Name)
	w.run = append(w.run, made+".get()")
	if !p.Saved {
		w.returns("Managed", p.Name, made+".take()", "")
	}
}

func (w *resultWriter) scalar(p contract.Param) {
	of, made := scalarType(p), p.Name+"_made_"
	if of != "Number" {
		w.line("%s %s{};", of, made)
		w.run = append(w.run, "&"+made)
		w.returns(of, p.Name, made, "{}")
		return
	}
	v := w.k.Vars[p.Var]
	var types []string
	for _, d := range v.Types {
		types = append(types, cxxScalars[contract.CTypes[d.Name]])
	}
	w.line("detail::NumberRoom<%s> %s;", strings.Join(types, ", "), made)
	w.run = append(w.run, made+".get()")
	w.returns("Number", p.Name, fmt.Sprintf("%s.at(call_.types.%s)", made, contract.Member(v.Name)), "")
}

// returns adds a returned value. initial is the initial value of the struct member.
func (w *resultWriter) returns(of, name, value, initial string) {
	w.types, w.values = append(w.types, of), append(w.values, value)
	w.members = append(w.members, of+" "+parameterName(name)+initial)
}
