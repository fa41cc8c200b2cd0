package tree

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

const oncePath = "gen/c/impl.c"

// withOnce returns a request for a target with a starter file, together with another target.
func withOnce(dir, text string) Request {
	one := target("c", "gen/c", map[string]string{"one.h": ours("one")})
	one.Files = append(one.Files, emit.File{Path: "impl.c", Data: []byte(text), Once: true})
	return request(dir, one, target("go", "gen/go", map[string]string{"x.go": ours("x")}))
}

// A starter file belongs to the user after it was written: no run changes it, no check reports it,
// and the lock does not list it.
func TestStarterFilesBelongToTheUser(t *testing.T) {
	dir := t.TempDir()
	report, err := Check(withOnce(dir, "first"))
	require.NoError(t, err)
	it, _ := itemAt(report, oncePath)
	assert.Equal(t, Missing, it.State)
	generated(t, withOnce(dir, "first"))
	files := disked(t, dir)
	assert.Equal(t, "first", files[oncePath])
	assert.NotContains(t, files[DefaultLock], "impl.c")
	requireFine(t, withOnce(dir, "first"))
	for _, mine := range []string{"first", "mine", "", ours("with the banner")} {
		setContent(t, dir, oncePath, mine)
		requireFine(t, withOnce(dir, "second"))
		generated(t, withOnce(dir, "second"))
		generated(t, forced(withOnce(dir, "second")))
		assert.Equal(t, mine, disked(t, dir)[oncePath])
	}
	remove(t, dir, oncePath)
	generated(t, withOnce(dir, "second"))
	assert.Equal(t, "second", disked(t, dir)[oncePath], "it is written again if the file is missing")
}

// It is kept if a config no longer requests it, and by clean.
func TestStarterFilesAreKept(t *testing.T) {
	dir := t.TempDir()
	generated(t, withOnce(dir, "first"))
	req := withOnce(dir, "first")
	req.Targets = req.Targets[1:]
	generated(t, req)
	_, err := Clean(withOnce(dir, "first"), false)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{oncePath: "first"}, disked(t, dir))
}

// It is not written if a user's source in its folder defines one of its functions, for example
// after a kernel was renamed. A call or a longer name is not a definition.
func TestAStarterFileWhoseFunctionsStandElsewhere(t *testing.T) {
	for text, elsewhere := range map[string]bool{
		"int f_float32(void) {\n": true, "static int g(void);\n\nint\nf_float32(void) {}\n": true,
		"AXPY(f_float32, float)\n": true, "extern \"C\" int f_float64(void) {}\n": true,
		"int g(void) {\n  return f_float32();\n}\n": false, "int f_float32_of(void) {}\n": false,
		"// f_float32 is elsewhere\n": false, "int g; int f_float32;\n": false,
		"extern int f_float32(int);\n": false, "int (*g)(int) = f_float32;\n": false,
		"AXPY(f_float32, float);\n": true, "int f_float32(int x) { return x; }\r\n": true,
		"int f_float32(\n    int x)\n{\n}\n": true, "int f_float32\r\n(int x)\r\n": true,
	} {
		dir := t.TempDir()
		req := withOnce(dir, "first")
		req.Targets[0].Files[1].Defines = []string{"f_float32", "f_float64"}
		setContent(t, dir, "gen/c/before_impl.c", text)
		generated(t, forced(req))
		_, written := disked(t, dir)[oncePath]
		assert.Equal(t, elsewhere, !written, text)
		requireFine(t, req)
		if elsewhere {
			remove(t, dir, "gen/c/before_impl.c")
			generated(t, req)
			assert.Equal(t, "first", disked(t, dir)[oncePath], "once the other is away, it is written")
		}
	}
}

// Nor is it written if another starter file defines the function.
func TestAStarterFileWhoseFunctionsStandInAnotherOne(t *testing.T) {
	dir := t.TempDir()
	req := withOnce(dir, "first")
	req.Targets[0].Files[1].Defines = []string{"f"}
	req.Targets[0].Files = append(req.Targets[0].Files,
		emit.File{Path: "other_impl.c", Data: []byte("second"), Once: true, Defines: []string{"g"}})
	setContent(t, dir, "gen/c/other_impl.c", "int f(void) {\n")
	generated(t, req)
	files := disked(t, dir)
	assert.NotContains(t, files, oncePath)
	assert.Equal(t, "int f(void) {\n", files["gen/c/other_impl.c"], "it is kept, although g is missing")
	requireFine(t, req)
}

// A directory at its path ends the run, as for every planned file.
func TestADirectoryWhereAFileIsWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	setContent(t, dir, oncePath+"/x", "mine")
	_, err := Generate(forced(withOnce(dir, "first")), false)
	requireKind(t, err, KindModified)
	assert.Equal(t, map[string]string{oncePath + "/x": "mine"}, disked(t, dir))
}

// A run that is killed at any operation leaves a starter file complete or absent. A run of another
// selection heals the rest and does not adopt the file, and the user's edits are kept.
func TestARunThatIsKilledLeavesWhatIsWrittenOnceWhole(t *testing.T) {
	for _, m := range []mode{killOn, killPast} {
		for in := (injector{at: 1, mode: m}); ; in.at++ {
			dir := filepath.Join(fastDir(t), "out")
			again := in
			_, killed := again.world().generate(withOnce(dir, "first"), false)
			text, there := disked(t, dir)[oncePath]
			require.True(t, !there || text == "first", "operation %d: %q", in.at, text)
			generated(t, only(withOnce(dir, "first"), "go"))
			assert.NotContains(t, disked(t, dir)[DefaultLock], "impl.c", "operation %d", in.at)
			assert.False(t, strings.Contains(strings.Join(names(disked(t, dir)), " "), tempSuffix), "operation %d",
				in.at)
			want := "first"
			if there {
				want = "mine"
				setContent(t, dir, oncePath, want)
			}
			generated(t, withOnce(dir, "first"))
			assert.Equal(t, want, disked(t, dir)[oncePath], "operation %d", in.at)
			requireFine(t, withOnce(dir, "first"))
			if killed == nil {
				assert.Greater(t, in.at, 15, "the injector has missed the run")
				break
			}
		}
	}
}
