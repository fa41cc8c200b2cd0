package macros

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// torchFlags are the flags for torch; the test is skipped without it.
func torchFlags(t *testing.T) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the headers of torch, and -short was given")
	}
	out, err := exec.Command(testtool.RequirePython(t), "-c",
		"import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])").Output()
	if err != nil {
		t.Skip("needs torch: pip install -r tests/requirements-frameworks.txt")
	}
	include := filepath.Join(strings.TrimSpace(string(out)), "include")
	return append(pythonFlags(t), "-isystem", include, "-isystem", filepath.Join(include, "torch/csrc/api/include"))
}

// bindingFlags find the headers of Eigen, nanobind and pybind11.
func bindingFlags(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command(testtool.RequirePython(t), "-c",
		"import nanobind, pybind11; print(nanobind.include_dir(), pybind11.get_include())").Output()
	folders := strings.Fields(string(out))
	if err != nil || len(folders) != 2 {
		t.Skip("needs nanobind and pybind11: pip install -r tests/requirements.txt")
	}
	return []string{"-isystem", "/usr/include/eigen3", "-isystem", folders[0], "-isystem", folders[1]}
}

func isStable(path string) bool { return strings.HasPrefix(filepath.Base(path), "stable_") }

// torch's own headers are compiled once for all sets of macros. In make test, tests/torch builds
// its modules after all macros.
func TestHeadersOfTorch(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	torch := torchFlags(t)
	folder := generated(t, "gen", "cpp", "dlpackgen_torch")
	folders := []string{generated(t, "gen", "c"), generated(t, "gen", "cpp")}
	all := testkit.FilesIn(t, folder, ".hpp", ".cpp")
	for name, flags := range map[string][]string{
		"aten":   {"-x", "c++", "-std=c++20"},
		"stable": {"-x", "c++", "-std=c++20", "-DTORCH_TARGET_VERSION=0x020E000000000000"},
	} {
		stable := name == "stable"
		files := slices.DeleteFunc(slices.Clone(all), func(path string) bool { return isStable(path) != stable })
		require.NotEmpty(t, files)
		u := unitOf(t, name, files, folders, flags, torch)
		u.theirs = testkit.ForeignOfTorch(t, golden.Root(t), stable)
		u.precompile(t)
		assertBears(t, u, inTurn())
	}
}
