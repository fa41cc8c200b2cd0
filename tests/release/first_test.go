package release

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// screen is the height of a terminal, in lines.
const screen = 24

// firstResult is a block of docs/how-to/first-result.md.
var firstResult = regexp.MustCompile("(?ms)^```(sh first-result [a-z-]+)\n(.*?)^```$")

// firstResults returns the commands for each kind of reader.
func firstResults(t *testing.T) map[string]string {
	t.Helper()
	commands := map[string]string{}
	page := read(t, filepath.Join(golden.Root(t), "docs/how-to/first-result.md"))
	for _, m := range firstResult.FindAllStringSubmatch(page, -1) {
		commands[m[1]] = m[2]
	}
	return commands
}

func TestFirstResultsFitOnAScreen(t *testing.T) {
	require.Len(t, firstResults(t), len(printed), "one block of commands for each reader")
	for reader, commands := range firstResults(t) {
		assert.LessOrEqual(t, strings.Count(commands, "\n"), screen, reader)
	}
}

// printed is the end of the output for each reader.
var printed = map[string]string{
	"sh first-result kernel-author":   ` \d+ passed`,
	"sh first-result go-developer":    `float32\[2 3\] on CPU:0`,
	"sh first-result cpp-author":      `\[0\. 2\. 4\. 6\.\]`,
	"sh first-result build-engineer":  `(?m)^DLPack 1\.3$`,
	"sh first-result hardware-vendor": `(?m)^3 checks, 0 failed$`,
}

// Each reader's commands run in an empty folder, with packages from the disk. With FRESH set, as by
// make bench ONLY=release, Go has an empty cache, and the times are goals.
func TestFirstResults(t *testing.T) {
	heavy(t)
	testtool.Require(t, "g++", "g++")
	testtool.Require(t, "cmake", "cmake")
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "numpy", "pybind11", "pytest", "setuptools", "hypothesis") {
		t.Skip("needs numpy, pybind11, pytest, setuptools and hypothesis: make setup")
	}
	commands := firstResults(t)
	require.Len(t, commands, len(printed))
	for label, want := range printed {
		reader := strings.TrimPrefix(label, "sh first-result ")
		t.Run(reader, func(t *testing.T) {
			env := fresh(t, python)
			began := time.Now()
			out := run(t, t.TempDir(), env, "sh", "-ec", commands[label])
			assert.Regexp(t, want, out)
			if took := time.Since(began).Seconds(); os.Getenv("FRESH") != "" {
				verdict := map[bool]string{true: "met", false: "missed"}[took <= 60]
				fmt.Printf("goal first-success.%s measured %.1fs limit 60s %s\n", reader, took, verdict)
			}
		})
	}
}

// fresh is a new user's environment: pip and go find this release, and the commands' other
// packages, on the disk.
func fresh(t *testing.T, python string) []string {
	t.Helper()
	dir, _ := published(t)
	home, venv := t.TempDir(), t.TempDir()
	run(t, home, nil, python, "-m", "venv", "--without-pip", venv)
	linkPackages(t, python, only(t, venv, "lib/python3.*/site-packages"))
	for _, program := range []string{"pip", "pytest"} {
		text := fmt.Sprintf("#!/bin/sh\nexec '%s/bin/python' -m %s \"$@\"\n", venv, program)
		file := filepath.Join(venv, "bin", program)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o700)) //nolint:gosec // executable
	}
	cache := strings.TrimSpace(run(t, home, nil, "go", "env", "GOMODCACHE"))
	env := append(offline(dir), "PATH="+filepath.Join(venv, "bin")+":"+os.Getenv("PATH"),
		"PIP_NO_BUILD_ISOLATION=0", "GOPATH="+home, "GOMODCACHE="+filepath.Join(home, "mod"), "GOBIN=", "GOWORK=off",
		"GOPROXY=file://"+proxy(t)+",file://"+filepath.Join(cache, "cache", "download"), "GOSUMDB=off",
		"GOFLAGS=-modcacherw")
	if os.Getenv("FRESH") != "" {
		return append(env, "GOCACHE="+filepath.Join(home, "cache"))
	}
	// The compiled packages are those of the release's builds.
	return append(env, "GOFLAGS=-modcacherw -trimpath", "PATH="+filepath.Join(venv, "bin")+":"+testtool.GoTool(t))
}

// packages are the other packages that the commands install, with their dependencies.
var packages = []string{"pip", "py.py", "numpy", "numpy.libs", "pybind11", "pytest", "_pytest", "iniconfig",
	"packaging", "pluggy", "pygments", "setuptools", "_distutils_hack", "distutils-precedence.pth", "hypothesis",
	"_hypothesis_pytestplugin.py", "_hypothesis_globals.py", "sortedcontainers"}

// linkPackages makes them available in an environment without a copy.
func linkPackages(t *testing.T, python, into string) {
	t.Helper()
	site := only(t, filepath.Dir(filepath.Dir(python)), "lib/python3.*/site-packages")
	entries, err := os.ReadDir(site)
	require.NoError(t, err)
	for _, e := range entries {
		name, _, about := strings.Cut(strings.ToLower(e.Name()), "-")
		if !slices.Contains(packages, name) && (about || !slices.Contains(packages, e.Name())) {
			continue
		}
		to := filepath.Join(into, e.Name())
		require.NoError(t, os.RemoveAll(to))
		require.NoError(t, os.Symlink(filepath.Join(site, e.Name()), to))
	}
	require.FileExists(t, filepath.Join(into, "numpy", "__init__.py"))
}

// proxy is the folder of this release as a module proxy.
func proxy(t testing.TB) string {
	t.Helper()
	published(t)
	return testkit.Built(t, "proxy", func(string) {})
}
