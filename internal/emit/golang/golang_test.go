package golang

import (
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func emitted(t *testing.T, m *emit.Model) map[string]string {
	t.Helper()
	files, err := Target.Emit(m)
	return emittest.Texts(t, files, err)
}

// served returns the releases that the target supports, except the one in gen/go.
func served(t *testing.T) (versions []string) {
	t.Helper()
	s := spec.Embedded()
	for _, r := range s.Releases() {
		if !s.Older(r.Version, Target.Oldest) && r.Version != s.Latest() {
			versions = append(versions, r.Version)
		}
	}
	require.NotEmpty(t, versions)
	return versions
}

// A snapshot is one archive: loose Go files would be packages of this module. It contains neither
// copies nor the header, which is in golden/out/c.
func TestSnapshotsOfOtherReleases(t *testing.T) {
	var owned []string
	for _, version := range served(t) {
		m := &emit.Model{Release: emittest.Release(t, version)}
		files, err := Target.Emit(m)
		require.NoError(t, err)
		rendered := emittest.Rendered(t, Target, m)
		archive := &txtar.Archive{Comment: fmt.Appendf(nil, "Target go for DLPack %s.\n", version)}
		for _, f := range files {
			if f.Path == "dlpack.h" || !rendered[f.Path] {
				continue
			}
			archive.Files = append(archive.Files, txtar.File{Name: f.Path, Data: f.Data})
		}
		name := "out/go/" + version + ".txtar"
		golden.Assert(t, name, txtar.Format(archive))
		owned = append(owned, name)
	}
	golden.Orphans(t, "out/go", owned)
}

func TestGenHoldsTheNewestRelease(t *testing.T) {
	dir := filepath.Join(golden.Root(t), "gen", "go", "dlpack")
	for name, want := range emitted(t,
		&emit.Model{Release: emittest.Release(t, "latest"),
			Import: "github.com/dlpackgen/dlpackgen/gen/go/dlpack"}) {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err, "run: make generate")
		assert.Equal(t, want, string(got), "gen/go/dlpack/%s is not current; run: make generate", name)
	}
}

func TestTheSameModelGivesTheSameBytes(t *testing.T) {
	m := &emit.Model{Release: emittest.Release(t, "main")}
	assert.Equal(t, emitted(t, m), emitted(t, m))
}

func TestEveryFileHasItsBannerAndNoPlaceholder(t *testing.T) {
	files := emitted(t, &emit.Model{Release: emittest.Release(t, "1.2"),
		Options: map[string]string{optionPackage: "tensor", emit.OptionImport: "example.org/tensor"}})
	for name, text := range files {
		assert.True(t, emit.HasBanner([]byte(text)), name)
		assert.Contains(t, strings.SplitAfterN(text, "\n", 3)[1], "DLPack 1.2; SPDX", name)
		assert.NotContains(t, text, templatePrefix, name)
		assert.NotContains(t, text, "ignore", name)
		assert.NotContains(t, text, templateCall, name)
		assert.NotContains(t, text, templateImport, name)
		pkg := path.Base(path.Join("tensor", path.Dir(name))) // the packages below have their own names
		if strings.HasSuffix(name, "_test.go") {
			pkg += "_test"
		}
		if strings.HasSuffix(name, ".go") {
			assert.Regexp(t, `(?m)^package `+pkg+`$`, text, name)
		}
	}
	assert.Contains(t, files["doc.go"], "\n// Package tensor exchanges")
	assert.Contains(t, files["doc.go"], "tensor.Import((*tensor.DLManagedTensorVersioned)(pointer))")
	assert.Contains(t, files["doc.go"], "compare them with dlpack.h")
	assert.NotRegexp(t, `\bdlpack\.[A-Z]`, files["doc.go"], "examples call the package by its name")
	assert.Contains(t, files["unsupported.go"], "//go:build go1.24 && (386 || arm || mips || mipsle || wasm)\n\n")
	assert.Contains(t, files["export.c"], "//go:build go1.24 && cgo && !(386 || arm || mips || mipsle || wasm)\n\n")
}

// Only a string may make a line wide.
func TestLinesHaveAMaximumWidth(t *testing.T) {
	for name, text := range emitted(t, &emit.Model{Release: emittest.Release(t, "main")}) {
		for line := range strings.Lines(text) {
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
			if !strings.Contains(line, `"`) && path.Ext(name) == ".go" {
				assert.LessOrEqual(t, utf8.RuneCountInString(line), maxColumns, "%s: %s", name, line)
			}
		}
	}
}

func TestTheHeaderIsThatOfTargetC(t *testing.T) {
	files := emitted(t, &emit.Model{Release: emittest.Release(t, "latest")})
	header, err := os.ReadFile(filepath.Join(golden.Root(t), "gen", "c", "dlpack", "dlpack.h"))
	require.NoError(t, err)
	assert.Equal(t, string(header), files["dlpack.h"])
}

func TestNoFlagsForTheCompiler(t *testing.T) {
	for name, text := range emitted(t, &emit.Model{Release: emittest.Release(t, "latest")}) {
		assert.NotContains(t, text, "#cgo", "%s: a user's own header or flag would get in", name)
	}
}

// The packages below the bindings import them, so the import path must be known.
func TestPackagesBelow(t *testing.T) {
	files := emitted(t, &emit.Model{Release: emittest.Release(t, "1.3")})
	for name := range files {
		assert.NotContains(t, name, "/")
	}
	files = emitted(t, &emit.Model{Release: emittest.Release(t, "1.3"),
		Options: map[string]string{optionPackage: "tensors", emit.OptionImport: "example.org/x/tensors"}})
	assert.Equal(t, files["dlpack.h"], files["dlpackpy/dlpack.h"])
	assert.Contains(t, files["dlpackpy/call.go"], "\npackage dlpackpy\n")
	assert.Contains(t, files["dlpackpy/call.go"], "\n\tdlpack \"example.org/x/tensors\"\n")
	assert.Contains(t, files["example_test.go"], "\npackage tensors_test\n")
	assert.Contains(t, files["example_test.go"], "\n\tdlpack \"example.org/x/tensors\"\n")
	for name, text := range files {
		assert.NotContains(t, text, templateImport, name)
	}
}

// The Python names of the protocol are in C, for all releases, and in the spec.
func TestNamesOfPythonAreThoseOfTheSpec(t *testing.T) {
	files := emitted(t, &emit.Model{Release: emittest.Release(t, "main"),
		Options: map[string]string{emit.OptionImport: "example.org/x"}})
	give, take := files["dlpackpy/tensor_type.c"], files["dlpackpy/import.c"]
	for _, text := range []string{give, take} {
		assert.Contains(t, text, "= DLPACKGEN_CAPSULE,")
		assert.Contains(t, text, "= DLPACKGEN_CAPSULE_VERSIONED;")
		assert.Contains(t, text, "DLPACKGEN_CAPSULE_EXCHANGE_API")
		assert.Contains(t, text, "DLPACKGEN_ATTRIBUTE_EXCHANGE_API")
	}
	assert.Contains(t, give, "DLPACKGEN_ATTRIBUTE_OLDER_EXCHANGE_API")
	assert.NotContains(t, take, "DLPACKGEN_ATTRIBUTE_OLDER_EXCHANGE_API", "an int is not used")
	newest := emittest.Release(t, "main").Python
	for _, version := range served(t) {
		r := emittest.Release(t, version)
		assert.Equal(t, newest, r.NewestPython)
		names := emitted(t, &emit.Model{Release: r,
			Options: map[string]string{emit.OptionImport: "example.org/x"}})["dlpackpy/dlpackgen_codes.h"]
		for macro, name := range map[string]string{
			"CAPSULE": newest.Capsule.Fresh, "CAPSULE_USED": newest.Capsule.Used,
			"CAPSULE_VERSIONED": newest.Versioned.Fresh, "CAPSULE_VERSIONED_USED": newest.Versioned.Used,
			"CAPSULE_EXCHANGE_API": newest.ExchangeCapsule, "ATTRIBUTE_EXCHANGE_API": newest.ExchangeAttr,
			"ATTRIBUTE_OLDER_EXCHANGE_API": newest.OlderExchange,
		} {
			assert.Contains(t, names, "#define DLPACKGEN_"+macro+` "`+name+"\"\n")
		}
		assert.Contains(t, names, "#define DLPACKGEN_VERSIONED_MAJOR 1\n")
		assert.Contains(t, names, "#define DLPACKGEN_VERSIONED_SINCE \"(1, 0)\"\n")
	}
}

// A vendor's devices may have names that differ only in C.
func TestNamesThatGoCannotTellApart(t *testing.T) {
	for _, added := range [][]string{{"kDLAcme_x", "kDLAcmeX"}, {"kDLType"}} {
		r := *emittest.Release(t, "1.3")
		enum := *spec.Find[*spec.Enum](&r, deviceEnum)
		for i, name := range added {
			enum.Values = append(enum.Values[:len(enum.Values):len(enum.Values)],
				spec.EnumValue{Name: name, Value: int64(500 + i)})
		}
		r.Decls = append([]spec.Decl{&enum},
			slices.DeleteFunc(slices.Clone(r.Decls),
				func(d spec.Decl) bool { return d.DeclName() == deviceEnum })...)
		_, err := Target.Emit(&emit.Model{Release: &r})
		require.ErrorContains(t, err, "in Go; rename one")
		require.ErrorContains(t, err, added[len(added)-1])
	}
}

// editDevices returns the release with every device type changed.
func editDevices(t *testing.T, edit func(*spec.EnumValue)) *spec.Release {
	t.Helper()
	r := *emittest.Release(t, "1.3")
	r.Decls = slices.Clone(r.Decls)
	at := slices.IndexFunc(r.Decls, func(d spec.Decl) bool { return d.DeclName() == deviceEnum })
	enum := *spec.Find[*spec.Enum](&r, deviceEnum)
	enum.Values = slices.Clone(enum.Values)
	for i := range enum.Values {
		edit(&enum.Values[i])
	}
	r.Decls[at] = &enum
	return &r
}

// The docs of a user's spec, or of a vendor's device, may contain any text.
func TestDocsStayComments(t *testing.T) {
	plain := emitted(t, &emit.Model{Release: emittest.Release(t, "1.3")})
	for _, doc := range []string{"/*", "*/ var evil = 1 /*", "/* */ var evil = 1", "// two", "//go:embed x",
		"a\nvar evil = 1", "`\"", ""} {
		r := editDevices(t, func(v *spec.EnumValue) { v.Doc = doc })
		files := emitted(t, &emit.Model{Release: r})
		assert.Equal(t, withoutComments(t, plain["constants.go"]), withoutComments(t, files["constants.go"]), doc)
	}
}

// withoutComments returns what the compiler sees of a Go file.
func withoutComments(t *testing.T, text string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "constants.go", text, 0)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, printer.Fprint(&out, token.NewFileSet(), file))
	return out.String()
}

func TestASpecWhoseDevicesHaveNoRules(t *testing.T) {
	r := editDevices(t, func(v *spec.EnumValue) { v.Device = nil })
	text := emitted(t, &emit.Model{Release: r})["constants.go"]
	assert.Contains(t, text, "HostReadable() bool {\n\treturn false\n}")
	assert.Contains(t, text, "Opaque() bool {\n\treturn true\n}")
}

func TestOptions(t *testing.T) {
	for _, option := range Target.Options {
		assert.NotEmpty(t, option.Doc)
		assert.Empty(t, option.Check(option.Default), option.Name)
	}
	for value, want := range map[string]string{
		"tensor": "", "dlpack2": "", "main": "cannot be", "func": "cannot be", "a-b": "cannot be", "_": "cannot be",
		"": "cannot be",
	} {
		assertFinding(t, want, checkPackage(value))
	}
}

func assertFinding(t *testing.T, want, got string) {
	t.Helper()
	if want == "" {
		assert.Empty(t, got)
		return
	}
	assert.Contains(t, got, want)
}
