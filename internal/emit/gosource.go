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

// MinimumGo is the build term of the oldest Go that emitted sources compile with. They
// need runtime.AddCleanup. As a constraint it also raises the language version of each
// file, whatever the go.mod of the user's module says.
const MinimumGo = "go1.24"

// A build constraint in a source begins with the term that keeps it out of builds of
// this repository and its imports out of go mod tidy.
const (
	directive    = "//go:build "
	templateTerm = "ignore"
)

// constrained replaces the term of templates in the build constraint that a source begins
// with, by the oldest Go that the sources need. Only Go sources must have one; an older Go
// rejects C sources beside nothing that uses cgo before it reports what GoGuard says, so
// those of its packages have one too.
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

// GoGuard is the file of a Go package that an older Go compiles instead of the others, so
// that it reports the reason once.
func GoGuard(folder, pkg string) Asset {
	missing := "this_package_needs_" + strings.NewReplacer("go", "go_", ".", "_").Replace(MinimumGo)
	return Asset{From: "go/go_version.go.tmpl", To: path.Join(folder, "go_version.go"),
		View: map[string]string{"Minimum": MinimumGo, "Package": pkg, "Missing": missing}}
}

// GoPrefix keeps the C names of two copies of a Go package apart in one program: the linker
// knows no packages.
func GoPrefix(importPath string) string {
	sum := sha256.Sum256([]byte(importPath))
	return "dlp_" + hex.EncodeToString(sum[:4]) + "_"
}

// OptionImport is the option that has the import path of a Go package.
const OptionImport = "import"

// ImportOption is that option, with what more it does for a target.
func ImportOption(more string) Option {
	return Option{
		Name: OptionImport,
		Doc: "import path of the Go package, from which its C names get their prefix; by default that of the folder, " +
			"by the nearest go.mod" + more,
		Check: CheckImport,
	}
}

// importPath is what the go command accepts as one, without the rarer signs.
var importPath = regexp.MustCompile(`^[A-Za-z0-9_~.-]+(/[A-Za-z0-9_~.-]+)*$`)

// CheckImport tells what is wrong with an import path, or gives "".
func CheckImport(value string) string {
	if value != "" && !importPath.MatchString(value) {
		return fmt.Sprintf("%q is not an import path", value)
	}
	return ""
}
