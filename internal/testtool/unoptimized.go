package testtool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// unoptimized runs a compiler without optimization. The compiler is found in the former PATH,
// which does not contain this program.
const unoptimized = `#!/bin/sh
PATH='%s' exec '%s' "$@" -O0
`

// AddUnoptimized adds the compilers cc, c++ and g++ to a folder, for the front of PATH. They ignore
// the levels of a user's commands, because gcc takes longer to optimize than the result takes to
// run, and take results from ccache, as those of RequireCompiler do. In make nightly, it adds none,
// and the commands are run as they are written. The go command does not use these compilers, since
// its cache depends on the compiler.
func AddUnoptimized(t testing.TB, dir string) {
	t.Helper()
	if tier.IsNightly() {
		return
	}
	for _, name := range []string{"cc", "c++", "g++"} {
		program := filepath.Join(dir, name)
		if _, err := os.Stat(program); err == nil {
			continue
		}
		if _, err := exec.LookPath(name); err != nil {
			continue // a test that needs it is skipped
		}
		text := fmt.Sprintf(unoptimized, os.Getenv("PATH"), RequireCompiler(t, name, name))
		require.NoError(t, os.WriteFile(program, []byte(text), 0o700)) //nolint:gosec // a program
	}
}
