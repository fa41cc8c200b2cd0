package tool

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// A build from a checkout has no version, stamped by go or not: go run never stamps one.
func TestVersion(t *testing.T) {
	stamped := []debug.BuildSetting{{Key: "-compiler", Value: "gc"}, {Key: "vcs.revision", Value: "1234"}}
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"go run and go test", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, Devel},
		{"go build without modules", debug.BuildInfo{}, Devel},
		{"go build in a checkout", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: stamped}, Devel},
		{"go install module@v1.2.3",
			debug.BuildInfo{Main: debug.Module{Version: "v1.2.3", Sum: "h1:x"}, Settings: stamped[:1]}, "v1.2.3"},
		{"a fork", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3",
			Replace: &debug.Module{Version: "v1.2.4-fork"}}}, "v1.2.4-fork"},
		{"a folder in its place",
			debug.BuildInfo{Main: debug.Module{Version: "v1.2.3", Replace: &debug.Module{Path: "../x"}}}, Devel},
	} {
		assert.Equal(t, c.want, versionOf(&c.info), c.name)
	}
	assert.Equal(t, Devel, Version(), "a test is a build from a checkout")
}

// The digest depends on each file, its name and its end.
func TestTheDigestChangesWithEachSource(t *testing.T) {
	all := sources()
	require.Greater(t, len(all), 200)
	was := digestOf(all)
	assert.Equal(t, Digest(), was)
	assert.Len(t, was, digestLength)
	seen := map[string]bool{was: true}
	for i, s := range all {
		if testing.Short() && i%16 != 0 {
			continue // each digest reads all sources
		}
		changed := slices.Clone(all)
		changed[i].data = append(slices.Clone(s.data), '\n')
		if got := digestOf(changed); seen[got] {
			t.Errorf("a change of %s does not change the digest", s.path)
		} else {
			seen[got] = true
		}
	}
	renamed := slices.Clone(all)
	renamed[3].path += "x"
	assert.NotEqual(t, was, digestOf(renamed))
	assert.NotEqual(t, was, digestOf(all[1:]))
	crlf := slices.Clone(all)
	crlf[3].data = bytes.ReplaceAll(crlf[3].data, []byte("\n"), []byte("\r\n"))
	assert.Equal(t, was, digestOf(crlf), "a checkout with CRLF is the same tool")
}

// The digest contains every package of the module from which the targets and the config are built,
// with all files, including embedded ones.
func TestTheDigestCoversWhatDecidesOutput(t *testing.T) {
	root := golden.Root(t)
	format := `{{with .Module}}{{if .Main}}{{$.ImportPath}} {{join $.GoFiles " "}} {{join $.EmbedFiles " ` +
		`"}}{{end}}{{end}}`
	cmd := exec.Command("go", "list", "-deps", "-f", format, "./internal/targets", "./internal/config")
	cmd.Dir = root
	listed, err := cmd.Output()
	require.NoError(t, err)
	var covered []string
	for _, s := range sources() {
		covered = append(covered, s.path)
		data, err := os.ReadFile(filepath.Join(root, s.path))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(data, s.data), "%s is embedded as it is", s.path)
	}
	// These packages contain or embed bytes, and no code.
	holders := []string{"spec/embed.go", "templates/embed.go", "spec/schema.json"}
	packages := strings.Split(strings.TrimSpace(string(listed)), "\n")
	require.Greater(t, len(packages), 15)
	for _, line := range packages {
		fields := strings.Fields(line)
		folder := strings.TrimPrefix(fields[0], "github.com/dlpackgen/dlpackgen/")
		for _, name := range fields[1:] {
			file := path.Join(folder, name)
			assert.True(t, slices.Contains(holders, file) || slices.Contains(covered, file),
				"%s decides output, and is not in the digest: add %s to internal/sources.go", file, path.Dir(file))
		}
	}
}
