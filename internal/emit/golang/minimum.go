package golang

import (
	"bytes"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// minimumGo is the build term of the oldest Go that emitted sources compile with. They
// need runtime.AddCleanup. As a constraint it also raises the language version of each
// file, whatever the go.mod of the user's module says.
const minimumGo = "go1.24"

// VersionGuard gives the file of a package that an older Go compiles instead of the
// others, so that it reports the reason once.
func VersionGuard(folder, pkg, version string) emit.File {
	const name = "go_version.go"
	missing := "this_package_needs_" + strings.NewReplacer("go", "go_", ".", "_").Replace(minimumGo)
	text := emit.Banner(name, version) + "\n" + directive + "!" + minimumGo + "\n\npackage " + pkg +
		"\n\n// The name below exists nowhere: it is the text of the compile error.\nvar _ = " + missing + "\n"
	return emit.File{Path: folder + name, Data: []byte(text)}
}

// WithMinimum adds the oldest Go to the build constraint that a C source begins with,
// if it has one: an older Go refuses C sources beside nothing that uses cgo, before it
// reports what VersionGuard says.
func WithMinimum(source []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimLeft(source, "\n"), []byte(directive)) {
		return source
	}
	return bytes.Replace(source, []byte(directive), []byte(directive+minimumGo+" && "), 1)
}
