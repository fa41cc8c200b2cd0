package device

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/golang"
)

// What stands in templates/device/device.go for the back end.
const (
	templateOnly    = "//go:build dlpackgen_template\n\n"
	templateTerm    = "dlpackgen_template && "
	templateOff     = "(!cgo || nodevice)"
	templatePackage = "device"
	templateEntry   = "dlpackgen_device_entry"
	templateHeader  = "dlpackgen_device_name.h"
	templateTitle   = "a device"
	templateWord    = "dlpackgen_device_word"
)

const optionImport = "import"

var options = []emit.Option{{
	Name: optionImport,
	Doc:  "the import path of the Go package, which keeps the C names of two copies apart; default: by the nearest go.mod",
}}

// goSource puts the back end into the Go package. Its C symbol carries a prefix
// of the import path: the linker knows no packages.
func goSource(m *emit.Model, b *backend.Backend, source string) ([]byte, error) {
	path, err := golang.ImportPath(m)
	sum := sha256.Sum256([]byte(cmp.Or(path, b.Name)))
	replaced := strings.NewReplacer(
		templateOnly, "",
		templateTerm+templateOff, strings.Trim(templateOff, "()"), // as gofmt has it
		templateTerm, "",
		templateWord, b.Name,
		"package "+templatePackage+"\n", "package "+b.Name+"\n",
		"Package "+templatePackage+" ", "Package "+b.Name+" ",
		templateEntry, "dlp_"+hex.EncodeToString(sum[:4])+"_"+b.Name,
		templateHeader, "dlpackgen_"+b.Name+".h",
		"DLPACKGEN_DEVICE_NAME_ENTRY", "DLPACKGEN_"+strings.ToUpper(b.Name)+"_ENTRY",
		templateTitle, b.Title,
	).Replace(source)
	return []byte(emit.Banner("// ", "", m.Release.Version) + "\n" + replaced), err
}
