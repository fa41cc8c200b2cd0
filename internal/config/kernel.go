package config

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// The namespace of a kernel that names none, and the type of device.
const (
	kernelNamespace = "dlpackgen"
	kernelDevice    = "kDLCPU"
)

// The layouts of a kernel's tensors; the first is the default.
var kernelLayouts = []string{"c_contiguous", anyLayout}

const anyLayout = "any"

// takenNamespaces are PyTorch's own, whose operators are not to be added to.
var takenNamespaces = []string{
	"aten", "c10", "classes", "higher_order", "import_module", "load_library", "loaded_libraries", "prim", "prims",
	"profiler", "quantized", "torch",
}

// noKernel are what torch.ops.NAMESPACE has for itself.
var noKernel = []string{"name"}

// kernelNodes are where the findings about a kernel that concern others point at.
type kernelNodes struct {
	name, symbol, err, backward *yaml.Node
	valid                       bool
}

// kernels reads the section of that name.
func (d *decoder) kernels(cfg *Config, section *yaml.Node) []kernel.Kernel {
	if section == nil || isEmpty(section) || !section.Is(yaml.Mapping, "kernels") {
		return nil
	}
	if n := len(section.Entries); n > kernel.MaxKernels {
		section.Errorf("too-many", "", "%d kernels, more than %d", n, kernel.MaxKernels)
		return nil
	}
	devices := d.deviceValues(cfg)
	var out []kernel.Kernel
	var nodes []kernelNodes
	scope, described := d.scope(cfg, devices), []*contract.Reading{}
	symbols := map[string]string{}
	for _, e := range section.Entries {
		if contract.Describes(e) {
			described = append(described, contract.Read(e, scope, d.diags))
			continue
		}
		k, at := d.kernel(e, devices)
		if other, again := symbols[k.Symbol]; again && at.valid {
			at.symbol.Errorf("kernel-conflict", "one C function has one schema",
				"%s is the symbol of kernel %s already", k.Symbol, other)
		}
		symbols[k.Symbol] = k.Name
		out, nodes = append(out, k), append(nodes, at)
	}
	for i, k := range out {
		if other, again := symbols[k.Error]; again && nodes[i].valid {
			nodes[i].err.Errorf("kernel-conflict", "const char *f(int code) is a function of its own",
				"%s is the symbol of kernel %s", k.Error, other)
		}
		checkBackward(out, nodes, i)
	}
	cfg.Contracts = d.contracts(described, symbols)
	return out
}

func (d *decoder) kernel(e yaml.Entry, devices map[string]int64) (kernel.Kernel, kernelNodes) {
	before := d.diags.Len()
	k := kernel.Kernel{Name: e.Key.Value}
	checkKernelName(e.Key, k.Name, "a kernel")
	m := e.Value.Map("kernel " + k.Name)
	m.Renamed(map[string]string{"strided": "layout: " + anyLayout, "error": "error_string"})
	at := kernelNodes{name: e.Key, symbol: orElse(m.Get("symbol"), e.Key), err: m.Get("error_string"),
		backward: m.Get("backward")}
	k.Namespace = cmp.Or(namedBy(m, "namespace"), kernelNamespace)
	k.Symbol = cmp.Or(namedBy(m, "symbol"), k.Name)
	k.Error = namedBy(m, "error_string")
	if d.diags.Len() == before {
		checkMeanings(k, m, at)
	}
	k.Backward = m.Text("backward")
	k.Doc = spec.ReadDoc(m)
	k.Header = header(m.Get("header"))
	k.Devices = kernelDevices(m.Get("devices"), devices)
	for i := range k.Devices {
		k.Devices[i].Torch = d.torch[k.Devices[i].Name]
	}
	k.Form = kernel.Forms[0]
	if n := m.Get("form"); n != nil {
		k.Form = n.OneOf("form", kernel.Forms)
	}
	if n := m.Get("layout"); n != nil {
		k.Strided = n.OneOf("layout", kernelLayouts) == anyLayout
	}
	n, like := m.Need("schema"), m.Get("like")
	if n != nil && readSchema(&k.Schema, n) {
		likes(&k.Schema, m, like)
	}
	m.Close()
	at.valid = d.diags.Len() == before
	return k, at
}

// namedBy reads an optional name.
func namedBy(m *yaml.Map, key string) string {
	n := m.Get(key)
	if n == nil {
		return ""
	}
	name := n.Text(key)
	if n.Kind == yaml.Scalar {
		checkKernelName(n, name, "a "+key)
	}
	return name
}

// checkMeanings reports names that mean something where they are used.
func checkMeanings(k kernel.Kernel, m *yaml.Map, at kernelNodes) {
	if slices.Contains(takenNamespaces, k.Namespace) {
		m.Get("namespace").Errorf("invalid-name", "as in mylib", "the namespace %s is PyTorch's own", k.Namespace)
	} else if kernel.LooksLikeMacro(k.Namespace) {
		m.Get("namespace").Errorf("invalid-name", "as in mylib", "the namespace %s may be a macro", k.Namespace)
	}
	if slices.Contains(noKernel, k.Name) {
		at.name.Errorf("invalid-name", "", "torch.ops has no room for a kernel %s: its namespaces have that attribute",
			k.Name)
	}
	if problem := kernel.CheckSymbol(k.Symbol); problem != "" {
		at.symbol.Errorf("invalid-name", "as in symbol: mylib_square", "the symbol %s %s", k.Symbol, problem)
	}
	if problem := kernel.CheckSymbol(k.Error); problem != "" {
		at.err.Errorf("invalid-name", "as in error_string: mylib_error", "the function %s %s", k.Error, problem)
	}
}

func checkKernelName(n *yaml.Node, name, what string) {
	if problem := kernel.CheckName(name); problem != "" {
		n.Errorf("invalid-name", "", "%q is no name for %s: it %s", name, what, problem)
	}
}

var headerForm = regexp.MustCompile(`^[A-Za-z0-9_.+-]+(/[A-Za-z0-9_.+-]+)*$`)

// header reads what an #include can name everywhere.
func header(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	name := n.Text("header")
	if n.Kind == yaml.Scalar && (!headerForm.MatchString(name) || path.Clean(name) != name || strings.HasPrefix(name,
		"..")) {
		n.Errorf("invalid-path", "as in mylib/kernels.h, which the compiler finds by its include paths",
			"%q is no name for a header", name)
	}
	return name
}

// kernelDevices reads the types of device of a kernel.
func kernelDevices(n *yaml.Node, known map[string]int64) (out []kernel.Device) {
	if n == nil {
		return []kernel.Device{{Name: kernelDevice, Value: known[kernelDevice]}}
	}
	items := n.List("devices")
	if n.Kind == yaml.List && len(items) == 0 {
		n.Errorf("type-mismatch", "leave devices out for the CPU", "devices lists none")
	}
	for _, item := range items {
		name := item.Text("a device")
		value, found := known[name]
		switch {
		case item.Kind != yaml.Scalar:
		case !found:
			item.Errorf("unknown-device", diag.DidYouMean(name, sortedNames(known)),
				"no release that is made has a device %q", name)
		case slices.ContainsFunc(out, func(d kernel.Device) bool { return d.Name == name }):
			item.Errorf("duplicate-key", "keep one of them", "%s again", name)
		default:
			out = append(out, kernel.Device{Name: name, Value: value})
		}
	}
	return out
}

// deviceValues gives the types of device of all selected releases and the
// config's own.
func (d *decoder) deviceValues(cfg *Config) map[string]int64 {
	known := map[string]int64{}
	for _, r := range d.selectedReleases(cfg) {
		if enum := spec.Find[*spec.Enum](cfg.Extend(r), deviceEnum); enum != nil {
			for _, v := range enum.Values {
				known[v.Name] = v.Value
			}
		}
	}
	return known
}

func sortedNames(known map[string]int64) (names []string) {
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readSchema reads the text of a schema, and tells whether it is one.
func readSchema(s *kernel.Schema, n *yaml.Node) bool {
	text := n.Text("schema")
	if n.Kind != yaml.Scalar {
		return false
	}
	read, fault := kernel.Parse(text)
	if fault != nil {
		n.ErrorfAt(fault.Offset, "invalid-schema", fault.Hint, "%s", fault.Text)
		return false
	}
	*s = read
	return true
}

// likes reads which argument each result takes its shape from: one name for all
// results, or a list of one for each.
func likes(s *kernel.Schema, m *yaml.Map, n *yaml.Node) {
	if n == nil {
		if len(s.Results) > 0 {
			m.Node().Errorf("missing-key", "as in `like: "+firstTensor(s)+"`",
				"a kernel with a result needs \"like\": the argument that the result has the shape of")
		}
		return
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.List {
		if items = n.Items; len(items) != len(s.Results) {
			n.Errorf("invalid-like", "", "like lists %d arguments for %d results", len(items), len(s.Results))
			return
		}
	}
	if len(s.Results) == 0 {
		n.Errorf("invalid-like", "", "the schema has no result to be like an argument")
	}
	for i := range s.Results {
		s.Results[i].Like = like(s, items[min(i, len(items)-1)])
	}
}

func firstTensor(s *kernel.Schema) string {
	for _, a := range s.Tensors() {
		return a.Name
	}
	return "x"
}

func like(s *kernel.Schema, n *yaml.Node) string {
	name := n.Text("like")
	if a := s.Argument(name); n.Kind == yaml.Scalar && (a == nil || a.Kind != kernel.Tensor || a.Optional) {
		n.Errorf("invalid-like", "", "%q is no argument that is always a tensor", name)
	}
	return name
}

// checkBackward reports a backward that does not exist or does not fit.
func checkBackward(all []kernel.Kernel, nodes []kernelNodes, which int) {
	k, at := all[which], nodes[which]
	if k.Backward == "" || !at.valid {
		return
	}
	var names []string
	for _, other := range all {
		names = append(names, other.Name)
	}
	i := slices.Index(names, k.Backward)
	if i < 0 {
		at.backward.Errorf("unknown-kernel", diag.DidYouMean(k.Backward, names), "there is no kernel %q", k.Backward)
		return
	}
	problem := k.Schema.CheckBackward(all[i].Schema)
	if all[i].Namespace != k.Namespace {
		problem = "the backward must have the namespace of the kernel"
	}
	if problem != "" && nodes[i].valid {
		at.backward.Errorf("invalid-backward", "", "%s cannot compute the gradients of %s: %s", k.Backward, k.Name, problem)
	}
}
