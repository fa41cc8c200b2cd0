package emit

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/dlpackgen/dlpackgen/templates"
)

// Render makes every file of a manifest, in its order.
func Render(version string, m Manifest) ([]File, error) {
	files := make([]File, 0, len(m.Assets))
	for _, a := range m.Assets {
		file, err := a.render(version, m.Words)
		if err != nil {
			return nil, fmt.Errorf("rendering %s: %w", a.To, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// render makes one file: the source, its words replaced, below the banner.
func (a Asset) render(version string, words Words) (File, error) {
	source, err := a.source()
	if err != nil {
		return File{}, err
	}
	if source, err = a.inline(source); err != nil {
		return File{}, err
	}
	source = strings.NewReplacer(slices.Concat(a.Words, words)...).Replace(source)
	source, err = constrained(a.To, source)
	head := Banner(a.To, version)
	if a.Once {
		head = StarterLine(a.To)
	}
	return File{Path: a.To, Data: []byte(head + source), Once: a.Once, Main: a.Main}, err
}

// source returns the text of the source: a filled template, a file as it is, or Text.
func (a Asset) source() (string, error) {
	if a.Text != nil {
		return string(a.Text), nil
	}
	if path.Ext(a.From) != ".tmpl" {
		text, err := templates.Files.ReadFile(a.From)
		return string(text), err
	}
	parsed, err := parse(a.From)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, a.View)
	return out.String(), err
}

// parsed has the templates of this process by name: several targets share some.
var parsed sync.Map

func parse(name string) (*template.Template, error) {
	if known, ok := parsed.Load(name); ok {
		return known.(*template.Template), nil //nolint:forcetypeassert // nothing else is stored
	}
	text, err := templates.Files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	made, err := template.New(path.Base(name)).Parse(string(text))
	if err == nil {
		parsed.Store(name, made)
	}
	return made, err
}
