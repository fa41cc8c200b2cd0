package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/templated"
)

// Each file of a folder is within its limit, but the total is not.
func TestAFolderOfTemplatesIsLimited(t *testing.T) {
	var all []emit.Source
	for range templated.MaxFolder / templated.MaxBytes {
		all = append(all, emit.Source{Data: make([]byte, templated.MaxBytes)})
	}
	assert.NoError(t, withinFolder("d", all))
	assert.ErrorContains(t, withinFolder("d", append(all, emit.Source{Data: []byte("x")})),
		"the files of the folder have more than 16777216 bytes in total")
}

// A folder that many targets name is read and parsed once, and is one input.
func TestAFolderOfTemplatesIsReadOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Join("tools", "own", "sub"), 0o700))
	input(t, filepath.Join("tools", "own"), "a.c.tmpl", []byte("int a;\n"))
	input(t, filepath.Join("tools", "own", "sub"), "b.c.tmpl", []byte("int b;\n"))
	input(t, ".", "dlpackgen.yaml", []byte("version: 1\nout: out\ntargets:\n  one: {templates: tools/own}\n"+
		"  two: {templates: tools/./own, dlpack: \"1.2\"}\n  three: {templates: tools/own}\n"))
	s := selectionFlags(&cobra.Command{Use: "generate"})
	j, err := s.load()
	require.NoError(t, err)
	parses := 0
	models, err := j.models("out")
	require.NoError(t, err)
	for _, m := range models {
		m.Templates.Parsed(func(all []emit.Source) any { parses++; return nil })
	}
	assert.Len(t, models, 3)
	assert.Equal(t, 1, parses)
	inputs := slices.Clone(j.read)
	slices.Sort(inputs)
	assert.Len(t, slices.Compact(inputs), len(j.read), "each is named once: %v", j.read)
	assert.Len(t, inputs, 4)
}
