package additions

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// addition is what a contributor adds: the places that he changes, and the commands that use it.
type addition struct {
	name     string
	section  string // of docs/architecture.md
	places   []place
	protocol []string          // what the docs list, too: tests with the published protocol, which this is not
	files    map[string]string // in the folder use/
	commands string
}

// place is one source file.
type place struct {
	file       string
	documented string // how the docs name it
	created    string // the text of a new file
	inserted   []insertion
	edited     func(text string) string
	missing    string // what the commands print without this place
}

type insertion struct{ before, text string }

const specFile = "spec/dlpack.yaml"

// next is the release that is added, and minor its minor version.
var (
	next        = emittest.NextVersion()
	_, minor, _ = strings.Cut(next, ".")
)

var additions = []addition{
	{
		name: "data type", section: "Adding a data type",
		protocol: []string{"internal/spec/spec_test.go", "tests/abi/testdata/facts/dlpack-VERSION.json"},
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
			{file: "templates/c/rules.h", documented: "templates/c/rules.h", missing: "DLPACKGEN_ERROR_STRIDE",
				inserted: []insertion{
					{"  DLPACKGEN_ERROR_EXCHANGE_SLOT = 15 ", "  DLPACKGEN_ERROR_STRIDE = 35,\n"},
					{"    case DLPACKGEN_ERROR_EXCHANGE_SLOT: return",
						"    case DLPACKGEN_ERROR_STRIDE: return \"a stride is the smallest integer\";\n"},
					{"  if (!limits->known_device)\n", `  for (int32_t i = 0; tensor->strides && i < tensor->ndim; ++i)
    if (tensor->strides[i] == INT64_MIN) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_STRIDE, 0, 0, i);
`},
				}},
			{file: "templates/c/rules.h", documented: "templates/c/rules.h",
				missing: "[dlpackgen_check_kernel_checked() dlpackgen_is_usual()",
				inserted: []insertion{{"  if (DLPACKGEN_RARE(extent - 1 >= DLPACKGEN_USUAL_EXTENT)) return 0;\n",
					"  if (stride == INT64_MIN) return 0;\n"}}},
			{file: "templates/cpp/error.hpp", documented: "templates/cpp/error.hpp", missing: "smallest_stride",
				inserted: []insertion{
					{"  exchange_slot = 15, ", "  smallest_stride = 35,\n"},
					{"    case ErrorCode::exchange_slot: return", "    case ErrorCode::smallest_stride:\n"},
				}},
			{file: "templates/go/validate.go", documented: "templates/go/validate.go", missing: "Go {",
				inserted: []insertion{{"	if count == 0 {\n		return nil //",
					`	for i, stride := range dims(&dl.Strides, dl.NDim) {
		if stride == math.MinInt64 {
			return failf(ErrShape, "stride %d is the smallest integer", i)
		}
	}
`}}},
			{file: "templates/go/validate.go", documented: "templates/go/validate.go",
				missing: "[plain() of templates/go/validate.go]",
				inserted: []insertion{{"		if stride != size && extent != 1 ||",
					"		if stride == 1<<63 {\n			return false\n		}\n"}}},
			{file: "tests/gobind/foreign.go", documented: "tests/gobind/foreign.go",
				missing: "give fault 35 an error",
				inserted: []insertion{{"	C.DLPACKGEN_ERROR_NULL: ",
					"	C.DLPACKGEN_ERROR_STRIDE: reported(dlpack.ErrShape, `: stride `),\n"}}},
			{file: "tests/safety/fuzz/hostile.h", documented: "tests/safety/fuzz/hostile.h", missing: "not so: ",
				inserted: []insertion{{"  const int device = (int)t->device.device_type;\n",
					`  for (int32_t i = 0; t->strides && i < t->ndim; i++)
    if (t->strides[i] == INT64_MIN) return DLPACKGEN_ERROR_STRIDE;
`}}},
			{file: "docs/messages.md", documented: "docs/messages.md", missing: "texts without a row",
				inserted: []insertion{{"- an extent of shape is negative\n", "- a stride is the smallest integer\n"}}},
		},
		files: map[string]string{
			"use.c": `#include <dlpackgen/rules.h>
int main(void) { return DLPACKGEN_ERROR_STRIDE == 35 ? 0 : 1; }
`,
			"use.cpp": `#include <dlpackgen/core.hpp>
#include <cstring>
int main() {
  const char* const text = dlpackgen::error_string(dlpackgen::ErrorCode::smallest_stride);
  return std::strcmp(text, "a stride is the smallest integer");
}
`,
		},
		// tests/rules compares C, C++, Go and Python, and their fast checks with the rules. Some of
		// its tensors, of those of tests/gobind and of the fuzzers violate the rule.
		commands: "unset DLPACKGEN_TIER\ngo run ./cmd/dlpackgen generate --quiet\n" +
			"gcc -Igen/c -o use/c use/use.c\nuse/c\n" +
			"g++ -std=c++17 -Igen/c -Igen/cpp -o use/cpp use/use.cpp\nuse/cpp\n" +
			"go test -count=1 -run 'EveryMessage' ./tools/site\n" +
			"go test -count=1 -run 'Agree|FastChecksAccept' ./tests/rules\n" +
			"go test -count=1 -run 'JudgeAlike' ./tests/gobind\n" +
			"FUZZ_RUNS=50000 go test -count=1 -run 'TestHostileTensors/(validate|views)' ./tests/safety\n",
	},
	{
		name: "target", section: "Adding a target",
		places: []place{
			{file: "internal/emit/swift/swift.go", documented: "internal/emit/<name>/",
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
			{file: "templates/swift/codes.swift.tmpl", documented: "templates/<name>/",
				missing: "codes.swift.tmpl",
				created: "public let dlpackVersion = \"{{.Version}}\"\n"},
			{file: "internal/targets/targets.go", documented: "internal/targets/targets.go", missing: "swift",
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
		protocol: []string{"internal/spec/spec_test.go", "tests/abi/abi_test.go",
			"tests/abi/testdata/facts/dlpack-VERSION.json", "tests/torch"},
		places: []place{{file: "spec/dlpack.yaml", documented: specFile, missing: next,
			edited: emittest.WithNextRelease}},
		files: map[string]string{
			"dlpackgen.yaml": config(next),
			"use.c": `#include <dlpack/dlpack.h>
int main(void) { return DLPACK_MINOR_VERSION == ` + minor + ` ? 0 : 1; }
`,
			"use.cpp": `#include <dlpackgen/core.hpp>
int main() { return sizeof(dlpackgen::v` + strings.ReplaceAll(next, ".", "_") + `::TensorView) > 0 ? 0 : 1; }
`,
			"try/use_test.go": `package use

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/use/go/dlpack"
)

func Test(t *testing.T) {
	if dlpack.MinorVersion != ` + minor + ` {
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
