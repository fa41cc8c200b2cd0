package additions

// addition is what a contributor adds: the places that he changes, and the commands that use it.
type addition struct {
	name     string
	section  string // of docs/architecture.md
	places   []place
	files    map[string]string // in the folder use/
	commands string
}

// place is one source file.
type place struct {
	file       string
	documented []string // how the docs name it
	created    string   // the text of a new file
	inserted   []insertion
	replaced   [][2]string
	missing    string // what the commands print without this place
}

type insertion struct{ before, text string }

var specFile = []string{"spec/dlpack.yaml"}

var additions = []addition{
	{
		name: "data type", section: "Adding a data type",
		places: []place{{file: "spec/dlpack.yaml", documented: specFile, missing: "FLOAT8_E2M5", inserted: []insertion{
			{"      - {name: kDLFloat6_e2m3fn, value: 15,",
				"      - {name: kDLFloat8_e2m5, value: 40, since: main, element: {bits: 8}, doc: A short float.}\n"},
			{"  - {name: float6_e2m3fn, code:", "  - {name: float8_e2m5, code: kDLFloat8_e2m5, bits: 8}\n"},
		}}},
		files: map[string]string{
			"dlpackgen.yaml": config("main"),
			"use.c": `#include <dlpackgen/parameter.h>
#include <dlpackgen/rules.h>
int main(void) {
  const DLDataType dtype = {kDLFloat8_e2m5, 8, 1};
  return DLPACKGEN_DTYPE_FLOAT8_E2M5 == DLPACKGEN_DTYPE(40, 8, 1) && dlpackgen_element_bits(dtype, 0) == 8 ? 0 : 1;
}
`,
			"use.cpp": `#include <dlpackgen/core.hpp>
#include <dlpackgen/storage.hpp>
static_assert(dlpackgen::dtypes::float8_e2m5.code == 40 && sizeof(dlpackgen::float8_e2m5) == 1, "");
int main() {}
`,
			"try/use_test.go": `package use

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/use/go/dlpack"
)

func Test(t *testing.T) {
	if got := (dlpack.DataType{Code: dlpack.CodeFloat8E2M5, Bits: 8, Lanes: 1}).String(); got != "float8_e2m5" {
		t.Error(got)
	}
}
`,
		},
		commands: generate + compile + "go test ./use/try\n",
	},
	{
		name: "rule", section: "Adding a rule of validation",
		places: []place{
			{file: "templates/c/rules.h", documented: []string{"templates/c/rules.h"}, missing: "Go {",
				inserted: []insertion{
					{"  DLPACKGEN_ERROR_EXCHANGE_SLOT = 15 ", "  DLPACKGEN_ERROR_ELEMENT_SIZE = 35,\n"},
					{"    case DLPACKGEN_ERROR_EXCHANGE_SLOT: return",
						"    case DLPACKGEN_ERROR_ELEMENT_SIZE: return \"an element exceeds 64 KiB\";\n"},
					{"  if (!limits->known_device)\n",
						"  if (dlpackgen_element_bits(tensor->dtype, flags) > 524288)\n" +
							"    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_ELEMENT_SIZE, 0, 0, -1);\n"},
				}},
			{file: "templates/cpp/error.hpp", documented: []string{"templates/cpp/error.hpp"}, missing: "element_size",
				inserted: []insertion{
					{"  exchange_slot = 15, ", "  element_size = 35,\n"},
					{"    case ErrorCode::exchange_slot: return", "    case ErrorCode::element_size:\n"},
				}},
			{file: "templates/go/validate.go", documented: []string{"templates/go/validate.go"}, missing: "Go {",
				inserted: []insertion{{"	if count == 0 {\n		return nil //",
					"	if elementBits(dl.DType, t.flags) > 524288 {\n" +
						"		return failf(ErrDataType, \"an element of %v exceeds 64 KiB\", dl.DType)\n	}\n"}}},
		},
		files: map[string]string{
			"use.c": `#include <dlpackgen/rules.h>
int main(void) { return DLPACKGEN_ERROR_ELEMENT_SIZE == 35 ? 0 : 1; }
`,
			"use.cpp": `#include <dlpackgen/core.hpp>
#include <cstring>
int main() { return std::strcmp(dlpackgen::error_string(dlpackgen::ErrorCode::element_size), "an element exceeds 64 KiB"); }
`,
		},
		// tests/rules compares C, C++, Go and Python; some of its tensors violate the rule.
		commands: "go run ./cmd/dlpackgen generate --quiet\n" +
			"go test -count=1 -run 'Agree' ./tests/rules\n" +
			"gcc -Igen/c -o use/c use/use.c\nuse/c\n" +
			"g++ -std=c++17 -Igen/c -Igen/cpp -o use/cpp use/use.cpp\nuse/cpp\n",
	},
	{
		name: "target", section: "Adding a target",
		places: []place{
			{file: "internal/emit/swift/swift.go", documented: []string{"internal/emit/<name>/"},
				missing: "internal/emit/swift",
				created: `// Package swift implements target "swift".
package swift

import "github.com/dlpackgen/dlpackgen/internal/emit"

// Target is the row of the table of targets.
var Target = emit.Target{Name: "swift", Doc: "the type codes for Swift", Path: "src", Oldest: "0.1",
	Manifest: func(m *emit.Model) (emit.Manifest, error) {
		return emit.Manifest{Assets: emit.Showing(m.Release, emit.Copies("swift", "", "codes.swift.tmpl"))}, nil
	}}
`},
			{file: "templates/swift/codes.swift.tmpl", documented: []string{"templates/<name>/"},
				missing: "codes.swift.tmpl",
				created: "public let dlpackVersion = \"{{.Version}}\"\n"},
			{file: "internal/targets/targets.go", documented: []string{"internal/targets/targets.go"}, missing: "swift",
				inserted: []insertion{
					{"	\"github.com/dlpackgen/dlpackgen/internal/emit/templated\"\n",
						"	\"github.com/dlpackgen/dlpackgen/internal/emit/swift\"\n"},
					{"golang.Library, device.Shared,", "swift.Target, "},
				}},
		},
		files: map[string]string{
			"dlpackgen.yaml": "version: 1\ndlpack: \"1.3\"\ntargets: {swift: {path: swift}}\n",
		},
		commands: generate + "grep -q 'dlpackVersion = \"1.3\"' use/swift/codes.swift",
	},
	{
		name: "release", section: "Adding a release",
		places: []place{{file: "spec/dlpack.yaml", documented: specFile, missing: "1.4", inserted: []insertion{
			{"  - {version: main, ", "  - {version: \"1.4\", date: 2026-12}\n"},
		}, replaced: [][2]string{
			{`literal: "3"` + "\n", `literal: "4"` + "\n"},
			{`{until: "1.2", literal: "2"}`, `{until: "1.2", literal: "2"}` + "\n      - " +
				`{until: "1.3", literal: "3"}`},
		}}},
		files: map[string]string{
			"dlpackgen.yaml": config("1.4"),
			"use.c": `#include <dlpack/dlpack.h>
int main(void) { return DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 4 ? 0 : 1; }
`,
			"use.cpp": `#include <dlpackgen/core.hpp>
int main() { return sizeof(dlpackgen::v1_4::TensorView) > 0 ? 0 : 1; }
`,
			"try/use_test.go": `package use

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/use/go/dlpack"
)

func Test(t *testing.T) {
	if dlpack.MinorVersion != 4 {
		t.Error(dlpack.MinorVersion)
	}
}
`,
		},
		commands: generate + compile + "go test ./use/try\n",
	},
}

const (
	generate = "go run ./cmd/dlpackgen generate --quiet --config use/dlpackgen.yaml\n"
	compile  = "gcc -Iuse/c -o use/by_c use/use.c\nuse/by_c\n" +
		"g++ -std=c++17 -Iuse/c -Iuse/cpp -o use/by_cpp use/use.cpp\nuse/by_cpp\n"
)

// config generates what the uses of a release need.
func config(release string) string {
	return "version: 1\ndlpack: \"" + release + "\"\ntargets: {c: {path: c}, cpp: {path: cpp}, go: {path: go/dlpack}}\n"
}
