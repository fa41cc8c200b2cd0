package c

import (
	"fmt"
	"path"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// optionPackage is the option for files with which build systems find the headers.
const optionPackage = "package"

// packaged is the data of the package templates.
type packaged struct {
	Version string // the release
	Number  string // the version that its header has
	Major   int
}

// packages lists the files for CMake and pkg-config, in the folders that both programs search below
// a prefix.
func packages(m *emit.Model) []emit.Asset {
	if m.Options[optionPackage] != "true" {
		return nil
	}
	var all []emit.Asset
	for _, name := range []string{"lib/cmake/dlpack/dlpackConfig.cmake", "lib/cmake/dlpack/dlpackConfigVersion.cmake",
		"lib/pkgconfig/dlpack.pc"} {
		all = append(all, emit.Asset{From: "c/package/" + path.Base(name) + ".tmpl", To: name,
			View: viewPackage(m.Release)})
	}
	return all
}

func viewPackage(r *spec.Release) packaged {
	return packaged{Version: r.Version, Number: fmt.Sprintf("%d.%d", r.Major, r.Minor), Major: r.Major}
}
