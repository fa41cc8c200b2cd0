package contract

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// The device of a kernel without the key `devices`.
const defaultDevice = "kDLCPU"

// functions reads the C symbols and the devices. fine: the variables are known.
func (r *reader) functions(fine bool) {
	if r.language() {
		r.goFunction(fine)
		return
	}
	symbol, at := r.Name, r.name
	if n := r.m.Get("symbol"); n != nil {
		symbol, at = pattern(n), n
	}
	section := r.m.Get("devices")
	if section == nil || isEmpty(section) {
		r.device(r.deviceOf(defaultDevice), symbol, at, fine)
		return
	}
	if section.Kind == yaml.List {
		section.Errorf("type-mismatch", "write `kDLCPU: {}`, on a line of its own",
			"devices must be a mapping, not a list")
		return
	}
	if section.Is(yaml.Mapping, "devices") && len(section.Entries) == 0 {
		section.Errorf("type-mismatch", "omit devices for the CPU", "devices lists no device")
	}
	for _, e := range section.Entries {
		r.deviceEntry(e, symbol, at, fine)
	}
}

// deviceOf returns a device without functions.
func (r *reader) deviceOf(name string) Device {
	return Device{Name: name, Value: r.scope.Devices[name], Torch: r.scope.Torch[name],
		Owner: r.scope.Owners[name]}
}

// pattern reads a symbol, in which {T} is replaced by the spelling of a dtype.
func pattern(n *yaml.Node) string {
	if n.Kind == yaml.Mapping {
		n.Errorf("type-mismatch", "write it in quotes", "a symbol must be a value: { begins a mapping")
		return ""
	}
	symbol := n.Text("symbol")
	if n.Kind == yaml.Scalar && n.Quoted && symbol == "" {
		n.Errorf("invalid-symbol", "name the function, or omit symbol", "the symbol is empty")
	}
	return symbol
}

func (r *reader) deviceEntry(e yaml.Entry, symbol string, at *yaml.Node, fine bool) {
	_, known := r.scope.Devices[e.Key.Value]
	if !known {
		e.Key.Errorf("unknown-device", r.deviceHint(e.Key.Value), "no selected release has a device %q",
			e.Key.Value)
	}
	d := r.deviceOf(e.Key.Value)
	if isEmpty(e.Value) {
		r.device(d, symbol, at, fine && known)
		return
	}
	m := e.Value.Map("device " + d.Name)
	if n := m.Get("symbol"); n != nil {
		symbol, at = pattern(n), n
	}
	d.Graphs = m.Bool("graphs")
	m.Close()
	r.device(d, symbol, at, fine && known)
}

// deviceHint returns a hint with the device that was probably meant, even without its kDL.
func (r *reader) deviceHint(name string) string {
	names := slices.Sorted(maps.Keys(r.scope.Devices))
	for _, known := range names {
		if strings.EqualFold(known, "kDL"+name) {
			return "write " + known
		}
	}
	return cmp.Or(diag.DidYouMean(name, names), "write one of these: "+strings.Join(names, ", "))
}

// fewerFunctions is the hint for too many choices of dtypes.
const fewerFunctions = "remove dtypes from types:, or describe several kernels"

// device adds a device with a function for each choice of dtypes that its symbol distinguishes.
func (r *reader) device(d Device, symbol string, at *yaml.Node, fine bool) {
	if !fine {
		return
	}
	used, choices := r.placeholders(at, symbol)
	if used == nil || symbol == "" || !r.checkSpelled(at, used) {
		return
	}
	if choices > MaxFunctions {
		at.Errorf("too-many", fewerFunctions, "%s stands for %d functions, more than %d", symbol, choices, MaxFunctions)
		return
	}
	for i := range choices {
		d.Functions = append(d.Functions, r.function(symbol, used, i))
	}
	r.Devices = append(r.Devices, d)
	for _, f := range d.Functions {
		r.symbols = append(r.symbols, symbolAt{f.Symbol, at})
		if !r.checkFunction(at, f.Symbol, symbol) {
			return
		}
	}
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// placeholders returns the variables in a symbol, and the number of functions that it stands for.
func (r *reader) placeholders(at *yaml.Node, symbol string) (used []bool, choices int) {
	used, choices = make([]bool, len(r.Vars)), 1
	for _, found := range placeholder.FindAllStringSubmatch(symbol, -1) {
		i := r.Var(found[1])
		if i == None {
			at.Errorf("invalid-symbol", "as in f_{T}, with T of types:", "{%s} is not a variable of types:", found[1])
			return nil, 0
		}
		if !used[i] {
			used[i], choices = true, choices*len(r.Vars[i].Types)
		}
	}
	return used, choices
}

// checkSpelled reports a scalar of a variable that is not part of the symbol.
func (r *reader) checkSpelled(at *yaml.Node, used []bool) bool {
	for _, p := range slices.Concat(r.Args, r.Results) {
		if p.Kind == Number && p.Var != None && !used[p.Var] {
			name := r.Vars[p.Var].Name
			at.Errorf("invalid-symbol", fmt.Sprintf("write {%s} in it", name),
				"%s is a scalar of %s, so each dtype needs a separate C function", p.Name, name)
			return false
		}
	}
	return true
}

// function returns the function for the i-th choice of dtypes.
func (r *reader) function(symbol string, used []bool, i int) Function {
	f := Function{Symbol: symbol}
	for v, name := range r.Vars {
		choice := None
		if used[v] {
			choice = i % len(name.Types)
			i /= len(name.Types)
			f.Symbol = strings.ReplaceAll(f.Symbol, "{"+name.Name+"}", name.Spell[choice])
		}
		f.Types = append(f.Types, choice)
	}
	return f
}

// checkFunction reports an invalid symbol. from is its pattern.
func (r *reader) checkFunction(at *yaml.Node, symbol, from string) bool {
	problem, hint := kernel.CheckName(symbol), "as in symbol: mylib_"+r.Name
	if problem == "" {
		problem, hint = kernel.CheckSymbol(symbol), "write symbol: "+r.prefixed(from)
	}
	if problem != "" {
		at.Errorf("invalid-symbol", hint, "the symbol %s %s", cut(symbol), problem)
	}
	return problem == ""
}

// prefixed returns a symbol with the namespace as a prefix.
func (r *reader) prefixed(symbol string) string {
	prefix := r.Namespace
	if prefix == defaultNamespace { // whose names are reserved
		prefix = "mylib"
	}
	made := prefix + "_" + symbol
	if strings.Contains(made, "{") {
		return `"` + made + `"`
	}
	return made
}

// checkUse reports parts of a description without any use.
func (r *reader) checkUse() {
	for i, p := range r.Results {
		if p.Saved && (r.Backward == nil || !slices.Contains(r.Backward.Saves, p.Name)) {
			r.gives[i].at.Errorf("unused-result", "name it in backward: {saves: [...]}, or remove saved",
				"no backward kernel saves %s, and callers do not receive it", p.Name)
		}
	}
}

// Compare reports conflicts between kernels: duplicate symbols, and backward kernels that do not
// match.
func Compare(all []*Reading) {
	symbols := map[string]*Reading{}
	kernels := map[string]*Reading{}
	for _, r := range all {
		kernels[r.Name] = r
		r.compareSymbols(symbols)
	}
	for _, r := range all {
		if other, again := symbols[r.Error]; again && r.err != nil {
			r.err.Errorf("kernel-conflict", "const char *f(int code) must be a separate function",
				"%s is a symbol of kernel %s", r.Error, other.Name)
		}
		if r.Backward != nil && r.Valid {
			r.compareBackward(kernels)
		}
	}
	compareStubs(all)
}

// compareStubs reports names with the same starter file, ignoring case: a kernel has NAME_impl.c, a
// function of error: NAME.c.
func compareStubs(all []*Reading) {
	kernels := map[string]*Reading{}
	for _, r := range all {
		file := strings.ToLower(r.Name + "_impl")
		if other, again := kernels[file]; again && other.Name != r.Name {
			r.name.Errorf("kernel-conflict", "rename one", "%s and %s differ only in case: their files %s_impl.c "+
				"and %s_impl.c are the same file on some disks", other.Name, r.Name, other.Name, r.Name)
		}
		kernels[file] = r
	}
	for _, r := range all {
		if other, again := kernels[strings.ToLower(r.Error)]; again && r.err != nil {
			r.err.Errorf("kernel-conflict", "rename the function, as in error: "+r.Name+"_error",
				"%s.c is the file of kernel %s", r.Error, other.Name)
		}
	}
}

// compareSymbols reports the first symbol that another kernel, or another choice of dtypes, also
// has.
func (r *Reading) compareSymbols(known map[string]*Reading) {
	own := map[string][]int{}
	for _, d := range r.Devices {
		for _, f := range d.Functions {
			if types, again := own[f.Symbol]; again && !slices.Equal(types, f.Types) {
				r.symbols[0].node.Errorf("kernel-conflict", "give the dtypes different spellings",
					"%s is the symbol of two choices of dtypes", f.Symbol)
				return
			}
			own[f.Symbol] = f.Types
		}
	}
	for _, s := range r.symbols {
		if other, again := known[s.symbol]; again && other.Name != r.Name {
			s.node.Errorf("kernel-conflict", "choose another symbol", "%s is already a symbol of kernel %s",
				s.symbol, other.Name)
			return
		}
		known[s.symbol] = r
	}
}

// compareBackward checks the kernel that computes the gradients.
func (r *Reading) compareBackward(kernels map[string]*Reading) {
	other, known := kernels[r.Backward.Kernel]
	if !known {
		near := diag.DidYouMean(r.Backward.Kernel, slices.Sorted(maps.Keys(kernels)))
		name := r.Backward.Kernel
		if cmp.Or(kernel.CheckName(name), kernel.CheckKernel(name)) != "" {
			name = r.Name + "_backward"
		}
		r.backward.Errorf("unknown-kernel", cmp.Or(near, r.described(name)),
			"there is no kernel %q with args", r.Backward.Kernel)
		return
	}
	if problem := r.unfit(&other.Kernel); other.Valid && problem != "" {
		r.backward.Errorf("invalid-backward", r.described(other.Name), "%s cannot compute the gradients of %s: %s",
			other.Name, r.Name, problem)
	}
}

// passed returns the arguments of the backward after the gradients.
func (k *Kernel) passed() (all []Param) {
	for _, name := range k.Backward.Saves {
		if i := k.Arg(name); i != None {
			all = append(all, k.Args[i])
		} else {
			all = append(all, k.Results[k.Result(name)])
		}
	}
	return all
}

// unfit returns why another kernel cannot be the backward of this one, or "".
func (k *Kernel) unfit(other *Kernel) string {
	wanted := slices.Concat(k.Returned(), k.passed())
	switch {
	case other.Namespace != k.Namespace:
		return "it must have the namespace of the kernel"
	case len(other.Args) != len(wanted):
		return fmt.Sprintf("it must take %d arguments, a gradient for each result and then what is saved, not %d",
			len(wanted), len(other.Args))
	case len(other.Returned()) != len(k.Backward.Of):
		return fmt.Sprintf("it must return %d results, a gradient for each of `of`, not %d", len(k.Backward.Of),
			len(other.Returned()))
	}
	for i, p := range wanted {
		if got := other.Args[i]; got.Kind != p.Kind || got.Writes() {
			return fmt.Sprintf("its argument %s stands for %s, and must be of the same kind, and not written",
				got.Name, p.Name)
		}
	}
	return ""
}
