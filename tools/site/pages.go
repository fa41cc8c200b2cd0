package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// repository is the target of links that leave the site.
const repository = "https://github.com/dlpackgen/dlpackgen/blob/main/"

// pages are the files of the site by their path below docs/, and the configuration of MkDocs.
type pages struct {
	files  map[string][]byte
	config []byte
}

// assemble builds the whole site from the repository's tree.
func assemble(tree fs.FS) (*pages, error) {
	site := &pages{files: map[string][]byte{}}
	steps := []func(fs.FS) error{site.addWritten, site.addReleases, site.addReference, site.addHeaders,
		site.addPackages, site.addCodes, site.addConfig, site.unescapeBars, site.rank}
	for _, step := range steps {
		if err := step(tree); err != nil {
			return nil, err
		}
	}
	return site, nil
}

// ranks are the weights of pages in searches; the first pattern that matches applies. Pages for
// users come before those for developers and the records, and all of them before headers and Go
// packages, whose many short sections would rank first otherwise.
var ranks = []struct {
	pages *regexp.Regexp
	boost string
}{
	{regexp.MustCompile(`^reference/(?:c|cpp|go)/`), "0.2"},
	{regexp.MustCompile(
		`^(?:records/|explanation/kernels|(?:architecture|benchmarks|foreign-code|gpu|safety|testing)\.)`), "0.3"},
	{regexp.MustCompile(`^kernels\.`), "4"},
}

// rank writes the weight of each page into its head.
func (p *pages) rank(fs.FS) error {
	for name, text := range p.files {
		for _, r := range ranks {
			if path.Ext(name) == ".md" && r.pages.MatchString(name) {
				p.files[name] = append([]byte("---\nsearch: {boost: "+r.boost+"}\n---\n\n"), text...)
				break
			}
		}
	}
	return nil
}

var codeSpan = regexp.MustCompile("`[^`\n]+`")

// unescapeBars removes the backslash before a bar in the code spans of tables. GitHub needs it, and
// MkDocs would show it.
func (p *pages) unescapeBars(fs.FS) error {
	for name, text := range p.files {
		if path.Ext(name) != ".md" {
			continue
		}
		var out bytes.Buffer
		for line := range bytes.Lines(text) {
			if bytes.HasPrefix(line, []byte("|")) {
				line = codeSpan.ReplaceAllFunc(line, func(span []byte) []byte {
					return bytes.ReplaceAll(span, []byte(`\|`), []byte("|"))
				})
			}
			out.Write(line)
		}
		p.files[name] = out.Bytes()
	}
	return nil
}

// addWritten adds the pages under docs/.
func (p *pages) addWritten(tree fs.FS) error {
	return fs.WalkDir(tree, "docs", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		below := strings.TrimPrefix(name, "docs/")
		if path.Ext(name) == ".md" {
			data, err = outside(tree, below, anchored(unlabelled(data)))
		}
		p.files[below] = data
		return err
	})
}

var fence = regexp.MustCompile("(?m)^(```[a-z+-]+) +([^\n]*)$")

// unlabelled removes the labels of code blocks, by which tests find them: MkDocs only knows titles.
func unlabelled(text []byte) []byte {
	return fence.ReplaceAllFunc(text, func(match []byte) []byte {
		parts := fence.FindSubmatch(match)
		if bytes.HasPrefix(parts[2], []byte("title=")) {
			return match
		}
		return parts[1]
	})
}

var link = regexp.MustCompile(`(\]\()([^)\s#]+)([^)]*\))`)

// outside turns the relative links of a page that leave docs/ into links to the repository, and
// reports those to files that do not exist, which MkDocs cannot see.
func outside(tree fs.FS, page string, text []byte) ([]byte, error) {
	var missing []string
	out := link.ReplaceAllFunc(text, func(match []byte) []byte {
		part := link.FindSubmatch(match)
		target := path.Join("docs", path.Dir(page), string(part[2]))
		if strings.Contains(string(part[2]), ":") || strings.HasPrefix(target, "docs/") {
			return match
		}
		if _, err := fs.Stat(tree, target); err != nil {
			missing = append(missing, target)
			return match
		}
		return slices.Concat(part[1], []byte(repository+target), part[3])
	})
	if len(missing) > 0 {
		return nil, fmt.Errorf("docs/%s: links to files that do not exist: %s", page, strings.Join(missing, ", "))
	}
	return out, nil
}

// write replaces the folder of pages below out.
func (p *pages) write(out string) error {
	if err := os.RemoveAll(filepath.Join(out, "docs")); err != nil {
		return err
	}
	for name, data := range p.files {
		if err := writeFile(filepath.Join(out, "docs", filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(out, "mkdocs.yml"), p.config)
}

func writeFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// title is the first heading of a page.
func title(text []byte) string {
	for line := range bytes.Lines(text) {
		if heading, found := bytes.CutPrefix(line, []byte("# ")); found {
			return strings.TrimSpace(string(heading))
		}
	}
	return ""
}
