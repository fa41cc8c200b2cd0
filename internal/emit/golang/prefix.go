package golang

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// Prefix keeps the C names of two copies of a package apart in one program: the
// linker knows no packages.
func Prefix(importPath string) string {
	sum := sha256.Sum256([]byte(importPath))
	return "dlp_" + hex.EncodeToString(sum[:4]) + "_"
}

func packageName(m *emit.Model) string {
	if name := m.Options[optionPackage]; name != "" {
		return name
	}
	return "dlpack"
}

// ImportPath gives the option "import", else the path that the nearest go.mod gives
// the folder, else "".
func ImportPath(m *emit.Model) (string, error) {
	if given := m.Options[optionImport]; given != "" {
		return given, nil
	}
	for root := m.Dir; root != ""; root = parent(root) {
		name := filepath.Join(root, "go.mod")
		mod, err := readRegular(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("%w; give the import path of the bindings as option %q", err, optionImport)
		}
		m.HasRead(name)
		below, err := filepath.Rel(root, m.Dir)
		if err != nil {
			return "", err
		}
		return path.Join(modulePath(mod), filepath.ToSlash(below)), nil
	}
	return "", nil
}

// readRegular reads a file, and refuses what may have no end, such as a pipe.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// parent is the folder above, or "" at the top.
func parent(dir string) string {
	if up := filepath.Dir(dir); up != dir {
		return up
	}
	return ""
}

// modulePath reads the module directive of a go.mod; "" when there is none.
func modulePath(mod []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(mod))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "//")
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] != "module" {
			continue
		}
		if unquoted, err := strconv.Unquote(fields[1]); err == nil {
			return unquoted
		}
		return fields[1]
	}
	return ""
}
