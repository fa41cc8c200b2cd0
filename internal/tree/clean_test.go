package tree

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCleanRemovesWhatIsOurs(t *testing.T) {
	dir := t.TempDir()
	generated(t, requested(dir, 2))
	setContent(t, dir, noteFile, "mine")
	setContent(t, dir, "gen/c/left.h", ours("left"))
	req := requested(dir, 2)
	report, err := Clean(req, false)
	require.NoError(t, err)
	assert.Equal(t, requested(dir, 2), req, "the caller's request")
	assert.Len(t, report.Of(Obsolete), len(plans[2]))
	assert.Equal(t, map[string]string{noteFile: "mine", "gen/c/left.h": ours("left")}, disked(t, dir))
	assert.NoDirExists(t, filepath.Join(dir, "gen", "go"))
}

func TestCleanOfOneTarget(t *testing.T) {
	dir := t.TempDir()
	generated(t, requested(dir, 2))
	_, err := Clean(only(requested(dir, 2), "c"), false)
	require.NoError(t, err)
	assert.Equal(t, []string{DefaultLock, "gen/go/same.go", "gen/go/x.go", "gen/go/z.go"}, names(disked(t, dir)))
	requireFine(t, only(requested(dir, 2), "go"))
	report, err := Check(requested(dir, 2))
	require.NoError(t, err)
	assert.Len(t, report.Of(Missing), 3)
}

// Edited files remain, and remain known as edited; all others are removed.
func TestCleanKeepsEditedFiles(t *testing.T) {
	dir := t.TempDir()
	generated(t, requested(dir, 2))
	setContent(t, dir, "gen/go/x.go", ours("mine"))
	for range 2 {
		report, err := Clean(forced(requested(dir, 2)), false)
		out := requireKind(t, err, KindModified)
		assert.Equal(t, 1, out.ExitCode())
		assert.Contains(t, out.Error(), "gen/go/x.go")
		assert.Len(t, report.Of(Modified), 1)
		assert.Equal(t, []string{DefaultLock, "gen/go/x.go"}, names(disked(t, dir)))
	}
	_, err := Generate(requested(dir, 2), false)
	requireKind(t, err, KindModified)
	remove(t, dir, "gen/go/x.go")
	_, err = Clean(requested(dir, 2), false)
	require.NoError(t, err)
	assert.Empty(t, disked(t, dir))
}

// If a lock lists a user's file with the correct hash, neither clean nor generate removes the file.
func TestNoBannerNoRemoval(t *testing.T) {
	dir := t.TempDir()
	generated(t, request(dir, target("c", ".", map[string]string{"LICENSE": "all rights"})))
	lock := disked(t, dir)[DefaultLock]
	for name, run := range verbs {
		setContent(t, dir, DefaultLock, lock)
		report, err := run(forced(request(dir, target("c", ".", nil))))
		require.NoError(t, err, name)
		assert.Len(t, report.Of(Untracked), 1, name)
		assert.Equal(t, "all rights", disked(t, dir)["LICENSE"], name)
	}
}

func TestCleanOfNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	report, err := Clean(requested(dir, 1), false)
	require.NoError(t, err)
	assert.Empty(t, report.Items)
	assert.NoDirExists(t, dir)
}

func TestCleanDryRun(t *testing.T) {
	dir := t.TempDir()
	generated(t, requested(dir, 1))
	setContent(t, dir, "gen/go/x.go", "mine")
	before := disked(t, dir)
	report, err := Clean(requested(dir, 1), true)
	require.NoError(t, err)
	assert.Len(t, report.Of(Obsolete), len(plans[1])-1)
	assert.Len(t, report.Of(Modified), 1)
	assert.Equal(t, before, disked(t, dir))
}

// Targets that the config has dropped are no longer planned. A narrowed run does not judge them,
// even if the config has no other target.
func TestDroppedTarget(t *testing.T) {
	dir := t.TempDir()
	generated(t, requested(dir, 1))
	req := requested(dir, 1)
	req.Targets = req.Targets[:1]
	narrowed := req
	narrowed.Only = true
	requireFine(t, narrowed)
	generated(t, narrowed)
	assert.Contains(t, disked(t, dir), "gen/go/x.go")
	generated(t, req)
	assert.NotContains(t, disked(t, dir), "gen/go/x.go")
}

// Others alone also narrows a run: an omitted Only must not delete files.
func TestRunsWithOnlyOthersDeleteNothing(t *testing.T) {
	dir := t.TempDir()
	generated(t, requested(dir, 1))
	req := only(requested(dir, 1), "c")
	req.Only = false
	generated(t, req)
	requireFine(t, requested(dir, 1))
}
