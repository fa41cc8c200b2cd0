package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/build/constraint"
	"path"
	"regexp"
	"strings"
)

// MinimumGo is the build constraint for the oldest Go that compiles the emitted sources. They need
// runtime.AddCleanup. The constraint also sets the language version of each file, independently of
// the user's go.mod.
const MinimumGo = "go1.24"

// The build constraint of a source begins with a term that excludes it from builds of this
// repository, and its imports from go mod tidy.
const (
	directive    = "//go:build "
	templateTerm = "ignore"
)

// constrained replaces that term with the oldest Go that the sources need. Go sources must have a
// constraint. C sources of Go packages need one too: an older Go excludes all Go files, and would
// reject C files without cgo before it reports the error of GoGuard.
func constrained(name, source string) (string, error) {
	line, rest, _ := strings.Cut(source, "\n")
	switch {
	case line == directive+templateTerm:
		return rest, nil
	case strings.HasPrefix(line, directive+templateTerm+" && "):
		expr, err := constraint.Parse(directive + MinimumGo + strings.TrimPrefix(line, directive+templateTerm))
		if err != nil {
			return "", err
		}
		return "\n" + directive + expr.String() + "\n" + rest, nil
	case path.Ext(name) == ".go" && !strings.HasPrefix(source, "\n"+directive+"!"+MinimumGo+"\n"):
		return "", fmt.Errorf("expected %q first, got %q", directive+templateTerm, line)
	}
	return source, nil
}

// GoGuard is the file of a Go package that an older Go compiles instead of the others, so that it
// reports the reason once.
func GoGuard(folder, pkg string) Asset {
	missing := "this_package_needs_" + strings.NewReplacer("go", "go_", ".", "_").Replace(MinimumGo)
	return Asset{From: "go/go_version.go.tmpl", To: path.Join(folder, "go_version.go"),
		View: map[string]string{"Minimum": MinimumGo, "Package": pkg, "Missing": missing}}
}

// GoPrefix is the prefix of C names that distinguishes two copies of a Go package in one program,
// because the linker has no packages.
func GoPrefix(importPath string) string {
	sum := sha256.Sum256([]byte(importPath))
	return "dlp_" + hex.EncodeToString(sum[:4]) + "_"
}

// OptionImport is the option for the import path of a Go package.
const OptionImport = "import"

// ImportOption returns that option, with additional documentation for a target.
func ImportOption(more string) Option {
	return Option{
		Name: OptionImport,
		Doc: "import path of the Go package, which also determines the prefix of its C names; default: that of the folder, " +
			"from the nearest go.mod" + more,
		Check: CheckImport,
	}
}

// importPath matches import paths that the go command accepts, without rare characters.
var importPath = regexp.MustCompile(`^[A-Za-z0-9_~.-]+(/[A-Za-z0-9_~.-]+)*$`)

// CheckImport returns the reason why an import path is invalid, or "".
func CheckImport(value string) string {
	if value != "" && !importPath.MatchString(value) {
		return fmt.Sprintf("%q is not an import path", value)
	}
	return ""
}
