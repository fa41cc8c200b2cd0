package tree

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/order"
)

// plan contains the changes of a run. It depends only on the want and the snapshot, and contains
// everything that apply needs: no decision is made later.
type plan struct {
	items   []Item
	edited  bool // edited files that are not forced: Generate must stop
	writes  []write
	deletes []string
	empty   []string // directories that may be empty afterwards, children first
	onDisk  []byte   // the lock on disk; nil: none
	healed  []byte   // the lock according to a killed run's journal, before another journal replaces it
	journal []byte   // nil: no file changes
	lock    []byte   // as it must be
	unlog   bool     // a journal is there, or will be
	temps   []string // to sweep
}

// write is a file to write.
type write struct {
	path string
	data []byte
	perm fs.FileMode
}

// idle reports whether the directory is up to date.
func (p *plan) idle() bool { return bytes.Equal(p.lock, p.onDisk) && !p.unlog && len(p.temps) == 0 }

// planner builds a plan.
type planner struct {
	*want
	*snapshot
	plan
	next    map[string]entry // the lock to be
	changes []change         // the journal to be
	gone    map[string]bool  // directories that lose a file
	folders map[string]bool  // that we write to
}

// makePlan determines the action for each path.
func makePlan(w *want, s *snapshot) *plan {
	p := &planner{want: w, snapshot: s, next: map[string]entry{}, gone: map[string]bool{}, folders: map[string]bool{}}
	for name, e := range s.entries {
		if !p.owns(e.target) {
			p.next[name] = e // another target's stays
		}
	}
	for name, f := range s.files {
		p.folders[path.Dir(name)] = true
		if _, logged := s.journal.changes[name]; logged && f.sum == none {
			p.lost(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.want.files)) {
		p.judgePlanned(p.want.files[name], s.files[name])
	}
	for k, name := range s.lines {
		if _, isPlanned := s.planned[k]; !isPlanned {
			p.judgeListed(s.entries[name], s.files[name])
		}
	}
	for name, banner := range s.extra {
		if !s.starters[name] {
			p.judgeExtra(name, banner)
		}
	}
	p.records()
	order.By(p.items, func(it Item) string { return it.Path })
	return &p.plan
}

func (p *planner) item(it Item) { p.items = append(p.items, it) }

// lost records the directories that may be empty without a file.
func (p *planner) lost(name string) {
	for _, dir := range parents(name) {
		p.gone[dir] = true
	}
}

// judgePlanned determines the state of a planned path.
func (p *planner) judgePlanned(want planned, f found) {
	it := Item{Path: want.path, Target: want.target, Old: toLF(f.data), New: want.data}
	// A starter file is written if the path is free, and then belongs to the user.
	stands := want.once && f.sum != none && !f.dir || p.defined[want.path]
	if !want.once {
		p.next[want.path] = want.entry
	}
	switch {
	case stands || f.sum == want.sum:
		it.Old, it.New = nil, nil
	case f.sum == none:
		it.State, it.Action = Missing, Create
		f.perm = newPerm
	case f.sum != "" && f.sum == p.entries[want.path].sum:
		it.State, it.Action = Outdated, Replace
	case p.force && !f.dir:
		it.State, it.Action, it.Instead = Modified, Replace, f.instead
	default:
		it.State, it.Dir, it.Instead = Modified, f.dir, f.instead
		p.edited = true
	}
	if _, listed := p.entries[want.path]; it.State == Modified {
		it.Foreign = !listed && !f.banner && !f.dir
	}
	p.item(it)
	if it.Action != Keep {
		p.write(want, f)
	}
}

// write plans a file, and its line of the journal. A starter file is never ours, not even in a
// journal: its line states that there was no file and will be none.
func (p *planner) write(want planned, f found) {
	p.writes = append(p.writes, write{want.path, want.data, f.perm})
	e := want.entry
	if want.once {
		e.sum = none
	}
	p.changes = append(p.changes, change{entry: e, old: cmp.Or(f.sum, none)})
}

// judgeListed determines the state of a path in the lock that is no longer planned. With force, an
// edited file is removed from the lock, and deleted if it has our banner. Clean keeps it in the
// lock, so that it is still reported as edited.
func (p *planner) judgeListed(last entry, f found) {
	it := Item{Path: last.path, Target: last.target, State: Modified, Dir: f.dir, Instead: f.instead,
		Old: toLF(f.data)}
	known := f.sum != "" && f.sum == last.sum
	if known {
		it.State = Obsolete
	}
	switch {
	case f.sum == none:
		p.lost(last.path)
	case f.banner && (known || p.force && !p.clean):
		it.Action = Delete
		p.item(it)
		p.deletes = append(p.deletes, last.path)
		p.lost(last.path)
		last.sum = none
		p.changes = append(p.changes, change{entry: last, old: f.sum})
	case known || p.force && !p.clean:
		p.item(Item{Path: last.path, State: Untracked})
	default:
		if p.clean {
			p.next[last.path] = last
		}
		p.edited = true
		p.item(it)
	}
}

// judgeExtra determines the state of a file that neither the plan nor the lock lists. With our
// banner, it is an orphan only in a folder that we write to. Elsewhere below the path of a target,
// it is a user's copy of another output, such as a vendored header or module.
func (p *planner) judgeExtra(name string, banner bool) {
	it := Item{Path: name, State: Untracked}
	if banner && p.folders[path.Dir(name)] {
		it.State = Orphaned
	}
	p.item(it)
}

// records plans the lock, the journal, and the removal of the remains of killed runs.
func (p *planner) records() {
	p.plan.lock = formatLock(p.recorder(), p.next)
	p.onDisk, p.healed = p.lockText, p.lockText
	if !bytes.Equal(p.plan.lock, p.lockText) {
		p.item(Item{Path: p.want.lock, State: LockOutdated, Action: actionFor(p.lockText, p.plan.lock), Old: p.lockText,
			New: p.plan.lock})
	}
	if len(p.changes) > 0 {
		order.By(p.changes, func(c change) string { return c.path })
		p.plan.journal = formatJournal(p.tool, p.changes)
	}
	p.unlog = p.interrupted || p.plan.journal != nil
	if p.interrupted {
		p.healed = formatLock(p.tool, p.entries)
		p.item(Item{Path: p.want.journal, State: Interrupted, Action: Delete})
	}
	for _, name := range p.snapshot.temps {
		p.item(Item{Path: name, State: Interrupted, Action: Delete})
	}
	p.plan.temps = slices.Clone(p.snapshot.temps)
	for name := range p.snapshot.journal.changes { // seen or not
		p.plan.temps = append(p.plan.temps, tempName(name))
	}
	p.empty = slices.Sorted(maps.Keys(p.gone))
	slices.Reverse(p.empty)
}

// recorder returns the build to write to the lock. A different build that generates the same files
// does not change the lock, unless it is newer: the lock then rejects older versions.
func (p *planner) recorder() Tool {
	if !p.tool.newer(p.writer) && bytes.Equal(formatLock(p.writer, p.next), p.lockText) {
		return p.writer
	}
	return p.tool
}

func actionFor(old, new []byte) Action {
	switch {
	case old == nil:
		return Create
	case new == nil:
		return Delete
	}
	return Replace
}
