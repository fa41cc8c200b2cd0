package tree

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// claim is a path that this run does not touch: it is neither planned, nor checked, nor deleted
// under any spelling.
type claim struct {
	why  string // ends the sentence "the file ..."
	hint string // for a target that plans it
}

const (
	elsewhere    = "choose another path for the target"
	oneElsewhere = "choose another path for one of the targets"
)

// claim records the owner of each file, and reports conflicts.
func (r *reader) claim() error {
	r.claimOthers()
	r.claimInputs()
	out := &Error{Kind: KindConflict}
	for _, name := range slices.Sorted(maps.Keys(r.want.files)) {
		r.checkPlanned(out, name)
	}
	return out.orNil()
}

// claimOthers claims the locks and journals, and the files that they list for other configs and for
// targets that are not selected.
func (r *reader) claimOthers() {
	for name, rec := range r.siblings {
		for p := range rec.changes {
			r.theirs[r.identity.key(p)] = claim{"belongs to another config, according to " + name + "",
				elsewhere + ", or run the other config first if it no longer plans the file"}
		}
	}
	for _, name := range append(r.records, r.want.lock, r.want.journal) {
		r.theirs[r.identity.key(name)] = claim{"is a file that dlpackgen reserves", elsewhere}
	}
	for p, e := range r.entries {
		if !r.want.owns(e.target) {
			r.theirs[r.identity.key(p)] = claim{"belongs to target " + e.target + ", according to the lock",
				"run without --only"}
		}
	}
}

// claimInputs claims the inputs of this run, by their names and by the targets of links.
func (r *reader) claimInputs() {
	for _, name := range r.want.inputs {
		for _, full := range []string{name, real(name)} {
			r.theirs[r.identity.userKey(full)] = claim{"is an input of this run", elsewhere}
		}
	}
}

func (e *Error) add(pos diag.Pos, hint, format string, args ...any) {
	e.Findings = append(e.Findings, finding(e.Kind, pos, hint, format, args...))
}

// checkPlanned rejects a planned file that has another owner, or that must also be a directory.
func (r *reader) checkPlanned(out *Error, name string) {
	k, pos, target := r.identity.key(name), r.want.at(name), r.want.files[name].target
	if c, taken := r.theirs[k]; taken {
		out.add(pos, c.hint, "target %s plans this file, which %s", target, c.why)
	}
	if other, taken := r.planned[k]; taken {
		out.add(pos, oneElsewhere,
			"targets %s and %s both plan this file: %s is the same one",
			r.want.files[other].target, target, r.want.at(other).File)
	}
	r.planned[k] = name
}

// checkSide rejects a depfile or stamp that would replace another file of this run or a recorded
// file, or that is at the path of a future directory.
func (r *reader) checkSide(out *Error, s side) {
	hint := "give the " + s.what + " another name"
	for _, k := range r.sideKeys(s) {
		c, taken := r.theirs[k]
		if _, made := r.lines[k]; made || isTemp(s.name) || isTemp(filepath.Base(s.named)) {
			c, taken = claim{why: "is a file that dlpackgen generated"}, true
		}
		if name, is := r.planned[k]; is {
			c, taken = claim{why: "is planned by target " + r.want.files[name].target}, true
		}
		if taken {
			out.add(s.pos, hint, "the %s %s", s.what, c.why)
			return
		}
	}
	if below(r.want.out, s.path()) {
		out.add(s.pos, hint, "this is the output directory, or a folder above it")
	}
}

// sideKeys identifies a side file, and the link to it that the user named.
func (r *reader) sideKeys(s side) []key {
	return []key{r.identity.userKey(s.named), r.identity.userKey(s.path()), r.identity.userKey(real(s.path()))}
}

// claimSides rejects side files that conflict with others, and claims them.
func (r *reader) claimSides() error {
	out := &Error{Kind: KindConflict}
	for _, s := range r.want.sides {
		r.checkSide(out, s)
		for _, k := range r.sideKeys(s) {
			r.theirs[k] = claim{why: "and the " + s.what + " are one file"}
		}
		if name := r.want.blocks(s); name != "" {
			out.add(s.pos, "", "target %s plans %s, and this is the %s", r.want.files[name].target,
				r.want.at(name).File, s.what)
		}
	}
	return out.orNil()
}

// blocks returns a planned file whose path is above or below a side file, or "".
func (w *want) blocks(s side) string {
	own := relpath.Fold(s.inside)
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		if planned := relpath.Fold(name); own != "" && (strings.HasPrefix(planned, own+"/") || strings.HasPrefix(own,
			planned+"/")) {
			return name
		}
	}
	return ""
}

// below reports whether a system path is equal to another one, or below it.
func below(name, other string) bool {
	const sep = string(filepath.Separator)
	return strings.HasPrefix(relpath.Fold(real(name))+sep, relpath.Fold(real(other))+sep)
}
