package backend

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	source "github.com/dlpackgen/dlpackgen/spec"
)

func cuda(t testing.TB) string {
	t.Helper()
	src, err := source.Backends.ReadFile("backends/cuda.yaml")
	require.NoError(t, err)
	return string(src)
}

// decoded returns a description, and its findings as text. Each has a hint.
func decoded(t testing.TB, text string) (*Backend, []string) {
	t.Helper()
	diags := &diag.List{}
	b := Decode("x.yaml", []byte(text), diags)
	var out []string
	for _, d := range diags.Sorted() {
		assert.NotEmpty(t, d.Hint, "%s has no hint: %s", d.Text, text)
		out = append(out, diag.Text([]diag.Diagnostic{d}, false))
	}
	return b, out
}

func TestEmbeddedBackEndsAreValid(t *testing.T) {
	entries, err := source.Backends.ReadDir("backends")
	require.NoError(t, err)
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yaml")
		b := Embedded(name)
		assert.Equal(t, name, b.Name, "the file has the name of its backend")
	}
}

func TestEachKindIsACodeOfTheHeader(t *testing.T) {
	header, err := os.ReadFile("../../templates/device/dlpackgen_backend.h")
	require.NoError(t, err)
	for _, kind := range Kinds {
		assert.Contains(t, string(header), "  DLPACKGEN_BACKEND_"+strings.ToUpper(kind)+" = ")
	}
}

// The descriptions in these tests are CUDA's with one changed line.
func TestErrorsHaveAPosition(t *testing.T) {
	for _, c := range []struct{ old, fresh, want string }{
		{"backend: 1\n", "backend: 2\n", "x.yaml:3:10: error: backend must be from 1 to 1, not 2 [out-of-range]"},
		{"name: cuda\n", "name: Cuda\n", `x.yaml:4:7: error: name "Cuda" must match`},
		{"title: CUDA\n", "", `x.yaml:3:1: error: the backend has no "title" [missing-key]`},
		{"title: CUDA\n", "title: 'CU\"DA'\n", `x.yaml:5:8: error: title "CU\"DA" must match`},
		{"implementation: cuda ", "implementation: queues ",
			"error: implementation must be one of cuda, hip, level_zero, custom, not \"queues\" [unknown-value]"},
		{"min_version: 11000 ", "min_version: old ", "error: min_version must be a decimal integer"},
		{"memory: managed,", "memory: shared,", "error: memory must be one of device, host, managed"},
		{"memory: managed,", "memory: host,", "error: two device types have host memory [invalid-backend]"},
		{"id: ordinal", "id: nth", "error: id must be one of ordinal, zero, runtime_index"},
		{"aliases: {1: 1,", "aliases: {x: 1,",
			`error: a stream number must be a decimal integer, not "x" [type-mismatch]`},
		{"linux: [libcuda.so.1]", "linux: ['a/b.so']", `error: a library "a/b.so" must match`},
		{"{c: int,", "{c: 'int; int',", `error: c "int; int" must match`},
		{"value: 13,", "value: -1,", "error: value must be from 0 to 2147483647, not -1 [out-of-range]"},
		{"params: \"int *count\"", "params: \"int *count); (\"", "error: params"},
		{"  memory_host: {", "  memory-host: {", `error: a constant "memory-host" must match`},
		{"symbol: cuInit,", "symbol: cu-Init,", `error: symbol "cu-Init" must match`},
		{"kind: driver_stub,", "kind: fake,", "error: kind must be one of"},
		{"cuMemAllocAsync, since: 11020, optional: true,", "cuMemAllocAsync, since: 11020, optionl: true,",
			`error: pool_alloc has no key "optionl" [unknown-key]`},
		{"{value: 2, kind: out_of_memory", "{value: 1, kind: out_of_memory",
			"error: two errors have the value 1 [invalid-backend]"},
		{"{value: 2, kind: out_of_memory", "{value: 0, kind: out_of_memory",
			"error: an error has the value 0, which is success [invalid-backend]"},
		{"type: kDLCUDAHost", "type: kDLCUDA", "error: device type kDLCUDA is listed twice [invalid-backend]"},
		{"{type: kDLCUDA, memory: device, id: ordinal}", "{type: kDLCUDA, memory: device, id: ordinal, torch: CUDA}",
			"error: torch must be PrivateUse1"},
		{"  - {type: kDLCUDA, memory: device, id: ordinal}\n", "",
			"error: no device type has device memory [invalid-backend]"},
		{"{type: kDLCUDA,", "{type: kDLCUDA, value: -1,", "error: value must be from 0 to 2147483647, not -1"},
		{"doc: Memory and", "doc: Memory /* and", "error: doc must not contain comment marks"},
		{"name: cuda\n", "name: func\n", `error: name "func" cannot be the name of a Go package`},
		{"name: cuda\n", "name: vendor\n",
			`error: name "vendor" is reserved: other modules cannot import a Go package in a folder of this name [invalid-name]`},
		{"doc: Memory and", "doc: Memory ??/ and",
			"error: doc must not contain ??, which C may read as a trigraph [invalid-doc]"},
		{"type: kDLCUDAHost", "type: kDLCPU",
			"error: kDLCPU stands for memory that the backend does not recognize [invalid-backend]"},
		{"table: cuda ", "rejected: [1] ",
			"error: stream number 1 is listed under both rejected: and aliases: [invalid-backend]"},
		{"name: cuda\n", "name: types\n",
			`error: name "types" is reserved: every backend has a file of this name [invalid-name]`},
		{"status_type: unsigned int", "status_type: void", `error: status_type "void" must match`},
		{"status_type: unsigned int", "status_type: char *", `error: status_type "char *" must match`},
		{"table: cuda ", "table: cuda\n  rejected: [1] ",
			"error: streams has both table and rejected [invalid-backend]"},
		{"table: cuda ", "rejected: [-3] ", "error: a rejected number must be from 0 to 2147483647, not -3"},
		{"since: 2020, params: \"int *version\"", "params: \"int *version\"",
			`error: driver_version has no "since" [missing-key]`},
		{"memory_host: {value: 1,", "memory_host: {was: {until: 0, value: 2}, value: 1,",
			"error: until must be from 1 to 2147483647, not 0"},
		{"since: 2020, params: \"int *version\"", "returns: 'a; b', since: 2020, params: \"int *version\"",
			`error: returns "a; b" must match`},
	} {
		text := mutant.Once(t, cuda(t), c.old, c.fresh)
		b, found := decoded(t, text)
		assert.Nil(t, b, c.fresh)
		assert.Contains(t, strings.Join(found, "\n"), c.want)
		assert.Len(t, found, 1, "%s: one fault, one finding: %v", c.fresh, found)
	}
}

// Every call that reports a finding has a hint, including calls that no test reaches.
func TestEveryFindingHasAHint(t *testing.T) {
	hintAt := map[string]int{"Errorf": 1, "ErrorfAt": 2, "Warnf": 1, "complain": 0}
	file, err := parser.ParseFile(token.NewFileSet(), "decode.go", nil, 0)
	require.NoError(t, err)
	calls := 0
	ast.Inspect(file, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		name, _ := call.Fun.(*ast.Ident)
		if method, is := call.Fun.(*ast.SelectorExpr); is {
			name = method.Sel
		}
		if name == nil {
			return true
		}
		if at, reports := hintAt[name.Name]; reports {
			calls++
			if text, is := call.Args[at].(*ast.BasicLit); is {
				assert.NotEqual(t, `""`, text.Value, "decode.go has a %s without a hint", name.Name)
			}
		}
		return true
	})
	assert.Greater(t, calls, 15)
	for _, form := range []*regexp.Regexp{backendName, fieldName, symbolName, typeText, statusText, parameters,
		libraryName, sentence} {
		assert.NotEmpty(t, formHints[form], form.String())
	}
}

// A key or value of an earlier version has one finding, whose hint names its current form.
func TestFormerNamesAreNamedAnew(t *testing.T) {
	for _, c := range []struct{ old, fresh, now string }{
		{"implementation: cuda ", "runtime: streams ", "implementation"},
		{"status_type: ", "result: ", "status_type"},
		{"min_version: ", "oldest: ", "min_version"},
		{"install_hint: ", "package: ", "install_hint"},
		{"params: unsigned int flags", "takes: unsigned int flags", "params"},
		{"returns: ", "gives: ", "returns"},
		{"  aliases: ", "  handles: ", "aliases"},
		{"  table: cuda ", "  table: cuda\n  refused: [0] ", "rejected"},
		{"  table: cuda ", "  refused: [0] ", "rejected"},
		{"implementation: cuda ", "implementation: streams ", "cuda"},
		{"implementation: cuda ", "implementation: ordinals ", "hip"},
		{"implementation: cuda ", "implementation: levelzero ", "level_zero"},
		{"implementation: cuda ", "implementation: vendor ", "custom"},
		{"kind: invalid_device,", "kind: bad_device,", "invalid_device"},
		{"kind: invalid_stream,", "kind: bad_stream,", "invalid_stream"},
		{"{value: 1, kind: driver_error,", "{value: 1, kind: driver,", "driver_error"},
		{"4, kind: shutting_down,", "4, kind: ended,", "shutting_down"},
		{"700, kind: device_lost,", "700, kind: lost,", "device_lost"},
		{"kind: driver_too_old,", "kind: old_driver,", "driver_too_old"},
		{"kind: driver_stub,", "kind: stub,", "driver_stub"},
	} {
		text := mutant.Once(t, withReturns(t), c.old, c.fresh)
		_, found := decoded(t, text)
		require.Len(t, found, 1, "%s: %v", c.fresh, found)
		assert.Contains(t, found[0], "hint: it was renamed to \""+c.now+"\"", c.fresh)
	}
}

// withReturns is CUDA's description with a function that declares its return type.
func withReturns(t testing.TB) string {
	return mutant.Once(t, cuda(t), "{symbol: cuInit,", "{symbol: cuInit, returns: int,")
}

// A description must define all names that the sources use: each row is omitted in turn.
func TestDescriptionsMustDefineAllUsedNames(t *testing.T) {
	need := requirements["cuda"]
	for what, names := range map[string][]string{"handle": need.handles, "constant": need.constants,
		"function": need.functions} {
		for _, name := range names {
			text := mutant.Once(t, cuda(t), "\n  "+name+": {", "\n  other: {")
			_, found := decoded(t, text)
			assert.Contains(t, strings.Join(found, "\n"), "the sources cuda need the "+what+" "+name)
		}
	}
	for section, want := range map[string]string{
		"\ndevices:\n": "lists no device type",
		"\n  linux: ":  "names no library for any system",
	} {
		text := cuda(t)
		at := strings.Index(text, section)
		end := at + 1 + strings.Index(text[at+1:], "\n")
		if section == "\ndevices:\n" {
			end = at + 1 + strings.Index(text[at+1:], "\n\n")
		} else {
			end += 1 + strings.Index(text[end+1:], "\n") // windows, the line after
		}
		_, found := decoded(t, text[:at]+text[end:])
		assert.Contains(t, strings.Join(found, "\n"), want)
	}
}

// A backend whose vendor writes the rest needs only the rows that it uses.
func TestAVendorsDescription(t *testing.T) {
	b, found := decoded(t, vendors)
	require.Empty(t, found)
	assert.Equal(t, &Backend{
		Name: "acme", Title: "Acme", Doc: "D.", Implementation: "custom", InstallHint: "p",
		StatusType: "int",
		Devices:    []Device{{Type: "kDLAcme", Value: 1000, Memory: "device", ID: "ordinal", Torch: "PrivateUse1"}},
		Streams:    Streams{Given: true, Rejected: []int64{1, 2}},
		Library:    Library{Linux: []string{"libacme.so"}},
		Constants:  []Constant{{Name: "host", Value: 2, Native: "ACME_HOST", Was: &Past{Until: 60, Value: 1}}},
		Functions: []Function{{Name: "name", Symbol: "acmeName", Plain: "acmeName", Params: "void",
			Returns: "const char *"}},
		Errors: []Error{{Name: "ACME_NONE", Value: -1, Kind: "no_device", Text: "none"}},
	}, b)
	for _, c := range []struct{ old, fresh, want string }{
		{"functions: {name: {symbol: acmeName, params: void, returns: const char *}}", "functions: {}",
			"error: the backend has no function"},
		{"errors: {ACME_NONE: {value: -1, kind: no_device, text: none}}", "errors: {}",
			"error: the backend has no error"},
		{"functions: {name:", "functions: {register:",
			`error: "register" is not a valid name for a function: it is a keyword of C or C++`},
		{"{linux: [libacme.so]}", "{linux: [libacme.so], lookups: [{symbol: f, params: void}]}",
			"error: the sources custom use 0 lookups, and the library has 1"},
		{"streams: {none: 0, rejected: [1, 2]}", "streams: {none: 0}", `error: streams has no "table"`},
		{"params: void", "params: 'int a, char *a'", "error: params: two parameters have the name a [duplicate-name]"},
		{"params: void", "params: 'unsigned int'",
			`error: params: "unsigned int" has no parameter name: int is a keyword of C or C++ [invalid-name]`},
		{"params: void", "params: 'char return'", `"char return" has no parameter name`},
		{"params: void", "params: 'return a'",
			"error: params: return is a keyword of C or C++, not a type [invalid-name]"},
		{"returns: const char *", "returns: return", "error: returns: return is a keyword of C or C++, not a type"},
		{"linux: [libacme.so]", "linux: ['..']", `error: a library ".." must match`},
		{"rejected: [1, 2]", "rejected: [1, 0]",
			"error: stream number 0 is listed under both rejected: and none: [invalid-backend]"},
	} {
		text := mutant.Once(t, vendors, c.old, c.fresh)
		_, found := decoded(t, text)
		assert.Contains(t, strings.Join(found, "\n"), c.want)
		assert.Len(t, found, 1)
	}
}

const vendors = `backend: 1
name: acme
title: Acme
doc: D.
implementation: custom
install_hint: p
status_type: int
devices: [{type: kDLAcme, value: 1000, memory: device, id: ordinal, torch: PrivateUse1}]
streams: {none: 0, rejected: [1, 2]}
library: {linux: [libacme.so]}
constants: {host: {value: 2, native: ACME_HOST, was: {until: 60, value: 1}}}
functions: {name: {symbol: acmeName, params: void, returns: const char *}}
errors: {ACME_NONE: {value: -1, kind: no_device, text: none}}
`

// tiny has a row of each kind, because fuzzing all of CUDA's description is slow.
const tiny = `backend: 1
name: a
title: A
doc: D.
implementation: cuda
status_type: int
min_version: 1
install_hint: p
devices: [{type: kDLA, memory: device, id: zero}]
streams: {table: cuda, none: 1, aliases: {1: 1}}
library: {linux: [l.so], lookups: [{symbol: g, params: "int *a"}], lookup_flags: 1}
handles: {context: {c: "struct s *", native: S}}
constants: {memory_host: {value: 1, native: M}}
functions: {init: {symbol: i, plain: j, since: 1, optional: true, params: void}}
errors: {E: {value: 1, kind: driver_stub, text: t}}
`

// FuzzDecode checks that Decode returns either findings or a description.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(tiny))
	f.Add([]byte(vendors))
	f.Add([]byte("backend: 1\nstreams: []\nlibrary: {lookups: [1]}\nhandles: 3\nerrors: {A: {}}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		diags := &diag.List{}
		b := Decode("x.yaml", src, diags)
		assert.Equal(t, b == nil, diags.Failed(), "%v", diags.Sorted())
		for _, d := range diags.Sorted() {
			assert.Positive(t, d.Pos.Line)
			assert.Positive(t, d.Pos.Col)
			assert.NotEmpty(t, d.Hint, "%s: %q", d.Text, src)
		}
	})
}
