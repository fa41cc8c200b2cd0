package emit

import (
	"path"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/hosts"
)

// Manifest names everything that a target emits, and what is substituted in it. The
// engine renders it; a target does nothing to a text itself.
type Manifest struct {
	Assets []Asset
	Words  Words // in every asset
	// LeftOut joins the errors about kernels that the target leaves out, because it makes others.
	LeftOut error
}

// Asset is one output and its source.
type Asset struct {
	From string // the source, below templates/; one that ends in .tmpl is a template
	To   string // the output: slashes, relative to the target's own path
	View any    // what the template shows
	Text []byte // the source itself, where no file below templates/ has it
	// Verbatim: the text is the user's and has its banner, so nothing in it is replaced.
	Verbatim bool
	Words    Words // in this asset alone
	Gofmt    bool  // gofmt decides how the filled template looks
	Once     bool  // a starter file: see File.Once
	// Defines are the C functions of a starter file: see File.Defines.
	Defines []string
	Main    bool // the target's interface file: see File.Main
	Unit    bool // it is compiled into the one library of all callers
	// Parts are put in where the source includes them by their To, each once and without
	// its guard.
	Parts  []Asset
	Spare  bool // of a part: nothing need include it
	Guards bool // parts keep their guards: others may include them as files
	// Known are the parts that another output holds, by what includes them: the first such
	// line includes that output.
	Known map[string]string
}

// Rendered reports whether the spec or the config decides what stands in the asset, beside the
// words that are substituted: else it is a copy of its source.
func (a Asset) Rendered() bool { return a.Text != nil || path.Ext(a.From) == ".tmpl" }

// Unfolded returns the manifest with each part as a file of its own beside what includes it: in
// those, tests change one part.
func (m Manifest) Unfolded() Manifest {
	var all []Asset
	made := map[string]bool{}
	for _, a := range m.Assets {
		for _, part := range a.allParts() {
			part.Parts = nil
			if part.To = a.pathOf(part); !made[part.To] {
				made[part.To], all = true, append(all, part)
			}
		}
		a.Parts, a.Known = nil, nil
		all = append(all, a)
	}
	return Manifest{Assets: all, Words: m.Words}
}

// allParts are the parts, and the parts of those.
func (a Asset) allParts() (all []Asset) {
	for _, part := range a.Parts {
		all = append(append(all, part), part.allParts()...)
	}
	return all
}

// pathOf is where a file is found that the asset includes by the name of the part: beside the
// asset, or by the include path where the name has a folder.
func (a Asset) pathOf(part Asset) string {
	if strings.Contains(part.To, "/") {
		return part.To
	}
	return path.Join(path.Dir(a.To), part.To)
}

// Words are pairs: a word of the sources, and what replaces it.
type Words []string

// Copies lists sources of one folder that keep their names, less the end .tmpl.
func Copies(from, to string, names ...string) []Asset {
	var all []Asset
	for _, name := range names {
		all = append(all, Asset{From: path.Join(from, name), To: path.Join(to, strings.TrimSuffix(name, ".tmpl"))})
	}
	return all
}

// Showing returns the assets with a view, which their templates share.
func Showing(view any, assets []Asset) []Asset {
	for i := range assets {
		assets[i].View = view
	}
	return assets
}

// DeviceInterface is the header that backends for devices are used by, for a target whose
// output works with any of them and needs none to compile.
func DeviceInterface(folder string) Asset {
	return Asset{From: "device/dlpackgen_backend.h", To: path.Join(folder, "dlpackgen_backend.h"),
		Words: Words{`"dlpack.h"`, "<dlpack/dlpack.h>"}}
}

// HostABI is the part of a caller's source that declares what it uses of its host: NAME_abi.h.
func HostABI(host string) Asset {
	return Asset{From: "hosts/host.h.tmpl", To: host + "_abi.h", View: hosts.Embedded(host).View()}
}

// SharedDevice is the target that makes the Go package of the types that backends share.
const SharedDevice = "device"

// DeviceTypes is the file of the Go types of a backend: those of the shared package, or, where
// the config does not make that one or gives it no import path, types of its own.
func DeviceTypes(m *Model, pkg string) Asset {
	words := Words{"package device\n", "package " + pkg + "\n"}
	if shared := m.Imports[SharedDevice]; shared != "" {
		return Asset{From: "device/aliases.go", To: "types.go",
			Words: append(words, "dlpackgen.invalid/device", shared)}
	}
	return Asset{From: "device/types.go", To: "types.go", Words: words}
}

// What stands in the sources of C++ for the release: a namespace, and in macros.
const (
	templateNamespace = "v0_0"
	templateGuard     = "V0_0"
)

// NamespaceWords put the release into sources of C++.
func NamespaceWords(namespace string) Words {
	return Words{templateNamespace, namespace, templateGuard, strings.ToUpper(namespace)}
}
