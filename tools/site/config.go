package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// siteConfig is the configuration of MkDocs, without the pages in folders.
const siteConfig = "tools/site/mkdocs.yml"

// addConfig completes the navigation: a line `- FOLDER/*` represents the pages of a folder, ordered
// by title.
func (p *pages) addConfig(tree fs.FS) error {
	data, err := fs.ReadFile(tree, siteConfig)
	if err != nil {
		return err
	}
	for _, name := range []string{"site.css", "site.js", "iframe-worker.js"} {
		if p.files["assets/"+name], err = fs.ReadFile(tree, "tools/site/"+name); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(data)) {
		indent, folder, found := strings.Cut(strings.TrimRight(line, "\n"), "- ")
		folder, glob := strings.CutSuffix(folder, "/*")
		if !found || !glob {
			out.WriteString(line)
			continue
		}
		for _, page := range p.listed(folder, string(data)) {
			fmt.Fprintf(&out, "%s- %s\n", indent, page)
		}
	}
	p.config = out.Bytes()
	return nil
}

// listed returns the pages of a folder that the navigation does not name, ordered by title;
// releases are ordered by date, the newest first, and codes by group.
func (p *pages) listed(folder, navigation string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if path.Dir(name) == folder && path.Ext(name) == ".md" && !strings.Contains(navigation, " "+name+"\n") {
			found = append(found, name)
		}
	}
	switch folder {
	case "releases":
		slices.Reverse(found)
		return found
	case "codes":
		return found
	}
	slices.SortStableFunc(found, func(a, b string) int {
		return strings.Compare(strings.ToLower(title(p.files[a])), strings.ToLower(title(p.files[b])))
	})
	return found
}
