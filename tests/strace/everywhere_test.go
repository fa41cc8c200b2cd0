package strace

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parts are the folders of a tree with a config each.
var parts = []string{"a", "b", "c", "d", "e"}

// everywhere is what a run on all of them is given.
var everywhere = []string{"generate", "./..."}

// newEverywhere is a bench whose trees have several configs, made by one run.
func newEverywhere(t *testing.T) *bench {
	t.Helper()
	b := &bench{strace: tracer(t), program: build(t, "../../cmd/dlpackgen")}
	for release, s := range map[string]*state{"1.2": &b.old, "1.3": &b.new} {
		s.dir = t.TempDir()
		configure(t, s.dir, release)
		b.run(t, s.dir, everywhere)
		s.files = files(t, s.dir)
	}
	return b
}

// configure writes a config into each part of a tree.
func configure(t *testing.T, dir, release string) {
	t.Helper()
	text := fmt.Sprintf("version: 1\ndlpack: %q\ntargets: {c: {path: gen}}\n", release)
	for _, part := range parts {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, part), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, part, "dlpackgen.yaml"), []byte(text), 0o644))
	}
}

// of returns the files of one part.
func of(part string, all map[string]string) map[string]string {
	own := map[string]string{}
	for name, data := range all {
		if strings.HasPrefix(name, part+"/") {
			own[name] = data
		}
	}
	return own
}

// A run on several configs is killed, and each of their files is whole. One config fails, and the
// others are made. The next run does the rest.
func TestFaultsStayInTheirConfig(t *testing.T) {
	b := newEverywhere(t)
	for _, fault := range []string{"signal=KILL", "error=EIO"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			hits, others := 0, 0
			for n := 1; n < 20; n += 6 {
				dir := t.TempDir()
				require.NoError(t, os.CopyFS(dir, os.DirFS(b.old.dir)))
				configure(t, dir, "1.3")
				said, hit := b.inject(t, dir, strike{calls: "renameat,renameat2", fault: fault}, n, everywhere)
				b.requireWhole(t, dir, fmt.Sprintf("call %d", n))
				if hit {
					hits++
					others += b.requireOthers(t, dir, said)
				}
				b.run(t, dir, everywhere)
				require.Equal(t, b.new.files, files(t, dir))
			}
			assert.Positive(t, hits, "no fault came to its call")
			assert.True(t, fault == "signal=KILL" || others > 0, "no fault left a config to be made")
		})
	}
}

// requireOthers counts the configs that a failed run made: all that it does not report, unless it
// was killed and reports nothing.
func (b *bench) requireOthers(t *testing.T, dir, said string) (made int) {
	t.Helper()
	after := files(t, dir)
	for _, part := range parts {
		failed := regexp.MustCompile("(?m)^" + part + `/.*error: .*\[io\]$`).MatchString(said)
		if !failed && said != "" {
			assert.Equal(t, of(part, b.new.files), of(part, after), "%s did not fail", part)
			made++
		}
	}
	return made
}
