package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// Code that looks up methods by name, such as text/template, makes the linker keep all exported
// methods of all types. The program would be an eleventh larger, and the wheels would exceed their
// limit.
func TestMethodsThatNothingCallsAreNotLinked(t *testing.T) {
	if testing.Short() {
		t.Skip("links the command, and -short was given")
	}
	program := filepath.Join(t.TempDir(), "dlpackgen")
	build := exec.Command("go", "build", "-o", program, "./cmd/dlpackgen")
	build.Dir = golden.Root(t)
	printed, err := build.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	// The go command would compile its own nm first.
	symbols, err := exec.Command(testtool.Require(t, "nm", "binutils"), program).Output()
	require.NoError(t, err)
	const flags = " github.com/spf13/pflag.(*FlagSet)."
	linked := func(method string) bool { return strings.Contains(string(symbols), flags+method+"\n") }
	assert.True(t, linked("AddFlag"), "a method that cobra calls")
	assert.False(t, linked("IPNetVar"),
		"a method that nothing calls: which new code reaches reflect.Value.MethodByName? "+
			"Fill templates by internal/template, and do not call cobra's SetUsageTemplate")
}
