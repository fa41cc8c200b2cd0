package testtool

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An EmbeddablePython can be linked into a program.
type EmbeddablePython struct{ Include, Lib, Name, Home string }

// RequireEmbeddable returns the Python with the frameworks, with its shared library, or skips the
// test.
func RequireEmbeddable(t testing.TB) EmbeddablePython {
	t.Helper()
	const query = `import json, sys, sysconfig as s
print(json.dumps([s.get_paths()["include"], s.get_config_var("LIBDIR"), "python" + s.get_config_var("LDVERSION"),
    s.get_config_var("Py_ENABLE_SHARED"), sys.base_prefix]))`
	out, err := exec.Command(RequirePython(t), "-c", query).Output()
	require.NoError(t, err)
	var p EmbeddablePython
	var shared int
	require.NoError(t, json.Unmarshal(out, &[]any{&p.Include, &p.Lib, &p.Name, &shared, &p.Home}))
	if _, err := os.Stat(filepath.Join(p.Include, "Python.h")); err != nil || shared == 0 {
		t.Skip("needs Python.h and a libpython to link with: apt-get install python3-dev")
	}
	return p
}

// Flags returns the compiler and linker flags for it.
func (p EmbeddablePython) Flags() []string {
	return []string{"-isystem", p.Include, "-L", p.Lib, "-Wl,-rpath," + p.Lib, "-l" + p.Name}
}
