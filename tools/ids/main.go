// Command ids lists the checks of the suite: the tests, the rows of their tables (including
// mutants), and the functions of their scripts. With -since, it compares them with an older commit:
// each removed id needs a successor in tests/successors.txt.
//
// usage: go run ./tools/ids [-since COMMIT]
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

func main() {
	since := flag.String("since", "", "the commit to compare with")
	flag.Parse()
	if err := run(os.Stdout, *since); err != nil {
		fmt.Fprintln(os.Stderr, "ids:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, since string) error {
	now, err := inTree(os.DirFS("."))
	if err != nil || since == "" {
		fmt.Fprint(out, strings.Join(now, "\n"), "\n")
		return err
	}
	before, err := inCommit(since)
	if err != nil {
		return err
	}
	successors, err := os.ReadFile("tests/successors.txt")
	if err != nil {
		return err
	}
	lost := lostIDs(before, now, string(successors))
	fmt.Fprintf(out, "%d ids at %s, %d now, %d gone, %d of those without a successor\n", len(before), since, len(now),
		len(lostIDs(before, now, "")), len(lost))
	for _, id := range lost {
		fmt.Fprintln(out, "  "+id)
	}
	if len(lost) > 0 {
		return errors.New("tests/successors.txt must name a successor of each")
	}
	return nil
}

// name is an id without its folder or file.
func name(id string) string {
	_, name, _ := strings.Cut(id, " ")
	return name
}

// lostIDs returns the removed ids that no other package has now, and that have no valid line "ID =>
// SUCCESSOR" or "ID => gone: REASON".
func lostIDs(before, now []string, successors string) (lost []string) {
	known := map[string]string{}
	for line := range strings.Lines(successors) {
		if id, successor, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			known[id] = successor
		}
	}
	elsewhere := map[string]bool{}
	for _, id := range now {
		if _, was := slices.BinarySearch(before, id); !was {
			elsewhere[name(id)] = true
		}
	}
	for _, id := range before {
		if _, is := slices.BinarySearch(now, id); is || elsewhere[name(id)] {
			continue
		}
		last := latest(known, id)
		reason, goes := strings.CutPrefix(last, "gone: ")
		if _, is := slices.BinarySearch(now, last); !is && (!goes || reason == "") {
			lost = append(lost, id)
		}
	}
	return lost
}

// latest returns the successor of an id, followed to the end of the chain.
func latest(successors map[string]string, id string) (last string) {
	for range len(successors) {
		next, is := successors[cmp.Or(last, id)]
		if !is {
			break
		}
		last = next
	}
	return last
}

// inTree returns the ids of a tree, sorted.
func inTree(root fs.FS) ([]string, error) {
	all := map[string]bool{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "generated"):
			return fs.SkipDir
		case entry.IsDir() || !isTest(name):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err == nil {
			err = collect(all, name, text)
		}
		return err
	})
	return sorted(all), err
}

// inCommit returns the ids of a commit, sorted.
func inCommit(commit string) ([]string, error) {
	cmd := exec.Command("git", "archive", commit)
	cmd.Stderr = os.Stderr
	archive, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all, files := map[string]bool{}, tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := files.Next()
		if err == io.EOF {
			return sorted(all), nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg || !isTest(header.Name) {
			continue
		}
		text, err := io.ReadAll(files)
		if err == nil {
			err = collect(all, header.Name, text)
		}
		if err != nil {
			return nil, err
		}
	}
}

// isTest reports whether a file contains tests: in Go, Python scripts, and command scripts.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "/testdata/") ||
		strings.HasPrefix(name, "tests/") && path.Ext(name) == ".py" || strings.Contains(name, "/testdata/script/")
}
