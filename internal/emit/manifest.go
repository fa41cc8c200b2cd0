package emit

import (
	"path"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/hosts"
)

// Manifest lists the files that a target emits, and the words to substitute in them. The engine
// renders it; targets do not edit text themselves.
type Manifest struct {
	Assets []Asset
	Words  Words // in every asset
	// LeftOut joins the errors about kernels that the target omits because it supports others.
	LeftOut error
}

// Asset is one output and its source.
type Asset struct {
	From string // the source, below templates/; one that ends in .tmpl is a template
	To   string // the output: slashes, relative to the target's own path
	View any    // the template's data
	Text []byte // the source itself, if there is no file below templates/
	// Verbatim: the text is the user's and contains the banner, so no words are replaced.
	Verbatim bool
	Words    Words // in this asset alone
	Gofmt    bool  // gofmt decides how the filled template looks
	Once     bool  // a starter file: see File.Once
	// Defines are the C functions of a starter file: see File.Defines.
	Defines []string
	Unit    bool // it is compiled into the one library of all callers
	// Parts are inserted where the source includes them by their To, once each and without include
	// guard.
	Parts  []Asset
	Spare  bool // of a part: nothing need include it
	Guards bool // parts keep their guards: others may include them as files
	// Known are the parts that another output contains, by their names in #include lines: the first
	// such line is replaced with an include of that output.
	Known map[string]string
}

// Rendered reports whether the content of the asset depends on the spec or the config, apart from
// substituted words. Otherwise, it is a copy of its source.
func (a Asset) Rendered() bool { return a.Text != nil || path.Ext(a.From) == ".tmpl" }

// Unfolded returns the manifest with each part as a separate file, in which tests can change one
// part.
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

// allParts returns the parts, and their parts.
func (a Asset) allParts() (all []Asset) {
	for _, part := range a.Parts {
		all = append(append(all, part), part.allParts()...)
	}
	return all
}

// pathOf returns the path of a part's file: in the folder of the asset, or in the include path if
// the part's name has a folder.
func (a Asset) pathOf(part Asset) string {
	if strings.Contains(part.To, "/") {
		return part.To
	}
	return path.Join(path.Dir(a.To), part.To)
}

// Words are pairs of a word in the sources and its replacement.
type Words []string

// Copies lists sources of one folder that keep their names, without the extension .tmpl.
func Copies(from, to string, names ...string) []Asset {
	var all []Asset
	for _, name := range names {
		all = append(all, Asset{From: path.Join(from, name), To: path.Join(to, strings.TrimSuffix(name, ".tmpl"))})
	}
	return all
}

// Showing returns the assets with data for their templates.
func Showing(view any, assets []Asset) []Asset {
	for i := range assets {
		assets[i].View = view
	}
	return assets
}

// DeviceInterface is the header with the interface of backends, for a target whose output works
// with any backend and compiles without one.
func DeviceInterface(folder string) Asset {
	return Asset{From: "device/dlpackgen_backend.h", To: path.Join(folder, "dlpackgen_backend.h"),
		Words: Words{`"dlpack.h"`, "<dlpack/dlpack.h>"}}
}

// HostABI is the part of a caller's source with the declarations of its host: NAME_abi.h.
func HostABI(host string) Asset {
	return Asset{From: "hosts/host.h.tmpl", To: host + "_abi.h", View: hosts.Embedded(host).View()}
}

// SharedDevice is the target that generates the Go package of the types that backends share.
const SharedDevice = "device"

// DeviceTypes returns the file with the Go types of a backend. They are aliases of the shared
// package, or separate types if the config does not generate that package or its import path is
// unknown.
func DeviceTypes(m *Model, pkg string) Asset {
	words := Words{"package device\n", "package " + pkg + "\n"}
	if shared := m.Imports[SharedDevice]; shared != "" {
		return Asset{From: "device/aliases.go", To: "types.go",
			Words: append(words, "dlpackgen.invalid/device", shared)}
	}
	return Asset{From: "device/types.go", To: "types.go", Words: words}
}

// The placeholders for the release in C++ sources: as a namespace, and in macros.
const (
	templateNamespace = "v0_0"
	templateGuard     = "V0_0"
)

// NamespaceWords replace these placeholders.
func NamespaceWords(namespace string) Words {
	return Words{templateNamespace, namespace, templateGuard, strings.ToUpper(namespace)}
}
