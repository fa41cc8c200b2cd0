package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// packages returns the packages of a tier, the slowest first, so that no core is idle at the end.
func packages(all []tier.Package, of string) (paths []string) {
	slices.SortStableFunc(all, func(a, b tier.Package) int { return cmp.Compare(b.Cost, a.Cost) })
	for _, p := range all {
		if rank(p.Tier) <= rank(of) {
			paths = append(paths, "./"+p.Path)
		}
	}
	return paths
}

func rank(name string) int { return slices.Index([]string{tier.Quick, tier.Test, tier.Nightly}, name) }

// environment returns the environment of the tests. Go's cache is valid for equal values.
func environment(of string) []string {
	command, err := tier.CommandDigest(".")
	if err != nil {
		command = "" // then the status of each file counts
	}
	return append([]string{tier.Variable + "=" + of, tier.Toolchain + "=" + toolchain(), tier.Command + "=" + command,
		tier.Run + "=" + strconv.FormatInt(time.Now().UnixNano(), 36)}, frugal...)
}

// frugal saves CPU time of libraries: OpenMP threads do not spin while they wait, PyTorch does not
// precompile headers for the single graph of a test, and pytest captures no logs, because our tests
// write none.
var frugal = []string{"OMP_WAIT_POLICY=passive", "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS=0",
	"PYTEST_ADDOPTS=-p no:logging"}

// toolchain is a digest of the files that change with compilers, Pythons and their packages, in
// each folder of tools/setup.sh.
func toolchain() string {
	apart, _ := filepath.Glob(".cache/*/installed.txt") // only an invalid pattern causes it
	return digest(append(apart, "/var/lib/dpkg/status", ".venv/installed.txt", ".venv/frameworks.txt"))
}

func digest(files []string) string {
	sum := sha256.New()
	for _, name := range files {
		text, err := os.ReadFile(name)
		sum.Write(strconv.AppendInt([]byte(name), int64(len(text)), 10))
		if err == nil {
			sum.Write(text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}
