package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// row is one row of the table "what a run does with each file". A first run has created one, two
// and gone; then disk changes a file, and plan is requested.
type row struct {
	name   string
	disk   func(t *testing.T, dir string)
	path   string
	state  State
	action Action // of generate
	forced Action // of generate --force
	drift  bool   // exit 1 of check
	after  string // content after generate; "" is absent
	force  string // content after generate --force
}

const (
	onePath, twoPath, gonePath = "gen/c/one.h", "gen/c/two.h", "gen/c/gone.h"
	mine                       = "mine"
)

func setFile(name, data string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { setContent(t, dir, name, data) }
}

// dropLine removes a file from the lock.
func dropLine(name string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		data, err := os.ReadFile(filepath.Join(dir, DefaultLock))
		require.NoError(t, err)
		var keep []string
		for _, line := range strings.SplitAfter(string(data), "\n") {
			if !strings.HasSuffix(line, " "+name+"\n") {
				keep = append(keep, line)
			}
		}
		setContent(t, dir, DefaultLock, strings.Join(keep, ""))
	}
}

// journalFor writes the journal of a killed run that was changing one file.
func journalFor(name, old, new string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		dropLine(name)(t, dir)
		c := change{entry: entry{target: "c", release: "1.3", spec: specSum, sum: new, path: name}, old: old}
		setContent(t, dir, ".dlpackgen.journal", string(formatJournal(thisTool, []change{c})))
	}
}

func both(fs ...func(t *testing.T, dir string)) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		for _, f := range fs {
			f(t, dir)
		}
	}
}

var rows = []row{
	{name: "as planned", path: onePath, state: Unchanged, after: ours("one"), force: ours("one")},
	{name: "as planned, in a CRLF checkout", path: onePath,
		disk:  setFile(onePath, strings.ReplaceAll(ours("one"), "\n", "\r\n")),
		state: Unchanged, after: strings.ReplaceAll(ours("one"), "\n", "\r\n"),
		force: strings.ReplaceAll(ours("one"), "\n", "\r\n")},
	{name: "as planned, not in the lock", path: onePath, disk: dropLine(onePath), state: Unchanged, drift: true,
		after: ours("one"), force: ours("one")},
	{name: "as the lock says, plan differs", path: twoPath, state: Outdated, action: Replace, forced: Replace,
		drift: true, after: ours("two, new"), force: ours("two, new")},
	{name: "as the journal's old hash says, plan differs", path: twoPath,
		disk:  journalFor(twoPath, sum([]byte(ours("two"))), sum(nil)),
		state: Outdated, action: Replace, forced: Replace, drift: true, after: ours("two, new"),
		force: ours("two, new")},
	{name: "as the journal's new hash says, plan differs", path: twoPath,
		disk:  journalFor(twoPath, none, sum([]byte(ours("two")))),
		state: Outdated, action: Replace, forced: Replace, drift: true, after: ours("two, new"),
		force: ours("two, new")},
	{name: "as the lock says, no longer planned", path: gonePath, state: Obsolete, action: Delete, forced: Delete,
		drift: true},
	{name: "as the journal says, no longer planned", path: gonePath,
		disk:  journalFor(gonePath, none, sum([]byte(ours("gone")))),
		state: Obsolete, action: Delete, forced: Delete, drift: true},
	{name: "as the lock says, no longer planned, without our banner", path: "gen/c/plain.txt", state: Untracked,
		drift: true, after: "plain", force: "plain"},
	{name: "absent, planned", path: onePath, disk: func(t *testing.T, dir string) { remove(t, dir, onePath) },
		state: Missing, action: Create, forced: Create, drift: true, after: ours("one"), force: ours("one")},
	{name: "absent with its directory", path: onePath, disk: func(t *testing.T, dir string) { remove(t, dir, "gen/c") },
		state: Missing, action: Create, forced: Create, drift: true, after: ours("one"), force: ours("one")},
	{name: "edited, planned", path: onePath, disk: setFile(onePath, ours("edited")), state: Modified, forced: Replace,
		drift: true, after: ours("edited"), force: ours("one")},
	{name: "edited, and the plan differs", path: twoPath, disk: setFile(twoPath, "mine"), state: Modified,
		forced: Replace, drift: true, after: mine, force: ours("two, new")},
	{name: "at a planned path, unknown to the lock", path: twoPath, disk: dropLine(twoPath), state: Modified,
		forced: Replace, drift: true, after: ours("two"), force: ours("two, new")},
	{name: "edited, no longer planned", path: gonePath, disk: setFile(gonePath, ours("edited")), state: Modified,
		forced: Delete, drift: true, after: ours("edited")},
	{name: "edited, no longer planned, banner gone", path: gonePath, disk: setFile(gonePath, mine), state: Modified,
		drift: true, after: mine, force: mine},
	{name: "unplanned, not in the lock, with our banner", path: "gen/c/left.h",
		disk:  setFile("gen/c/left.h", ours("left")),
		state: Orphaned, drift: true, after: ours("left"), force: ours("left")},
	{name: "the same where nothing of ours is", path: "gen/c/deep/er/left.h",
		disk:  setFile("gen/c/deep/er/left.h", ours("left")),
		state: Untracked, drift: false, after: ours("left"), force: ours("left")},
	{name: "unplanned, not in the lock, no banner", path: "gen/c/notes.txt", disk: setFile("gen/c/notes.txt", mine),
		state: Untracked, drift: false, after: mine, force: mine},
	{name: "unplanned, named by a journal that never made it", path: "gen/c/new.h",
		disk:  both(journalFor("gen/c/new.h", none, sum(nil)), setFile("gen/c/new.h", mine)),
		state: Untracked, drift: true, after: mine, force: mine},
}

// setUp makes the first run, and returns the next request, whose target c is under test and whose
// target go is unchanged.
func (r row) setUp(t *testing.T) (dir string, req Request) {
	t.Helper()
	dir = t.TempDir()
	last := map[string]string{"one.h": ours("one")}
	next := map[string]string{"one.h": ours("one")}
	switch r.path {
	case twoPath:
		last["two.h"], next["two.h"] = ours("two"), ours("two, new")
	case gonePath:
		last["gone.h"] = ours("gone")
	case "gen/c/plain.txt":
		last["plain.txt"] = "plain"
	}
	gofiles := target("go", "gen/go", map[string]string{"x.go": ours("package x")})
	generated(t, request(dir, target("c", "gen/c", last), gofiles))
	if r.disk != nil {
		r.disk(t, dir)
	}
	return dir, request(dir, target("c", "gen/c", next), gofiles)
}

func TestTableCheck(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			dir, req := r.setUp(t)
			before := disked(t, dir)
			for _, req := range []Request{req, only(req, "c")} {
				report, err := Check(req)
				require.NoError(t, err)
				it, ok := itemAt(report, r.path)
				require.True(t, ok, "%+v", report.Items)
				assert.Equal(t, r.state.String(), it.State.String())
				assert.Equal(t, r.drift, report.Drift(), "%+v", report.Items)
			}
			assert.Equal(t, before, disked(t, dir), "check has written")
		})
	}
}

func TestTableGenerate(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			for _, narrow := range []bool{false, true} {
				dir, req := r.setUp(t)
				before, when := disked(t, dir), longAgo(t, dir)
				full := req
				if narrow {
					req = only(req, "c")
				}
				report, err := Generate(req, false)
				r.requireOutcome(t, report, r.action, r.after, dir)
				if r.state == Unchanged {
					assert.Equal(t, when, mtime(t, dir, r.path))
				}
				if r.state == Modified {
					requireKind(t, err, KindModified)
					assert.Equal(t, before, disked(t, dir), "a file was written next to an edited file")
					continue
				}
				require.NoError(t, err)
				assert.NotContains(t, disked(t, dir), ".dlpackgen.journal")
				assert.Equal(t, when, mtime(t, dir, "gen/go/x.go"))
				report, err = Check(full)
				require.NoError(t, err)
				assert.Equal(t, r.state == Orphaned, report.Drift(), "%+v", report.Items)
			}
		})
	}
}

func (r row) requireOutcome(t *testing.T, report *Report, action Action, content, dir string) {
	t.Helper()
	require.NotNil(t, report)
	it, ok := itemAt(report, r.path)
	require.True(t, ok, "%+v", report.Items)
	assert.Equal(t, r.state.String(), it.State.String())
	assert.Equal(t, action.String(), it.Action.String())
	assert.Equal(t, content, disked(t, dir)[r.path])
}

func TestTableForce(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			dir, req := r.setUp(t)
			if r.name == "edited, no longer planned, banner gone" {
				r.state = Untracked // not kept, because no record identifies it as ours
			}
			report := generated(t, forced(req))
			r.requireOutcome(t, report, r.forced, r.force, dir)
			again, err := Check(req)
			require.NoError(t, err)
			assert.Empty(t, again.Of(Modified))
			assert.Equal(t, r.state == Orphaned, again.Drift(), "%+v", again.Items)
		})
	}
}

// A dry run reports the actions of a run, and exits with 0 even without actions.
func TestTableDryRun(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			dir, req := r.setUp(t)
			before, when := disked(t, dir), longAgo(t, dir)
			report, err := Generate(req, true)
			require.NoError(t, err)
			it, ok := itemAt(report, r.path)
			require.True(t, ok)
			assert.Equal(t, r.action.String(), it.Action.String())
			assert.Equal(t, before, disked(t, dir))
			assert.Equal(t, when, mtime(t, dir, DefaultLock))
		})
	}
}

// Files of an unselected target are neither judged nor changed.
func TestTableOtherTarget(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			dir, req := r.setUp(t)
			before := disked(t, dir)
			report, err := Generate(only(req, "go"), false)
			require.NoError(t, err)
			_, judged := itemAt(report, r.path)
			assert.False(t, judged, "%+v", report.Items)
			after := disked(t, dir)
			delete(before, ".dlpackgen.journal")
			if _, ok := before[r.path]; ok && strings.Contains(r.name, "journal") {
				// The lock now contains the information of the journal.
				delete(before, DefaultLock)
				delete(after, DefaultLock)
			}
			assert.Equal(t, before, after)
			full, err := Check(req)
			require.NoError(t, err)
			it, ok := itemAt(full, r.path)
			require.True(t, ok)
			assert.Equal(t, r.state.String(), it.State.String())
		})
	}
}
