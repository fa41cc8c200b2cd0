// Package header provides the C headers of a release as assets, for target c and for every target
// that contains some of them. It fills the templates of templates/c, and contains no layout rules.
package header

import (
	"path"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The headers, by the names in #include lines. The last ones need the versioned tensor and the
// exchange table, which releases before 1.2 lack at least in part.
const (
	DLPack = "dlpack/dlpack.h"
	Checks = "dlpackgen/abi_check.h"
	Codes  = "dlpackgen/codes.h"
	Rules  = "dlpackgen/rules.h"
	Tensor = "dlpackgen/tensor.h"
)

// Helpers are Tensor and the headers that it includes.
var Helpers = []string{DLPack, Codes, Rules, Tensor}

// All returns the headers of a release.
func All(r *spec.Release) []emit.Asset {
	all := []emit.Asset{
		{From: "c/abi_check.h.tmpl", To: Checks, View: viewCheck(r)},
		{From: "c/dlpack.h.tmpl", To: DLPack, View: viewHeader(r)},
	}
	if !hasHelpers(r) {
		return all
	}
	return append(all, emit.Asset{From: "c/codes.h.tmpl", To: Codes, View: viewCodes(r)},
		emit.Asset{From: "c/rules.h", To: Rules, Parts: append(parts("elements.h.tmpl", viewElements(r)),
			emit.Copies("c", folder, "allocated.h")...)},
		emit.Asset{From: "c/tensor.h", To: Tensor})
}

// Checker returns the headers of the argument checker: the requirements of a function, the statuses
// and messages, and the checks.
func Checker(r *spec.Release) []emit.Asset {
	if !hasHelpers(r) {
		return nil
	}
	checks := emit.Copies("c", folder, "check.h", "arguments.h", "described.h")
	texts := emit.Copies("c", folder, "texts.h")
	return []emit.Asset{
		{From: "c/message.h", To: folder + "/message.h", Parts: texts},
		{From: "c/scalar.h", To: folder + "/scalar.h"},
		{From: "c/parameter.h", To: folder + "/parameter.h", Parts: parts("names.h.tmpl", viewNames(r))},
		{From: "c/checker.h", To: folder + "/checker.h", Parts: checks},
	}
}

// folder is the folder of the headers in #include lines.
const folder = "dlpackgen"

// parts is the only part of a header that depends on the spec.
func parts(source string, view any) []emit.Asset {
	return emit.Showing(view, emit.Copies("c", folder, source))
}

// Beside returns headers for a flat folder, where they include each other without an include path:
// dlpackgen/codes.h is named dlpackgen_codes.h. go mod vendor copies no folders without Go files.
func Beside(r *spec.Release, folder string, names ...string) []emit.Asset {
	var words emit.Words
	for _, name := range names {
		words = append(words, "#include <"+name+">", `#include "`+flat(name)+`"`)
	}
	var some []emit.Asset
	for _, a := range All(r) {
		if slices.Contains(names, a.To) {
			own := emit.Words{`\file ` + path.Base(a.To), `\file ` + flat(a.To)}
			a.To, a.Words = path.Join(folder, flat(a.To)), append(own, words...)
			some = append(some, a)
		}
	}
	return some
}

// Inside returns the helpers as parts of a source in such a folder, in which dlpack.h is a file.
func Inside(r *spec.Release) []emit.Asset {
	return slices.DeleteFunc(Beside(r, "", Helpers...), func(a emit.Asset) bool { return a.To == flat(DLPack) })
}

func flat(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "dlpack/"), "/", "_")
}

// The enums whose values the helpers use.
const (
	deviceEnum = "DLDeviceType"
	codeEnum   = "DLDataTypeCode"
)

// hasHelpers reports whether the release has everything that the helpers use. All releases from 1.2
// on do.
func hasHelpers(r *spec.Release) bool {
	return spec.Find[*spec.Enum](r, deviceEnum) != nil && spec.Find[*spec.Enum](r, codeEnum) != nil &&
		spec.Find[*spec.Struct](r, "DLPackExchangeAPI") != nil && spec.Find[*spec.Struct](r,
		"DLTensor") != nil && r.Elements.PackedBelow != 0 && r.Limits.NDim != 0
}
