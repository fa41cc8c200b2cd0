// Package header has the headers of a release in C, as assets: for target c, and for every
// target whose folder holds some of them. It puts words and numbers into the templates of
// templates/c; it knows no layout rule of its own.
package header

import (
	"path"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The headers that work on the versioned tensor and the exchange table, which releases
// older than 1.2 do not have in full, come last.
const (
	Checks   = "abi_check.h"
	DLPack   = "dlpack.h"
	Codes    = "dlpack_codes.h"
	Elements = "dlpack_elements.h"
	Rules    = "dlpack_rules.h"
	Util     = "dlpack_util.h"
)

// Helpers are Util and what it includes.
var Helpers = []string{DLPack, Codes, Elements, Rules, Util}

// All lists the headers of a release in a folder.
func All(r *spec.Release, folder string) []emit.Asset {
	all := []emit.Asset{
		{From: "c/abi_check.h.tmpl", To: path.Join(folder, Checks), View: viewCheck(r)},
		{From: "c/dlpack.h.tmpl", To: path.Join(folder, DLPack), View: viewHeader(r), Main: true},
	}
	if !hasHelpers(r) {
		return all
	}
	return append(all, emit.Asset{From: "c/dlpack_codes.h.tmpl", To: path.Join(folder, Codes), View: viewCodes(r)},
		emit.Asset{From: "c/dlpack_elements.h.tmpl", To: path.Join(folder, Elements), View: viewElements(r)},
		emit.Asset{From: "c/dlpack_rules.h", To: path.Join(folder, Rules)},
		emit.Asset{From: "c/dlpack_util.h", To: path.Join(folder, Util)})
}

// Checker lists the headers of <dlpackgen/...>: what a function demands of its arguments,
// and what is said of those that are wrong.
func Checker(r *spec.Release) []emit.Asset {
	if !hasHelpers(r) {
		return nil
	}
	copied := emit.Copies("c", "dlpackgen", "arguments.h", "check.h", "described.h", "message.h", "parameter.h")
	return append(copied, emit.Asset{From: "c/names.h.tmpl", To: "dlpackgen/names.h", View: viewNames(r)})
}

// Beside lists those of the headers that a folder of others holds, in which they find each
// other without a path of includes.
func Beside(r *spec.Release, folder string, names ...string) []emit.Asset {
	var words emit.Words
	for _, name := range names {
		words = append(words, "#include <dlpack/"+name+">", `#include "`+name+`"`)
	}
	var some []emit.Asset
	for _, a := range All(r, folder) {
		if slices.Contains(names, path.Base(a.To)) {
			a.Words, a.Main = words, false
			some = append(some, a)
		}
	}
	return some
}

// The enums whose values the helpers name.
const (
	deviceEnum = "DLDeviceType"
	codeEnum   = "DLDataTypeCode"
)

// hasHelpers tells whether the release has all that the helpers use, as every
// one from 1.2 on does.
func hasHelpers(r *spec.Release) bool {
	return spec.Find[*spec.Enum](r, deviceEnum) != nil && spec.Find[*spec.Enum](r, codeEnum) != nil &&
		spec.Find[*spec.Struct](r, "DLPackExchangeAPI") != nil && spec.Find[*spec.Struct](r, "DLTensor") != nil && r.Elements.PackedBelow != 0
}
