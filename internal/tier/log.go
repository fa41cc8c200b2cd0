package tier

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
)

// Tests are the tests of a package that use many temporary files. The go command reads a list of
// all files that tests open, and resolves the links of each path outside of the module, which takes
// it longer than the tests of internal/tree take. Run shortens this list.
type Tests struct {
	M interface{ Run() int } // the *testing.M
}

// Run runs the tests.
func (t Tests) Run() int {
	root, pkg, err := locate()
	if !flag.Parsed() {
		flag.Parse()
	}
	list := flag.Lookup("test.testlogfile")
	code := t.M.Run()
	if err == nil && list != nil && list.Value.String() != "" {
		shorten(list.Value.String(), root, filepath.Join(root, filepath.FromSlash(pkg)))
	}
	return code
}

// shorten replaces a list of files with a shorter one. The longer one is as good after an error.
func shorten(file, root, pwd string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	l := log{root: root, pwd: pwd, seen: map[string]bool{}}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if l.counts(strings.TrimSuffix(line, "\n")) {
			kept.WriteString(line)
		}
	}
	if os.WriteFile(file+".short", []byte(kept.String()), 0o600) == nil {
		_ = os.Rename(file+".short", file)
	}
}

// log is what is known while the lines of a list are read in order.
type log struct {
	root, pwd string // of the module, and of names that are not absolute
	seen      map[string]bool
}

// counts reports whether a line may affect the key that the go command computes from the list. A
// repeated line does not, nor does a missing file outside of the module, which the go command
// ignores. Inside of the module, the absence of a file is an input.
func (l *log) counts(line string) bool {
	operation, name, _ := strings.Cut(line, " ")
	isFile := operation == "open" || operation == "stat"
	switch {
	case operation == "chdir":
		l.pwd = name
		return true
	case isFile && !filepath.IsAbs(name):
		name = filepath.Join(l.pwd, name)
	}
	key := operation + " " + name
	if l.seen[key] {
		return false
	}
	l.seen[key] = true
	return !isFile || l.isInside(name) || exists(name)
}

func (l *log) isInside(name string) bool {
	return name == l.root || strings.HasPrefix(name, l.root+string(filepath.Separator))
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
