// Package golang renders target go: the Go bindings of a release. What the spec
// decides is built with jennifer from the release; the run time is copied from
// templates/go.
package golang

import (
	"fmt"
	"go/token"
	"regexp"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// The names of the options.
const (
	optionPackage = "package"
	optionImport  = "import"
)

// Target is the row of target go. The run time works with the versioned struct
// and the rules of 1.2, hence the oldest release.
var Target = emit.Target{
	Name:   "go",
	Doc:    "Go bindings by cgo: mirrors of the structs, import and export of tensors",
	Path:   "go/dlpack",
	Oldest: "1.2",
	Options: []emit.Option{
		{Name: optionPackage, Doc: "name of the Go package", Default: "dlpack", Check: checkPackage},
		importOf("; where there is neither, the packages below it are left out, since they import it"),
	},
	Clashes: clashes,
	Emit:    Emit,
}

// ImportOption is the option of every target that makes a Go package over cgo.
var ImportOption = importOf("")

// importOf is that option, with what more it does for a target.
func importOf(more string) emit.Option {
	return emit.Option{
		Name:  optionImport,
		Doc:   "import path of the Go package, from which its C names get their prefix; by default that of the folder, by the nearest go.mod" + more,
		Check: checkImport,
	}
}

// Emit renders the whole package. The same model gives the same bytes, except
// that the default import path is read from the nearest go.mod.
func Emit(m *emit.Model) ([]emit.File, error) {
	b, err := newBinding(m)
	if err != nil {
		return nil, err
	}
	files, err := b.rendered()
	if err != nil {
		return nil, err
	}
	copied, err := b.copied()
	if err != nil {
		return nil, err
	}
	return append(files, copied...), nil
}

func checkPackage(value string) string {
	if !token.IsIdentifier(value) || value == "_" || value == "main" {
		return fmt.Sprintf("%q cannot be the name of an importable Go package", value)
	}
	return ""
}

// importPath is what the go command accepts as one, without the rarer signs.
var importPath = regexp.MustCompile(`^[A-Za-z0-9_~.-]+(/[A-Za-z0-9_~.-]+)*$`)

func checkImport(value string) string {
	if value != "" && !importPath.MatchString(value) {
		return fmt.Sprintf("%q is no import path", value)
	}
	return ""
}
