package cpp

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// program is a file of testdata that counts its checks.
var programs = []struct {
	source  string
	least   string // the number of checks, as a pattern
	without bool   // also built without exceptions
	eigen   bool   // compiles three times as long with sanitizers, which are left to make nightly
}{
	{"core.cpp", `\d{3}`, true, false},
	{"builder.cpp", `\d{3}`, false, false},
	{"views.cpp", `[3-9]\d`, true, false},
	{"exchange.cpp", `\d{2,}`, true, false},
	{"memory.cpp", `[3-9]\d`, false, false},
	{"threads.cpp", `\d`, false, false},
	{"eigen.cpp", `[2-9]\d`, false, true},
	{"eigen_map.cpp", `[1-9]\d\d`, true, true},
	{"attack.cpp", `[5-9]\d`, false, false},
}

func TestProgramsUnderTheSanitizers(t *testing.T) {
	for _, p := range programs {
		t.Run(p.source, func(t *testing.T) {
			if testing.Short() && p.source != "builder.cpp" {
				t.Skip("compiles with the sanitizers")
			}
			t.Parallel()
			sanitized := addresses
			if p.source == "threads.cpp" {
				sanitized = threads
			}
			if p.eigen && !tier.IsNightly() {
				sanitized = nil
			}
			c := clang // takes half of gcc's time with the sanitizers
			if testtool.RunsGCC() {
				c = gcc
			}
			passes(t, build(t, c, []string{p.source}, flags(gen(t), strict, sanitized)...), p.least)
		})
	}
}

func TestProgramsWithoutExceptions(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles five programs")
	}
	t.Parallel()
	for _, p := range programs {
		if p.without && (p.source != "eigen_map.cpp" || tier.IsNightly()) { // takes as long as the others
			passes(t, build(t, gcc, []string{p.source}, flags(gen(t), strict, noExceptions)...), p.least)
			if tier.IsNightly() {
				passes(t, build(t, clang, []string{p.source}, flags(gen(t), strict, noExceptions)...), p.least)
			}
		}
	}
}

func TestProgramsInEveryDialect(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles every program six times")
	}
	for _, p := range programs {
		for _, c := range matrix() {
			t.Run(p.source+" "+c.String(), func(t *testing.T) {
				tier.OnlyNightly(t)
				t.Parallel()
				passes(t, build(t, c, []string{p.source}, flags(gen(t), strict)...), p.least)
			})
		}
	}
}

// Clang's ThreadSanitizer detects other races than GCC's, and its UndefinedBehaviorSanitizer
// differs too.
func TestProgramsUnderClangsSanitizers(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	for _, p := range programs {
		sanitized := addresses
		if p.source == "threads.cpp" {
			sanitized = threads
		}
		passes(t, build(t, clang, []string{p.source}, flags(gen(t), strict, sanitized)...), p.least)
	}
}
