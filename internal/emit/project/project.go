// Package project is a first Python package of kernels, which its author goes on with. It is no
// target: nothing keeps its files up to date.
package project

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

var importable = regexp.MustCompile(`^[a-z]([a-z0-9_]*[a-z0-9])?$`)

// reserved are keywords of Python that the pattern above lets through, and modules that the project
// itself imports.
var reserved = []string{
	"numpy", "pytest", "setuptools", "sysconfig", "pathlib", "test",
	"and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
	"finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
	"return", "try", "while", "with", "yield",
}

// CheckName returns an error for a name that no package of Python can have.
func CheckName(name string) error {
	if !importable.MatchString(name) || slices.Contains(reserved, name) {
		return fmt.Errorf("%q cannot be imported: lower-case letters, digits and _ between them, a letter first, and "+
			"neither a keyword of Python nor a module that is there already", name)
	}
	return nil
}

// Manifest names the files of a project of that name.
func Manifest(name string) emit.Manifest {
	at := func(from, to string) emit.Asset { return emit.Asset{From: "project/" + from, To: to, Once: true} }
	return emit.Manifest{Words: emit.Words{"placeholder", name, "PLACEHOLDER", strings.ToUpper(name)}, Assets: []emit.Asset{
		at("dlpackgen.yaml", "dlpackgen.yaml"), at("pyproject.toml", "pyproject.toml"), at("setup.py", "setup.py"),
		at("MANIFEST.in", "MANIFEST.in"), at("README.md", "README.md"), at("gitignore", ".gitignore"),
		at("ci.yml", ".github/workflows/test.yml"), at("init.py", "src/"+name+"/__init__.py"),
		at("scale_impl.c", "csrc/scale_impl.c"), at("test_scale.py", "tests/test_scale.py"),
	}}
}

// Files returns them, in memory.
func Files(name string) ([]emit.File, error) { return emit.Render("", Manifest(name)) }
