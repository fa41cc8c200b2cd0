package lint

import (
	"fmt"
	"regexp"
	"strings"
)

// versionCopy matches the version of dlpackgen in a recipe: after its name, in an address or a tag,
// or as a key of a manifest.
var versionCopy = regexp.MustCompile(`(?m)(?:dlpackgen(?:-headers)?(?:==|@v|[-_/]| v|", version = ")|/v|` +
	`\bgit checkout v|\brev: v|^ *"?version"?(?: =|:) "?)(\d+\.\d+\.\d+)`)

// section matches the newest version of the changelog.
var section = regexp.MustCompile(`(?m)^## (\S+)`)

// staleVersions finds copies of the version that differ from the file VERSION. Recipes need them:
// their readers copy the text, and their tools read no other file. The changelog begins with it.
func staleVersions(tree []File) (found []string) {
	version := ""
	for _, f := range tree {
		if f.Path == "VERSION" {
			version = strings.TrimSpace(string(f.Data))
		}
	}
	for _, f := range tree {
		if f.Path == "CHANGELOG.md" {
			if newest := section.FindSubmatch(f.Data); newest == nil || string(newest[1]) != version {
				found = append(found, fmt.Sprintf("%s: its first section is not that of version %s", f.Path, version))
			}
		}
		if !f.within(".github", "bazel", "packaging", "examples/builds", "examples/ci", "docs/how-to",
			"docs/tutorials") {
			continue
		}
		for _, m := range versionCopy.FindAllSubmatchIndex(f.Data, -1) {
			if copied := string(f.Data[m[2]:m[3]]); copied != version {
				line := 1 + strings.Count(string(f.Data[:m[2]]), "\n")
				found = append(found, fmt.Sprintf(
					"%s:%d: version %s, but VERSION has %s", f.Path, line, copied, version))
			}
		}
	}
	return found
}
