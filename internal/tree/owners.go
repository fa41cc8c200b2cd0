package tree

import (
	"iter"
	"maps"
	"slices"
)

// What a reader decides before it looks at files: which paths are one file, and whose each is.

// checkPlanned refuses plans in which one file has two names, as only the disk can tell: a
// directory on the way may be a link to another one.
func (r *reader) checkPlanned() error {
	out := &Error{Kind: KindConflict}
	names := map[place]string{}
	for _, p := range slices.Sorted(maps.Keys(r.want.files)) {
		at := r.identity.place(p)
		at.rest = fold(at.rest)
		if other, taken := names[at]; taken {
			out.Findings = append(out.Findings, finding(KindConflict, r.want.at(p), "give one of the targets another path",
				"targets %s and %s both plan this file: %s is the same one", r.want.files[other].target, r.want.files[p].target, r.want.at(other).File))
		}
		names[at] = p
	}
	for _, p := range slices.Sorted(maps.Keys(r.want.apart)) {
		at := r.identity.place(p)
		at.rest = fold(at.rest)
		if other, taken := names[at]; taken {
			out.Findings = append(out.Findings, finding(KindConflict, r.want.at(p), "give the target another path",
				"target %s plans this file, which is %s", r.want.files[other].target, r.want.apart[p]))
		}
	}
	if err := r.checkSides(); err != nil {
		return err
	}
	return out.orNil()
}

// checkSides refuses a depfile or stamp that would replace a file which a lock lists, or a lock.
func (r *reader) checkSides() error {
	taken := r.identity.index()
	for _, names := range []iter.Seq[string]{maps.Keys(r.lock.changes), maps.Keys(r.siblings), maps.Keys(r.records)} {
		for p := range names {
			taken.add(p)
		}
	}
	for p, what := range r.want.apart {
		if _, is := taken.find(p); is && what != anInput {
			return fail(KindConflict, r.want.at(p), "give "+what+" another name", "%s would replace a file that dlpackgen made", what)
		}
	}
	return nil
}

// unify gives each path of the records the spelling of the plan where both are one file. A path
// that is one file with another that must stay is dropped: deleting it would delete the other.
func (r *reader) unify() error {
	plan, stays := r.identity.index(), r.identity.index()
	for _, p := range slices.Sorted(maps.Keys(r.want.files)) {
		plan.add(p)
	}
	for _, p := range r.staying() {
		stays.add(p)
	}
	for _, rec := range []record{r.lock, r.journal} {
		for _, p := range slices.Sorted(maps.Keys(rec.changes)) {
			if _, isPlanned := r.want.files[p]; isPlanned {
				continue
			}
			if other, same := plan.find(p); same {
				rec.rename(p, other)
			} else if _, same := stays.find(p); same && r.want.owns(rec.changes[p].target) {
				delete(rec.changes, p)
			}
		}
	}
	return nil
}

// staying returns the paths, other than the planned ones, that no run may delete.
func (r *reader) staying() []string {
	out := slices.Concat(slices.Collect(maps.Keys(r.siblings)), slices.Collect(maps.Keys(r.records)), slices.Collect(maps.Keys(r.want.apart)))
	for p, c := range r.lock.changes {
		if !r.want.owns(c.target) {
			out = append(out, p)
		}
	}
	return out
}

// checkOwners refuses planned files that belong to somebody else.
func (r *reader) checkOwners() error {
	out := &Error{Kind: KindConflict}
	theirs := r.identity.index()
	for p := range r.siblings {
		theirs.add(p)
	}
	for _, p := range slices.Sorted(maps.Keys(r.want.files)) {
		if other, ok := theirs.find(p); ok {
			lock := r.siblings[other]
			out.Findings = append(out.Findings, finding(KindConflict, r.want.at(p),
				"give the target another path, or run the other config first if it no longer plans the file",
				"%s says that this file belongs to another config", lock))
			continue
		}
		if e, ok := r.lock.changes[p]; ok && !r.want.owns(e.target) {
			out.Findings = append(out.Findings, finding(KindConflict, r.want.at(p), "run without --only",
				"target %s plans this file, but the lock says that it belongs to %s", r.want.files[p].target, e.target))
		}
	}
	return out.orNil()
}
