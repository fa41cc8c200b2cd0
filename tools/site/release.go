package main

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/compat"
	"github.com/dlpackgen/dlpackgen/internal/draw"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// addReleases adds a page for each release of DLPack, with its picture, and their index.
func (p *pages) addReleases(fs.FS) error {
	sp := spec.Embedded()
	index := newPage("Releases of DLPack",
		"Each page lists the changes since the previous release, and the types with their layout.")
	index.row("Release", "Date", "Changes that break programs", "Additions")
	index.row("---", "---", "---", "---")
	var before *spec.Release
	for _, info := range sp.Releases() {
		release, err := sp.Release(info.Version)
		if err != nil {
			return err
		}
		var changes []compat.Change
		if before != nil {
			changes = compat.Compare(before, release)
		}
		broken := len(changes) - len(ofKind(changes, compat.Additive))
		index.row(fmt.Sprintf("[%s](%s.md)", info.Version, info.Version), date(info), fmt.Sprint(broken),
			fmt.Sprint(len(changes)-broken))
		p.files["releases/"+info.Version+".md"] = releasePage(info, release, before, changes)
		table := layout.Of(release, layout.LP64, layout.C)
		p.files["releases/"+info.Version+".svg"] = draw.SVG([]*layout.Table{table}, structNames(table))
		before = release
	}
	p.files["releases/index.md"] = index.bytes()
	return nil
}

func date(info spec.ReleaseInfo) string {
	if info.Unreleased {
		return "unreleased, as of " + info.Date
	}
	return info.Date
}

func structNames(t *layout.Table) []string {
	var names []string
	for _, s := range t.Structs {
		names = append(names, s.Name)
	}
	return names
}

// releasePage lists the changes and the declarations of a release.
func releasePage(info spec.ReleaseInfo, r, before *spec.Release, changes []compat.Change) []byte {
	page := newPage("DLPack "+info.Version, "Date: "+date(info)+".")
	if before != nil {
		page.changes(before.Version, changes)
	}
	page.heading("Layout")
	page.paragraph("Offsets and sizes are in bytes, on 64-bit systems. `dlpackgen layout --dlpack %s --model all` "+
		"prints the layouts of other systems.", info.Version)
	page.paragraph("![The structs of DLPack %s to scale](%s.svg)", info.Version, info.Version)
	page.structs(r)
	page.enums(r)
	page.constants(r)
	return page.bytes()
}

// changes lists the differences from the previous release, breaking ones first.
func (m *markdown) changes(before string, changes []compat.Change) {
	m.heading("Changes since " + before)
	if len(changes) == 0 {
		m.paragraph("No declaration and no rule changed.")
		return
	}
	meaning := map[compat.Kind]string{
		compat.Breaking:       "Compiled programs that use " + before + " can fail",
		compat.SourceBreaking: "Source code for " + before + " does not compile, or changes its meaning",
		compat.Additive:       "Additions",
	}
	for _, kind := range []compat.Kind{compat.Breaking, compat.SourceBreaking, compat.Additive} {
		some := ofKind(changes, kind)
		if len(some) == 0 {
			continue
		}
		m.paragraph("%s:", meaning[kind])
		for _, c := range some {
			m.item("`%s`: %s%s", c.Name, c.Text, difference(c))
		}
		m.line("")
	}
}

func ofKind(changes []compat.Change, kind compat.Kind) []compat.Change {
	var out []compat.Change
	for _, c := range changes {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// difference shows the value before, the value after, or both.
func difference(c compat.Change) string {
	switch {
	case c.Old != "" && c.New != "":
		return fmt.Sprintf(": `%s` → `%s`", c.Old, c.New)
	case c.Old+c.New != "":
		return fmt.Sprintf(": `%s`", c.Old+c.New)
	}
	return ""
}

// structs writes a table of fields for each struct.
func (m *markdown) structs(r *spec.Release) {
	table, spell := layout.Of(r, layout.LP64, layout.C), cdecl.Of(r)
	for _, d := range spec.Of[*spec.Struct](r) {
		placed, _ := table.Struct(d.Name)
		m.heading(d.Name)
		m.paragraph("%s Size %d, alignment %d.", sentence(d.Doc), placed.Size, placed.Align)
		m.row("Offset", "Size", "Field", "Meaning")
		m.row("--:", "--:", "---", "---")
		for i, f := range d.Fields {
			at := placed.Fields[i]
			m.row(fmt.Sprint(at.Offset), fmt.Sprint(at.Size), "`"+spell.Declare(f.Type, f.Name)+"`", f.Doc)
		}
		m.line("")
	}
}

func (m *markdown) enums(r *spec.Release) {
	for _, d := range spec.Of[*spec.Enum](r) {
		m.heading(d.Name)
		m.paragraph("%s", sentence(d.Doc))
		m.row("Value", "Name", "Meaning")
		m.row("--:", "---", "---")
		for _, v := range d.Values {
			m.row(fmt.Sprint(v.Value), "`"+v.Name+"`", v.Doc)
		}
		m.line("")
	}
}

// constants lists macros, flags, aliases and function types.
func (m *markdown) constants(r *spec.Release) {
	m.heading("Constants and function types")
	m.row("Name", "Value or type", "Meaning")
	m.row("---", "---", "---")
	spell := cdecl.Of(r)
	for _, d := range r.Decls {
		switch d := d.(type) {
		case *spec.Macro:
			m.row("`"+d.Name+"`", "`"+d.Literal+"`", d.Doc)
		case *spec.Flag:
			m.row("`"+d.Name+"`", "`"+cdecl.Flag(d)+"`", d.Doc)
		case *spec.Alias:
			m.row("`"+d.Name+"`", "`"+spell.Alias(d)+"`", d.Doc)
		case *spec.Callback:
			of := spec.Type{Kind: spec.Function, Func: &d.Func}
			m.row("`"+d.Name+"`", "`"+spell.Declare(of, d.Name)+"`", d.Doc)
		}
	}
	m.line("")
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
