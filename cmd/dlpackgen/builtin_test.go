package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	source "github.com/dlpackgen/dlpackgen/spec"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// A contributor who makes a mistake in the built-in spec gets the findings of --spec, from every
// command.
func TestAMistakeInTheBuiltInSpecIsReported(t *testing.T) {
	t.Chdir(t.TempDir())
	input(t, ".", "dlpackgen.yaml", []byte(plainConfig)) // init reads the spec before it looks for the config
	input(t, ".", "a.h", []byte("int a;\n"))
	valid := source.YAML
	t.Cleanup(func() { source.YAML = valid })
	text := mutant.Once(t, string(valid), "{name: kDLBcomplex, value: 18,", "{name: kDLBcomplex, value: 17,")
	file := input(t, ".", "mistake.yaml", []byte(text))
	code, _, want := run(t, "generate", "--spec", file)
	assert.Equal(t, exitCannot, code)
	assert.Regexp(t, `^mistake\.yaml:\d+:\d+: error: .*kDLFloat4_e2m1fn`, want)
	assert.Contains(t, want, "\n    hint: ")
	source.YAML = []byte(text)
	want = source.File + want[len(file):]
	for _, args := range [][]string{{"generate"}, {"check"}, {"clean"}, {"list", "types"}, {"list", "outputs"},
		{"model"}, {"schema"}, {"layout"}, {"compat", "1.0", "1.1"}, {"init"},
		{"verify", "--header", "a.h"}} {
		code, stdout, stderr := run(t, args...)
		assert.Equal(t, exitCannot, code, args)
		assert.Empty(t, stdout, args)
		assert.Equal(t, want, stderr, args)
	}
	code, stdout, stderr := run(t, "vet", "dlpackgen.yaml")
	assert.Equal(t, exitFindings, code)
	assert.Contains(t, stdout+stderr, want)
	_, stdout, _ = run(t, "__complete", "generate", "--dlpack", "")
	assert.Contains(t, stdout, "latest\n")
}
