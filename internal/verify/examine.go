package verify

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/verify/object"
	"github.com/dlpackgen/dlpackgen/internal/verify/observe"
	"github.com/dlpackgen/dlpackgen/internal/verify/source"
)

// found is the information from the compiler about the header.
type found struct {
	*observe.Header
	compiler *compiler
	lang     layout.Lang
	model    layout.Model // before the header
	left     layout.Model // after the header; differs when it leaves a #pragma pack open
	text     *source.Text
	decls    []source.Decl
	own      map[string]bool // files whose declarations are DLPack's, by absolute path
	guards   map[string]bool // macros that keep those files from being read twice
	twins    map[twin]twinLines
	rejected map[string]bool // lines of the probes
}

// examine compiles the probes twice: with the preprocessor only, and to an object.
func examine(ctx context.Context, c *compiler, dir string, releases []*spec.Release) (*found, error) {
	if err := write(dir, beforeFile, beforeText()); err != nil {
		return nil, err
	}
	if err := write(dir, probeFile, ""); err != nil {
		return nil, err
	}
	out, messages, err := c.run(ctx, dir, append(c.common(dir), "-E", "-dD", filepath.Join(dir, probeFile))...)
	if err != nil {
		return nil, c.failed(messages)
	}
	f := &found{compiler: c, lang: c.lang, text: source.Read(string(out)), rejected: map[string]bool{}}
	f.decls = f.text.Decls()
	f.own = f.ownFiles(releases)
	f.guards = guards(f.own)
	f.setTwins(releases)
	lines := append(probes(f.probeTypes(releases), f.probeMacros(releases)), f.twinProbes(releases)...)
	if err := f.measure(ctx, dir, lines); err != nil {
		return nil, err
	}
	f.model, f.left = dataModel(f.Header, before), dataModel(f.Header, after)
	if !whole(f.model) || !whole(f.left) {
		return nil, cannot("verify-no-debug", "the debug information lacks the probes", needsDWARF)
	}
	if !f.declaresAny(releases) {
		return nil, foreign(c)
	}
	return f, nil
}

// declaresAny reports whether the header, or one that it includes, declares a name of a release.
// Macros do not count: a foreign header may test them.
func (f *found) declaresAny(releases []*spec.Release) bool {
	return slices.ContainsFunc(f.decls, func(d source.Decl) bool { return anyRelease(releases, d.Name, isAny) })
}

// foreign is the error for a header in which every name of DLPack is missing: one finding, instead
// of one for each name.
func foreign(c *compiler) *Error {
	err := cannot("verify-foreign", "the header declares no type of DLPack",
		"is this the right header? --header takes dlpack.h, or a header that includes it; FLAGS after -- may have to "+
			"define what enables its declarations")
	err.Findings[0].Pos.File = c.show(c.header)
	return err
}

func write(dir, name, text string) error {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		return cannot("io", err.Error(), "")
	}
	return nil
}

// anyRelease reports whether a release declares a name in a matching way: DLContext was a struct,
// then a typedef.
func anyRelease(releases []*spec.Release, name string, match func(spec.Decl) bool) bool {
	return slices.ContainsFunc(releases, func(r *spec.Release) bool {
		return slices.ContainsFunc(r.Decls, func(d spec.Decl) bool { return d.DeclName() == name && match(d) })
	})
}

func isAny(spec.Decl) bool { return true }

func isStruct(d spec.Decl) bool {
	_, ok := d.(*spec.Struct)
	return ok
}

func isNumber(d spec.Decl) bool {
	switch d.(type) {
	case *spec.Macro, *spec.Flag:
		return true
	}
	return false
}

// ownFiles returns the header, and the included files that declare a name of the spec. A header
// that only includes the real one can therefore be verified too.
func (f *found) ownFiles(releases []*spec.Release) map[string]bool {
	own := map[string]bool{f.compiler.header: true}
	for _, d := range f.decls {
		if anyRelease(releases, d.Name, isAny) {
			own[d.Pos.File] = true
		}
	}
	return own
}

func guards(files map[string]bool) map[string]bool {
	out := map[string]bool{}
	for file := range files {
		// The compiler has just read this file. If it no longer exists, its guard is reported as an
		// extra macro.
		text, _ := os.ReadFile(file)
		out[source.Guard(string(text))] = true
	}
	return out
}

// probeTypes returns the structs of the spec that the header defines, as C types.
func (f *found) probeTypes(releases []*spec.Release) []string {
	var out []string
	for _, d := range f.decls {
		if !anyRelease(releases, d.Name, isStruct) {
			continue
		}
		name := d.Name
		if !f.hasTypedef(name) {
			name = "struct " + name
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// hasTypedef reports whether the header has a typedef of that name.
func (f *found) hasTypedef(name string) bool {
	return slices.ContainsFunc(f.decls, func(d source.Decl) bool { return d.Kind == source.Typedef && d.Name == name })
}

// probeMacros returns the numeric macros of the spec that the header defines.
func (f *found) probeMacros(releases []*spec.Release) []string {
	var out []string
	for _, m := range f.text.Macros {
		if m.Body != "" && !m.Function && !slices.Contains(out, m.Name) && anyRelease(releases, m.Name, isNumber) {
			out = append(out, m.Name)
		}
	}
	return out
}

// measure compiles the probes and reads the object. It retries without lines that the compiler
// rejects, because a macro need not be a number.
func (f *found) measure(ctx context.Context, dir string, lines []string) error {
	file := filepath.Join(dir, objectFile)
	args := append(f.compiler.common(dir), f.debugFlags()...)
	args = append(args, "-c", filepath.Join(dir, probeFile), "-o", file)
	for {
		if err := write(dir, probeFile, probeText(lines)); err != nil {
			return err
		}
		_, messages, err := f.compiler.run(ctx, dir, args...)
		if err == nil {
			return f.read(file)
		}
		kept := f.without(lines, rejected(messages))
		if len(kept) == len(lines) {
			return f.compiler.failed(messages)
		}
		lines = kept
	}
}

// debugFlags request debug information for every type. By default, C++ compilers omit a class with
// virtual functions if another object defines them. The flag differs between compilers.
func (f *found) debugFlags() []string {
	flags := []string{"-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-fno-debug-types-section"}
	if f.lang == layout.C {
		return flags
	}
	if _, clang := f.text.Macro("__clang__"); clang {
		return append(flags, "-fstandalone-debug")
	}
	return append(flags, "-femit-class-debug-always")
}

const needsDWARF = "verify needs a compiler that writes DWARF, as GCC and clang do with -gdwarf-4"

func (f *found) read(file string) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return cannot("verify-no-object", f.compiler.command[0]+" reported no error, and wrote no object file",
			"--cc takes a compiler such as gcc or clang; omit flags that stop it early, such as -fsyntax-only")
	}
	if err != nil {
		return cannot("io", err.Error(), "")
	}
	info, err := object.DWARF(data)
	if errors.Is(err, object.ErrTarget) {
		return cannot("verify-target", "cannot verify for this target: "+err.Error(),
			"use a target with the same sizes, such as --target=i386-linux-gnu for 4-byte pointers; or compile "+
				"abi_check.h, which needs no verify")
	}
	if err != nil {
		return cannot("verify-no-debug", "cannot read what the compiler wrote: "+err.Error(), needsDWARF)
	}
	if f.Header, err = observe.Read(info); err != nil {
		return cannot("verify-no-debug", "cannot read the debug information: "+err.Error(), needsDWARF)
	}
	return nil
}

var probeLine = regexp.MustCompile(regexp.QuoteMeta(probeFile) + `:(\d+)`)

// rejected returns the lines of the probe file, from 0, that messages name.
func rejected(messages string) map[int]bool {
	out := map[int]bool{}
	for _, m := range probeLine.FindAllStringSubmatch(messages, -1) {
		n, _ := strconv.Atoi(m[1])
		out[n-1] = true
	}
	return out
}

// without removes lines, and records them.
func (f *found) without(lines []string, drop map[int]bool) []string {
	var out []string
	for i, l := range lines {
		if drop[i] {
			f.rejected[l] = true
		} else {
			out = append(out, l)
		}
	}
	return out
}
