// Package golden compares a test's output with a file under the repository's golden/, and updates
// the file if the test runs with -update. Only tests use it.
package golden

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// A test binary has the flag only if it imports this package, so pass -update only to those
// packages, as `make golden` does.
var update = flag.Bool("update", false, "write golden files instead of comparing with them")

// Assert fails the test, with a diff, unless golden/<name> contains exactly got. The name has
// slashes. With -update, Assert writes the file instead.
func Assert(t testing.TB, name string, got []byte) {
	t.Helper()
	if err := compare(filepath.Join(Root(t), "golden"), name, got, *update); err != nil {
		t.Error(err)
	}
}

// Updates reports whether the test runs with -update, for tests that rewrite files elsewhere.
func Updates() bool { return *update }

// Orphans fails the test for each file under golden/<dir> that is not owned, because no test
// compares such a file. The owned names are those passed to Assert. With -update, Orphans removes
// the files instead.
func Orphans(t testing.TB, dir string, owned []string) {
	t.Helper()
	root := filepath.Join(Root(t), "golden")
	lost, err := orphans(root, dir, owned)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lost {
		if *update {
			err = errors.Join(err, os.Remove(filepath.Join(root, filepath.FromSlash(name))))
			continue
		}
		t.Errorf("golden/%s: no test owns this file; delete it, or run the test with -update", name)
	}
	if err != nil {
		t.Error(err)
	}
}

// Root returns the repository's root: the nearest parent folder with a go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test, so the repository's root is unknown")
		}
		dir = up
	}
}

func compare(root, name string, got []byte, update bool) error {
	file := filepath.Join(root, filepath.FromSlash(name))
	want, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(want, got):
		return nil
	case update:
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, got, 0o644)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("golden/%s: missing; run the test with -update to make it", name)
	case err != nil:
		return err
	}
	return fmt.Errorf("golden/%s differs; run the test with -update if the change is meant\n%s",
		name, diff.Diff("golden/"+name, want, "got", got))
}

func orphans(root, dir string, owned []string) (lost []string, err error) {
	tree := os.DirFS(root)
	err = fs.WalkDir(tree, path.Clean(dir), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains(owned, name) {
			lost = append(lost, name)
		}
		return err
	})
	return lost, err
}
