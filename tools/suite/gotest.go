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
	ImportPath  string // of the package whose build printed the output
	FailedBuild string // the package whose build failed
}

// run is the state of one test or subtest.
type run struct {
	name   string // as go test reports it
	ended  string // pass, fail, skip; "" while it runs
	output []string
	parent bool
}

// testReader converts the events of "go test -json" to results. Only leaves count: a test with
// subtests is their sum, unless it failed by itself.
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

// read processes events until the stream ends; lines that are not events are printed.
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

// test returns a test, or creates it and marks its ancestors as parents.
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

// endPackage determines the result of a package's tests. A package that fails without a failing
// test (it did not build, crashed or timed out) is itself the failure.
func (r *testReader) endPackage(e event) {
	results := r.results(e.Package)
	isFailed := func(x result) bool { return x.Outcome == failed }
	if e.Action == "fail" && !slices.ContainsFunc(results, isFailed) {
		results = append(results, result{Name: e.Package + r.unfinished(e.Package), Outcome: failed,
			Message: r.aside(e)})
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

// countPackage records whether the go command had cached the results of a package.
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
			out = append(out, result{Name: name, Outcome: failed, Message: t.message()})
		case t.parent:
		case t.ended == "pass":
			out = append(out, result{Name: name, Outcome: passed})
		case t.ended == "skip":
			out = append(out, result{Name: name, Outcome: skipped, Reason: reason(t.output)})
		}
	}
	return out
}

// failedBelow returns the ancestors of a failing subtest.
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

// unfinished returns the tests that were running when a package crashed.
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
			fmt.Fprint(r.out, t.message())
		}
	}
	fmt.Fprint(r.out, r.aside(e))
}

// aside is a package's output outside its tests: its build, and a crash.
func (r *testReader) aside(e event) string {
	return strings.Join(r.builds[e.FailedBuild], "") + strings.Join(r.loose[e.Package], "")
}

// message is the output of a test, without the go command's marks.
func (t *run) message() string {
	marked := func(line string) bool { return strings.HasPrefix(line, "=== ") }
	return strings.Join(slices.DeleteFunc(slices.Clone(t.output), marked), "")
}

// atLine matches the beginning of a log entry of package testing: " x_test.go:12: ".
var atLine = regexp.MustCompile(`^\s+(\S+\.go):\d+: `)

// reason returns the last message of a test before its skip. A script prints it first, followed by
// its log.
func reason(output []string) string {
	message, open := "", false
	for _, line := range output {
		at := atLine.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "--- "):
			open = false
		case at != nil:
			if open = at[1] != "testscript.go"; open {
				message = line[len(at[0]):]
			}
		case open:
			message += line
		}
	}
	if message == "" {
		return "no reason given"
	}
	return strings.Join(strings.Fields(message), " ")
}

func word(action string) string {
	if action == "pass" {
		return "ok"
	}
	return strings.ToUpper(action)
}

// short removes the module's path, which is the same on every line.
func short(pkg string) string {
	return strings.TrimPrefix(pkg, "github.com/dlpackgen/dlpackgen/")
}
