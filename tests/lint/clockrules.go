package lint

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A limit on elapsed time fails a test under load. The patterns are written so that they do not
// match themselves.
var (
	clockLimit = compile(`\btime\.A[f]ter\(|\bE[v]entually(?:f|WithT)?\(|\bWith(?:T[i]meout|Deadline)\(|` +
		`\ba[l]arm\(|"t[i]meout"|\.w[a]it\([1-9]|i < [0-9]+[^;]*; i\+\+\) u[s]leep\(|\btimeout=[1-9]|\btimeout [0-9]|-timeout=[1-9]|\btime\.m[o]notonic\(\) [+<>]`)
	unlimited   = regexp.MustCompile(`-timeout=0\b`)
	goTestLimit = compile(`^[^#]*\bgo t[e]st\b`)
)

// clocks lists the files that may read the clock, each with its reason.
const clocks = "tests/lint/clocks.txt"

// clockLimits finds limits on elapsed time in tests and in the scripts that run them, and commands
// with Go's default limit of ten minutes.
func clockLimits(tree []File) []string {
	allowed, found := clockReasons(tree)
	for _, f := range tree {
		if !f.runsTests() || !clockLimit.mayMatch(f.Data) && !goTestLimit.mayMatch(f.Data) {
			continue
		}
		script, n := path.Ext(f.Path) == ".sh" || path.Base(f.Path) == "Makefile", 0
		for line := range bytes.Lines(f.Data) {
			n++
			limited := clockLimit.Match(line) || script && goTestLimit.Match(line) && !unlimited.Match(line)
			if _, listed := allowed[f.Path]; limited && listed {
				allowed[f.Path] = true
			} else if limited {
				found = append(found, fmt.Sprintf("%s:%d: a limit that load can exceed; limit the CPU time", f.Path, n))
			}
		}
	}
	for file, used := range allowed {
		if !used {
			found = append(found, clocks+": no limit in "+file)
		}
	}
	return found
}

// clockReasons returns the listed files, initially unused.
func clockReasons(tree []File) (allowed map[string]bool, found []string) {
	allowed = map[string]bool{}
	for _, f := range tree {
		if f.Path != clocks {
			continue
		}
		for n, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
			file, reason, _ := strings.Cut(line, " ")
			if len(strings.Fields(reason)) < 2 {
				found = append(found, fmt.Sprintf("%s:%d: no reason", f.Path, n+1))
			}
			allowed[file] = false
		}
	}
	return allowed, found
}

// runsTests matches the sources of tests, in all languages, and the scripts that run them.
func (f File) runsTests() bool {
	if !f.isTest() && !f.within("tests", "tools", "internal/testkit", "examples") && f.Path != "Makefile" ||
		f.within("tests/lint") {
		return false
	}
	switch path.Ext(f.Path) {
	case ".go", ".py", ".sh", ".c", ".cpp", ".h", "":
		return true
	}
	return false
}
