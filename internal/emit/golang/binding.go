package golang

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/dave/jennifer/jen"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// platforms is the build constraint of all files: the platforms whose C has the layout of the
// mirrors. On Go's other platforms, C pointers have 4 bytes.
const platforms = "!(386 || arm || mips || mipsle || wasm)"

// maxColumns is the width of lines; a tab takes four columns.
const maxColumns = 120

// binding is a release with the data that its Go files need.
type binding struct {
	release *spec.Release
	table   *layout.Table // every 64-bit platform has the layout of LP64
	c       cdecl.Speller
	pkg     string
	path    string // by which Go imports the bindings; "" where that is unknown
	prefix  string // of every C name that the linker sees
}

func newBinding(m *emit.Model) (*binding, error) {
	path := m.ImportPath()
	b := &binding{
		release: m.Release,
		table:   layout.Of(m.Release, layout.LP64, layout.C),
		c:       cdecl.Of(m.Release),
		pkg:     packageName(m),
		path:    path,
		prefix:  emit.GoPrefix(cmp.Or(path, packageName(m))),
	}
	return b, errors.Join(b.checkNeeds(), b.checkNames())
}

// checkNames reports all pairs of names that are equal in Go, for example of a user's spec or a
// vendor's devices.
func (b *binding) checkNames() error {
	var errs []error
	for _, clash := range clashes(b.release) {
		errs = append(errs, fmt.Errorf("%s; rename one", clash.Text))
	}
	return errors.Join(errs...)
}

// rendered renders the files that depend on the spec.
func (b *binding) rendered() ([]emit.Asset, error) {
	parts := []struct {
		path string
		fill func(*jen.File)
	}{
		{"types.go", b.types},
		{"constants.go", b.constants},
		{"elements.go", b.elementTypes},
		{"guards.go", b.guards},
		{"guards_cgo.go", b.guardsC},
	}
	assets, errs := make([]emit.Asset, len(parts)), make([]error, len(parts))
	var all sync.WaitGroup
	for i, part := range parts { // side by side: to format them is most of a run's time
		all.Go(func() {
			text, err := b.render(part.fill)
			if err != nil {
				errs[i] = fmt.Errorf("rendering %s: %w", part.path, err)
			}
			assets[i] = emit.Asset{To: part.path, Text: text}
		})
	}
	all.Wait()
	return assets, errors.Join(errs...)
}

func (b *binding) render(fill func(*jen.File)) ([]byte, error) {
	file := jen.NewFile(b.pkg)
	file.ImportName("structs", "structs") // newer than jennifer's own list
	fill(file)
	out := bytes.NewBufferString("//go:build ignore && " + platforms + "\n\n")
	err := file.Render(out)
	return out.Bytes(), err
}

func packageName(m *emit.Model) string { return cmp.Or(m.Options[optionPackage], "dlpack") }
