// Package safety tries to make the C helpers, the C++ headers and dlpackgen_python
// misbehave: hostile tensors, sanitizers, allocations that fail, threads, forks, and
// Pythons that end. docs/safety.md says what was found.
package safety

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/need"
	"github.com/dlpackgen/dlpackgen/internal/trial"
)

// headers makes a folder of all generated headers for C and C++.
func headers(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, language := range []string{"c", "cpp"} {
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(golden.Root(t), "gen", language))))
	}
	return dir
}

// parts makes such a folder in which each part of dlpackgen_python is a file.
func parts(t *testing.T) (dir string) {
	t.Helper()
	dir = headers(t)
	trial.WriteParts(t, dir)
	return dir
}

// mutant makes such a folder with another text in one file, which must hold the old one.
func mutant(t *testing.T, file, old, changed string) (dir string) {
	t.Helper()
	dir = headers(t)
	if strings.HasPrefix(file, "dlpackgen_python/") {
		dir = parts(t)
	}
	mutation.Mutant{File: file, Old: old, New: changed}.Alone(t, dir)
	return dir
}

// embeddable is a Python that can be linked into a program.
type embeddable struct{ include, lib, name, home string }

// embedded finds the shared library of the Python with the frameworks, or skips.
func embedded(t *testing.T) embeddable {
	t.Helper()
	const ask = `import json, sys, sysconfig as s
print(json.dumps([s.get_paths()["include"], s.get_config_var("LIBDIR"), "python" + s.get_config_var("LDVERSION"), s.get_config_var("Py_ENABLE_SHARED"),
    sys.base_prefix]))`
	out, err := exec.Command(need.Python(t), "-c", ask).Output()
	require.NoError(t, err)
	var include, lib, name, home string
	var shared int
	require.NoError(t, json.Unmarshal(out, &[]any{&include, &lib, &name, &shared, &home}))
	if _, err := os.Stat(filepath.Join(include, "Python.h")); err != nil || shared == 0 {
		t.Skip("needs Python.h and a libpython to link with: apt-get install python3-dev")
	}
	return embeddable{include, lib, name, home}
}
