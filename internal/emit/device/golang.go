package device

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// What stands in templates/device/device.go for the back end.
const (
	templateTerm    = "dlpackgen_template && "
	templatePackage = "device"
	templateEntry   = "dlpackgen_device_entry"
	templateHeader  = "dlpackgen_device_name.h"
	templateTitle   = "a device"
)

const optionImport = "import"

var options = []emit.Option{{
	Name: optionImport,
	Doc:  "the import path of the Go package, which keeps the C names of two copies in one program apart",
}}

// goSource puts the back end into the Go package. Its C symbol carries a prefix
// of the import path: the linker knows no packages.
func goSource(m *emit.Model, b *backend.Backend, source string) []byte {
	path := m.Options[optionImport]
	if path == "" {
		path = b.Name
	}
	sum := sha256.Sum256([]byte(path))
	replaced := strings.NewReplacer(
		templateTerm, "",
		"package "+templatePackage+"\n", "package "+b.Name+"\n",
		"Package "+templatePackage+" ", "Package "+b.Name+" ",
		templateEntry, "dlp_"+hex.EncodeToString(sum[:4])+"_"+b.Name,
		templateHeader, "dlpackgen_"+b.Name+".h",
		"DLPACKGEN_DEVICE_NAME_ENTRY", "DLPACKGEN_"+strings.ToUpper(b.Name)+"_ENTRY",
		templateTitle, b.Title,
	).Replace(source)
	return []byte(emit.Banner("// ", "", m.Release.Version) + "\n" + replaced)
}
