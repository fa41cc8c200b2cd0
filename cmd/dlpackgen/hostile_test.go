package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
	source "github.com/dlpackgen/dlpackgen/spec"
)

// scalar matches the values of a spec, in flow style or block style.
var scalar = regexp.MustCompile(`(?m)(: |- |\[|, )("[^"\n]*"|[A-Za-z0-9_.-]+)`)

// hostile values are accepted in one place, and rejected or harmful in another.
var hostile = []string{
	"0", `""`, "-1", "99999999999999999999", "void", "DLDeviceType", "main", "[]", "{}", `"a\nb"`, "kDLCPU", `"*/"`,
	"{pointer: void}", "true", "1.0", "int", "DLTensor", "{pointer: {pointer: DLTensor}}", `"%s {{.}}"`,
	"A_VERY_LONG_NAME_THAT_STANDS_WHERE_A_SHORT_ONE_STOOD_BEFORE",
}

// TestEachValueOfASpecReplaced replaces each value of two specs with hostile values: a spec with
// every kind of entry, and the real one. Valid results contain values that no release has, which
// the emitters must handle.
func TestEachValueOfASpecReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the command for each of a thousand values, and -short was given")
	}
	oneOfEach, err := os.ReadFile(filepath.Join("..", "..", "internal", "spec", "testdata", "one-of-each.yaml"))
	require.NoError(t, err)
	tests := map[string]struct {
		src    []byte
		config string
		stride int // a prime, so that every place gets some value
	}{
		"one of each": {oneOfEach, "version: 1\ntargets: {c: {}}\n", 3},
		"real spec":   {source.YAML, plainConfig, 97},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				tt.stride *= 11
			}
			assert.Positive(t, replaceValues(t, tt.src, tt.config, tt.stride), "some of these specs are valid")
		})
	}
}

// replaceValues runs generate for every stride-th pair of place and value, and counts the accepted
// specs.
func replaceValues(t *testing.T, src []byte, config string, stride int) (taken int) {
	dir := t.TempDir()
	configFile := input(t, dir, "config.yaml", []byte(config))
	places := scalar.FindAllSubmatchIndex(src, -1)
	require.Greater(t, len(places), 100)
	for n := 0; n < len(places)*len(hostile); n += stride {
		place, value := places[n/len(hostile)], hostile[n%len(hostile)]
		text := string(src[:place[4]]) + value + string(src[place[5]:])
		specFile := input(t, dir, "spec.yaml", []byte(text))
		code, _, stderr := run(t, "generate", "--spec", specFile, "--config", configFile, "--out",
			filepath.Join(dir, "out"), "--dry-run")
		require.Contains(t, []int{exitFine, exitCannot}, code, "%s\n%s", text, stderr)
		if code == exitFine {
			taken++
		}
	}
	return taken
}

// TestHostileFilesAreCheap limits the cost of files of a few megabytes.
func TestHostileFilesAreCheap(t *testing.T) {
	tier.OnlyNightly(t)
	const maxBytes, maxTime = 300 << 20, 20 * time.Second
	tests := map[string]string{
		"one long line":     "version: 1\nout: " + strings.Repeat("x", 4<<20-100),
		"above the limit":   strings.Repeat("#", 4<<20+1),
		"nested lists":      strings.Repeat("[", 1<<20),
		"nested mappings":   strings.Repeat("{a: ", 1<<18),
		"block nesting":     strings.Repeat("- ", 1<<20),
		"aliases":           "a: &a [x]\nb: [" + strings.Repeat("*a,", 1<<18) + "]\n",
		"many small values": "version: 1\ntargets: [" + strings.Repeat("x,", 1<<20) + "]\n",
		"many unknown keys": "version: 1\n" + strings.Repeat("a: 1\n", 1<<17),
		"distinct keys":     "version: 1\n" + distinctKeys(70_000),
		"quotes":            strings.Repeat(`"`, 1<<20),
		"NUL bytes":         strings.Repeat("\x00", 1<<20),
		"spaces":            "version:" + strings.Repeat(" ", 4<<20-100),
		"empty lines":       strings.Repeat("\n", 4<<20),
		"percent signs":     strings.Repeat("%", 1<<20),
		"question marks":    strings.Repeat("? ", 1<<20),
		"block scalars":     strings.Repeat("a: |\n", 1<<18),
	}
	for name, src := range tests {
		t.Run(name, func(t *testing.T) {
			file := input(t, t.TempDir(), "x.yaml", []byte(src))
			formats := []string{"text"}
			if name == "distinct keys" {
				formats = []string{"text", "json", "github", "sarif"}
			}
			for _, format := range formats {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := testtool.Spent(t)
				code, stdout, stderr := run(t, "vet", "--format", format, file)
				runtime.ReadMemStats(&after)
				assert.Equal(t, exitFindings, code)
				assert.Less(t, len(stdout)+len(stderr), 1<<20, "the output is limited as well")
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(maxBytes))
				assert.Less(t, testtool.Spent(t)-start, maxTime)
			}
		})
	}
}

// distinctKeys returns n unknown keys.
func distinctKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("k", i%7+1) + string(rune('a'+i%26)) + strings.Repeat("z",
			i%5) + "_" + strconv.Itoa(i) + ": 1\n")
	}
	return b.String()
}
