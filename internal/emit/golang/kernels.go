package golang

import (
	"errors"
	"go/token"
	"path"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/checks"
	"github.com/dlpackgen/dlpackgen/internal/emit/header"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// kernelsFolder is the package of the described kernels, below the bindings.
const kernelsFolder = "kernels"

// callers lists the files of the package of described kernels, if there are any. They are in one
// folder, so that cgo and go mod vendor find them: call.c contains the checks and their headers.
func (b *binding) callers(described []contract.Kernel) ([]emit.Asset, error) {
	described = contract.InC(described) // Go calls those in Go itself
	if len(described) == 0 {
		return nil, nil
	}
	if b.path == "" {
		return nil, errors.New("the package of kernels imports the bindings: set `import:` of target go, or " +
			"generate inside a " +
			"Go module")
	}
	view, err := viewCallers(described, b.prefix, b.codeKinds())
	if err != nil {
		return nil, err
	}
	all := append(header.Beside(b.release, kernelsFolder, header.DLPack), emit.GoGuard(kernelsFolder, kernelsFolder))
	for _, name := range []string{"doc.go", "errors.go", "values.go"} {
		all = append(all, b.source(kernelsFolder, name))
	}
	return append(all, b.calls(view), b.callHeader(view), b.callSource(described, view)), nil
}

func (b *binding) callHeader(view callers) emit.Asset {
	return emit.Asset{From: "go/kernels/call.h.tmpl", To: path.Join(kernelsFolder, "call.h"), View: view,
		Words: emit.Words{templatePrefix, b.prefix}}
}

// static declares the functions of the kernels as static, and possibly unused, in call.c.
const static = "#define DLPACKGEN_KERNELS_API static __attribute__((unused))"

// callSource returns the C source of the package. Its kernel functions are static, because a
// program may also contain those of target kernels.
func (b *binding) callSource(described []contract.Kernel, view callers) emit.Asset {
	prototypes, source := checks.Assets(b.release, described)
	parts := append([]emit.Asset{prototypes, source}, source.Parts...)
	source.Parts = nil
	for _, h := range append(header.All(b.release), header.Checker(b.release)...) {
		if h.To != header.DLPack {
			h.Spare = true
			parts = append(parts, h)
		}
	}
	return emit.Asset{From: "go/kernels/call.c.tmpl", To: path.Join(kernelsFolder, "call.c"), View: view, Parts: parts,
		Words: emit.Words{templatePrefix, b.prefix, "<" + header.DLPack + ">", `"dlpack.h"`,
			`#define DLPACKGEN_KERNELS_API __attribute__((visibility("hidden")))`, static,
			"#define DLPACKGEN_KERNELS_API\n", static + "\n"}}
}

func (b *binding) calls(view callers) emit.Asset {
	return emit.Asset{From: "go/kernels/kernels.go.tmpl", To: path.Join(kernelsFolder, "kernels.go"), View: view,
		Gofmt: true, Words: emit.Words{templatePrefix, b.prefix, templateImport, b.path}}
}

// callers is the data of the package's templates.
type callers struct {
	Kernels []caller
	Codes   []codeKind
}

// codeKind is a type code with a kind of numbers other than floats.
type codeKind struct{ Go, Kind string }

// numberKinds are the constants of the package for the kinds of numbers of the spec.
var numberKinds = map[string]string{
	spec.NativeInt: "signed", spec.NativeUint: "unsigned", spec.NativeBool: "truth",
}

// codeKinds returns the type codes of the release whose numbers are no floats.
func (b *binding) codeKinds() (all []codeKind) {
	enum := spec.Find[*spec.Enum](b.release, dtypeEnum)
	for _, v := range enum.Values {
		if kind := numberKinds[b.release.Rule(v.Name).Native]; kind != "" {
			all = append(all, codeKind{b.enumerator(enum, v.Name), kind})
		}
	}
	return all
}

// caller is the data of a kernel for Go and C.
type caller struct {
	Name, Go  string
	SitesName string
	Sites     []string
	Tables    []string
	Fields    []string // of the options
	Forms     []form
	Answer    []string // fields in C
	Head      string
	Before    []string // lines of C
	Check     []string
	After     []string
	Run       string
	Stream    string
}

// form is a function of Go.
type form struct {
	Doc       []string
	Signature string
	Lines     []string
}

func viewCallers(described []contract.Kernel, prefix string, codes []codeKind) (callers, error) {
	all := callers{Codes: codes}
	var errs []error
	taken := map[string]string{}
	for _, name := range []string{"Bool", "C", "Float", "Int", "KernelError", "Maybe", "None", "Number", "Some",
		"Uint"} {
		taken[name] = "the package"
	}
	for i := range described {
		w := newCallWriter(&described[i], prefix)
		w.write()
		all.Kernels = append(all.Kernels, w.v)
		for _, name := range w.exported() {
			if other, again := taken[name]; again {
				errs = append(errs, emit.NameTaken(w.k.Name, "", "would be %s in Go, a name of %s", name, other))
			}
			taken[name] = "kernel " + w.k.Name
		}
		errs = append(errs, w.checkFields())
	}
	return all, errors.Join(errs...)
}

// exported lists the names of a kernel in the package.
func (w *callWriter) exported() []string {
	names := []string{w.v.Go}
	if len(w.v.Fields) > 0 {
		names = append(names, w.v.Go+"Options")
	}
	if len(w.v.Forms) > 1 {
		names = append(names, w.v.Go+"New")
	}
	return names
}

// checkFields reports options whose names are equal in Go.
func (w *callWriter) checkFields() error {
	taken := map[string]string{}
	if w.streams() {
		taken["Stream"] = "the stream of the call"
	}
	for _, p := range w.k.Args {
		if p.Default == nil {
			continue
		}
		if other, again := taken[camel(p.Name)]; again {
			return emit.NameTaken(w.k.Name, p.Name, "would have two options %s in Go, %s and argument %s",
				camel(p.Name), other, p.Name)
		}
		taken[camel(p.Name)] = "argument " + p.Name
	}
	return nil
}

// reserved are names that an argument must not hide.
var reserved = strings.Fields("C answer bool byte checkText dlpack err error failed false fitsFloat float32 " +
	"float64 int int16 int32 int64 int8 itemsOf leftOut len negativeZero nil noNumber noText o pointerOf r resultOf " +
	"results site string textOf true uint16 uint32 uint64 uint8 unsafe")

// identifier returns the name of an argument in Go.
func identifier(name string) string {
	if token.IsKeyword(name) || token.IsExported(name) {
		return name + "_"
	}
	for _, word := range reserved {
		if word == name {
			return name + "_"
		}
	}
	return name
}
