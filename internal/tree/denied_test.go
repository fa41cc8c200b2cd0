package tree

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// sealedDisk rejects changes in the folder of that name.
type sealedDisk struct {
	disk
	folder string
	err    error
}

func (d sealedDisk) deny(op, name string) error {
	if filepath.ToSlash(filepath.Dir(name)) == d.folder {
		return &fs.PathError{Op: op, Path: name, Err: d.err}
	}
	return nil
}

func (d sealedDisk) Create(name string, perm fs.FileMode) (io.WriteCloser, error) {
	if err := d.deny("openat", name); err != nil {
		return nil, err
	}
	return d.disk.Create(name, perm)
}

func (d sealedDisk) Remove(name string) error {
	if _, err := d.disk.Lstat(name); err != nil { // systems look up the file first
		return err
	}
	if err := d.deny("unlinkat", name); err != nil {
		return err
	}
	return d.disk.Remove(name)
}

// sealed is the system with such a folder in each output directory.
func sealed(folder string, err error) world {
	w := system()
	w.open = func(dir string) (disk, error) {
		d, openErr := openDisk(dir)
		return sealedDisk{d, folder, err}, openErr
	}
	return w
}

// The error names the folder without write permission, not the record or the temporary file.
func TestAFolderThatMayNotBeWrittenToIsNamed(t *testing.T) {
	for _, err := range []error{syscall.EACCES, syscall.EPERM, syscall.EROFS} {
		dir, req := oneFile(t)
		req.Targets = append(req.Targets, target("go", "go", map[string]string{"x.go": ours("x")}))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "go"), 0o755))
		out := filepath.ToSlash(dir)
		for folder, c := range map[string]struct{ at, text string }{
			".":  {out, "cannot write .dlpackgen.journal to this folder: " + err.Error() + " (openat)"},
			"go": {out + "/go", "cannot write x.go to this folder: " + err.Error() + " (openat)"},
		} {
			before := disked(t, dir)
			_, failure := sealed(folder, err).generate(req, false)
			d := requireKind(t, failure, KindIO).Findings[0]
			assert.Equal(t, c.at, d.Pos.File)
			assert.Equal(t, c.text, d.Text)
			assert.Equal(t,
				"generate writes files, the lock and temporary files there: make the folder writable for this "+
					"user, or choose another one with --out DIR; "+whole, d.Hint)
			assert.Equal(t, before, disked(t, dir))
		}
		_, failure := sealed("c", err).clean(req, false)
		d := requireKind(t, failure, KindIO).Findings[0]
		assert.Equal(t, out+"/c", d.Pos.File)
		assert.True(t, strings.HasPrefix(d.Hint, "clean writes files, "), d.Hint)
	}
}

// The same for a folder in which the output directory, a depfile or a stamp cannot be created.
func TestAFolderInWhichNothingMayBeMadeIsNamed(t *testing.T) {
	above := t.TempDir()
	req := request(filepath.Join(above, "deep", "out"), target("c", "c", map[string]string{"a.h": ours("a")}))
	w := system()
	w.mkdir = func(dir string) error { return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.EACCES} }
	_, err := w.generate(req, false)
	d := requireKind(t, err, KindIO).Findings[0]
	assert.Equal(t, filepath.ToSlash(above), d.Pos.File)
	assert.Equal(t, "cannot write deep to this folder: permission denied (mkdir)", d.Text)
	assert.NotEmpty(t, d.Hint)

	dir, req := oneFile(t)
	sides := t.TempDir()
	req.Stamp = filepath.Join(sides, "stamp")
	w = system()
	w.open = func(name string) (disk, error) {
		opened, openErr := openDisk(name)
		if name == sides {
			return sealedDisk{opened, ".", syscall.EACCES}, openErr
		}
		return opened, openErr
	}
	_, err = w.generate(req, false)
	d = requireKind(t, err, KindIO).Findings[0]
	assert.Equal(t, filepath.ToSlash(sides), d.Pos.File)
	assert.Equal(t, "make the folder writable for this user, or write the stamp to another one", d.Hint)
	assert.Contains(t, disked(t, dir), "c/a.h")
}

// Starter files, such as init's, belong to the user from the beginning.
func TestStartersAreNotNoted(t *testing.T) {
	dir, req := oneFile(t)
	setContent(t, dir, "c/__init__.py", emit.StarterLine("x.py")+"mine = 1\n")
	setContent(t, dir, "c/crlf.c", strings.TrimSuffix(emit.StarterLine("x.c"), "\n")+"\r\nint mine;\r\n")
	setContent(t, dir, "c/mine.py", "mine = 1\n"+emit.StarterLine("x.py"))
	assert.Equal(t, map[string]string{"c/mine.py": "untracked"}, states(t, req))
}
