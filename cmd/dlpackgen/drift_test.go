package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// placed returns a job with a target at each path.
func placed(paths ...string) *job {
	j := &job{config: &config.Config{}, out: "out"}
	for _, path := range paths {
		j.config.Selected = append(j.config.Selected, config.Target{Target: emit.Target{Name: path}, Path: path})
	}
	return j
}

// items returns n paths below a folder in one state.
func items(n int, dir string, state tree.State) (out []tree.Item) {
	for i := range n {
		out = append(out, tree.Item{Path: fmt.Sprintf("%s/%04d", dir, i), State: state})
	}
	return out
}

func TestFindingsOfCheckAreBounded(t *testing.T) {
	report := &tree.Report{Items: items(diag.MaxFindings+5, "gen", tree.Missing)}
	found := findings(placed("gen"), report)
	assert.Len(t, found, diag.MaxFindings+1)
	assert.Equal(t, "5 more findings are not shown", found[diag.MaxFindings].Text)
}

func TestForeignFilesAreCountedByThePathAbove(t *testing.T) {
	report := &tree.Report{Items: append(items(4, "gen/go/x", tree.Untracked), items(3, "gen/gone", tree.Untracked)...)}
	for _, j := range []*job{placed("gen", "gen/go"), placed("gen/go", "gen")} {
		var got []string
		for _, d := range findings(j, report) {
			got = append(got, d.Pos.File+": "+d.Text)
		}
		assert.Equal(t, []string{
			j.name("gen/go") + ": 4 files here are not generated, and are kept",
			j.name("gen/gone/0000") + ": is not a generated file, and is kept",
			j.name("gen/gone/0001") + ": is not a generated file, and is kept",
			j.name("gen/gone/0002") + ": is not a generated file, and is kept",
		}, got)
	}
}

// The diff shows best what generate --force would discard.
func TestDiffShowsEditedFiles(t *testing.T) {
	shown := string(changes(placed(), &tree.Report{Items: []tree.Item{
		{Path: "a.h", State: tree.Modified, Action: tree.Keep, Old: []byte("mine\n"), New: []byte("ours\n")},
		{Path: "b.h", State: tree.Untracked, Action: tree.Keep, Old: []byte("theirs\n")},
	}}))
	assert.Contains(t, shown, "\n-mine\n+ours\n")
	assert.NotContains(t, shown, "b.h")
}
