// Package macros compiles every public header after other projects' headers that define common
// words as macros, such as windows.h and AssertMacros.h.
package macros

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// unit is a source that includes our files after their external includes.
type unit struct {
	name   string
	flags  []string // the language, definitions and folders
	files  []string // paths
	theirs []string // names between < and >

	compiled string // the path of a header with the external includes, or ""
}

// source is the unit's text: the external includes, the macros, then the files.
func (u unit) source(defined ...string) string {
	var text strings.Builder
	text.WriteString(u.before() + testkit.Definitions(defined...))
	for _, file := range u.files {
		fmt.Fprintf(&text, "#include \"%s\"\n", file)
	}
	return text.String()
}

// before is the text with the external includes.
func (u unit) before() string {
	if u.compiled != "" {
		return "#include \"" + u.compiled + "\"\n"
	}
	return testkit.Includes(u.theirs)
}

// precompile compiles the external includes, once for all sets of macros.
func (u *unit) precompile(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "before.hpp")
	require.NoError(t, os.WriteFile(path, []byte(u.before()), 0o600))
	args := slices.Concat([]string{"-w", "-D_GNU_SOURCE=", "-o", path + ".gch"}, u.flags, []string{path})
	args[slices.Index(args, "c++")] = "c++-header"
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	u.compiled = path
}

// compile returns the compiler's output for a unit, and whether it accepts the unit.
func (u unit) compile(t *testing.T, defined ...string) (string, error) {
	t.Helper()
	args := append(slices.Concat([]string{"-fsyntax-only", "-w", "-D_GNU_SOURCE="}, u.flags), "-")
	cmd := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), args...)
	cmd.Stdin = strings.NewReader(u.source(defined...))
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// pythonFlags are the flags for Python headers; empty without them.
func pythonFlags(t *testing.T) []string {
	t.Helper()
	return []string{"-isystem", testtool.RequireHeaders(t, testtool.RequirePython(t))}
}

// languages are the flags of each language of a header.
var (
	inC   = []string{"-x", "c", "-std=c11"}
	inCpp = []string{"-x", "c++", "-std=c++17"}
	newer = []string{"-x", "c++", "-std=c++2b"}
)

// unitOf creates a unit of files that are found in folders.
func unitOf(t *testing.T, name string, files, folders []string, flags ...[]string) unit {
	t.Helper()
	u := unit{name: name, files: files, flags: slices.Concat(flags...)}
	for _, folder := range folders {
		u.flags = append(u.flags, "-I", folder)
	}
	endings := []string{".h", ".c"}
	if !slices.Contains(u.flags, "c") {
		endings = append(endings, ".hpp", ".cpp")
	}
	var all []string
	for _, folder := range folders {
		all = append(all, testkit.FilesIn(t, folder, endings...)...)
	}
	u.theirs = testkit.Foreign(t, append(all, files...), folders)
	return u
}

// generated returns a path below the module's root.
func generated(t *testing.T, parts ...string) string {
	t.Helper()
	return filepath.Join(append([]string{golden.Root(t)}, parts...)...)
}
