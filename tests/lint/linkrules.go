package lint

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	pageLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading   = regexp.MustCompile(`(?:\A|\n\n)#{1,6} +(.*)`) // MkDocs needs the empty line, GitHub does not
	unslugged = regexp.MustCompile(`[^\w\- ]`)
)

// deadLinks finds Markdown links to missing files and headings.
func deadLinks(tree []File) []string {
	there, slugs := map[string]bool{}, map[string]map[string]bool{}
	for _, f := range tree {
		for name := f.Path; name != "."; name = path.Dir(name) {
			there[name] = true
		}
		if f.isProse() {
			slugs[f.Path] = slugsOf(f.Data)
		}
	}
	var found []string
	for _, f := range tree {
		if !f.isProse() || f.isGenerated() {
			continue
		}
		for _, m := range pageLink.FindAllSubmatch(withoutCode(f.Data), -1) {
			link := string(m[1])
			name, anchor, _ := strings.Cut(link, "#")
			switch target := path.Join(path.Dir(f.Path), name); {
			case strings.Contains(link, ":"):
			case name == "" && !slugs[f.Path][anchor],
				name != "" && !there[target],
				name != "" && anchor != "" && slugs[target] != nil && !slugs[target][anchor]:
				found = append(found, fmt.Sprintf("%s: the link %s leads nowhere", f.Path, link))
			}
		}
	}
	return found
}

func withoutCode(page []byte) []byte { return codeBlock.ReplaceAll(page, nil) }

// slugsOf returns the anchors of a page's headings, as GitHub and MkDocs derive them.
func slugsOf(page []byte) map[string]bool {
	slugs := map[string]bool{}
	for _, m := range heading.FindAllSubmatch(withoutCode(page), -1) {
		text := strings.ToLower(string(bytes.TrimSpace(m[1])))
		slugs[strings.ReplaceAll(unslugged.ReplaceAllString(text, ""), " ", "-")] = true
	}
	return slugs
}

var (
	testName = regexp.MustCompile(`\bTest[A-Z]\w*`)
	testFunc = regexp.MustCompile(`(?m)^func (Test[A-Z]\w*)\(`)
)

// staleTests finds names of Go tests in pages that no test has.
func staleTests(tree []File) (found []string) {
	tests := map[string]bool{}
	for _, f := range tree {
		if strings.Contains(path.Base(f.Path), "_test.go") {
			for _, match := range testFunc.FindAllSubmatch(f.Data, -1) {
				tests[string(match[1])] = true
			}
		}
	}
	for _, f := range tree {
		if !f.isProse() {
			continue
		}
		n := 0
		for line := range bytes.Lines(f.Data) {
			n++
			for _, name := range testName.FindAll(line, -1) {
				if !tests[string(name)] {
					found = append(found, fmt.Sprintf("%s:%d: no test %s", f.Path, n, name))
				}
			}
		}
	}
	return found
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	function = regexp.MustCompile(`^(\w+)\(\)$`)
	fileName = regexp.MustCompile(`^[\w./]*(?:/\w+|\w\.\w+)$`)
)

// staleFunctions finds rows of the architecture page whose first cell names a function that is in
// none of the cell's files, or a file that does not exist.
func staleFunctions(tree []File) (found []string) {
	for _, f := range tree {
		if f.Path != layerPage {
			continue
		}
		n := 0
		for line := range strings.Lines(string(f.Data)) {
			n++
			cells := strings.Split(line, "|")
			if len(cells) < 3 || cells[0] != "" || !strings.Contains(cells[1], "()`") {
				continue
			}
			for _, missing := range missingFunctions(tree, cells[1]) {
				found = append(found, fmt.Sprintf("%s:%d: no %s", f.Path, n, missing))
			}
		}
	}
	return found
}

// missingFunctions returns the files that a cell names but the tree does not contain, and the
// functions that none of its files contains.
func missingFunctions(tree []File, cell string) (missing []string) {
	var sources []File
	var functions []string
	for _, span := range codeSpan.FindAllStringSubmatch(cell, -1) {
		name := span[1]
		if called := function.FindStringSubmatch(name); called != nil {
			functions = append(functions, called[1])
			continue
		}
		if !fileName.MatchString(name) {
			continue
		}
		files := filesNamed(tree, name)
		if len(files) == 0 {
			missing = append(missing, name)
		}
		sources = append(sources, files...)
	}
	for _, name := range functions {
		uses := regexp.MustCompile(`\b` + name + `\(`)
		if !slices.ContainsFunc(sources, func(f File) bool { return uses.Match(f.Data) }) {
			missing = append(missing, name+"()")
		}
	}
	return missing
}

// filesNamed returns the sources with such a path, or below such a folder. The path may omit its
// first folders, and the extension of a template.
func filesNamed(tree []File, name string) (files []File) {
	for _, f := range tree {
		at := "/" + strings.TrimSuffix(f.Path, ".tmpl")
		isNamed := strings.HasSuffix(at, "/"+name) || strings.Contains(at, "/"+name+"/")
		if isNamed && f.within("templates", "internal") {
			files = append(files, f)
		}
	}
	return files
}
