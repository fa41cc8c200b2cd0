package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is one line of "go test -json".
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	Elapsed     float64
	ImportPath  string // of the package whose build an output belongs to
	FailedBuild string // the package whose build failed
}

// run is what is known of one test or subtest.
type run struct {
	name   string // as go test gives it
	ended  string // pass, fail, skip; "" while it runs
	output []string
	parent bool
}

// testReader turns the events of "go test -json" into results. Only leaves
// count: a test with subtests is the sum of them, unless it failed by itself.
type testReader struct {
	out    io.Writer
	tally  *tally
	runs   map[string]map[string]*run // by package and test
	builds map[string][]string        // output by ImportPath
	loose  map[string][]string        // output of a package outside its tests
}

func newTestReader(out io.Writer, t *tally) *testReader {
	return &testReader{out: out, tally: t, runs: map[string]map[string]*run{}, builds: map[string][]string{},
		loose: map[string][]string{}}
}

// read takes events until the stream ends; a line that is no event is passed on.
func (r *testReader) read(stream io.Reader) error {
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil:
			fmt.Fprintf(r.out, "%s", line)
		default:
			r.take(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *testReader) take(e event) {
	switch {
	case e.Action == "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	case e.Test != "":
		r.takeTest(e)
	case e.Action == "output":
		r.loose[e.Package] = append(r.loose[e.Package], e.Output)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		r.endPackage(e)
	}
}

func (r *testReader) takeTest(e event) {
	t := r.test(e.Package, e.Test)
	switch e.Action {
	case "output":
		t.output = append(t.output, e.Output)
	case "pass", "fail", "skip":
		t.ended = e.Action
	}
}

// test finds a test, or makes it and marks those above it as parents.
func (r *testReader) test(pkg, name string) *run {
	tests := r.runs[pkg]
	if tests == nil {
		tests = map[string]*run{}
		r.runs[pkg] = tests
	}
	if t := tests[name]; t != nil {
		return t
	}
	t := &run{name: name}
	tests[name] = t
	for i := range name {
		if above := tests[name[:i]]; name[i] == '/' && above != nil {
			above.parent = true
		}
	}
	return t
}

// endPackage settles what a package's tests came to. A package that fails
// without a failing test (it did not build, crashed or ran out of time) is
// itself the failure.
func (r *testReader) endPackage(e event) {
	results := r.results(e.Package)
	isFailed := func(x result) bool { return x.Outcome == failed }
	if e.Action == "fail" && !slices.ContainsFunc(results, isFailed) {
		results = append(results, result{Name: e.Package + r.unfinished(e.Package), Outcome: failed,
			Said: r.aside(e)})
	}
	r.tally.add(results...)
	if slices.ContainsFunc(results, isFailed) {
		r.printFailure(e)
	}
	if len(results) > 0 {
		r.countPackage(e.Package)
		t := tally{results: results}
		fmt.Fprintf(r.out, "  %-4s %s %.1fs: %d passed, %d failed, %d skipped\n", word(e.Action), short(e.Package),
			e.Elapsed,
			t.count(passed), t.count(failed), t.count(skipped))
	}
	delete(r.runs, e.Package)
	delete(r.loose, e.Package)
}

// countPackage notes whether the go command had the results of a package.
func (r *testReader) countPackage(pkg string) {
	r.tally.packages++
	if slices.ContainsFunc(r.loose[pkg], func(line string) bool { return strings.HasSuffix(line, "\t(cached)\n") }) {
		r.tally.cached++
	}
}

func (r *testReader) results(pkg string) []result {
	var out []result
	failedBelow := r.failedBelow(pkg)
	for _, t := range r.sorted(pkg) {
		name := short(pkg) + "." + t.name
		switch {
		case t.ended == "fail" && !failedBelow[t.name]:
			out = append(out, result{Name: name, Outcome: failed, Said: t.said()})
		case t.parent:
		case t.ended == "pass":
			out = append(out, result{Name: name, Outcome: passed})
		case t.ended == "skip":
			out = append(out, result{Name: name, Outcome: skipped, Reason: reason(t.output)})
		}
	}
	return out
}

// failedBelow gives the names that stand above a failing subtest.
func (r *testReader) failedBelow(pkg string) map[string]bool {
	above := map[string]bool{}
	for name, t := range r.runs[pkg] {
		for i := range name {
			if name[i] == '/' && t.ended == "fail" {
				above[name[:i]] = true
			}
		}
	}
	return above
}

func (r *testReader) sorted(pkg string) []*run {
	var all []*run
	for _, t := range r.runs[pkg] {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *run) int { return strings.Compare(a.name, b.name) })
	return all
}

// unfinished names the tests that were running when a package died.
func (r *testReader) unfinished(pkg string) string {
	var names []string
	for _, t := range r.sorted(pkg) {
		if t.ended == "" && !t.parent {
			names = append(names, t.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " while in " + strings.Join(names, ", ")
}

func (r *testReader) printFailure(e event) {
	for _, t := range r.sorted(e.Package) {
		if t.ended != "pass" && t.ended != "skip" {
			fmt.Fprint(r.out, t.said())
		}
	}
	fmt.Fprint(r.out, r.aside(e))
}

// aside is what a package printed outside its tests: its build, and a crash.
func (r *testReader) aside(e event) string {
	return strings.Join(r.builds[e.FailedBuild], "") + strings.Join(r.loose[e.Package], "")
}

// said is what a test printed, without the marks of the go command.
func (t *run) said() string {
	marked := func(line string) bool { return strings.HasPrefix(line, "=== ") }
	return strings.Join(slices.DeleteFunc(slices.Clone(t.output), marked), "")
}

// atLine is how the testing package marks the start of a log entry:
// "    x_test.go:12: ".
var atLine = regexp.MustCompile(`^\s+(\S+\.go):\d+: `)

// reason is the last thing that a test said before it skipped. A script says it
// first and then logs all that it did.
func reason(output []string) string {
	said, open := "", false
	for _, line := range output {
		at := atLine.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "--- "):
			open = false
		case at != nil:
			if open = at[1] != "testscript.go"; open {
				said = line[len(at[0]):]
			}
		case open:
			said += line
		}
	}
	if said == "" {
		return "no reason given"
	}
	return strings.Join(strings.Fields(said), " ")
}

func word(action string) string {
	if action == "pass" {
		return "ok"
	}
	return strings.ToUpper(action)
}

// short drops the module's path, which says nothing new on every line.
func short(pkg string) string {
	return strings.TrimPrefix(pkg, "github.com/dlpackgen/dlpackgen/")
}
