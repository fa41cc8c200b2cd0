// Package emit contains the common part of all targets: the model from which they are rendered, the
// manifest that lists their files, and the engine that renders manifests. It knows no target and
// does not access the disk.
package emit

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// File is one output, in memory.
type File struct {
	Path string // slashes, relative to the target's own path
	Data []byte
	// Once marks a starter file: it is created once, begins with StarterLine instead of a banner,
	// and is not checked again.
	Once bool
	// Defines are the C functions of a starter file. The file is not created if another file in its
	// folder defines one of them.
	Defines []string
	Main    bool // the target's Interface, which can be printed alone
	Unit    bool // see Asset.Unit
}

// Model is the input of a target: one release and the target's options.
type Model struct {
	Release   *spec.Release
	Options   map[string]string // by option name; a missing one is its default
	Contracts []contract.Kernel // those that are described by args and returns, likewise
	Imports   map[string]string // import paths of Go packages that other targets make, by target; see Target.Imports
	Import    string            // of the folder of the files; "" if it is unknown
	Library   Library           // of the config's other targets; see Target.Collects
	Prefix    string            // of the C names in a vendored copy; only if Target.Prefixable
	Templates *Folder           // of a target of the user's own, which the command has read; nil for others
}

// Folder contains the templates of a user's own target. Targets that name one folder share it.
type Folder struct {
	Sources []Source
	Spent   *Spent // of the config, or nil: the folder is the only one
	once    sync.Once
	parsed  any
}

// Spent counts the work for all of a config's own targets, which are rendered in turn. Package
// templated has the limits.
type Spent struct {
	Parsed int  // bytes of templates
	Steps  int  // executed nodes and operands
	Text   int  // bytes that functions read and made
	Output int  // bytes of files
	Over   bool // one of them is over its limit
}

// Parsed returns the result of parse for the sources. parse is called once, for the first target.
func (f *Folder) Parsed(parse func([]Source) any) any {
	f.once.Do(func() { f.parsed = parse(f.Sources) })
	return f.parsed
}

// Source is a template or another file of a user's own target.
type Source struct {
	Path string // slashes, relative to the folder of the target
	File string // as findings name it
	Data []byte
}

// Invalid is the error for a user's input that a target cannot process. It has at least one
// finding.
type Invalid struct{ Findings []diag.Diagnostic }

// Error is the text of the first finding.
func (e *Invalid) Error() string { return e.Findings[0].Text }

// Library lists the generated sources of the library with a config's kernels.
type Library struct {
	Units   []string // the files of C to compile, relative to the folder of the target that collects them
	Folders []string // those with their headers, likewise
	Digest  string   // of all of C that the targets make
}

// ImportPath returns the import path of a Go package: from the option, or else from the folder, or
// "".
func (m *Model) ImportPath() string { return cmp.Or(m.Options[OptionImport], m.Import) }

// Option is a setting of a target in dlpackgen.yaml.
type Option struct {
	Name    string
	Doc     string
	Default string
	Bool    bool // true or false
	// Unprefixed: the value true is not supported with a prefix.
	Unprefixed bool
	// Required: a config that lists the target must set the option. Example is a value.
	Required bool
	Example  string
	// Check returns the reason why a value is invalid, or "".
	Check func(value string) string
}

// Target is one row of the table of targets.
type Target struct {
	Name          string
	Doc           string
	Path          string // default, relative to out
	Oldest        string // the oldest release that it serves
	Options       []Option
	Needs         []string // the targets whose headers its files include
	Imports       []string // the targets whose Go packages its own imports, if the config has them
	Single        string   // the boolean option for a single file, which no target includes
	Interface     string   // the one file that users include, if there is one; if Single is set, only with that option
	Contracts     bool     // it generates code for described kernels
	OnRequest     bool     // it is generated only if a config lists it
	ContractNeeds []string // in addition to Needs, if the config has such kernels
	Prefixable    bool     // its names can have a prefix: Model.Prefix
	Collects      bool     // it compiles the C of the config's other targets: Model.Library
	// Limits lists the features of a described kernel that the target does not support, although
	// the kernel can be called.
	Limits func(*contract.Kernel) []string
	// Clashes finds names of a release that are equal in the target's language, for example of a
	// vendor's devices. It is nil if names are the same as in C.
	Clashes func(*spec.Release) []Clash
	// Manifest lists the files of the target. It depends only on the model.
	Manifest func(*Model) (Manifest, error)
}

// Emit renders every file of the target. The result depends only on the model.
func (t Target) Emit(m *Model) ([]File, error) {
	manifest, err := t.Manifest(m)
	if err != nil {
		return nil, err
	}
	files, err := Render(m.Release.Version, manifest)
	for i := range files {
		files[i].Main = files[i].Path == t.Interface
		if m.Prefix != "" {
			files[i] = prefixed(files[i], m.Prefix)
		}
	}
	return files, err
}

// Has reports whether the target has the option.
func (t Target) Has(option string) bool {
	return slices.ContainsFunc(t.Options, func(o Option) bool { return o.Name == option })
}

// Table contains the built-in targets, and the functions that create targets for backends and
// templates of a config.
type Table struct {
	Rows   []Target
	Vendor func(*backend.Backend) Target
	// Templated creates a user's own target of a given name; see Model.Templates. CheckName returns
	// the reason why such a name is invalid, or "".
	Templated func(name string) Target
	CheckName func(name string) string
}

// Names returns the names of the rows, in order.
func (t Table) Names() []string {
	var names []string
	for _, row := range t.Rows {
		names = append(names, row.Name)
	}
	return names
}

// About returns the doc of a target with the targets that it needs.
func (t Target) About() string {
	text := t.Doc
	if len(t.Needs) > 0 {
		text += "; includes headers of " + strings.Join(t.Needs, ", ")
	}
	if len(t.ContractNeeds) > 0 {
		text += "; described kernels need target " + strings.Join(t.ContractNeeds, ", ")
	}
	return text
}

// Clash is a pair of names that are equal in a target's language.
type Clash struct {
	Names [2]string // as the release declares them, in the order of the target
	Text  string
}

// bannerMark is the sentence that marks a generated file. Go tools recognize it too.
const bannerMark = "Code generated by dlpackgen; DO NOT EDIT."

// LicenseTag states the licence of the output, which differs from the tool's: see LICENSE-OUTPUT.
const LicenseTag = "SPDX-License-Identifier: 0BSD"

// Banner returns the two lines of the banner, as comments of the language that the file name
// indicates.
func Banner(name, version string) string {
	prefix, suffix := comment(path.Ext(name))
	return fmt.Sprintf("%s%s%s\n%sDLPack %s; %s%s\n", prefix, bannerMark, suffix, prefix, version, LicenseTag, suffix)
}

// BannerOf returns the two lines of a banner, with the given beginning and end of line comments.
// about describes the sources of the file.
func BannerOf(begin, end, about string) string {
	return begin + bannerMark + end + "\n" + begin + about + end + "\n"
}

// StarterLine returns the first line of a starter file (File.Once), which states its licence.
func StarterLine(name string) string {
	prefix, suffix := comment(path.Ext(name))
	return prefix + LicenseTag + suffix + "\n"
}

// comment returns the beginning and the end of a line comment.
func comment(extension string) (prefix, suffix string) {
	switch extension {
	case ".c", ".h":
		return "/* ", " */"
	case ".py", ".pyi", ".typed", ".sh", ".toml", ".yaml", ".yml", ".in", ".gitignore",
		".cmake", ".pc":
		return "# ", ""
	case ".md":
		return "<!-- ", " -->"
	}
	return "// ", ""
}

// Namespace returns the C++ namespace of a release, such as v1_3, with which one program can use
// two releases.
func Namespace(r *spec.Release) string { return "v" + strings.ReplaceAll(r.Version, ".", "_") }

// HasBanner reports whether the first line of a file, after its preamble, is the banner.
func HasBanner(data []byte) bool {
	line, _, _ := bytes.Cut(data[Preamble(data):], []byte("\n"))
	return bytes.Contains(line, []byte(bannerMark))
}

// preamble matches a byte order mark, a line that names an interpreter, a line that declares the
// encoding to Python and Ruby, or to readers of CSS, and the declarations of XML and HTML. A line
// of Rust may begin with #![, which names no interpreter.
var preamble = regexp.MustCompile(`^(?:\x{FEFF})?(?:#!(?:[^\[\n][^\n]*)?(?:\n|$))?` +
	`(?:[ \t\f]*#[^\n]*coding[:=][ \t]*[-\w.][^\n]*(?:\n|$))?` +
	`(?:@charset "[^"\n]*";[ \t\r]*(?:\n|$))?(?:<\?xml [^\n]*\?>[ \t\r]*(?:\n|$))?` +
	`(?:<!(?i:doctype)[^\n>]*>[ \t\r]*(?:\n|$))?`)

// Preamble returns the length of the lines that must precede the banner, because systems look for
// them at the beginning of a file.
func Preamble(data []byte) int { return len(preamble.Find(data)) }
