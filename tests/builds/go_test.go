package builds

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// TestGoGenerate shows which packages the go command compiles. It compares contents: recreating a
// lost file changes nothing, and a changed comment does not recompile dependent packages.
func TestGoGenerate(t *testing.T) {
	p := newProject(t, nil)
	p.env = append(p.env, "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOWORK=off")
	for _, file := range []string{"main.go", "plain/plain.go", "dlpack/generate.go"} {
		p.extend(t, "ex/go-generate/"+file, "// "+p.dir+"\n") // absent from the cache of earlier runs
	}
	compiled := func(what string, want ...string) {
		t.Helper()
		p.run(t, "ex/go-generate", "go", "generate", "./...")
		var got []string
		for line := range strings.Lines(p.run(t, "ex/go-generate", "go", "build", "-v", "-o", "tensors", ".")) {
			if name, ours := strings.CutPrefix(strings.TrimSpace(line), "example.org/tensors"); ours {
				got = append(got, strings.TrimPrefix(name, "/"))
			}
		}
		slices.Sort(got)
		assert.Equal(t, want, got, what)
	}
	compiled("from scratch", "", "dlpack", "plain")
	assert.Equal(t, "the host is CPU\n", p.run(t, "ex/go-generate", "./tensors"))
	compiled("nothing")
	p.replace(t, "ex/go-generate/dlpack/dlpackgen.yaml", "version: 1\n", "# A comment.\nversion: 1\n")
	compiled("a comment")
	p.renew(t)
	compiled("the program is newer, its templates are the same")
	p.install(t, testkit.Program(t, "go/names.go"))
	compiled("a template of the program has changed: a comment of one file", "dlpack")
	compiled("nothing, after another template")
	require.NoError(t, os.Remove(p.path("ex/go-generate/dlpack/types.go")))
	compiled("a lost output")
	assert.FileExists(t, p.path("ex/go-generate/dlpack/types.go"))
	p.replace(t, "ex/go-generate/dlpack/dlpackgen.yaml", `"1.3"`, "main")
	compiled("another release", "", "dlpack")
}
