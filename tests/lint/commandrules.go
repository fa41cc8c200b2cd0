package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// command is the first line of a fenced block.
var command = regexp.MustCompile("^ *```+ ?(\\w*) ?(.*)$")

// shells are the languages of commands. Pages write sh.
var shells = []string{"sh", "bash", "shell", "console", "zsh", "powershell"}

// unrunCommands finds commands of tutorials and how-tos that no test runs. The label behind the
// language is run, for a page that is run from an empty folder; one that a test names; or unrun,
// with the reason.
func unrunCommands(tree []File) []string {
	var found []string
	for _, f := range tree {
		if !f.isProse() || !f.within("docs/tutorials") && !f.within("docs/how-to") {
			continue
		}
		inside := false
		for n, line := range strings.Split(string(f.Data), "\n") {
			m := command.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if inside = !inside; !inside {
				continue
			}
			if why := unrun(tree, f.Path, m[1], m[2]); why != "" {
				found = append(found, fmt.Sprintf("%s:%d: %s", f.Path, n+1, why))
			}
		}
	}
	return found
}

// unrun returns the finding about a block of commands that no test runs, or "".
func unrun(tree []File, page, language, label string) string {
	first, reason, _ := strings.Cut(label, " ")
	switch {
	case language == "":
		return "a block without a language: sh run, sh unrun REASON, text, yaml, ..."
	case !slices.Contains(shells, language) || strings.HasPrefix(label, "title="):
		return ""
	case language != "sh" || label == "":
		return "commands without a label: sh run, sh unrun REASON, or sh LABEL and a test that runs it"
	case label == "unrun":
		return "unrun without a reason behind it"
	case label == "run" || first == "unrun" && reason != "":
		return ""
	case namedInTests(tree, path.Base(page), "\"sh "+label+"\"") || namedInTests(
		tree, path.Base(page), "\""+label+"\""):
		return ""
	}
	return fmt.Sprintf("no test has %q and the page's name", "sh "+label)
}

// namedInTests reports whether one file of tests contains all texts.
func namedInTests(tree []File, texts ...string) bool {
	return slices.ContainsFunc(tree, func(f File) bool {
		return strings.HasSuffix(f.Path, "_test.go") && !slices.ContainsFunc(texts, func(text string) bool {
			return !strings.Contains(string(f.Data), text)
		})
	})
}
