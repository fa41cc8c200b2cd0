// Package templated implements users' own targets: files rendered from a folder of text templates
// over the documented model (internal/modeldoc). Templates are data: they cannot run programs or
// read files and the environment, and their size, output and steps are limited. The command reads
// the folder.
package templated

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/modeldoc"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// The limits of a folder, and of all folders of a config.
const (
	MaxFiles  = 500      // of the folder
	MaxBytes  = 1 << 20  // of one file of the folder
	MaxFolder = 16 << 20 // of all files of the folder
	MaxOutput = 32 << 20 // of all files that the targets generate
)

const (
	suffix        = ".tmpl"
	optionComment = "comment"
)

// nameForm matches valid names of users' targets, which are written to the lock.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,30}$`)

// CheckName returns the reason why a name of a target is invalid, or "".
func CheckName(name string) string {
	if nameForm.MatchString(name) {
		return ""
	}
	return "must match " + nameForm.String()
}

// Target returns the target for a folder of templates.
func Target(name string) emit.Target {
	return emit.Target{
		Name: name, Doc: "Files from your own templates", Path: name, Oldest: "0.1", Contracts: true,
		Options: []emit.Option{{Name: optionComment, Example: `"--"`, Check: checkComment,
			Doc: "the start of a line comment, for files whose extension does not determine it"}},
		Manifest: manifest,
	}
}

// lineComments are the beginnings of line comments.
var lineComments = []string{"//", "#", "--", ";", ";;", "%", "!", "'", `"`, "::", "REM", "dnl", `\`}

func checkComment(value string) string {
	if !slices.Contains(lineComments, value) {
		return "must be one of " + strings.Join(lineComments, " ")
	}
	return ""
}

// manifest renders every template. The engine only adds the banner to the result.
func manifest(m *emit.Model) (emit.Manifest, error) {
	templates := cmp.Or(m.Templates, &emit.Folder{}) // of a config that is checked before the folder is read
	budget := newBudget(templates.Spent)
	parse := func(all []emit.Source) any { return parseFolder(all, budget) }
	folder := templates.Parsed(parse).(*parsed) //nolint:forcetypeassert // parseFolder returns nothing else
	r := &renderer{model: m, reporter: reporter{sources: templates.Sources, findings: &diag.List{}}}
	r.findings.Add(folder.findings...)
	var made emit.Manifest
	if !r.findings.Failed() {
		made = r.assets(folder.set(budget))
	}
	if r.findings.Failed() {
		return emit.Manifest{}, &emit.Invalid{Findings: r.findings.Sorted()}
	}
	return made, nil
}

// renderer is the state of one target.
type renderer struct {
	reporter
	model *emit.Model
	data  any
}

// reporter collects findings about the files of a folder.
type reporter struct {
	sources  []emit.Source
	findings *diag.List
}

// fail reports something about a whole file.
func (r *reporter) fail(s emit.Source, hint, format string, args ...any) {
	r.findings.Add(diag.Diagnostic{Severity: diag.Error, Code: "template-file", Pos: diag.Pos{File: s.File},
		Text: fmt.Sprintf(format, args...), Hint: hint})
}

// check reports whether a file of the folder is within the rules for all of them.
func (r *reporter) check(s emit.Source) bool {
	before := r.findings.Len()
	switch {
	case len(s.Data) > MaxBytes:
		r.fail(s, "split the file", "the file has more than %d bytes", MaxBytes)
	case !utf8.Valid(s.Data) || bytes.IndexByte(s.Data, 0) >= 0:
		r.fail(s, "move the file elsewhere: templates and the files beside them are text", "the file is not UTF-8 text")
	}
	if problem, hint := relpath.Problem(s.Path); problem != "" {
		r.fail(s, hint, "the path %s %s", relpath.Show(s.Path), problem)
	}
	return r.findings.Len() == before
}

// assets executes each template that generates a file, and copies files that are not templates.
func (r *renderer) assets(set *set) emit.Manifest {
	var made emit.Manifest
	r.data = document(r.model)
	taken := map[string]emit.Source{} // by the output, in one case
	for _, s := range r.sources {
		if isPart(s.Path) {
			continue
		}
		if set.budget.Over {
			break // one finding about the limits is enough
		}
		to, text := output(s), s.Data
		if other, is := taken[relpath.Fold(to)]; is {
			r.fail(s, "rename one of the two files, or move it to another folder",
				"this file generates %s, and %s generates %s",
				to, other.File, sameAs(other.Path, to))
			continue
		}
		taken[relpath.Fold(to)] = s
		if isTemplate(s.Path) {
			text = r.fill(set, s)
		} else if err := set.budget.writes(len(text)); err != nil {
			r.failAt(s, err)
		}
		if banner, ok := r.banner(s, to); ok {
			made.Assets = append(made.Assets, emit.Asset{To: to, Text: headed(banner, text), Verbatim: true})
		}
	}
	return made
}

// Outputs returns the files that a folder generates.
func Outputs(sources []emit.Source) (names []string) {
	for _, s := range sources {
		if !isPart(s.Path) {
			names = append(names, output(s))
		}
	}
	return names
}

// output returns the file that a source generates.
func output(s emit.Source) string { return strings.TrimSuffix(s.Path, suffix) }

// sameAs describes the output of a source that has the same name as another output.
func sameAs(source, to string) string {
	if other := strings.TrimSuffix(source, suffix); other != to {
		return other + ": the same file " + relpath.Where(other, to)
	}
	return "it too"
}

// banner returns the banner of a file, as a comment of its language.
func (r *renderer) banner(s emit.Source, to string) (string, bool) {
	about := fmt.Sprintf("DLPack %s; from %s", r.model.Release.Version, s.Path)
	begin, end := r.comment(to)
	switch {
	case begin == "":
		r.fail(s, "set option comment of the target, such as `comment: \"--\"`; a format without comments, such as JSON, "+
			"cannot be generated", "files %q have no known form of comments, which the banner needs",
			cmp.Or(path.Ext(to), to))
	case end != "" && strings.Contains(s.Path, strings.TrimSpace(end)):
		r.fail(s, "rename the file or its folder", "the path has %s, which ends the comment of the banner",
			strings.TrimSpace(end))
	default:
		return emit.BannerOf(begin+" ", end, about) + below(to), true
	}
	return "", false
}

// comment returns the beginning and the end of a comment in a file: from its extension or name, or
// otherwise from the option. The beginning is "" if it is unknown.
func (r *renderer) comment(to string) (begin, end string) {
	for _, name := range []string{path.Ext(to), path.Base(to)} {
		if style, ok := comments[name]; ok {
			return style[0], style[1]
		}
	}
	return r.model.Options[optionComment], ""
}

// below returns a blank line for Go, because the banner would otherwise be part of the package's
// documentation.
func below(to string) string {
	if path.Ext(to) == ".go" {
		return "\n"
	}
	return ""
}

// headed inserts the banner after the preamble of a text, with the text's line ends.
func headed(banner string, text []byte) []byte {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		banner = strings.ReplaceAll(banner, "\n", "\r\n")
	}
	n := emit.Preamble(text)
	first, rest := text[:n], text[n:]
	if bytes.ContainsAny(first, "#@<") && !bytes.HasSuffix(first, []byte("\n")) {
		banner = "\n" + banner
	}
	return slices.Concat(first, []byte(banner), rest)
}

// isTemplate reports whether a file is a template. Other files are copied.
func isTemplate(name string) bool { return strings.HasSuffix(name, suffix) }

// MakesFile reports whether a source is a template that generates a file, not one that is only
// included, and not a copied file.
func MakesFile(name string) bool { return isTemplate(name) && !isPart(name) }

// isPart reports whether a template is only included by others.
func isPart(name string) bool { return isTemplate(name) && strings.HasPrefix(path.Base(name), "_") }

// document returns the model as templates read it: maps and lists with the keys of the JSON form.
func document(m *emit.Model) any {
	decoder := json.NewDecoder(bytes.NewReader(modeldoc.Of(m.Release, m.Contracts).JSON()))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		panic("unreachable: the document was just encoded: " + err.Error())
	}
	return whole(v)
}

// whole converts numbers to integers, because JSON has no type for integers.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = whole(value)
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return v.String() // of 64 bits without a sign
	}
	return v
}

// comments are the comment forms by extension or name.
var comments = func() map[string][2]string {
	all := map[string][2]string{}
	for style, names := range map[[2]string]string{
		{"//",
			""}: ".rs .zig .go .cc .cpp .cxx .hpp .hh .cu .cuh .java .kt .kts .scala .swift .cs .fs .js .mjs .ts .dart .d " +
			".v .odin .hip .metal .proto .gradle",
		{"#",
			""}: ".py .pyi .pyx .pxd .rb .jl .r .R .sh .toml .yaml .yml .cmake .nim .cr .pl .ex .exs .ps1 .tcl .mk .mojo " +
			".cfg .ini .bzl .bazel Makefile Dockerfile",
		{"--", ""}: ".lua .hs .sql .adb .ads .vhd .vhdl .elm", {"!", ""}: ".f90 .f95 .f03 .f08",
		{";", ""}: ".lisp .el .clj .scm .rkt .ll", {"%", ""}: ".erl .hrl .tex",
		{"/*", " */"}: ".c .h .css", {"<!--", " -->"}: ".md .html .xml .svg .xhtml",
		{"(*", " *)"}: ".ml .mli .sml .pas",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = style
		}
	}
	return all
}()
