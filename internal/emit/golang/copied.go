package golang

import (
	"path"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/header"
)

// The placeholders in the sources.
const (
	templatePackage = "dlpack"
	templatePrefix  = "dlp_00000000_"
	templateImport  = "dlpackgen.invalid/dlpack"    // the bindings, in the packages below them
	templateCall    = templatePackage + "_package." // the package in an example of its own doc
)

// below are the packages below the bindings, which import them.
var below = map[string][]string{"dlpackpy": python, "dlpacktest": conformance,
	hostFolder: hostCalls}

// headers are the headers of target c that the C code of each package includes.
var headers = map[string][]string{
	"":           {header.DLPack, header.Codes, header.Rules},
	"dlpackpy":   {header.DLPack, header.Codes, header.Rules},
	"dlpacktest": {header.DLPack},
	hostFolder:   {header.DLPack},
}

// partsOf are the parts of C sources that other targets have too.
var partsOf = map[string][]string{
	"tensor_type.c": {"copy.h", "texts.h"}, "table.c": {"texts.h"}, "import.c": {"texts.h"},
}

// hostFolder is the package that calls functions of tvm-ffi. host is the description of its
// declarations.
const (
	hostFolder = "tvmffi"
	host       = "tvm_ffi"
)

// copied lists the files that do not depend on the spec: the runtime with its subpackages, and the
// headers. The subpackages and the examples import the bindings, so they need the import path of
// the bindings.
func (b *binding) copied() []emit.Asset {
	all := b.folder("", b.pkg, runtime)
	if b.path == "" {
		return all
	}
	all = append(all, b.source("", "example_test.go"))
	for _, name := range []string{"dlpackpy", "dlpacktest", hostFolder} {
		all = append(all, b.folder(name, name, below[name])...)
	}
	return append(all, b.hostABI()...)
}

// hostABI lists the files of package tvmffi that share sources with target tvmffi.
func (b *binding) hostABI() []emit.Asset {
	abi, calls := emit.HostABI(host), b.source(hostFolder, "call.c")
	abi.To, abi.Words = path.Join(hostFolder, abi.To), emit.Words{"<" + header.DLPack + ">", `"dlpack.h"`}
	calls.Parts = emit.Copies("tvmffi", "", "symbols.h")
	return []emit.Asset{abi, calls}
}

// folder lists the files of one package. cgo searches headers only in the package's folder, so each
// package has a copy.
func (b *binding) folder(folder, pkg string, sources []string) []emit.Asset {
	all := append(header.Beside(b.release, folder, headers[folder]...), emit.GoGuard(folder, pkg))
	for _, name := range sources {
		a := b.source(folder, name)
		a.Parts = emit.Copies("c", "", partsOf[name]...)
		all = append(all, a)
	}
	return all
}

// source is one file of the runtime, with its package, its prefix and the import path of the
// bindings.
func (b *binding) source(folder, name string) emit.Asset {
	return emit.Asset{From: path.Join("go", folder, name), To: path.Join(folder, name), Words: emit.Words{
		templatePrefix, b.prefix,
		templateImport, b.path,
		templateCall, b.pkg + ".",
		"\npackage " + templatePackage + "\n", "\npackage " + b.pkg + "\n",
		"\npackage " + templatePackage + "_test\n", "\npackage " + b.pkg + "_test\n",
		"// Package " + templatePackage + " ", "// Package " + b.pkg + " ",
	}}
}
