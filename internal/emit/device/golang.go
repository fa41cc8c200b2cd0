package device

import (
	"cmp"
	"errors"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/golang"
)

// What stands in templates/device/device.go for the back end.
const (
	templatePackage = "device"
	templateEntry   = "dlpackgen_device_entry"
	templateHeader  = "dlpackgen_device_name.h"
	templateTitle   = "a device"
	templateWord    = "dlpackgen_device_word"
)

// goSource puts the back end into the Go package. Its C symbol carries a prefix
// of the import path.
func goSource(m *emit.Model, b *backend.Backend, name, source string) ([]byte, error) {
	path, err := golang.ImportPath(m)
	text, fault := golang.FromTemplate(name, m.Release.Version, source)
	text = strings.NewReplacer(
		templateWord, b.Name,
		"package "+templatePackage+"\n", "package "+b.Name+"\n",
		"Package "+templatePackage+" ", "Package "+b.Name+" ",
		templateEntry, golang.Prefix(cmp.Or(path, b.Name))+b.Name,
		templateHeader, "dlpackgen_"+b.Name+".h",
		"DLPACKGEN_DEVICE_NAME_ENTRY", "DLPACKGEN_"+strings.ToUpper(b.Name)+"_ENTRY",
		templateTitle, b.Title,
	).Replace(text)
	return []byte(text), errors.Join(err, fault)
}
