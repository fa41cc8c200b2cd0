package lint

import (
	"bytes"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// emitters is the folder of the targets; their common packages and their table are there too.
const (
	emitters  = "internal/emit/"
	table     = "internal/targets"
	ourModule = "github.com/dlpackgen/dlpackgen/"
)

// rows returns the packages that the table of targets lists, and therefore imports.
func rows(tree []File) []string {
	var found []string
	for _, f := range written(tree, false) {
		imports([]File{f}, func(f File, name string) bool {
			if f.within(table) && strings.HasPrefix(name, ourModule+emitters) {
				found = append(found, name)
			}
			return false
		})
	}
	return found
}

// siblingImports requires that targets share code only through the engine or a package that is not
// a target: a target on which another one depends cannot change independently.
func siblingImports(tree []File) []string {
	all := rows(tree)
	return imports(written(tree, false), func(f File, name string) bool {
		return f.within(strings.TrimSuffix(emitters, "/")) && slices.Contains(all, name)
	})
}

// configImports requires that the config receives the table of targets as an argument.
func configImports(tree []File) []string {
	all := append(rows(tree), ourModule+table)
	return imports(written(tree, false), func(f File, name string) bool {
		return f.within("internal/config") && slices.Contains(all, name)
	})
}

// diskReads requires that data from the disk, such as a go.mod, is in the model: the same model
// renders the same files.
func diskReads(tree []File) []string {
	return imports(written(tree, false), func(f File, name string) bool {
		return f.within(strings.TrimSuffix(emitters, "/")) && slices.Contains([]string{"os", "io/ioutil",
			"path/filepath", "syscall"}, name)
	})
}

// editors are functions that edit the bytes of a file. Regular expressions have the methods too.
var editors = regexp.MustCompile(`^bytes\.Replace|\.ReplaceAll(?:Literal)?(?:String)?(?:Func)?$`)

// editedTexts requires that only the engine (package emit) edits the text of files. A target reads
// neither the sources nor its rendered files; package project renders the files of `init`, and is
// not a target. Targets may replace characters of names and literals, which are strings.
func editedTexts(tree []File) []string {
	targets := slices.DeleteFunc(written(tree, false), func(f File) bool {
		return !f.within(strings.TrimSuffix(emitters, "/")) || path.Dir(f.Path)+"/" == emitters ||
			f.within(emitters+"emittest")
	})
	found := imports(targets, func(_ File, name string) bool { return name == ourModule+"templates" })
	return append(found, calls(targets, func(f File, name string, _ *ast.CallExpr) bool {
		return editors.MatchString(name) && name != "strings.ReplaceAll" ||
			name == "emit.Render" && !f.within(emitters+"project")
	})...)
}

// separateParts finds outputs that are a part of another file: the engine inserts parts where they
// are included.
func separateParts(tree []File) (found []string) {
	for _, f := range tree {
		begin := f.Data[:min(len(f.Data), 2000)]
		if f.within("gen", "backends") && bytes.Contains(begin, []byte("Part of ")) {
			found = append(found, f.Path+": a part of another file: list it in emit.Asset.Parts, or say what it is")
		}
	}
	return found
}
