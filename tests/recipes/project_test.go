package recipes

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// The commands for a package of kernels are run verbatim, with a pip without a network and a pytest
// that finds the installed package.
func TestProjectOfKernels(t *testing.T) {
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "pytest", "setuptools") {
		t.Skip("needs pytest and setuptools: make setup")
	}
	commands := "set -e\n" + howTo(t, "package-of-kernels.md", "sh project")
	p := newProject(t, map[string]string{"commands": commands})
	site := filepath.Join(p.dir, "site")
	programs := t.TempDir()
	for name, text := range map[string]string{
		"pip": `export CC=cc; test "$*" = "install .[test]" && exec "` + python +
			`" -m pip --disable-pip-version-check install --no-build-isolation --no-deps --no-index --target "` + site +
			`" .`,
		"pytest": `PYTHONPATH="` + site + `" exec "` + python + `" -m pytest -q -k "not (torch or jax or paddle)" "$@"`,
	} {
		text = "#!/bin/sh\n" + text + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(text), 0o700)) //nolint:gosec // a program
	}
	p.env = append(p.env, "PATH="+programs+":"+os.Getenv("PATH"))
	assert.Contains(t, p.run(t, "sh", "commands"), "21 passed")
	require.Contains(t, page(t, "docs/how-to/package-of-kernels.md"), "`dlpackgen check` reports nothing")
	assert.Empty(t, p.run(t, "dlpackgen", "check", "--config", "mylib/dlpackgen.yaml"))
}
