// Package tree writes the files of a run, and is the only package that writes outputs. It compares
// the plan with the output directory, and then reports (Check), applies (Generate) or removes
// (Clean) the difference. It does not interpret the contents of files, and prints nothing.
//
// After a run that fails or is killed between any two file operations, every file is complete, old
// or new. The next run, with any selection, repairs the rest. This does not apply to a power
// failure, because nothing is flushed to the disk.
//
// The functions may be called from several goroutines and processes concurrently: runs in one
// output directory take turns.
//
// The results of the phases are values: want, snapshot, plan. Each file implements one guarantee:
//
//   - want.go: a bad request fails before the disk is read
//   - read.go: the snapshot has all that the plan needs, and reading changes nothing
//   - claims.go: a run never writes a file of another owner, or one path twice
//   - same.go: two spellings of one file are one file
//   - defined.go: a starter file does not repeat functions that its user has
//   - plan.go: a file that was edited by hand is never replaced or deleted without force
//   - apply.go: after an error or a kill every file is complete, and the next run repairs the rest
//   - lock.go: records from a repository are read as hostile input
//   - side.go: a depfile or stamp is written last, and replaces no other file
//   - run.go, guard_unix.go, guard_windows.go: runs on one directory take turns
//   - fs.go: no operation leaves the directory, and a file is replaced in one step
//   - path.go: temporaries are found again by the path of their file
//   - fail.go: an error names the file as the user does
package tree

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// DefaultLock is the lock's name for a config with the default name.
const DefaultLock = "dlpackgen.lock"

// Target is one selected target with its files rendered.
type Target struct {
	Name       string
	Release    string // of DLPack, as the lock records it
	SpecSHA256 string // 64 hex digits
	Path       string // slashes, relative to Request.Out; "." is Out itself
	Files      []emit.File
}

// Owned is a target of the config that is not selected in this run.
type Owned struct {
	Name string
	Path string // as in Target
}

// Request is the input of a run.
type Request struct {
	Out     string // the output directory, in the system's own form; need not exist
	Lock    string // the lock's file name in Out; "" is DefaultLock
	Targets []Target
	Others  []Owned // their files are neither checked nor touched
	// the selection is narrowed even where Others is empty: the lock may know targets that the
	// config has dropped
	Only    bool
	Tool    Tool   // this build of dlpackgen, for the records
	Force   bool   // Generate: files edited by hand are replaced
	Depfile string // Generate: a file for make or ninja, relative to the current directory; "" writes none
	Stamp   string // Generate: a file that each run that succeeds writes anew, as a target for make; likewise
	// DepfileOutputs also lists the outputs in Depfile, so that a missing output makes the Stamp,
	// which is required, out of date.
	DepfileOutputs bool
	Inputs         []string        // config and spec as the user named them: Depfile lists them
	Stop           <-chan struct{} // closed: a run that has not changed a file ends; nil never is
	Binary         string          // the path of this program, which Depfile lists too; "" if it is temporary
}

// State is the state of a path, compared with the plan.
type State int

// The states, as in the table of docs/cli.md.
const (
	Unchanged    State = iota // as planned
	Missing                   // planned, and absent
	Outdated                  // as the lock or journal records it; the plan differs
	Obsolete                  // as the lock or journal records it, with our banner; no longer planned
	Modified                  // at a planned or locked path, and not as we left it
	Orphaned                  // not planned, not in the lock, with our banner
	Untracked                 // not planned and not provably ours: a note, never a finding
	LockOutdated              // the lock itself is missing or outdated
	Interrupted               // a journal or a temporary of a failed or killed run
)

// String returns the word for the state in check's findings and codes.
func (s State) String() string {
	return [...]string{"unchanged", "missing", "outdated", "obsolete", "modified", "orphaned", "untracked",
		"lock-outdated",
		"interrupted"}[s]
}

// Action is the action of Generate or Clean for a path.
type Action int

// The actions.
const (
	Keep Action = iota
	Create
	Replace
	Delete
)

// String returns the action as a past participle.
func (a Action) String() string {
	return [...]string{"kept", "created", "replaced", "deleted"}[a]
}

// Item is the result for one path: its state, and the action of Generate or Clean. For Check, this
// is the action that Generate would take.
type Item struct {
	Path   string // slashes, relative to Request.Out
	Target string // plans or owned it; "" for none
	State  State
	Action Action
	Dir    bool // a Modified planned path is a directory, which Force does not replace
	// Instead describes what a Modified path contains in place of a file, such as a symbolic link.
	Instead string
	// Foreign: neither a lock nor a banner indicates that a Modified file was generated.
	Foreign bool
	Why     string // Verify: the expected and the actual content, if the state does not determine it
	Note    bool   // Verify: no lock lists it, and none should
	// Old and New are the content on disk, with CRLF as LF, and the planned content, for diffs.
	// They are nil if there is no regular file, or one larger than 64 MiB, and for an unchanged
	// file. They are shared: do not write to them.
	Old, New []byte
}

// Report contains the results of a run, by path.
type Report struct {
	Items  []Item
	Writer Tool // of the existing lock; zero if there was none
}

// Of returns the items in that state.
func (r *Report) Of(s State) []Item {
	var out []Item
	for _, it := range r.Items {
		if it.State == s {
			out = append(out, it)
		}
	}
	return out
}

// Kind is the reason of an Error.
type Kind int

// The kinds of Error. All but KindModified mean that the run could not be done.
const (
	KindIO       Kind = iota // the system could not read or write
	KindRequest              // the request itself is wrong
	KindEscape               // a path leads out of the output directory
	KindConflict             // two owners of one path, or something in the way
	KindInvalid              // the lock or the journal cannot be read
	KindNewer                // a newer tool wrote the lock
	KindBusy                 // another run held the directory for too long
	KindModified             // files were edited by hand
	KindStopped              // Request.Stop was closed, and nothing is changed
)

// String returns the code that findings of this kind carry.
func (k Kind) String() string {
	return [...]string{"io", "usage", "path-escape", "path-conflict", "invalid-lock", "newer-lock", "busy", "modified",
		"interrupted"}[k]
}

// Error is the reason why a run stopped. Nothing was written, except after an I/O error during
// writing.
type Error struct {
	Kind     Kind
	Findings []diag.Diagnostic // at least one; files are named as seen from the current directory
	Err      error             // the cause, if there is one
	Left     bool              // something is left that the next run completes or undoes
}

// Error returns the findings without their hints.
func (e *Error) Error() string {
	var parts []string
	for _, d := range e.Findings {
		text := d.Text
		if pos := d.Pos.String(); pos != "" {
			text = pos + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode returns 1 if files were edited, and 2 if the run was not possible.
func (e *Error) ExitCode() int {
	if e.Kind == KindModified {
		return 1
	}
	return 2
}

// Check reports how the output directory differs from the plan. It writes nothing, and waits while
// a Generate in the directory is running. The error, if any, is an *Error, but never of
// KindModified, because edited files are part of the report.
func Check(req Request) (*Report, error) { return system().check(req) }

// Generate brings the output directory up to date. With dryRun, it only reports the actions. Files
// that are up to date are not touched. If files were edited by hand and Force is not set, or a
// directory is in the way, nothing is written. The error is then of KindModified (nil in a dry
// run), and the report is returned too.
func Generate(req Request, dryRun bool) (*Report, error) { return system().generate(req, dryRun) }

// Clean removes the unmodified files of the selected targets that the lock lists and that have our
// banner, and directories that become empty. With dryRun, it only reports the actions. It ignores
// Target.Files and Force. Edited files are kept and stay in the lock. They cause an error of
// KindModified (nil in a dry run) after the others are removed.
func Clean(req Request, dryRun bool) (*Report, error) { return system().clean(req, dryRun) }
