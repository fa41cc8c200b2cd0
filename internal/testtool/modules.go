package testtool

import (
	"os/exec"
	"strings"
	"sync"
)

// found caches the results of Has, by Python and modules.
var found sync.Map

const isThere = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"

// Has reports whether a Python has modules. It does not import them, because that takes seconds for
// some. An installed module that cannot be imported fails the test that needs it.
func Has(python string, modules ...string) bool {
	look, _ := found.LoadOrStore(python+" "+strings.Join(modules, " "), sync.OnceValue(func() bool {
		return exec.Command(python, append([]string{"-c", isThere}, modules...)...).Run() == nil
	}))
	return look.(func() bool)()
}
