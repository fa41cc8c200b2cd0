package tree

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plans are the plans of successive versions of a tool and its spec: files appear, change, remain
// and disappear, with their directories. Keys are paths from out.
var plans = []map[string]string{
	1: {
		"gen/c/dlpack/a.h": ours("a"), "gen/c/dlpack/b.h": ours("b"), "gen/c/old/stale.h": ours("stale"),
		"gen/go/x.go": ours("x"), "gen/go/y.go": ours("y"), "gen/go/same.go": ours("same"),
	},
	2: {
		"gen/c/dlpack/a.h": ours("a"), "gen/c/dlpack/b.h": ours("b two"), "gen/c/new/n.h": ours("n"),
		"gen/go/x.go": ours("x two"), "gen/go/z.go": ours("z"), "gen/go/same.go": ours("same"),
	},
	3: {
		"gen/c/dlpack/a.h": ours("a three"), "gen/c/dlpack/b.h": ours("b three"), "gen/c/new/n.h": ours("n three"),
		"gen/go/x.go": ours("x three"), "gen/go/y.go": ours("y three"), "gen/go/z.go": ours("z three"),
	},
}

// requested returns the request for a plan; 0 is a plan without files.
func requested(dir string, number int) Request {
	parts := map[string]map[string]string{"c": {}, "go": {}}
	for p, data := range plans[number] {
		name, rest, _ := strings.Cut(strings.TrimPrefix(p, "gen/"), "/")
		parts[name][rest] = data
	}
	req := request(dir, target("c", "gen/c", parts["c"]), target("go", "gen/go", parts["go"]))
	for i := range req.Targets {
		// Each plan has a different spec, and therefore different entries in the lock.
		req.Targets[i].SpecSHA256 = strings.Repeat(fmt.Sprint(number), 64)
	}
	return req
}

// scenario is a run with failures: from one plan to another, for some targets only, or as Clean.
type scenario struct {
	name     string
	from, to int // 0: empty
	only     string
	run      func(w world, req Request) (*Report, error)
	want     map[string]string // the result of a run without failures
}

func runGenerate(w world, req Request) (*Report, error) { return w.generate(req, false) }
func runClean(w world, req Request) (*Report, error)    { return w.clean(req, false) }

func scenarios() []scenario {
	half := map[string]string{}
	for p, data := range plans[1] {
		if strings.HasPrefix(p, "gen/go/") {
			half[p] = data
		}
	}
	for p, data := range plans[2] {
		if strings.HasPrefix(p, "gen/c/") {
			half[p] = data
		}
	}
	return []scenario{
		{name: "first", from: 0, to: 2, run: runGenerate, want: plans[2]},
		{name: "update", from: 1, to: 2, run: runGenerate, want: plans[2]},
		{name: "narrowed", from: 1, to: 2, only: "c", run: runGenerate, want: half},
		{name: "clean", from: 1, to: 1, run: runClean, want: nil},
	}
}

const noteFile = "gen/c/notes.txt"

// start creates the initial tree of the scenario, and the request that fails.
func (s scenario) start(t *testing.T) (dir string, req Request) {
	t.Helper()
	dir = filepath.Join(fastDir(t), "deep", "out")
	if s.from != 0 {
		setContent(t, dir, noteFile, "mine")
		generated(t, requested(dir, s.from))
	}
	req = requested(dir, s.to)
	outside := filepath.Dir(filepath.Dir(dir))
	req.Inputs, req.Depfile = []string{"dlpackgen.yaml"}, filepath.Join(outside, "x.d")
	req.Stamp, req.Binary = filepath.Join(outside, "x.stamp"), filepath.Join(outside, "dlpackgen")
	if s.only != "" {
		req = only(req, s.only)
	}
	return dir, req
}

// bed is a tree in which runs fail. It is recreated only after a run that changed it: most failures
// are reads, which do not.
type bed struct {
	make  func() (dir string, req Request)
	dir   string
	req   Request
	whole string // the initial state, and the state of the folders above it
	stale bool
}

func (b *bed) ready(t *testing.T) (dir string, req Request) {
	t.Helper()
	if b.dir == "" || b.stale {
		b.dir, b.req = b.make()
		b.whole = ""
		b.left(t)
	}
	return b.dir, b.req
}

// state is all that a run can find: files, and empty directories.
type state struct {
	files map[string]string
	empty []string
}

func (s state) String() string { return fmt.Sprint(s.files, s.empty) }

// left returns the output directory after a run.
func (b *bed) left(t *testing.T) state {
	t.Helper()
	files, empty := walked(t, filepath.Dir(filepath.Dir(b.dir)))
	now := fmt.Sprint(files, empty)
	b.whole, b.stale = cmp.Or(b.whole, now), b.whole != "" && b.whole != now
	in := state{files: map[string]string{}}
	for name, data := range files {
		if inside, ok := strings.CutPrefix(name, "deep/out/"); ok {
			in.files[inside] = data
		}
	}
	for _, name := range empty {
		if inside, ok := strings.CutPrefix(name, "/deep/out/"); ok {
			in.empty = append(in.empty, inside)
		}
	}
	return in
}

// copied creates a directory with that state for the healing runs, which is cheaper than repeating
// the failure.
func (s state) copied(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(fastDir(t), "deep", "out")
	writeAll(t, dir, s.files)
	for _, name := range s.empty {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	return dir
}

// failure is one way in which one operation fails. Errors that this package does not distinguish
// take turns.
type failure struct {
	name string
	mode mode
	errs []error
}

var (
	broken = []error{syscall.ENOSPC, syscall.EROFS, syscall.EIO}
	denied = []error{syscall.EACCES}
)

var failures = []failure{
	{"once", reject, broken}, {"from then on", rejectOn, broken}, {"after it", lie, broken},
	{"EACCES", reject, denied}, {"EACCES from then on", rejectOn, denied},
	{"kill before", killOn, nil}, {"kill after", killPast, nil},
}

// at returns the injector for an operation.
func (f failure) at(n int) injector {
	in := injector{at: n, mode: f.mode}
	if len(f.errs) > 0 {
		in.err = f.errs[n%len(f.errs)]
	}
	return in
}

// TestFaults makes each file operation of each scenario fail in each way. Every file must have its
// old or its new contents, and the next run must heal the rest.
func TestFaults(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 16
	}
	for _, s := range scenarios() {
		healed := map[string]bool{}
		for _, f := range failures {
			t.Run(s.name+"/"+f.name, func(t *testing.T) {
				b, n := &bed{make: func() (string, Request) { return s.start(t) }}, 1
				for s.failAndHeal(t, b, f.at(n), healed) >= n {
					n += step
				}
				assert.Greater(t, n, 15, "the injector has missed the run")
			})
		}
	}
}

// failAndHeal runs the scenario with a failure, and then each healing run. A state that was healed
// before is skipped, because most failures leave one of a few states.
func (s scenario) failAndHeal(t *testing.T, b *bed, in injector, healed map[string]bool) (ops int) {
	t.Helper()
	dir, req := b.ready(t)
	before := b.left(t).files
	_, err := s.run(in.world(), req)
	at := fmt.Sprintf("operation %d of %s", in.at, s.name)
	after := b.left(t)
	s.requireWhole(t, before, after.files, at)
	if err == nil {
		requireExactly(t, dir, s.want, at)
	} else if in.mode == reject {
		requireNoTemps(t, dir, at)
		requireUndone(t, dir, before, at)
	}
	if healed[after.String()] {
		return in.n
	}
	healed[after.String()] = true
	for _, h := range heals {
		dir, at := after.copied(t), at+", then "+h.name
		h.heal(t, dir, at)
		if err != nil { // a rejected rmdir is not a failure
			requireNoEmptyDirs(t, dir, at)
		}
	}
	return in.n
}

// requireWhole accepts each file with its old or its new contents, and no other files.
func (s scenario) requireWhole(t *testing.T, before, after map[string]string, at string) {
	t.Helper()
	for p, data := range after {
		old, was := before[p]
		now, will := s.want[p]
		known := was && data == old || will && data == now || isTemp(p) || p == ".dlpackgen.journal" ||
			p == DefaultLock && s.isNewLock(data)
		require.True(t, known, "%s: %s is neither old nor new:\n%s", at, p, data)
	}
	for p := range before {
		_, still := after[p]
		_, stays := s.want[p]
		mayGo := !stays && p != noteFile
		require.True(t, still || mayGo, "%s: %s is gone", at, p)
	}
}

func (s scenario) isNewLock(data string) bool {
	rec, err := parse(lockMark, DefaultLock, []byte(data))
	for p, c := range rec.changes {
		if c.sum != sum([]byte(s.want[p])) {
			return false
		}
	}
	return err == nil && len(rec.changes) == len(s.want)
}

func requireNoTemps(t *testing.T, dir, at string) {
	t.Helper()
	for p := range disked(t, dir) {
		require.False(t, isTemp(p), "%s: %s is left", at, p)
	}
}

// requireUndone checks that a run that fails before the first change removes all that it created,
// including directories. For other runs, the journal lists the changes.
func requireUndone(t *testing.T, dir string, before map[string]string, at string) {
	t.Helper()
	after := disked(t, dir)
	if _, journal := after[".dlpackgen.journal"]; journal || after[DefaultLock] != before[DefaultLock] {
		return
	}
	require.Equal(t, before, after, at)
	if len(before) == 0 {
		require.NoDirExists(t, filepath.Dir(dir), at)
	}
	require.NoDirExists(t, filepath.Join(dir, "gen", "c", "new"), at)
}

// A disk that is full while temporary files are written changes and deletes no file. The journal
// lists temporary files that cannot be removed.
func TestJournalStaysForTemporaries(t *testing.T) {
	s := scenarios()[1]
	dir, req := s.start(t)
	before := disked(t, dir)
	w := system()
	w.open = func(dir string) (disk, error) {
		d, err := openDisk(dir)
		return stuckDisk{d}, err
	}
	_, err := s.run(w, req)
	requireKind(t, err, KindIO)
	assert.Subset(t, disked(t, dir), before)
	assert.Contains(t, disked(t, dir), ".dlpackgen.journal")
	assert.Contains(t, disked(t, dir), tempName("gen/c/dlpack/b.h"))
	heals[0].heal(t, dir, "after it")
}

// requireExactly checks for exactly the files, the user's note and the lock.
func requireExactly(t *testing.T, dir string, files map[string]string, at string) {
	t.Helper()
	after := disked(t, dir)
	if len(files) > 0 {
		require.Contains(t, after, DefaultLock, at)
		delete(after, DefaultLock)
	}
	delete(after, noteFile)
	want := map[string]string{}
	maps.Copy(want, files)
	require.Equal(t, want, after, at)
}

// heal is a possible sequence after a failed run; it ends with a plan that is carried out.
type heal struct {
	name string
	runs []func(dir string) Request
	end  int
}

func full(number int) func(dir string) Request {
	return func(dir string) Request { return requested(dir, number) }
}

func part(number int, name string) func(dir string) Request {
	return func(dir string) Request { return only(requested(dir, number), name) }
}

// Between the failure and the full run, a run has a different selection and spec: only the lock and
// the journal then identify the generated files.
var heals = []heal{
	{"the same run", []func(string) Request{full(2)}, 2},
	{"a run for c", []func(string) Request{part(2, "c"), full(2)}, 2},
	{"a run for go", []func(string) Request{part(2, "go"), full(2)}, 2},
	{"a new spec", []func(string) Request{full(3)}, 3},
	{"a new spec for c", []func(string) Request{part(3, "c"), full(3)}, 3},
	{"a new spec for go", []func(string) Request{part(3, "go"), full(3)}, 3},
	{"the old spec", []func(string) Request{full(1)}, 1},
	{"clean", []func(string) Request{full(0)}, 0},
}

func (h heal) heal(t *testing.T, dir, at string) {
	t.Helper()
	for _, req := range h.runs {
		run := Generate
		if h.end == 0 {
			run = Clean
		}
		_, err := run(req(dir), false)
		require.NoError(t, err, at)
		requireNoTemps(t, dir, at)
		require.NotContains(t, disked(t, dir), ".dlpackgen.journal", at)
	}
	requireExactly(t, dir, plans[h.end], at)
	requireFine(t, requested(dir, h.end))
}

func requireNoEmptyDirs(t *testing.T, dir, at string) {
	t.Helper()
	_, empty := walked(t, dir)
	require.Empty(t, empty, at)
}

// TestFaultsTwice kills a run, and then also fails the run that would heal it, with a different
// selection and spec. The information in the first journal must not be lost.
func TestFaultsTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds; TestFaults fails each operation once")
	}
	for _, second := range []failure{{"kill", killPast, nil}, {"EIO", reject, broken}} {
		for _, number := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s on the way to plan %d", second.name, number), func(t *testing.T) {
				trees, healed := map[string]bool{}, map[string]bool{}
				for i := 1; killedTwice(t, i, number, second, trees, healed); i++ {
				}
				assert.Greater(t, len(trees), 15, "the injector has missed the runs")
				assert.Greater(t, len(healed), 15, "the injector has missed the runs")
			})
		}
	}
}

// killedTwice kills the first run at one operation, and then fails the second run at each of its
// operations. It reports whether the first run was killed. A state that occurred before is skipped.
func killedTwice(t *testing.T, i, number int, second failure, trees, healed map[string]bool) bool {
	t.Helper()
	s, first := scenarios()[1], injector{at: i, mode: killPast}
	b := &bed{make: func() (string, Request) { return s.start(t) }}
	_, req := b.ready(t)
	_, _ = s.run(first.world(), req)
	killed := b.left(t)
	if first.n < i || trees[killed.String()] {
		return first.n >= i
	}
	trees[killed.String()] = true
	b = &bed{make: func() (string, Request) {
		dir := killed.copied(t)
		return dir, only(requested(dir, number), "c")
	}}
	for n := 1; b.failAgain(t, second.at(n), i, number, healed) >= n; n++ {
	}
	return true
}

// failAgain fails the second run at one operation, and heals the result of both.
func (b *bed) failAgain(t *testing.T, in injector, i, number int, healed map[string]bool) (ops int) {
	t.Helper()
	_, req := b.ready(t)
	_, err := in.world().generate(req, false)
	after := b.left(t)
	if healed[after.String()] {
		return in.n
	}
	healed[after.String()] = true
	dir, at := after.copied(t), fmt.Sprintf("operation %d, then operation %d", i, in.at)
	heal{runs: []func(string) Request{full(number)}, end: number}.heal(t, dir, at)
	if err != nil { // a rejected rmdir is not a failure
		requireNoEmptyDirs(t, dir, at)
	}
	return in.n
}
