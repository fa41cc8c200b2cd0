package devices

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// late returns the output of the program with its own vendor's part.
func late(t *testing.T, flags ...string) []string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	source, program := vendored(t, "testdata/acme.yaml", "testdata/late.c"), filepath.Join(t.TempDir(), "late")
	args := append([]string{"-std=gnu11", "-g", "-Wall", "-Wextra", "-o", program}, flags...)
	testkit.Run(t, gcc, append(append(args, acmeEnd.sources(t, source)...), "-ldl", "-lpthread")...)
	return steps(t, program, acmeDriver(t))
}

// If two threads keep a tensor for one stream concurrently, the later mark is awaited.
func TestTheLaterMarkStays(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a backend of its own")
	}
	assert.Equal(t, []string{"mark 2 of 2"}, late(t))
}

// A start that fails without filling the error still fails every call.
func TestAVendorsStartThatFailsWithoutAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a backend of its own")
	}
	assert.Equal(t, []string{"5 acme: the vendor's part failed to start without an error message"}, late(t, "-DSILENT"))
}
