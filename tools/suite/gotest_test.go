package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// read returns the results of a stream of events, and the printed output.
func read(t *testing.T, lines ...string) (tally, string) {
	t.Helper()
	var counted tally
	var out bytes.Buffer
	require.NoError(t, newTestReader(&out, &counted).read(strings.NewReader(strings.Join(lines, "\n"))))
	return counted, out.String()
}

func TestReadCountsLeaves(t *testing.T) {
	counted, out := read(t,
		`{"Action":"run","Package":"p","Test":"TestA"}`,
		`{"Action":"run","Package":"p","Test":"TestA/one"}`,
		`{"Action":"run","Package":"p","Test":"TestA/two"}`,
		`{"Action":"pass","Package":"p","Test":"TestA/one"}`,
		`{"Action":"pass","Package":"p","Test":"TestA/two"}`,
		`{"Action":"pass","Package":"p","Test":"TestA"}`,
		`{"Action":"run","Package":"p","Test":"TestB"}`,
		`{"Action":"pass","Package":"p","Test":"TestB"}`,
		`{"Action":"pass","Package":"p","Elapsed":1.25}`)
	assert.Equal(t, 3, counted.count(passed), "a parent is the sum of its subtests")
	assert.True(t, counted.good())
	assert.Contains(t, out, "3 passed, 0 failed, 0 skipped")
}

func TestReadFailures(t *testing.T) {
	tests := map[string]struct {
		lines []string
		name  string
		print string
	}{
		"a leaf": {[]string{
			`{"Action":"run","Package":"p","Test":"TestA"}`,
			`{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}`,
			`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: wrong\n"}`,
			`{"Action":"fail","Package":"p","Test":"TestA"}`,
			`{"Action":"fail","Package":"p"}`}, "p.TestA", "wrong"},
		"a subtest, counted once": {[]string{
			`{"Action":"run","Package":"p","Test":"TestA"}`,
			`{"Action":"run","Package":"p","Test":"TestA/one"}`,
			`{"Action":"fail","Package":"p","Test":"TestA/one"}`,
			`{"Action":"fail","Package":"p","Test":"TestA"}`,
			`{"Action":"fail","Package":"p"}`}, "p.TestA/one", ""},
		"a parent by itself": {[]string{
			`{"Action":"run","Package":"p","Test":"TestA"}`,
			`{"Action":"run","Package":"p","Test":"TestA/one"}`,
			`{"Action":"skip","Package":"p","Test":"TestA/one"}`,
			`{"Action":"fail","Package":"p","Test":"TestA"}`,
			`{"Action":"fail","Package":"p"}`}, "p.TestA", ""},
		"a crash": {[]string{
			`{"Action":"run","Package":"p","Test":"TestA"}`,
			`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: no\n"}`,
			`{"Action":"fail","Package":"p"}`}, "p while in TestA", "panic: no"},
		"a broken build": {[]string{
			`{"Action":"build-output","ImportPath":"p [p.test]","Output":"a.go:1:1: syntax error\n"}`,
			`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`}, "p", "syntax error"},
		"a timeout between tests": {[]string{
			`{"Action":"output","Package":"p","Output":"panic: test timed out\n"}`,
			`{"Action":"fail","Package":"p"}`}, "p", "timed out"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			counted, out := read(t, test.lines...)
			assert.Equal(t, 1, counted.count(failed))
			assert.False(t, counted.good())
			assert.Contains(t, out, test.print)
			assert.NotContains(t, out, "=== RUN")
			var report bytes.Buffer
			counted.report(&report)
			assert.Contains(t, report.String(), "failed:\n  "+test.name+"\n")
		})
	}
}

func TestReadSkipReasons(t *testing.T) {
	skip := func(name string, output ...string) []string {
		lines := []string{`{"Action":"run","Package":"p","Test":"` + name + `"}`}
		for _, o := range output {
			lines = append(lines, `{"Action":"output","Package":"p","Test":"`+name+`","Output":"`+o+`\n"}`)
		}
		return append(lines, `{"Action":"skip","Package":"p","Test":"`+name+`"}`)
	}
	lines := skip("TestA", "=== RUN   TestA", "    a_test.go:7: needs clang-16: apt-get install clang-16",
		"--- SKIP: TestA (0.00s)")
	lines = append(lines, skip("TestB", "    b_test.go:9: needs clang-16: apt-get install clang-16")...)
	lines = append(lines, skip("TestC", "    c_test.go:9: a reason", "        on two lines",
		"--- SKIP: TestC (0.00s)")...)
	lines = append(lines, skip("TestS", "    cmd.go:380: said by a script", "    testscript.go:609: WORK=",
		"        > exec true", "--- SKIP: TestS (0.00s)")...)
	lines = append(lines, skip("TestD", "--- SKIP: TestD (0.00s)")...)
	counted, _ := read(t, append(lines, `{"Action":"pass","Package":"p"}`)...)

	var report bytes.Buffer
	counted.report(&report)
	assert.Equal(t, strings.Join([]string{
		"skipped:",
		"  2 because: needs clang-16: apt-get install clang-16 (p.TestA and 1 more)",
		"  1 because: a reason on two lines (p.TestC)",
		"  1 because: no reason given (p.TestD)",
		"  1 because: said by a script (p.TestS)",
		"0 passed, 0 failed, 5 skipped",
		""}, "\n"), report.String())
	assert.False(t, counted.good(), "a run in which nothing passed proves nothing")
}

func TestReadPassesOnOtherLines(t *testing.T) {
	_, out := read(t, "go: downloading something", `{"Action":"pass","Package":"p"}`)
	assert.Contains(t, out, "go: downloading something")
}

func TestFuzzTargets(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b/x_test.go": "package b\n\nfunc FuzzTwo(f *testing.F) {}\n",
		"a/x_test.go": "package a\n\nfunc FuzzOne(f *testing.F) {}\nfunc (t T) FuzzMethod() {}\nconst text = `\nfunc FuzzText() {}\n`\n",
		"c/x_test.go": "package c\n\nfunc FuzzOfNoRow(f *testing.F) {}\n"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	assert.Equal(t, []fuzzTarget{{"./a", "FuzzOne"}, {"./b", "FuzzTwo"}},
		fuzzTargets(dir, []tier.Package{{Path: "b"}, {Path: "a"}}))
	assert.Contains(t, fuzzTargets("../..", rows(t)), fuzzTarget{"./internal/hosts", "FuzzDecode"})
}

func TestStepsSettle(t *testing.T) {
	tests := map[string]struct {
		step func(*suite)
		want outcome
	}{
		"a command that works":          {func(s *suite) { s.command("x", "true") }, passed},
		"a command that fails":          {func(s *suite) { s.command("x", "false") }, failed},
		"a command that does not exist": {func(s *suite) { s.command("x", "dlpackgen-no-such-command") }, failed},
		"a silent one that is silent":   {func(s *suite) { s.silent("x", "true") }, passed},
		"a silent one that speaks":      {func(s *suite) { s.silent("x", "echo", "unformatted.go") }, failed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &suite{out: &bytes.Buffer{}}
			test.step(s)
			require.Len(t, s.tally.results, 1)
			assert.Equal(t, test.want, s.tally.results[0].Outcome)
		})
	}
}

// The second step fails while the first one runs, and is reported after it.
func TestStepsBesideEachOtherAreBothReported(t *testing.T) {
	var printed bytes.Buffer
	s := &suite{out: &printed}
	begun := make(chan struct{})
	s.beside(func(s *suite) { <-begun; s.command("first", "echo", "one") }, func(s *suite) {
		close(begun)
		s.command("second", "sh", "-c", "echo two; false")
	})
	assert.Equal(t, "== echo one\none\n== sh -c echo two; false\ntwo\n", printed.String())
	assert.Equal(t, 1, s.tally.count(passed))
	assert.Equal(t, 1, s.tally.count(failed))
}

// Packages whose tests wait leave cores idle, unless more packages run than there are cores.
func TestMorePackagesAreTestedThanThereAreCores(t *testing.T) {
	programs := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(programs, "go"), []byte("#!/bin/sh\n"),
		0o700)) //nolint:gosec // a program
	t.Setenv("PATH", programs)
	for _, name := range []string{tier.Quick, tier.Test} {
		var out bytes.Buffer
		s := &suite{out: &out, tier: name}
		s.goTest()
		found := regexp.MustCompile(`^== go test .* -p=(\d+) `).FindStringSubmatch(out.String())
		require.NotNil(t, found, out.String())
		packages, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		assert.Greater(t, packages, runtime.NumCPU(), name)
	}
}

// The cache contains the same packages from another folder, which was deleted.
func TestVetReadsFilesOfCgoInThisFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("builds cgo's runtime for some seconds, and -short was given")
	}
	testtool.Require(t, "gcc", "gcc")
	t.Setenv("GOFLAGS", "-trimpath")
	t.Setenv("GOWORK", "off")
	unique := t.TempDir()
	module := func(dir string) string {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "gen"), 0o700))
		for name, text := range map[string]string{"go.mod": "module github.com/dlpackgen/dlpackgen\n\ngo 1.24\n",
			"gen/m.go": "package m // " + unique +
				"\n\n// int one(void) { return 1; }\nimport \"C\"\n\nvar One = C.one()\n"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		return dir
	}
	elsewhere := module(unique)
	testkit.RunIn(t, elsewhere, "go", "build", "./...")
	require.NoError(t, os.RemoveAll(elsewhere))
	t.Chdir(module(t.TempDir()))
	out, err := exec.Command("go", "vet", "./...").CombinedOutput()
	require.Error(t, err, "go vet no longer reads the other folder, so vet needs no flag")
	require.Contains(t, string(out), elsewhere)
	var printed bytes.Buffer
	s := &suite{out: &printed}
	s.vet()
	require.Len(t, s.tally.results, 1)
	assert.Equal(t, passed, s.tally.results[0].Outcome, printed.String())
	message, err := testkit.Vet(".", nil, "./...")
	assert.NoError(t, err, message)
}

// The end of a log alone shows why the run failed.
func TestTheReportEndsWithWhatFailedChecksPrinted(t *testing.T) {
	s := &suite{out: io.Discard}
	s.silent("gofmt", "sh", "-c", "seq 100 120")
	s.command("go vet", "dlpackgen-no-such-command")
	s.command("fine", "echo", "not shown")
	reader := newTestReader(io.Discard, &s.tally)
	require.NoError(t, reader.read(strings.NewReader(strings.Join([]string{
		`{"Action":"run","Package":"p","Test":"TestA"}`,
		`{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}`,
		`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: 1 is not 2\n"}`,
		`{"Action":"fail","Package":"p","Test":"TestA"}`, `{"Action":"fail","Package":"p"}`,
		`{"Action":"build-output","ImportPath":"q","Output":"q.go:3: undefined\n"}`,
		`{"Action":"fail","Package":"q","FailedBuild":"q"}`}, "\n"))))
	var report bytes.Buffer
	s.tally.report(&report)
	message := report.String()
	assert.True(t, strings.HasPrefix(message, "failed:\n  gofmt\n      106\n"), message)
	assert.Contains(t, message,
		"      120\n  go vet\n      exec: \"dlpackgen-no-such-command\": executable file not found")
	assert.Contains(t, message, "  p.TestA\n          a_test.go:7: 1 is not 2\n  q\n      q.go:3: undefined\n")
	assert.True(t, strings.HasSuffix(message, "\n1 passed, 4 failed, 0 skipped\n"), message)
}

// Python packages in .venv and .cache may contain Go sources of any style.
func TestGofmtLooksAtOurFilesAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	look := func() result {
		s := &suite{out: io.Discard}
		s.gofmt()
		require.Len(t, s.tally.results, 1)
		return s.tally.results[0]
	}
	write("fine.go", "package x\n")
	write(".cache/theirs.go", "package  x\n")
	assert.Equal(t, result{Name: "gofmt", Outcome: passed}, look())
	write("x/ours.go", "package  x\n")
	assert.Equal(t, result{Name: "gofmt", Outcome: failed, Message: "x/ours.go\n\n"}, look())
}

func TestGoals(t *testing.T) {
	for _, test := range []struct {
		tier             string
		packages, cached int
		took             time.Duration
		says             string
	}{
		{tier.Test, 9, 0, 901 * time.Second, "goal make-test.cold measured 901s limit 900s missed\n"},
		{tier.Test, 9, 8, 20 * time.Second, "goal make-test.warm measured 20s limit 360s met\n"},
		{tier.Quick, 9, 0, 30 * time.Second, "goal make-quick.cold measured 30s limit 30s met\n"},
		{tier.Quick, 9, 9, 6 * time.Second, "goal make-quick.cached measured 6s limit 5s missed\n"},
		{tier.Nightly, 9, 0, time.Hour, ""},
	} {
		got := goals(test.tier, &tally{packages: test.packages, cached: test.cached}, test.took)
		_, goal, _ := strings.Cut(got, "\n")
		assert.Equal(t, test.says, goal)
	}
}

func TestCachedPackagesAreCounted(t *testing.T) {
	counted, _ := read(t,
		`{"Action":"run","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p","Test":"TestA"}`,
		`{"Action":"output","Package":"p","Output":"ok  \tp\t(cached)\n"}`, `{"Action":"pass","Package":"p"}`,
		`{"Action":"run","Package":"q","Test":"TestA"}`, `{"Action":"pass","Package":"q","Test":"TestA"}`,
		`{"Action":"output","Package":"q","Output":"ok  \tq\t1s\n"}`, `{"Action":"pass","Package":"q"}`)
	assert.Equal(t, 2, counted.packages)
	assert.Equal(t, 1, counted.cached)
}

func TestTestsRunMakeAsAUserDoes(t *testing.T) {
	t.Setenv("MAKELEVEL", "1")
	t.Setenv("MAKEFLAGS", "w")
	leaveMake()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Makefile"), []byte("all: ; @echo made\n"), 0o644))
	command := exec.Command("make")
	command.Dir = folder
	message, err := command.CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "made\n", string(message), "a make within another prints the folders it enters")
}

// A failing target is reported, and so is a package that does not build.
func TestFuzzing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for fuzzing, and -short was given")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.org/m\n\ngo 1.24\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\n" +
			"func FuzzGood(f *testing.F) { f.Fuzz(func(*testing.T, int) {}) }\n" +
			"func FuzzBad(f *testing.F) { f.Fatal(\"wrong\") }\n",
		"b/b_test.go": "package b\n\nvar x int = \"\"\n"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	for target, says := range map[fuzzTarget]string{{"./a", "FuzzGood"}: "", {"./a", "FuzzBad"}: "wrong",
		{"./b", "FuzzAny"}: "cannot use"} {
		var log bytes.Buffer
		err := (&suite{fuzzTime: time.Millisecond}).fuzzOne(target, dir, &log)
		assert.Equal(t, says != "", err != nil, log.String())
		assert.Contains(t, log.String(), says)
	}
}

func TestEndedByClock(t *testing.T) {
	clock := "--- FAIL: FuzzA (11.04s)\n    context deadline exceeded\nFAIL\n"
	assert.True(t, endedByClock(clock))
	assert.False(t, endedByClock(clock+"Failing input written to testdata/fuzz/FuzzA/1\n"))
	assert.False(t, endedByClock("--- FAIL: FuzzA (0.04s)\n    a_test.go:1: wrong\n"))
}

func TestTargetsAreDividedByPackage(t *testing.T) {
	a, b, c := fuzzTarget{"./a", "FuzzOne"}, fuzzTarget{"./a", "FuzzTwo"}, fuzzTarget{"./b", "FuzzOne"}
	assert.Equal(t, [][]fuzzTarget{{a, b}, {c}}, byPackage([]fuzzTarget{a, b, c}))
	assert.Empty(t, byPackage(nil))
}
