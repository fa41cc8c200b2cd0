package targets

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Files that do not depend on the spec are copied line by line: only lines with a substituted word,
// and the build constraint, differ. Files with parts have a test below; snapshots contain the
// rendered files.
func TestCopiesAreTheirSources(t *testing.T) {
	copies := 0
	copied(t, func(row, file string, a emit.Asset, manifest emit.Manifest) {
		if a.Parts == nil && a.Known == nil {
			source, err := templates.Files.ReadFile(a.From)
			require.NoError(t, err)
			copies++
			assert.Empty(t, changed(string(source), file, slices.Concat(a.Words, manifest.Words)), "%s: %s", row, a.To)
		}
	})
	assert.Greater(t, copies, 150)
}

// copied calls a function with each copied file of each target, its asset and its manifest.
func copied(t *testing.T, visit func(row, file string, a emit.Asset, manifest emit.Manifest)) {
	t.Helper()
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	for _, row := range All() {
		m := &emit.Model{Release: release, Import: "example.org/x/" + row.Name}
		manifest, err := row.Manifest(m)
		require.NoError(t, err)
		files, err := row.Emit(m)
		require.NoError(t, err)
		for i, a := range manifest.Assets {
			if !a.Rendered() {
				visit(row.Name, string(files[i].Data), a, manifest)
			}
		}
	}
}

// changed returns the lines of a source that its copy lacks, unless a substituted word explains it.
func changed(source, copied string, words emit.Words) (lost []string) {
	_, body, _ := strings.Cut(copied, "\n") // the two lines of the banner
	_, body, _ = strings.Cut(body, "\n")
	lines := strings.Split(strings.TrimLeft(body, "\n"), "\n")
	if first, rest, _ := strings.Cut(source, "\n"); strings.HasPrefix(first, "//go:build ignore") {
		source = rest
		if strings.HasPrefix(lines[0], "//go:build ") {
			lines = lines[1:]
		}
	}
	want := strings.Split(strings.Trim(source, "\n"), "\n")
	got := strings.Split(strings.Trim(strings.Join(lines, "\n"), "\n"), "\n")
	if len(want) != len(got) {
		return []string{"another number of lines"}
	}
	for i, line := range want {
		if line != got[i] && !hasWord(line, words) {
			lost = append(lost, line)
		}
	}
	return lost
}

// hasWord reports whether a line contains a word of the sources; a word may extend over a line end.
func hasWord(line string, words emit.Words) bool {
	for i := 0; i < len(words); i += 2 {
		if strings.Contains("\n"+line+"\n", words[i]) {
			return true
		}
	}
	return false
}

func TestAnotherCopyIsSeen(t *testing.T) {
	banner := emit.Banner("a.go", "1.3")
	for _, c := range []struct {
		source, copied string
		words          emit.Words
		fine           bool
	}{
		{"//go:build ignore && cgo\n\nint a;\n", banner + "\n//go:build go1.24 && cgo\n\nint a;\n", nil, true},
		{"int a;\nint b;\n", banner + "int a;\nint c;\n", emit.Words{"int b", "int c"}, true},
		{"int a;\nint b;\n", banner + "int a;\nint c;\n", emit.Words{"int a", "int c"}, false},
		{"int a;\n", banner + "int a;\nint b;\n", nil, false},
		{"int a;\n", banner, nil, false},
	} {
		assert.Equal(t, c.fine, changed(c.source, c.copied, c.words) == nil, c.copied)
	}
}
