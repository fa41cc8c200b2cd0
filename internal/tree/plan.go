package tree

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// plan is what a run is to do. It is a function of the want and the snapshot,
// and says everything that apply needs: nothing is decided after it.
type plan struct {
	items   []Item
	writer  Tool     // of the lock on disk
	edited  bool     // edited files that are not forced: Generate must stop
	dirs    []string // to make, parents first
	writes  []write
	deletes []string
	empty   []string // directories that may be empty afterwards, children first
	journal []byte   // nil: no file changes
	lock    []byte   // as it must be; nil: none
	relock  bool     // the lock on disk is another one
	unlog   bool     // a journal is there, or will be
	resumed bool     // a journal is there: only the lock may end it
	temps   []string // to sweep
}

// write is a file to be put in place.
type write struct {
	path string
	data []byte
	perm fs.FileMode
}

// idle tells that the directory is as the plan wants it.
func (p *plan) idle() bool {
	return p.journal == nil && !p.relock && !p.unlog && len(p.temps) == 0
}

// planner builds a plan.
type planner struct {
	*want
	*snapshot
	plan
	entries map[string]entry // of the lock to be
	gone    map[string]bool  // paths that are no longer ours; their directories may be empty
	folders map[string]bool  // of snapshot.files, once writesTo needs them
}

// makePlan decides what happens to each path.
func makePlan(w *want, s *snapshot) *plan {
	p := &planner{want: w, snapshot: s, entries: map[string]entry{}, gone: map[string]bool{}}
	p.writer = s.lock.tool
	p.keepOthers()
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		p.judge(name, s.files[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.extra)) {
		p.unlisted(name, s.extra[name])
	}
	p.records()
	p.setDirs()
	slices.SortStableFunc(p.items, func(a, b Item) int { return cmp.Compare(a.Path, b.Path) })
	return &p.plan
}

// keepOthers carries over what the targets that are not selected own.
func (p *planner) keepOthers() {
	for name, c := range p.snapshot.lock.changes {
		if !p.owns(c.target) {
			p.entries[name] = c.entry
		}
	}
}

// judge finds the row of the table for a path that the plan, the lock or the
// journal names.
func (p *planner) judge(name string, f found) {
	want, isPlanned := p.want.files[name]
	last, inLock := p.snapshot.lock.changes[name]
	if !isPlanned && !p.owns(p.ownerOf(name)) {
		p.carry(name, f)
		return
	}
	switch {
	case isPlanned && want.once:
		p.judgeOnce(want, f)
	case isPlanned:
		p.entries[name] = want.entry
		p.judgePlanned(want, f)
	case f.sum == none:
		p.gone[name] = true
	case p.knows(name, f.sum) && f.banner:
		p.remove(Item{Path: name, Target: p.ownerOf(name), State: Stale, Old: toLF(f.data)})
	case p.knows(name, f.sum):
		p.item(Item{Path: name, State: Foreign})
	case inLock:
		p.judgeEdited(last.entry, f)
	default: // the journal of a run that never got to make it
		p.unlisted(name, f.banner)
	}
}

// ownerOf gives the target that a path of the lock or journal belongs to.
func (p *planner) ownerOf(name string) string {
	if c, ok := p.snapshot.lock.changes[name]; ok {
		return c.target
	}
	return p.snapshot.journal.changes[name].target
}

func (p *planner) judgePlanned(want planned, f found) {
	it := Item{Path: want.path, Target: want.target, Old: toLF(f.data), New: want.data}
	switch {
	case f.sum == want.sum:
		p.item(Item{Path: want.path, Target: want.target})
		return
	case f.sum == none:
		it.State, it.Action = Missing, Create
		f.perm = newPerm
	case p.knows(want.path, f.sum):
		it.State, it.Action = Changed, Replace
	case p.force && !f.dir:
		it.State, it.Action = Edited, Replace
	default:
		it.State, it.Dir = Edited, f.dir
		p.edited = true
	}
	p.item(it)
	if it.Action != Keep {
		p.writes = append(p.writes, write{want.path, want.data, f.perm})
	}
}

// judgeOnce takes a file that is written where nothing stands, and is its user's from
// then on: force or a journal make no difference.
func (p *planner) judgeOnce(want planned, f found) {
	if f.sum == none || f.dir {
		p.judgePlanned(want, f)
		return
	}
	p.item(Item{Path: want.path, Target: want.target})
}

// judgeEdited takes a locked path that is no longer planned and no longer as we
// left it. Force lets it go only with our banner on it; Clean keeps it in the
// lock, so that it stays known as edited.
func (p *planner) judgeEdited(last entry, f found) {
	it := Item{Path: last.path, Target: last.target, State: Edited, Old: toLF(f.data)}
	switch {
	case p.clean:
		p.entries[last.path] = last
		p.edited = true
		p.item(it)
	case p.force && f.banner:
		p.remove(it)
	case p.force:
		p.item(Item{Path: last.path, State: Foreign})
	default:
		p.edited = true
		p.item(it)
	}
}

// carry makes the lock tell the truth about a file that a killed run was
// changing and that is not this run's business. Then the journal can go.
func (p *planner) carry(name string, f found) {
	c := p.snapshot.journal.changes[name]
	e, ok := p.entries[name]
	p.gone[name] = f.sum == none
	switch {
	case f.sum == c.sum && c.sum == none:
		delete(p.entries, name)
	case f.sum == c.sum && !f.banner: // written once, and its user's now
	case f.sum == c.sum:
		p.entries[name] = c.entry
	case f.sum == c.old && c.old != none:
		if !ok {
			e = c.entry
		}
		e.sum = c.old
		p.entries[name] = e
	}
}

func (p *planner) item(it Item) { p.items = append(p.items, it) }

func (p *planner) remove(it Item) {
	it.Action = Delete
	p.item(it)
	p.deletes = append(p.deletes, it.Path)
	p.gone[it.Path] = true
}

// unlisted takes a file that neither the plan nor the lock names. Our banner makes it a
// leftover only in a folder that we write to: elsewhere below the path of a target it is
// somebody's copy of another output, such as a vendored header or module.
func (p *planner) unlisted(name string, banner bool) {
	state := Foreign
	if banner && p.writesTo(path.Dir(name)) {
		state = Leftover
	}
	p.item(Item{Path: name, State: state})
}

// writesTo tells the folders of the files that the plan, the lock or the journal names.
func (p *planner) writesTo(dir string) bool {
	if p.folders == nil {
		p.folders = map[string]bool{}
		for name := range p.snapshot.files {
			p.folders[path.Dir(name)] = true
		}
	}
	return p.folders[dir]
}

// records plans the lock, the journal and the sweeping of temporaries.
func (p *planner) records() {
	p.plan.lock = formatLock(p.recorder(), p.entries)
	p.relock = !bytes.Equal(p.plan.lock, p.lockText)
	if p.relock {
		p.item(Item{Path: p.want.lock, State: LockDrift, Action: actionFor(p.lockText, p.plan.lock), Old: p.lockText, New: p.plan.lock})
	}
	if len(p.writes)+len(p.deletes) > 0 {
		p.plan.journal = formatJournal(p.tool, p.changes())
	}
	p.resumed = p.interrupted
	p.unlog = p.interrupted || p.plan.journal != nil
	for _, name := range p.snapshot.temps {
		p.item(Item{Path: name, State: Unfinished, Action: Delete})
	}
	if p.interrupted {
		p.item(Item{Path: p.want.journal, State: Unfinished, Action: Delete})
	}
	p.plan.temps = p.sweepings()
}

// recorder gives the tool that the lock names. Another build that makes the same files
// leaves the lock as it is, unless it is newer: the lock then keeps older ones away.
func (p *planner) recorder() Tool {
	last := p.snapshot.lock.tool
	if !p.tool.newer(last) && bytes.Equal(formatLock(last, p.entries), p.lockText) {
		return last
	}
	return p.tool
}

// sweepings gives the temporaries to remove: those that were seen, and those
// that the journal's run may have left where this run does not look.
func (p *planner) sweepings() []string {
	out := slices.Concat(p.snapshot.temps, p.snapshot.unswept)
	slices.Sort(out)
	return slices.Compact(out)
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

// changes lists, for the journal, every path whose content or entry in the lock
// is about to change. A journal that it replaces may be all that knows a file or a directory,
// so unmoved files with a new entry are listed as well, and files that are gone.
func (p *planner) changes() []change {
	acts := map[string]bool{}
	for _, w := range p.writes {
		acts[w.path] = true
	}
	for _, name := range p.deletes {
		acts[name] = true
	}
	var out []change
	for _, name := range slices.Sorted(maps.Keys(p.snapshot.files)) {
		old := cmp.Or(p.snapshot.files[name].sum, none)
		e, stays := p.entries[name]
		gone := acts[name] && !stays || p.gone[name] && old == none
		if want, isPlanned := p.want.files[name]; isPlanned && want.once {
			e = want.entry
		} else if gone {
			e = p.lastEntry(name)
			e.sum = none
		}
		if acts[name] || gone || stays && e != p.snapshot.lock.changes[name].entry {
			out = append(out, change{entry: e, old: old})
		}
	}
	return out
}

// lastEntry gives what the lock, or else the journal, says of a path.
func (p *planner) lastEntry(name string) entry {
	if c, ok := p.snapshot.lock.changes[name]; ok {
		return c.entry
	}
	return p.snapshot.journal.changes[name].entry
}

// setDirs plans the directories to make, and those that may have become empty.
func (p *planner) setDirs() {
	for dir, exists := range p.snapshot.dirs {
		if !exists {
			p.plan.dirs = append(p.plan.dirs, dir)
		}
	}
	slices.Sort(p.plan.dirs)
	empty := map[string]bool{}
	for name, gone := range p.gone {
		for _, dir := range parents(name) {
			empty[dir] = empty[dir] || gone
		}
	}
	maps.DeleteFunc(empty, func(_ string, gone bool) bool { return !gone })
	p.empty = slices.Sorted(maps.Keys(empty))
	slices.Reverse(p.empty)
}
