// Package cpp is the target "cpp": owning and borrowing tensors in C++17, header
// only. It puts words and numbers into the templates of templates/cpp, and copies
// the headers that the spec does not decide.
package cpp

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Target is the row of the table of targets. Every header works with both managed
// tensors and the exchange table, hence the oldest release.
var Target = emit.Target{
	Name:     "cpp",
	Doc:      "C++17, header only: owning and borrowed tensors, builders, views, exchange tables",
	Path:     "cpp",
	Oldest:   "1.2",
	Needs:    []string{"c"},
	Manifest: manifest,
}

// folder is what programs write before the names of the files.
const folder = "dlpackgen"

func manifest(m *emit.Model) (emit.Manifest, error) {
	r := m.Release
	return emit.Manifest{
		Words: emit.NamespaceWords(emit.Namespace(r)),
		Assets: append(emit.Copies("cpp", folder, headers...),
			emit.Asset{From: "cpp/layout.hpp.tmpl", To: folder + "/layout.hpp", View: viewLayout(r)},
			emit.Asset{From: "cpp/release.hpp.tmpl", To: folder + "/release.hpp", View: viewRelease(r)},
			emit.Asset{From: "cpp/storage.hpp.tmpl", To: folder + "/storage.hpp", View: viewStorage(r)}),
	}, checkNeeds(r)
}

// headers are those that the spec does not decide.
var headers = []string{
	"all.hpp", "array_view.hpp", "base.hpp", "builder.hpp", "complex.hpp", "container.hpp",
	"core.hpp", "dtype.hpp", "error.hpp", "exceptions.hpp", "exchange.hpp", "managed.hpp",
	"mdspan.hpp", "message.hpp", "packed.hpp", "producer.hpp", "python_error.hpp", "span.hpp",
	"stdfloat.hpp", "tensor_view.hpp", "validate.hpp",
}

// names are those that every template puts in.
type names struct {
	Version   string
	Namespace string // v1_3
	Guard     string // V1_3
}

func namesOf(r *spec.Release) names {
	return names{r.Version, emit.Namespace(r), strings.ToUpper(emit.Namespace(r))}
}

// checkNeeds reports what a spec of one's own lacks of the entities that the
// headers know by name.
func checkNeeds(r *spec.Release) error {
	return emit.Needs(r, "the headers build on", emit.Lacking(r)...)
}
