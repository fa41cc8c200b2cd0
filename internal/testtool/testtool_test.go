package testtool

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// skipper is a test that records its skip instead of ending.
type skipper struct {
	testing.TB
	why string
}

func (s *skipper) Helper() {}

func (s *skipper) Skipf(format string, args ...any) { s.why = fmt.Sprintf(format, args...) }

func TestProgram(t *testing.T) {
	s := &skipper{TB: t}
	assert.NotEmpty(t, Require(s, "go", "golang"))
	assert.Empty(t, s.why)
	assert.Empty(t, Require(s, "no-such-program", "nothing"))
	assert.Equal(t, "needs no-such-program: apt-get install nothing", s.why)
}

func TestPython(t *testing.T) {
	s := &skipper{TB: t}
	t.Setenv("DLPACKGEN_PYTHON", "go")
	assert.Equal(t, "go", RequirePython(s))
	assert.Empty(t, s.why)
	t.Setenv("DLPACKGEN_PYTHON", "/no/such/python")
	RequirePython(s)
	assert.Equal(t, "needs /no/such/python: make setup, or set DLPACKGEN_PYTHON", s.why)
}
