package testtool

import (
	"fmt"
	"hash/crc32"
	"path/filepath"
)

// Checkout returns a flag for Go's compiler that identifies a folder, and has no other effect. With
// it, the go command does not reuse what was compiled in a different folder.
func Checkout(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	return fmt.Sprintf("-D=%#x", crc32.ChecksumIEEE([]byte(path))), err
}
