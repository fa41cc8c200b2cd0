// Package project contains the starter files of a Python package of kernels. It is not a target: no
// run updates these files.
package project

import (
	_ "embed" // for library
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

var importable = regexp.MustCompile(`^[a-z]([a-z0-9_]*[a-z0-9])?$`)

// library lists Python's modules, which a package of the same name would shadow, or be shadowed by.
//
//go:embed stdlib.txt
var library string

// reserved are Python keywords that match the pattern above, names of tests, and packages that
// the project imports: in its build, its tests, and with the arrays of users.
var reserved = []string{
	"test", "tests", "hypothesis", "numpy", "nvidia", "pytest", "setuptools", "wheel",
	"ml_dtypes", "torch", "jax", "paddle",
	"and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
	"finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
	"return", "try", "while", "with", "yield",
}

// CheckName returns an error for a name that a Python package cannot have.
func CheckName(name string) error {
	if problem, _ := relpath.Problem(name); problem != "" {
		return fmt.Errorf("%q cannot be the name of a folder: it %s", name, problem)
	}
	if !importable.MatchString(name) || slices.Contains(reserved, name) || isOfPython(name) {
		return fmt.Errorf("%q cannot be imported: lower-case letters, digits and _ between them, a letter first, and "+
			"neither a keyword of Python nor the name of an existing module", name)
	}
	return nil
}

func isOfPython(name string) bool {
	for line := range strings.Lines(library) {
		if !strings.HasPrefix(line, "#") && slices.Contains(strings.Fields(line), name) {
			return true
		}
	}
	return false
}

// Manifest lists the files of a project of that name. Its workflow runs the dlpackgen version that
// wrote it, because another version may generate different files.
func Manifest(name, version string) emit.Manifest {
	at := func(from, to string) emit.Asset { return emit.Asset{From: "project/" + from, To: to, Once: true} }
	return emit.Manifest{Words: emit.Words{"placeholder", name, "PLACEHOLDER", strings.ToUpper(name)},
		Assets: []emit.Asset{
			at("dlpackgen.yaml", "dlpackgen.yaml"), at("pyproject.toml", "pyproject.toml"), at("setup.py", "setup.py"),
			at("MANIFEST.in", "MANIFEST.in"), at("README.md", "README.md"), at("gitignore", ".gitignore"),
			workflow(at("ci.yml", ".github/workflows/test.yml"), version), at("init.py", "src/"+name+"/__init__.py"),
			at("scale_impl.c", "csrc/scale_impl.c"), at("test_scale.py", "tests/test_scale.py"),
		}}
}

// workflow uses the version in the form of Python packages. There is no package for a build from a
// checkout or a commit, so the user must name a release.
func workflow(a emit.Asset, version string) emit.Asset {
	a.Words = emit.Words{"dlpackgen==0.0.0", "dlpackgen==" + strings.TrimPrefix(version, "v")}
	if !semver.IsValid(version) || module.IsPseudoVersion(version) {
		a.Words = emit.Words{"The version that generated the committed files. Update both together.",
			"Name the release that generates the committed files: dlpackgen==VERSION",
			"dlpackgen==0.0.0", "dlpackgen"}
	}
	return a
}

// Files returns the files of a project, in memory.
func Files(name, version string) ([]emit.File, error) {
	return emit.Render("", Manifest(name, version))
}
