package testtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// answers caches what Pythons have printed, by their arguments.
var answers sync.Map

// Ask runs a script with a Python, once for the same arguments, and returns what it prints.
func Ask(python, script string, args ...string) (string, error) {
	arguments := append([]string{"-c", script}, args...)
	answer, _ := answers.LoadOrStore(python+" "+strings.Join(arguments, " "), sync.OnceValues(func() (string, error) {
		out, err := exec.Command(python, arguments...).Output()
		return strings.TrimSpace(string(out)), err
	}))
	return answer.(func() (string, error))()
}

const isThere = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"

// Has reports whether a Python has modules. It does not import them, because that takes seconds for
// some. An installed module that cannot be imported fails the test that needs it.
func Has(python string, modules ...string) bool {
	_, err := Ask(python, isThere, modules...)
	return err == nil
}

const whereIs = "import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).submodule_search_locations[0])"

// RequirePackage returns the folder of a Python's package, without importing it, or skips the test
// and names what installs the package.
func RequirePackage(t testing.TB, python, name, installation string) string {
	t.Helper()
	folder, err := Ask(python, whereIs, name)
	if err != nil {
		t.Skipf("needs %s: %s", name, installation)
	}
	return folder
}

// RequireHeaders returns the folder of a Python's Python.h, or skips the test.
func RequireHeaders(t testing.TB, python string) string {
	t.Helper()
	folder, err := Ask(python, "import sysconfig; print(sysconfig.get_path('include'))")
	if _, missing := os.Stat(filepath.Join(folder, "Python.h")); err != nil || missing != nil {
		t.Skipf("needs Python.h for %s: apt-get install python3-dev", python)
	}
	return folder
}
