package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// fragments are inserted by mutations: texts with a special meaning in YAML, Go, C or a file
// system.
var fragments = []string{
	"\u0085", "\u2028", "\u2029", "\ufeff", "\u200b", "\u00a0", "\r", "\t", "\x00", "\x1b", "\xff", "\xed\xa0\x80",
	"\xf4\x90\x80\x80", "e\u0301",
	"&a ", "*a", "!!str ", "<<: ", "? ", "- ", ": ", "#", "|\n", ">-\n", "'", "\"", "\"\\L\"", "\"\\x07\"", "{", "}",
	"[", "]", ",", "---\n", "...\n", "%YAML 1.1\n",
	"0", "-1", "08", "1e9", "99999999999999999999", "0x7fffffff", ".inf", "~", "null", "true", "../", "/", "\\",
	"//", ".", "CON", "nul.h",
	"dlpackgen.lock", ".dlpackgen.journal", "Tensor", "Tensor(a!)", "Tensor?", "->", "()", "int", "kDLCPU",
	"kDLExtDev", "PrivateUse1",
	strings.Repeat("a/", 3000), strings.Repeat("[", 50), strings.Repeat("x", 300),
	strings.Repeat("n+", 20), strings.Repeat("n + ", 33), strings.Repeat("(", 20),
}

// mutate changes a text at up to four random places.
func mutate(random *rand.Rand, text []byte) []byte {
	for range 1 + random.IntN(4) {
		text = mutations[random.IntN(len(mutations))](random, text)
	}
	return text
}

// span returns a random range of a text, of up to 40 bytes.
func span(random *rand.Rand, text []byte) (from, to int) {
	from = random.IntN(len(text) + 1)
	return from, from + random.IntN(min(40, len(text)-from)+1)
}

var mutations = []func(*rand.Rand, []byte) []byte{
	func(random *rand.Rand, text []byte) []byte {
		at := random.IntN(len(text) + 1)
		return slices.Concat(text[:at], []byte(fragments[random.IntN(len(fragments))]), text[at:])
	},
	func(random *rand.Rand, text []byte) []byte {
		from, to := span(random, text)
		return slices.Concat(text[:from], []byte(fragments[random.IntN(len(fragments))]), text[to:])
	},
	func(random *rand.Rand, text []byte) []byte {
		at := random.IntN(len(text) + 1)
		return slices.Concat(text[:at], []byte{byte(random.IntN(256))}, text[at:])
	},
	func(random *rand.Rand, text []byte) []byte {
		from, to := span(random, text)
		return slices.Concat(text[:from], text[to:])
	},
	func(random *rand.Rand, text []byte) []byte {
		from, to := span(random, text)
		at := random.IntN(len(text) + 1)
		return slices.Concat(text[:at], text[from:to], text[at:])
	},
	func(random *rand.Rand, text []byte) []byte {
		lines := strings.SplitAfter(string(text), "\n")
		from, to := random.IntN(len(lines)), random.IntN(len(lines))
		lines[from], lines[to] = lines[to], lines[from]
		return []byte(strings.Join(lines, ""))
	},
}

// seeds are valid configs and a description of a backend, which contain every key.
func seeds(t *testing.T) [][]byte {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	require.NoError(t, err)
	out := [][]byte{[]byte(plainConfig), []byte(deepConfig)}
	for _, block := range strings.Split(string(doc), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		out = append(out, []byte(text))
	}
	for _, name := range []string{"dlpackgen.yaml", "examples/torch-op/dlpackgen.yaml", "spec/backends/cuda.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		require.NoError(t, err)
		out = append(out, text)
	}
	return out
}

// TestConfigMutants runs vet on damaged configs, and generate on the accepted ones. Neither panics,
// hangs or ends with an undocumented exit code.
func TestConfigMutants(t *testing.T) {
	count := 500
	if testing.Short() {
		count = 20
	} else if tier.IsNightly() {
		count = 5000
	}
	random := rand.New(rand.NewPCG(1, 11))
	all, dir, valid := seeds(t), t.TempDir(), 0
	for n := range count {
		text := mutate(random, all[n%len(all)])
		if withinTime(t, text, func() { valid += vetMutant(t, dir, text) }); t.Failed() {
			t.Fatalf("mutant %d:\n%q", n, text)
		}
	}
	assert.Positive(t, valid, "some mutants are valid")
}

// vetMutant returns 1 for a valid mutant.
func vetMutant(t *testing.T, dir string, text []byte) int {
	file := input(t, dir, "x.yaml", text)
	code, _, _ := run(t, "vet", file)
	assert.Contains(t, []int{exitFine, exitFindings}, code)
	made, _, findings := run(t, "generate", "--config", file, "--out", filepath.Join(dir, "out"), "--dry-run")
	assert.Contains(t, []int{exitFine, exitCannot}, made)
	if code == exitFindings {
		assert.Equal(t, exitCannot, made, findings)
	}
	if made == exitFine {
		return 1
	}
	return 0
}

// cpuTime returns the CPU time of this process, if the system reports it.
var cpuTime = func() time.Duration { return 0 }

// withinTime fails the test, with the input, if a run does not end within five minutes of CPU time.
func withinTime(t *testing.T, text []byte, run func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	for end := cpuTime() + 5*time.Minute; ; {
		select {
		case <-done:
			return
		case <-time.After(time.Second):
			if cpuTime() > end {
				t.Fatalf("the run does not end:\n%q", text)
			}
		}
	}
}
