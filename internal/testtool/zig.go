package testtool

import (
	"debug/macho"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// RequireZig returns Zig's compiler and the folder of its cache, or skips the test.
func RequireZig(t testing.TB) (zig, cache string) {
	t.Helper()
	apart := filepath.Join(golden.Root(t), ".cache", "zig")
	zig = filepath.Join(apart, "bin", "python-zig")
	if _, err := exec.LookPath(zig); err != nil {
		t.Skip("needs the wheel of tests/requirements-zig.txt: make setup")
	}
	return zig, filepath.Join(apart, "cache")
}

// macArchitectures are those of macOS by Go's names, and what Zig calls them.
var macArchitectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// RequireMacCompiler gives a C compiler for macOS. Zig has the headers of macOS's C library, and
// the names of its functions for the linker. The other two libraries that Go's linker asks for are
// empty here: an undefined symbol of theirs would be an error.
func RequireMacCompiler(t testing.TB, arch string) string {
	t.Helper()
	zig, cache := RequireZig(t)
	dir := t.TempDir()
	for file, name := range map[string]string{
		"libresolv.tbd": "/usr/lib/libresolv.9.dylib",
		"CoreFoundation.framework/CoreFoundation.tbd": "/System/Library/Frameworks/CoreFoundation.framework/" +
			"Versions/A/CoreFoundation",
	} {
		file = filepath.Join(dir, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		text := "--- !tapi-tbd\ntbd-version: 4\ntargets: [x86_64-macos, arm64-macos]\ninstall-name: " + name + "\n...\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	script := fmt.Sprintf(
		"#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR=%s ZIG_LOCAL_CACHE_DIR=%[1]s\nexec %s cc -target %s-macos -L%s -F%[4]s \"$@\"\n",
		cache, zig, macArchitectures[arch], dir)
	put(t, filepath.Join(dir, "cc"), []byte(script))
	return filepath.Join(dir, "cc")
}

// MacImports returns the libraries that a library for macOS loads, and the symbols that the loader
// looks up in all libraries loaded before, such as those of Python.
func MacImports(t testing.TB, file string) (libraries, anywhere []string) {
	t.Helper()
	library, err := macho.Open(file)
	require.NoError(t, err)
	defer library.Close()
	libraries, err = library.ImportedLibraries()
	require.NoError(t, err)
	table := library.Dysymtab
	for _, symbol := range library.Symtab.Syms[table.Iundefsym : table.Iundefsym+table.Nundefsym] {
		if number := int(symbol.Desc >> 8); number == 0 || number > len(libraries) {
			anywhere = append(anywhere, symbol.Name)
		}
	}
	return libraries, anywhere
}
