package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// meter samples the CPU time of the tests of each package. The go command does not report it, and
// does not cache results of tests that another program starts. It needs Linux.
type meter struct {
	root    string             // of the module
	seconds map[string]float64 // by package
}

// process is Linux's information about a process: its ticks, and those of its terminated children.
type process struct{ parent, ticks int }

// ticksInSecond is a constant of Linux's ABI, independent of the kernel's clock.
const ticksInSecond = 100

// watch samples the tests of a go command until the channel is closed. The last seconds of a
// package are lost, but reading each process more often takes a percent of the suite's time.
func (m *meter) watch(command int, ended <-chan struct{}) {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			m.look(command, processes())
		}
	}
}

// look records the time of each test binary and its descendants.
func (m *meter) look(command int, all map[int]process) {
	children := map[int][]int{}
	for id, p := range all {
		children[p.parent] = append(children[p.parent], id)
	}
	var ticks func(id int) int
	ticks = func(id int) int {
		sum := all[id].ticks
		for _, child := range children[id] {
			sum += ticks(child)
		}
		return sum
	}
	for _, id := range children[command] {
		if pkg := m.tested(id); pkg != "" {
			m.seconds[pkg] = max(m.seconds[pkg], float64(ticks(id))/ticksInSecond)
		}
	}
}

// tested returns the package that a process tests; "" for a compiler. The folder is that in which
// the go command started it, because a test may change to another.
func (m *meter) tested(id int) string {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", id))
	if err != nil || !strings.HasSuffix(program, ".test") {
		return ""
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", id))
	if err != nil {
		return ""
	}
	for _, variable := range strings.Split(string(environ), "\x00") {
		folder, found := strings.CutPrefix(variable, "PWD=")
		if pkg, err := filepath.Rel(m.root, folder); found && err == nil {
			return filepath.ToSlash(pkg)
		}
	}
	return ""
}

// processes returns the running processes, by id.
func processes() map[int]process {
	all := map[int]process{}
	proc, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(0)
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil {
			continue // not a process
		}
		text, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		if p, ok := parseStat(string(text)); ok {
			all[id] = p
		}
	}
	return all
}

// parseStat parses a line of /proc/ID/stat. The name in it may contain any characters.
func parseStat(line string) (p process, ok bool) {
	fields := strings.Fields(line[strings.LastIndex(line, ")")+1:])
	if len(fields) < 15 {
		return p, false
	}
	p.parent, _ = strconv.Atoi(fields[1])
	for _, field := range fields[11:15] { // user and system, and the same of children
		ticks, _ := strconv.Atoi(field)
		p.ticks += ticks
	}
	return p, true
}

// worthNaming is the CPU time in seconds from which on a package is listed.
const worthNaming = 5

// costs returns a line for each expensive package, the most expensive first. The numbers belong in
// internal/tier/packages.txt.
func costs(seconds map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(seconds), func(a, b string) int {
		return cmp.Or(cmp.Compare(seconds[b], seconds[a]), cmp.Compare(a, b))
	})
	var lines strings.Builder
	total := 0.0
	for _, name := range names {
		if total += seconds[name]; seconds[name] >= worthNaming {
			fmt.Fprintf(&lines, "  %5.0f %s\n", seconds[name], name)
		}
	}
	if total < worthNaming {
		return ""
	}
	return fmt.Sprintf("CPU seconds of tests: %.0f\n%s", total, lines.String())
}
