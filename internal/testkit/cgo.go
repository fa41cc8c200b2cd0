package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// CgoFlags adds a file to a package of Go with flags for its C. With CGO_CFLAGS, the go command
// would compile the C of Go's runtime again for each combination of flags.
func CgoFlags(t testing.TB, dir, name, flags string) {
	t.Helper()
	text := "package " + name + "\n\n// #cgo CFLAGS: " + flags + "\nimport \"C\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cgo_flags.go"), []byte(text), 0o600))
}
