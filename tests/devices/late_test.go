package devices

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// late gives what the program over a vendor's part of its own prints.
func late(t *testing.T, flags ...string) []string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	source, program := vendored(t, "testdata/acme.yaml", "testdata/late.c"), filepath.Join(t.TempDir(), "late")
	args := append([]string{"-std=gnu11", "-g", "-Wall", "-Wextra", "-o", program}, flags...)
	testkit.Run(t, gcc, append(append(args, acmeEnd.sources(t, source)...), "-ldl", "-lpthread")...)
	return steps(t, program, acmeDriver(t))
}

// Of two threads that keep a tensor for one stream at once, the later mark is waited for.
func TestTheLaterMarkStays(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a backend of its own")
	}
	assert.Equal(t, []string{"mark 2 of 2"}, late(t))
}

// A start that fails without filling the error fails every call all the same.
func TestAVendorsStartThatSaysNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a backend of its own")
	}
	assert.Equal(t, []string{"5 acme: the vendor's part fails to start, and does not say why"}, late(t, "-DSILENT"))
}
