package devices

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/need"
)

// Of two threads that keep a tensor for one stream at once, the later mark is waited for.
func TestTheLaterMarkStays(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a back end of its own")
	}
	gcc := need.Program(t, "gcc", "gcc")
	source := vendored(t, "testdata/acme.yaml", "testdata/late.c")
	program := filepath.Join(t.TempDir(), "late")
	run(t, gcc, append([]string{"-std=gnu11", "-g", "-Wall", "-Wextra", "-o", program, "-ldl", "-lpthread"}, acmeEnd.sources(t, source)...)...)
	assert.Equal(t, []string{"mark 2 of 2"}, steps(t, program, acmeDriver(t)))
}
