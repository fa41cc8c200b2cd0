package lint

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// A limit on elapsed time fails a test under load, and so does an order that sleeping establishes.
// The patterns are written so that they do not match themselves.
var (
	clockLimit = compile(`\btime\.A[f]ter\(|\bE[v]entually(?:f|WithT)?\(|\bWith(?:T[i]meout|Deadline)\(|` +
		`\ba[l]arm\(|"t[i]meout"|\.w[a]it\([1-9]|\btimeout=[1-9]|\btimeout [0-9]|-timeout=[1-9]|` +
		// Sleeping, but not yielding, and the clock.
		`\b(?:time\.s|time\.S|chromedp\.S|nanos|us)l[e]ep\((?:[^0]|0\.)|\bs[l]eep_(?:for|until)\(|^\s*s[l]eep [0-9]|` +
		`\btime\.m[o]notonic\b|\bp[e]rf_counter\b|\bC[L]OCK_MONOTONIC\b|\btime\.S[i]nce\(|` +
		// Waiting for a number of rounds or of milliseconds, and comparing with one.
		`< [0-9]+[^;]*; \w+\+\+\) (?:d[o]ze|r[e]st|n[a]p)\(|` +
		`\bp[o]ll\([^;]*, [^-0][^,;]*\)|\bLess\w*\(.*, [^,()]*\btime\.\w*[Ss]e[c]ond(?:, ".*)?\)$`)
	unlimited   = regexp.MustCompile(`-timeout=0\b`)
	goTestLimit = compile(`^[^#]*\bgo t[e]st\b`)
)

// clocks lists the files that may read the clock, each with the number of such lines and the
// reason.
const clocks = "tests/lint/clocks.txt"

// clockLimits finds limits on elapsed time in tests and in the scripts that run them, and commands
// with Go's default limit of ten minutes.
func clockLimits(tree []File) []string {
	listed, found := clockReasons(tree)
	for _, f := range tree {
		if !f.runsTests() || !clockLimit.mayMatch(f.Data) && !goTestLimit.mayMatch(f.Data) {
			continue
		}
		limits := f.clockLines()
		want, ok := listed[f.Path]
		if ok && len(limits) != want {
			found = append(found, fmt.Sprintf("%s: %s has %d lines with limits, not %d: %v", clocks, f.Path,
				len(limits), want, limits))
		}
		for _, n := range limits {
			if !ok {
				found = append(found, fmt.Sprintf("%s:%d: load can exceed this limit; limit the CPU time", f.Path, n))
			}
		}
		delete(listed, f.Path)
	}
	for file := range listed {
		found = append(found, clocks+": no limit in "+file)
	}
	return found
}

// clockLines returns the numbers of the lines that limit elapsed time.
func (f File) clockLines() (limits []int) {
	script, n := path.Ext(f.Path) == ".sh" || path.Base(f.Path) == "Makefile", 0
	for line := range bytes.Lines(f.Data) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if clockLimit.Match(line) || script && goTestLimit.Match(line) && !unlimited.Match(line) {
			limits = append(limits, n)
		}
	}
	return limits
}

// clockReasons returns the listed files with their numbers of lines.
func clockReasons(tree []File) (listed map[string]int, found []string) {
	listed = map[string]int{}
	for _, f := range tree {
		if f.Path != clocks {
			continue
		}
		for n, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
			words := strings.Fields(line)
			count := 0
			if len(words) > 1 {
				count, _ = strconv.Atoi(words[1])
			}
			if count == 0 || len(words) < 4 {
				found = append(found, fmt.Sprintf("%s:%d: want a file, a number of lines, and the reason", f.Path, n+1))
			}
			listed[words[0]] = count
		}
	}
	return listed, found
}

// runsTests matches the sources of tests, in all languages, and the scripts that run them.
func (f File) runsTests() bool {
	if !f.isTest() && !f.within("tests", "tools", "internal/testkit", "examples", "bench/pair") &&
		f.Path != "Makefile" && !strings.HasPrefix(f.Path, "templates/device/conformance") || f.within("tests/lint") {
		return false
	}
	switch path.Ext(f.Path) {
	case ".go", ".py", ".sh", ".c", ".cpp", ".h", "":
		return true
	}
	return false
}
