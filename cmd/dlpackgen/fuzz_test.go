package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainConfig selects every target of the table, with a separate device.
const plainConfig = `version: 1
dlpack: latest
targets: {c: {}, go: {package: p, import: example.com/p}, cpp: {}, kernels: {}, torch: {}}
devices: {kDLAcme: {value: 1000, doc: Acme., streams: cuda}}
backends: {acme: {implementation: custom, title: A, doc: D., install_hint: p, status_type: int, devices: [{type: kDLB, value: 1001, memory: device, id: ordinal, torch: PrivateUse1}], streams: {none: 0, rejected: [1]}, library: {linux: [l.so]}, functions: {f: {symbol: f, params: void}}, errors: {E: {value: -1, kind: driver_error, text: t}}}}
kernels: {f: {args: {x: "T[..., n]", w: "int8[n]? = None"}, types: {T: [int8]}, returns: {y: "T[n // 2]"}}}
`

// deepConfig has long expressions, which are nested calls in C.
const deepConfig = `version: 1
targets: {c: {}, cpp: {}, kernels: {}, python: {}, torch: {}}
kernels: {f: {args: {x: "int8[n]", y: "int8[((((((((n + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2]"},
  where: ["n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n > n*n*n*n*n*n*n*n or n > 0 and n > 1"],
  returns: {z: "int8[n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n]"}}}
`

// input writes one fuzzed file.
func input(t *testing.T, dir, name string, src []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file, src, 0o600))
	return file
}

// run runs the command in this process. An input that kills the process fails the fuzzing; guard's
// message identifies a panic.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(args, &out, &errs)
	assert.NotContains(t, errs.String(), "internal error")
	assert.NotContains(t, out.String(), "internal error")
	return code, out.String(), errs.String()
}

// FuzzVet checks the contract of vet for any bytes: findings or none, no failure of vet itself, and
// at least one error with exit 1.
func FuzzVet(f *testing.F) {
	if testing.Short() {
		f.Skip("runs the command several times for each seed, and -short was given")
	}
	f.Add([]byte(plainConfig))
	for _, lineBreak := range []string{"\u0085", "\u2028", "\u2029"} { // yaml.v3 counts a line after each
		f.Add([]byte("version: 1\n# " + lineBreak + "\ntargets: {c: {}}\nkernels: {f: {schema: \"(Tensr x) -> ()\"}}"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file := input(t, t.TempDir(), "x.yaml", src)
		code, stdout, stderr := run(t, "vet", file)
		assert.Contains(t, []int{exitFine, exitFindings}, code)
		assert.Empty(t, stdout)
		assert.Equal(t, code == exitFindings, bytes.Contains([]byte(stderr), []byte(": error: ")), stderr)
		_, document, _ := run(t, "vet", "--format", "sarif", file)
		assert.Contains(t, document, `"2.1.0"`)
	})
}

// FuzzGenerate checks the contract of generate for any spec and config: files, or findings and no
// files. If generate accepts an input, vet does too.
func FuzzGenerate(f *testing.F) {
	if testing.Short() {
		f.Skip("runs the command several times for each seed, and -short was given")
	}
	f.Add([]byte("spec: 1\n"), []byte("version: 1\n"))
	released, err := os.ReadFile(filepath.Join("..", "..", "spec", "dlpack.yaml"))
	require.NoError(f, err)
	f.Add(released, []byte(deepConfig))
	f.Fuzz(func(t *testing.T, specSource, configSource []byte) {
		dir := t.TempDir()
		specFile, configFile := input(t, dir, "spec.yaml", specSource), input(t, dir, "config.yaml", configSource)
		out := filepath.Join(dir, "out")
		code, stdout, _ := run(t, "generate", "--spec", specFile, "--config", configFile, "--out", out, "--dry-run")
		assert.Contains(t, []int{exitFine, exitCannot}, code)
		assert.Empty(t, stdout)
		assert.NoDirExists(t, out)
		if code == exitFine {
			vetted, _, findings := run(t, "vet", specFile)
			assert.Equal(t, exitFine, vetted, findings)
			again, _, _ := run(t, "generate", "--spec", specFile, "--config", configFile, "--out", out)
			assert.Equal(t, exitFine, again)
			checked, _, drift := run(t, "check", "--spec", specFile, "--config", configFile, "--out", out)
			assert.Equal(t, exitFine, checked, drift)
		}
	})
}
