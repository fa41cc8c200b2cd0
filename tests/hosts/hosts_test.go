// Package hosts compares the declarations of spec/hosts with the headers that they cite.
package hosts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/hosts"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	source "github.com/dlpackgen/dlpackgen/spec"
)

// mutants are changes of a host's description, which must then not compile.
var mutants = map[string][][2]string{
	"tvm_ffi": {
		{"tensor: {value: 70,", "tensor: {value: 71,"},
		{"name: type_index, offset: 8, type: int32_t", "name: type_index, offset: 12, type: int32_t"},
		{"name: combined_ref_count, offset: 0, type: uint64_t", "name: combined_ref_count, offset: 0, type: double"},
		{"name: size, offset: 8, type: int64_t", "name: size, offset: 8, type: size_t"},
		{"type: \"void (*)(void *, int)\"", "type: \"void (*)(void *)\""},
		{"size: 32", "size: 40"},
		{"returns: int, params: \"DLTensor *, void **\"", "returns: int, params: \"DLTensor *, void **, int\""},
		{"returns: \"void *\", params: \"int32_t, int32_t\"", "returns: void, params: \"int32_t, int32_t\""},
		{"name: backtrace, offset: 32,", "name: backtrace, offset: 40,"},
		{"void *, int (*)(void *, const struct any *, int32_t,",
			"void *, int (*)(void *, const struct any *, int64_t,"},
		{"params: \"const struct byte_array *, void *, int\"", "params: \"const struct byte_array *, void *\""},
	},
	"xla_ffi": {
		{"dtype_s4: {value: 21,", "dtype_s4: {value: 22,"},
		{"unimplemented: {value: 12,", "unimplemented: {value: 13,"},
		{"name: stage, offset: 32, type: int32_t", "name: stage, offset: 36, type: int32_t"},
		{"name: rank, offset: 32, type: int64_t", "name: rank, offset: 32, type: double"},
		{"name: traits, offset: 32, type: uint32_t", "name: traits, offset: 36, type: uint32_t"},
		{"name: len, offset: 8, type: size_t", "name: len, offset: 8, type: \"void *\""},
		{"native: XLA_FFI_DeviceOrdinal_Get, offset: 184", "native: XLA_FFI_DeviceOrdinal_Get, offset: 176"},
		{"type: \"void (*)(struct error_end *)\"", "type: \"void * (*)(struct error_end *)\""},
		{"size: 192", "size: 200"},
	},
	"numpy": {
		{"from_loops_slot: {value: 31,", "from_loops_slot: {value: 33,"},
		{"float16: {value: 23,", "float16: {value: 22,"},
		{"long_long: {value: 9,", "long_long: {value: 7,"},
		{"none: {value: -1,", "none: {value: 0,"},
		{"params: \"char **, const intptr_t *, const intptr_t *, void *\"",
			"params: \"char **, const intptr_t *, int, void *\""},
		{"const char *, const char *, int, const char *\"", "const char *, const char *, const char *\""},
	},
	"torch_shim": {
		{"params: \"int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, void **\"",
			"params: \"int64_t, const int64_t *, const int64_t *, int32_t, int32_t, void **\""},
		{"get_dim: {symbol: aoti_torch_get_dim,", "get_dim: {symbol: aoti_torch_abi_version,"},
		{"version: {symbol: aoti_torch_abi_version, returns: uint64_t",
			"version: {symbol: aoti_torch_abi_version, returns: uint32_t"},
		{"void (*)(uint64_t *, uint64_t, uint64_t), uint64_t\"", "void (*)(uint64_t *, uint64_t), uint64_t\""},
		{"params: \"bool, const char *, const char *, uint32_t, const char *\"",
			"params: \"bool, const char *, const char *, uint32_t\""},
		{"cuda_stream: # of builds for CUDA and ROCm\n    {symbol: aoti_torch_get_current_cuda_stream, returns: int32_t",
			"cuda_stream: # of builds for CUDA and ROCm\n    {symbol: aoti_torch_get_current_cuda_stream, returns: int64_t"},
	},
	"torch_cpp": {
		{"params: \"const void *, uint64_t, const void *\"", "params: \"const void *, uint32_t, const void *\""},
		{"{name: line, offset: 16, type: uint32_t}", "{name: line, offset: 16, type: int32_t}"},
		{"{name: size, offset: 8, type: size_t, native: _M_string_length}",
			"{name: size, offset: 8, type: size_t, native: _M_allocated_capacity}"},
		{"native: at::native::is_inference\n    returns: bool", "native: at::native::is_inference\n    returns: void"},
	},
	"onnxruntime": {
		{"float64: {value: 11,", "float64: {value: 12,"},
		{"name: GetDimensions, offset: 496,", "name: GetDimensions, offset: 504,"},
		{"size: 3320", "size: 3328"},
		{"KernelInfoGetAttribute_float, offset: 680, type: \"void * (*)(const void *, const char *, float *)\"",
			"KernelInfoGetAttribute_float, offset: 680, type: \"void * (*)(const void *, const char *, double)\""},
		{"name: GetEndVersion, offset: 168, type: \"int (*)", "name: GetEndVersion, offset: 168, type: \"int64_t (*)"},
		{"type: \"void * (*)(void *, size_t, const int64_t *, size_t, void **)\"",
			"type: \"void * (*)(void *, size_t, const int64_t *, void **)\""},
	},
}

// installed returns the folder of a host's headers, and the version of its package.
func installed(t *testing.T, h *hosts.Host) (folder, version string) {
	t.Helper()
	if strings.Contains(h.Source.Package, "/") {
		return module(t, h), h.Source.Version
	}
	python := testtool.RequirePython(t)
	script := "import importlib.metadata as m, sysconfig; d = m.distribution('" + h.Source.Package + "'); " +
		"print(sysconfig.get_paths()['purelib'], d.version)"
	out, err := exec.Command(python, "-c", script).Output()
	if err != nil {
		t.Skipf("needs %s in .venv: make setup", h.Source.Package)
	}
	words := strings.Fields(string(out))
	return filepath.Join(words[0], h.Source.Include), words[1]
}

// module returns the folder of a Go module, in the version of the description.
func module(t *testing.T, h *hosts.Host) (folder string) {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", h.Source.Package+"@"+h.Source.Version)
	cmd.Dir = t.TempDir() // outside of this module, which does not require it
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("needs the Go module %s, which could not be downloaded: %s", h.Source.Package, out)
	}
	var found struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &found))
	return filepath.Join(found.Dir, h.Source.Include)
}

// comparisons compare every declaration in C++, where the compiler has both. Messages end in the
// name of the host.
func comparisons(h *hosts.Host) string {
	var out strings.Builder
	prefix := "dlpackgen_" + h.Name + "_"
	compare := func(what, name, condition string, args ...any) {
		fmt.Fprintf(&out, "static_assert("+condition+", \"%s %s of %s\");\n", append(args, what, name, h.Name)...)
	}
	for _, c := range h.Constants {
		compare("constant", c.Name, "%s == (long long)%s", strings.ToUpper(prefix+c.Name), c.Native)
	}
	for _, s := range h.Structs {
		own := "struct " + prefix + s.Name
		compare("struct", s.Name, "sizeof(%s) == sizeof(%s) && alignof(%[1]s) == alignof(%[2]s)", own, s.Native)
		for _, f := range s.Fields {
			compare("field", s.Name+"."+f.Name, "offsetof(%s, %s) == offsetof(%s, %s)", own, f.Name, s.Native, f.Native)
			compare("type", s.Name+"."+f.Name, "same_kind<decltype(%s::%s), decltype(%s%s::%s)>()", s.Native, f.Native,
				prefix, s.Name, f.Name)
		}
	}
	for _, f := range h.Functions {
		if f.Native != "" {
			compare("function", f.Name, "same_kind<in_c<decltype(&%s)>::type, %s>()", f.Native, prefix+f.Name)
		}
	}
	return out.String()
}

// compiles renders hosts with the same headers as callers, and compares each.
func compiles(t *testing.T, include string, all ...*hosts.Host) (string, error) {
	t.Helper()
	dir := t.TempDir()
	var program strings.Builder
	for _, header := range all[0].Source.Headers {
		fmt.Fprintf(&program, "#include <%s>\n", header)
	}
	program.WriteString("#include \"native.hpp\"\n")
	for _, h := range all {
		part := emit.HostABI(all[0].Name)
		part.View = h.View()
		files, err := emit.Render("1.3", emit.Manifest{Assets: []emit.Asset{part}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, h.Name+".h"), files[0].Data, 0o600))
		fmt.Fprintf(&program, "#include %q\n%s", h.Name+".h", comparisons(h))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "compare.cpp"), []byte(program.String()), 0o600))
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), "-std=c++20", "-fsyntax-only", "-Wall",
		"-Werror",
		"-Wno-invalid-offsetof", "-Wno-unused-function", "-fno-access-control", "-DUSE_CUDA",
		"-DAT_PER_OPERATOR_HEADERS", "-I../../gen/c",
		"-I../../templates/torchshim", "-I.", "-I"+dir, "-isystem", include, "-isystem",
		testtool.RequireHeaders(t, testtool.RequirePython(t)),
		filepath.Join(dir, "compare.cpp")).CombinedOutput()
	return string(out), err
}

// Every declaration equals the package's, and each mutant is detected. A host and all of its
// mutants are one compilation.
func TestDeclarationsAreTheHosts(t *testing.T) {
	entries, err := source.Hosts.ReadDir("hosts")
	require.NoError(t, err)
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yaml")
		t.Run(name, func(t *testing.T) {
			h := hosts.Embedded(name)
			include, version := installed(t, h)
			assert.Equal(t, h.Source.Version, version, "read the headers of this version, and write it into spec/hosts")
			all := []*hosts.Host{h}
			require.NotEmpty(t, mutants[name])
			for i, m := range mutants[name] {
				changed := mutated(t, name, m)
				changed.Name = fmt.Sprintf("%s_mutant%d", name, i)
				all = append(all, changed)
			}
			out, err := compiles(t, include, all...)
			assert.Error(t, err)
			assert.NotContains(t, out, " of "+name+"\n", "it differs from the headers")
			for i, m := range mutants[name] {
				assert.Regexp(t, fmt.Sprintf("static assertion failed: .* of %s_mutant%d\n", name, i), out, m[1])
			}
			assert.Equal(t, strings.Count(out, "error: "), strings.Count(out, "error: static assertion failed: "), out)
		})
	}
}

func mutated(t *testing.T, name string, change [2]string) *hosts.Host {
	t.Helper()
	src, err := source.Hosts.ReadFile("hosts/" + name + ".yaml")
	require.NoError(t, err)
	diags := &diag.List{}
	h := hosts.Decode(name, []byte(mutant.Once(t, string(src), change[0], change[1])), diags)
	require.NotNil(t, h, "%s", diag.Text(diags.Sorted(), false))
	return h
}
