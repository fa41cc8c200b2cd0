package abi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// compiler is a command that compiles C, and possibly C++ with -x c++.
type compiler struct {
	command string
	flags   []string
	model   layout.Model
	langs   []layout.Lang
}

var (
	onlyC = []layout.Lang{layout.C}
	both  = []layout.Lang{layout.C, layout.CXX}
)

// name returns the name of a subtest.
func (cc compiler) name() string {
	return strings.Join(append([]string{filepath.Base(cc.command)}, cc.flags...), " ")
}

// mingw lays out structs like Windows, but has GCC's own rule for the sign of an enum.
func mingw() layout.Model {
	m := layout.LLP64
	m.SignedEnums = false
	return m
}

// gccs are the GCCs of tests/packages.txt, besides the host's own.
var gccs = []struct {
	compiler
	debian string
}{
	{compiler{"gcc", nil, layout.LP64, both}, "g++"},
	{compiler{"gcc", []string{"-m32"}, layout.I386, both}, "g++"},
	{compiler{"gcc", []string{"-fshort-enums", "-m32", "-malign-double"}, layout.ShortEnums, both}, "g++"},
	{compiler{"aarch64-linux-gnu-gcc", nil, layout.LP64, onlyC}, "gcc-aarch64-linux-gnu"},
	{compiler{"i686-linux-gnu-gcc", nil, layout.I386, onlyC}, "gcc-i686-linux-gnu"},
	{compiler{"x86_64-w64-mingw32-gcc", nil, mingw(), both}, "mingw-w64"},
}

// clang returns the command of a clang, which checks sources for any target without further
// packages.
func clang(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("DLPACKGEN_CLANG"); named != "" {
		return named
	}
	for _, command := range []string{"clang-16", "clang"} {
		if _, err := exec.LookPath(command); err == nil {
			return command
		}
	}
	t.Skip("needs clang-16: apt-get install clang-16")
	return ""
}

// slots limits the compilations of this package to two at a time, because other packages compile as
// well.
var slots = make(chan struct{}, 2)

// compile checks a unit, and returns the compiler's output.
func compile(cc compiler, lang layout.Lang, include, unit string) (string, error) {
	slots <- struct{}{}
	defer func() { <-slots }()
	args := append([]string{"-fsyntax-only", "-ffreestanding", "-I", include}, cc.flags...)
	if lang == layout.CXX {
		args = append(args, "-x", "c++", "-std=c++17", "-")
	} else {
		args = append(args, "-x", "c", "-std=c11", "-")
	}
	cmd := exec.Command(cc.command, args...)
	cmd.Stdin = strings.NewReader(unit)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// headers emits the dlpack.h of each release into a separate folder.
func headers(t *testing.T, versions []string) string {
	t.Helper()
	root := t.TempDir()
	for _, version := range versions {
		files, err := c.Target.Emit(&emit.Model{Release: release(t, version)})
		require.NoError(t, err)
		for _, f := range files {
			file := filepath.Join(root, version, filepath.FromSlash(f.Path))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, f.Data, 0o644))
		}
	}
	return root
}

// chosen are all releases, or with -short only the first and the last.
func chosen() []string {
	all := versions()
	if testing.Short() {
		return []string{all[0], all[len(all)-1]}
	}
	return all
}

// prove compiles the probe of each release in the compiler's languages.
func prove(t *testing.T, cc compiler, root string, versions []string) {
	t.Helper()
	for _, version := range versions {
		for _, lang := range cc.langs {
			table := layout.Of(release(t, version), cc.model, lang)
			out, err := compile(cc, lang, filepath.Join(root, version), source(table))
			assert.NoError(t, err, "DLPack %s in %s:\n%s", version, lang, out)
		}
	}
}

func TestClangAgrees(t *testing.T) {
	command := clang(t)
	root := headers(t, chosen())
	for _, x := range targets {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			prove(t, compiler{command, append([]string{"--target=" + x.triple}, x.flags...), x.model, both}, root,
				chosen())
		})
	}
}

func TestGCCAgrees(t *testing.T) {
	root := headers(t, chosen())
	for _, cc := range gccs {
		t.Run(cc.name(), func(t *testing.T) {
			t.Parallel()
			testtool.Require(t, cc.command, cc.debian)
			if _, err := compile(cc.compiler, layout.C, ".", ""); err != nil {
				t.Skipf("needs a %s for x86, the only one with %s", cc.command, strings.Join(cc.flags, " "))
			}
			prove(t, cc.compiler, root, chosen())
		})
	}
}

// One wrong number of each kind must stop the compiler; otherwise, the tests above would prove
// nothing.
func TestWrongNumbersDoNotCompile(t *testing.T) {
	testtool.Require(t, "gcc", "g++")
	root := filepath.Join(headers(t, []string{"1.3"}), "1.3")
	wrong := map[string]func(*layout.Table){
		"DLDeviceType: size":          func(l *layout.Table) { l.Enums[0].Size = 1 },
		"DLDeviceType: align":         func(l *layout.Table) { l.Enums[0].Align = 1 },
		"DLDeviceType: sign":          func(l *layout.Table) { l.Enums[0].Signed = !l.Enums[0].Signed },
		"DLPackVersion: size":         func(l *layout.Table) { l.Structs[0].Size++ },
		"DLPackVersion: align":        func(l *layout.Table) { l.Structs[0].Align *= 2 },
		"DLPackVersion_minor: offset": func(l *layout.Table) { l.Structs[0].Fields[1].Offset++ },
		"DLPackVersion_minor: size":   func(l *layout.Table) { l.Structs[0].Fields[1].Size++ },
		"DLPackVersion_minor: align":  func(l *layout.Table) { l.Structs[0].Fields[1].Align *= 2 },
	}
	for _, lang := range both {
		for message, change := range wrong {
			table := layout.Of(release(t, "1.3"), layout.LP64, lang)
			change(table)
			out, err := compile(compiler{command: "gcc"}, lang, root, source(table))
			require.Error(t, err, "%s in %s", message, lang)
			assert.Contains(t, out, message)
			assert.Equal(t, 1, strings.Count(out, "error:"), out)
		}
	}
}
