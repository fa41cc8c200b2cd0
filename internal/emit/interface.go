package emit

import (
	"bytes"
	"io/fs"

	"github.com/dlpackgen/dlpackgen/templates"
)

// DeviceInterface is the interface of back ends for devices, as their targets have it,
// for a target that uses it: what is made of that one needs no back end to compile.
func DeviceInterface(m *Model, folder string) (File, error) {
	const name = "dlpackgen_device.h"
	text, err := fs.ReadFile(templates.Device, "device/"+name)
	text = bytes.Replace(text, []byte(`"dlpack.h"`), []byte("<dlpack/dlpack.h>"), 1)
	return File{Path: folder + name, Data: append([]byte(Banner(name, m.Release.Version)), text...)}, err
}
