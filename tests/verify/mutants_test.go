package verify

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
	"github.com/dlpackgen/dlpackgen/internal/verify"
)

// codes returns the distinct codes of the findings in order, without the allowed ones.
func codes(r *verify.Result, allowed ...string) []string {
	var out []string
	for _, d := range r.Diags {
		if !slices.Contains(allowed, d.Code) {
			out = append(out, d.Code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mutate replaces the first match, which must exist.
func mutate(t *testing.T, text string, m mutant) string {
	t.Helper()
	pattern := regexp.MustCompile("(?s)" + m.pattern)
	at := pattern.FindStringSubmatchIndex(text)
	require.NotNil(t, at, "%s does not match the header", m.pattern)
	changed := text[:at[0]] + string(pattern.ExpandString(nil, m.with, text, at)) + text[at[1]:]
	require.NotEqual(t, text, changed)
	return changed
}

// inputs are the headers to mutate: the real ones, or ours of the same release if those are not
// installed.
var inputs = []struct {
	release string
	path    func(*testing.T) string
}{
	{"0.6", findDebian},
	{"1.3", findTVMFFI},
	{"0.4", func(*testing.T) string { return "" }},
}

// Each mutant is reported with exactly the expected codes.
func TestMutantsAreReported(t *testing.T) {
	t.Parallel()
	for _, in := range inputs {
		if testing.Short() && in.release != "1.3" {
			continue
		}
		t.Run(in.release, func(t *testing.T) {
			if in.release != "1.3" {
				tier.OnlyNightly(t)
			}
			t.Parallel()
			path := in.path(t)
			if path == "" {
				path = ours(t, in.release)
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, m := range mutants {
				if m.only != "" && m.only != in.release {
					continue
				}
				t.Run(m.name, func(t *testing.T) { report(t, string(text), in.release, m) })
			}
		})
	}
}

// Each mutant also changes our headers, which replace those that are not installed.
func TestMutantsChangeOurHeaders(t *testing.T) {
	t.Parallel()
	for _, in := range inputs {
		text, err := os.ReadFile(ours(t, in.release))
		require.NoError(t, err)
		for _, m := range mutants {
			if m.only == "" || m.only == in.release {
				mutate(t, string(text), m)
			}
		}
	}
}

// report compiles C++ with two compilers, because their debug information about types differs only
// there.
func report(t *testing.T, text, release string, m mutant) {
	header := put(t, mutate(t, text, m))
	programs := []string{"gcc"}
	if m.cxx {
		programs = []string{"g++", "clang++-16"}
	}
	for _, cc := range programs {
		t.Run(cc, func(t *testing.T) {
			testtool.Require(t, cc, debianOf[cc])
			got := run(t, verify.Request{Header: header, CC: cc, Release: release})
			assert.Equal(t, m.codes, codes(got), "%v", got.Diags)
			for _, d := range got.Diags {
				assert.Equal(t, header, d.Pos.File)
				assert.Contains(t, d.Text, "expected", "each difference has both values")
			}
		})
	}
}

func TestThereAreManyMutants(t *testing.T) {
	t.Parallel()
	for _, release := range []string{"0.6", "1.3"} {
		n := 0
		for _, m := range mutants {
			if m.only == "" || m.only == release {
				n++
			}
		}
		assert.GreaterOrEqual(t, n, 30, release)
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

var debianOf = map[string]string{"gcc": "gcc", "g++": "g++", "clang++-16": "clang-16"}
