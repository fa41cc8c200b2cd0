// Package tier determines when each test runs: in make quick, in make test, or in make nightly.
// Only tests and tools/suite, which runs them, use it.
package tier

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Variable is the environment variable with the tier of a run; empty means Test.
const Variable = "DLPACKGEN_TIER"

// The tiers. Each includes the tiers before it.
const (
	Quick   = "quick"   // make quick, with -short
	Test    = "test"    // make test
	Nightly = "nightly" // make nightly
)

//go:embed packages.txt
var table string

// Package is a row of packages.txt.
type Package struct {
	Path string // relative to the module's root
	Tier string // the first tier that runs its tests
	Cost int    // CPU seconds in make test, which decide the order
	// Inputs are the files and folders that child processes of the tests read, relative to the
	// root. Uncached is the reason why they cannot be listed.
	Inputs   []string
	Uncached string
}

// Packages returns the rows of packages.txt.
func Packages() ([]Package, error) { return parse(table) }

func parse(text string) (all []Package, err error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		p, err := parseRow(words)
		if err != nil {
			return nil, fmt.Errorf("packages.txt: %q: %w", strings.TrimSpace(line), err)
		}
		all = append(all, p)
	}
	return all, nil
}

func parseRow(words []string) (p Package, err error) {
	if len(words) < 3 {
		return p, fmt.Errorf("expected a package, a tier and a cost")
	}
	p.Path, p.Tier = words[0], words[1]
	if !slices.Contains([]string{Quick, Test, Nightly}, p.Tier) {
		return p, fmt.Errorf("unknown tier %s", p.Tier)
	}
	if p.Cost, err = strconv.Atoi(words[2]); err != nil {
		return p, err
	}
	if rest := words[3:]; len(rest) > 0 && rest[0] == "uncached:" {
		p.Uncached = strings.Join(rest[1:], " ")
	} else {
		p.Inputs = rest
	}
	return p, nil
}

// OnlyNightly skips a test outside of make nightly. docs/testing.md lists these tests and what
// covers them in make test.
func OnlyNightly(t testing.TB) {
	t.Helper()
	if !IsNightly() {
		t.Skip("left to make nightly: docs/testing.md lists the tests that cover it in make test")
	}
}

// IsNightly reports whether this is a run of make nightly.
func IsNightly() bool { return os.Getenv(Variable) == Nightly }

// Toolchain is the environment variable with a digest of the installed compilers and Pythons, which
// tools/suite computes.
const Toolchain = "DLPACKGEN_TOOLCHAIN"

// Run is the environment variable with a value that differs in each run of tools/suite.
const Run = "DLPACKGEN_RUN"

// Record registers the inputs of child processes, which the package's row in packages.txt lists,
// with the go command: the size and time of each file, and the toolchain. Go's cached results are
// then valid until an input changes. If the inputs of a package cannot be listed, runs of
// tools/suite do not use cached results for it.
func Record(t testing.TB) {
	t.Helper()
	root, pkg, err := locate()
	require.NoError(t, err)
	all, err := Packages()
	require.NoError(t, err)
	require.NoError(t, record(root, pkg, all))
}

// locate returns the module's root, and the current folder relative to it.
func locate() (root, pkg string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	for root = here; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			pkg, err = filepath.Rel(root, here)
			return root, filepath.ToSlash(pkg), err
		} else if root == filepath.Dir(root) {
			return "", "", fmt.Errorf("%s: no go.mod above", here)
		}
	}
}

// Command is the environment variable with a digest of the sources of the command.
const Command = "DLPACKGEN_COMMAND"

// commandInput is the input that stands for these sources.
const commandInput = "./cmd/dlpackgen"

// sources are the files and folders that a build of the command reads.
var sources = []string{"cmd", "internal", "spec", "templates", "go.mod", "go.sum"}

// CommandDigest returns a digest of the sources of the command, without tests and their data.
func CommandDigest(root string) (string, error) {
	sum := sha256.New()
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(root, source), func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(name)
			fmt.Fprintf(sum, "%s %d\n%s", strings.TrimPrefix(name, root), len(text), text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

func record(root, pkg string, all []Package) error {
	i := slices.IndexFunc(all, func(p Package) bool { return p.Path == pkg })
	if i < 0 {
		return fmt.Errorf("packages.txt has no row for %s", pkg)
	}
	_ = os.Getenv(Toolchain)
	if all[i].Uncached != "" {
		_ = os.Getenv(Run)
	}
	for _, input := range inputs(all[i]) {
		if err := recordTree(filepath.Join(root, filepath.FromSlash(input))); err != nil {
			return err
		}
	}
	return nil
}

// inputs returns the files and folders of a package whose status counts. A run of tools/suite has a
// digest of the sources of the command: the status of a folder would change with its tests.
func inputs(p Package) (all []string) {
	for _, input := range p.Inputs {
		switch {
		case input != commandInput:
			all = append(all, input)
		case os.Getenv(Command) == "":
			all = append(all, sources...)
		}
	}
	return all
}

// recordTree reads the status of each file of a folder, which Go's cache then compares.
func recordTree(path string) error {
	return filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "__pycache__" {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() {
			_, err = os.Stat(name)
		}
		return err
	})
}
