package emit

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/dlpackgen/dlpackgen/internal/cformat"
	"github.com/dlpackgen/dlpackgen/internal/template"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Render renders the files of a manifest, in its order.
func Render(version string, m Manifest) ([]File, error) {
	files, words := make([]File, 0, len(m.Assets)), strings.NewReplacer(m.Words...)
	for _, a := range m.Assets {
		of := words
		if len(a.Words) > 0 {
			of = strings.NewReplacer(slices.Concat(a.Words, m.Words)...)
		}
		file, err := a.render(version, of)
		if err != nil {
			return nil, fmt.Errorf("rendering %s: %w", a.To, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// render renders one file: the banner, then the source.
func (a Asset) render(version string, words *strings.Replacer) (File, error) {
	if a.Verbatim {
		return File{Path: a.To, Data: a.Text}, nil
	}
	texts, err := a.source(words)
	if err == nil {
		texts, err = a.inline(texts, words)
	}
	if err == nil {
		texts[0], err = constrained(a.To, texts[0])
	}
	if err != nil {
		return File{}, err
	}
	head := Banner(a.To, version)
	if a.Once {
		head = StarterLine(a.To)
	}
	data := join(head, texts, a.isInlined())
	if slices.Contains(inC, path.Ext(a.To)) {
		data = append(bytes.TrimRight(data, "\n"), '\n')
	}
	return File{Path: a.To, Data: data, Once: a.Once, Defines: a.Defines, Unit: a.Unit}, nil
}

// source returns the text of a template, a file, or Text, with its words replaced, in pieces of
// whole lines. A template is then executed. Words in its data are not replaced, because they may
// occur by chance.
func (a Asset) source(words *strings.Replacer) ([]string, error) {
	text := string(a.Text)
	if a.Text == nil {
		var err error
		if text, err = templates.Text(a.From); err != nil {
			return nil, err
		}
	}
	text = words.Replace(text)
	if a.Text != nil || path.Ext(a.From) != ".tmpl" {
		return []string{text}, nil
	}
	return a.fill(text)
}

// fill executes a template with its data.
func (a Asset) fill(source string) ([]string, error) {
	parsed, err := parse(a.From, source)
	if err != nil {
		return nil, err
	}
	filler := template.Filler{Templates: parsed}
	if slices.Contains(inC, path.Ext(strings.TrimSuffix(a.From, ".tmpl"))) {
		var out cformat.Writer
		if err := filler.Fill(&out, path.Base(a.From), a.View); err != nil {
			return nil, err
		}
		return out.Texts(), nil
	}
	var out bytes.Buffer
	if err := filler.Fill(&out, path.Base(a.From), a.View); err != nil {
		return nil, err
	}
	if a.Gofmt {
		text, err := format.Source(out.Bytes())
		return []string{string(text)}, err
	}
	return []string{out.String()}, nil
}

// inC are the ends of the names of sources in C and C++.
var inC = []string{".c", ".h", ".cpp", ".hpp", ".cu"}

// parsed caches the templates of this process by their text, because several targets share some.
var parsed sync.Map

func parse(name, source string) (template.Set, error) {
	if known, ok := parsed.Load(source); ok {
		return known.(template.Set), nil //nolint:forcetypeassert // nothing else is stored
	}
	made, err := template.Parse(path.Base(name), source, nil)
	if err == nil {
		parsed.Store(source, made)
	}
	return made, err
}
