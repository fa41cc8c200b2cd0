package release

import (
	"crypto/sha1" //nolint:gosec // npm's queries of a registry
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

const config = "version: 1\ntargets:\n  c: {path: gen/c}\n"

// project is an empty folder with a config.
func project(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dlpackgen.yaml"), []byte(config), 0o600))
	return dir
}

// generates runs a command that must generate the project's header.
func generates(t *testing.T, argv ...string) {
	t.Helper()
	dir := project(t)
	run(t, dir, nil, append(argv, "generate", "--quiet")...)
	assert.Equal(t, read(t, filepath.Join(golden.Root(t), "gen/c/dlpack/dlpack.h")),
		read(t, filepath.Join(dir, "gen/c/dlpack/dlpack.h")))
	cmd := exec.Command(argv[0], append(argv[1:], "nothing")...)
	var ended *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &ended)
	assert.Equal(t, 2, ended.ExitCode(), "the program's exit code is the command's")
}

// venv is an empty environment with the wheel, installed from a folder without a network.
func venv(t *testing.T) string {
	t.Helper()
	python := testtool.RequirePython(t)
	dir, _ := published(t)
	_, version := published(t)
	return testkit.Built(t, "venv", func(env string) {
		run(t, dir, nil, python, "-m", "venv", env)
		path := "PATH=" + filepath.Join(env, "bin") + ":" + os.Getenv("PATH")
		printed := run(t, env, append(offline(dir), path), "sh", "-ec", block(t, "sh pip"))
		assert.Equal(t, 2, strings.Count(printed, "\ndlpackgen v"+version+" "), printed)
	})
}

// offline are pip's settings.
func offline(dir string) []string {
	return []string{"PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + dir, "PIP_DISABLE_PIP_VERSION_CHECK=1"}
}

// block returns a block of docs/how-to/install.md, whose commands the tests run verbatim.
func block(t testing.TB, label string) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, filepath.Join(golden.Root(t), "docs/how-to/install.md")), "```"+label+"\n")
	require.True(t, found, label)
	text, _, _ = strings.Cut(text, "```")
	return text
}

func TestWheel(t *testing.T) {
	heavy(t)
	bin := filepath.Join(venv(t), "bin")
	generates(t, filepath.Join(bin, "dlpackgen"))
	generates(t, filepath.Join(bin, "python"), "-m", "dlpackgen")
	_, version := published(t)
	run(t, t.TempDir(), nil, filepath.Join(bin, "python"), filepath.Join(here(t), "testdata/wheel.py"), version)

	// pip --target places the program outside of Python's schemes.
	dir, _ := published(t)
	target := t.TempDir()
	run(t, dir, offline(dir), filepath.Join(bin, "python"), "-m", "pip", "install", "--target", target, "dlpackgen")
	t.Setenv("PYTHONPATH", target)
	generates(t, testtool.RequirePython(t), "-m", "dlpackgen")
}

func here(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	return dir
}

// The documented lines for build systems find the headers of the wheel.
func TestWheelHeadersBuildAnExtension(t *testing.T) {
	heavy(t)
	testtool.Require(t, "gcc", "gcc")
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "setuptools", "numpy") {
		t.Skip("needs setuptools and numpy: make setup")
	}
	dir := t.TempDir()
	copyTree(t, filepath.Join(here(t), "testdata/extension"), dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "setup.py"), []byte(block(t, "python setuptools")), 0o600))
	site := only(t, venv(t), "lib/python3.*/site-packages")
	t.Setenv("PYTHONPATH", site)
	run(t, dir, nil, python, "setup.py", "--quiet", "build_ext", "--inplace")
	out := run(t, dir, nil, python, "-c", "import numpy, total; print(total.total(numpy.arange(4.0)))")
	assert.Equal(t, "6.0\n", out)
}

// backends are the Python build systems on the page: the text before those lines, and pip's name of
// the build backend.
var backends = map[string]struct{ label, file, head, backend string }{
	"scikit-build-core": {"cmake scikit-build-core", "CMakeLists.txt",
		"cmake_minimum_required(VERSION 3.20)\nproject(total C)\n", "scikit_build_core.build"},
	"meson-python": {"meson meson-python", "meson.build", "project('total', 'c', version: '1')\n", "mesonpy"},
}

// The documented lines for CMake and Meson find the headers of the wheel, and build a package.
func TestWheelHeadersBuildAPackage(t *testing.T) {
	tier.OnlyNightly(t)
	heavy(t)
	testtool.Require(t, "gcc", "gcc")
	testtool.Require(t, "cmake", "cmake")
	testtool.Require(t, "ninja", "ninja-build")
	python := testtool.RequirePython(t)
	sites := only(t, venv(t), "lib/python3.*/site-packages")
	ci := filepath.Join(golden.Root(t), ".cache", "ci")
	if found, _ := filepath.Glob(filepath.Join(ci, "lib/python3.*/site-packages")); len(found) == 1 {
		sites += string(os.PathListSeparator) + found[0]
	}
	t.Setenv("PYTHONPATH", sites)
	t.Setenv("PATH", filepath.Join(ci, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, b := range backends {
		t.Run(name, func(t *testing.T) {
			module, _, _ := strings.Cut(b.backend, ".")
			if !testtool.Has(python, module, "numpy") {
				t.Skip("needs " + name + " and numpy: make setup")
			}
			dir, site := t.TempDir(), t.TempDir()
			copyTree(t, filepath.Join(here(t), "testdata/extension"), dir)
			project := fmt.Sprintf("[build-system]\nrequires = []\nbuild-backend = %q\n[project]\nname = 'total'\n"+
				"version = '1'\n", b.backend)
			for file, text := range map[string]string{b.file: b.head + block(t, b.label), "pyproject.toml": project} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			run(t, dir, offline(dir), python, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", ".")
			run(t, dir, nil, python, "-m", "zipfile", "-e", only(t, dir, "total-1-*.whl"), site)
			out := run(t, site, nil, python, "-c", "import numpy, total; print(total.total(numpy.arange(4.0)))")
			assert.Equal(t, "6.0\n", out)
		})
	}
}

// findsProgram is a project that needs this version's CMake package, and its program.
const findsProgram = `cmake_minimum_required(VERSION 3.20)
project(user NONE)
find_package(dlpackgen %s REQUIRED)
message(STATUS "found ${dlpackgen_VERSION} ${DLPACKGEN_EXECUTABLE}")
`

// cmakeFinds configures a project with the package's folder, and without the program in PATH.
func cmakeFinds(t *testing.T, folder, program string) {
	t.Helper()
	testtool.Require(t, "cmake", "cmake")
	_, version := published(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "CMakeLists.txt"), fmt.Appendf(nil, findsProgram, version),
		0o600))
	out := run(t, dir, nil, "cmake", "-B", "build", "-Ddlpackgen_DIR="+folder)
	found := regexp.MustCompile(`found (\S+) (\S+)`).FindStringSubmatch(out)
	require.NotNil(t, found, out)
	assert.Equal(t, version, found[1])
	assert.Equal(t, program, filepath.Clean(found[2]))
}

// The CMake package finds the program of the wheel, the archive and the Debian package.
func TestThePackageForCMakeFindsTheProgram(t *testing.T) {
	heavy(t)
	bin := filepath.Join(venv(t), "bin")
	folder := run(t, t.TempDir(), nil, filepath.Join(bin, "python"), "-c",
		"import dlpackgen; print(dlpackgen.cmake_dir(), end='')")
	cmakeFinds(t, folder, filepath.Join(bin, "dlpackgen"))
	root := run(t, t.TempDir(), nil, filepath.Join(bin, "python"), "-c", "from importlib import metadata, resources\n"+
		"point, = metadata.entry_points(group='cmake.root')\nprint(resources.files(point.load()) / 'x', end='')")
	assert.Equal(t, filepath.Join(folder, "x"), root, "as scikit-build-core looks it up")
	cmakeFinds(t, filepath.Join(unpacked(t), "cmake"), filepath.Join(unpacked(t), "dlpackgen"))
	testtool.Require(t, "dpkg-deb", "dpkg")
	dir, _ := published(t)
	installed := t.TempDir()
	run(t, dir, nil, "dpkg-deb", "--extract", only(t, dir, "*_"+runtime.GOARCH+".deb"), installed)
	cmakeFinds(t, filepath.Join(installed, "usr/lib/cmake/dlpackgen"), filepath.Join(installed, "usr/bin/dlpackgen"))
}

// The project of dlpackgen init --project checks its files with the wheel, as in its workflow.
func TestTheWorkflowOfAProjectRunsTheWheel(t *testing.T) {
	heavy(t)
	dir, bin := t.TempDir(), filepath.Join(venv(t), "bin")
	run(t, dir, nil, filepath.Join(bin, "dlpackgen"), "init", "--project", "mylib")
	run(t, filepath.Join(dir, "mylib"), nil, filepath.Join(bin, "dlpackgen"), "generate", "--quiet")
	_, step, found := strings.Cut(read(t, filepath.Join(dir, "mylib/.github/workflows/test.yml")),
		"run: pipx run dlpackgen==")
	require.True(t, found)
	_, version := published(t)
	step, found = strings.CutPrefix(step, version+" ")
	require.True(t, found, "the workflow runs the version that wrote it")
	step, _, _ = strings.Cut(step, "\n")
	argv := append([]string{filepath.Join(bin, "dlpackgen")}, strings.Fields(step)...)
	run(t, filepath.Join(dir, "mylib"), nil, argv...)
	require.NoError(t, os.Remove(filepath.Join(dir, "mylib/csrc/kernels.h")))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = filepath.Join(dir, "mylib")
	assert.Error(t, cmd.Run(), "a lost file fails the workflow")
}

// registry serves the packed packages like npm's registry, and is the only registry.
func registry(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	require.NoError(t, err)
	about := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := about[strings.TrimPrefix(r.URL.Path, "/")]; ok {
			_, _ = w.Write(text)
			return
		}
		http.ServeFile(w, r, filepath.Join(dir, path.Base(r.URL.Path)))
	}))
	t.Cleanup(server.Close)
	for _, file := range packed {
		var manifest map[string]any
		require.NoError(t, json.Unmarshal([]byte(run(t, dir, nil, "tar", "-xzOf", file, "package/package.json")),
			&manifest))
		sum := sha1.Sum([]byte(read(t, file))) //nolint:gosec // as above
		manifest["dist"] = map[string]string{"tarball": server.URL + "/-/" + filepath.Base(file),
			"shasum": hex.EncodeToString(sum[:])}
		name, version := manifest["name"].(string), manifest["version"].(string)
		about[name], err = json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": version},
			"versions": map[string]any{version: manifest}})
		require.NoError(t, err)
	}
	return server
}

// npm downloads only the program of this system from the registry, and runs no script.
func TestNpm(t *testing.T) {
	heavy(t)
	testtool.Require(t, "npm", "npm")
	dir, version := published(t)
	app := t.TempDir()
	env := []string{"npm_config_" + "registry=" + registry(t, dir).URL, "npm_config_cache=" + t.TempDir(),
		"npm_config_userconfig=" + os.DevNull, "npm_config_update_notifier=false", "npm_config_audit=false",
		"npm_config_fund=false",
		"npm_config_ignore_scripts=true"}
	printed := run(t, app, env, "sh", "-ec", block(t, "sh npm"))
	assert.Contains(t, printed, "\ndlpackgen v"+version+" ")
	include := strings.Fields(printed[strings.LastIndex(printed, "dlpackgen v"):])[3]
	assert.FileExists(t, filepath.Join(include, "dlpackgen_python.h"))
	generates(t, filepath.Join(app, "node_modules/.bin/dlpackgen"))
	programs, err := filepath.Glob(filepath.Join(app, "node_modules/@dlpackgen/*"))
	require.NoError(t, err)
	assert.Len(t, programs, 1)

	require.NoError(t, os.RemoveAll(programs[0]))
	cmd := exec.Command("node_modules/.bin/dlpackgen", "version")
	cmd.Dir = app
	out, err := cmd.CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "install dlpackgen without --omit=optional")
}

// dpkg installs the package below a folder, and lintian reports nothing.
func TestDebianPackage(t *testing.T) {
	heavy(t)
	testtool.Require(t, "dpkg", "dpkg")
	dir, version := published(t)
	deb := only(t, dir, "*_"+runtime.GOARCH+".deb")
	root := t.TempDir()
	for _, name := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, name), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o600))
	dpkg := []string{"dpkg", "--root=" + root, "--force-not-root", "--log=" + os.DevNull}
	env := []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin"}
	run(t, dir, env, append(dpkg, "--install", deb)...)
	assert.Empty(t, run(t, dir, env, append(dpkg, "--verify", "dlpackgen")...), "each file has the sum of its package")
	generates(t, filepath.Join(root, "usr/bin/dlpackgen"))
	assert.Contains(t, run(t, dir, nil, filepath.Join(root, "usr/bin/dlpackgen"), "version"), "dlpackgen v"+version+" ")
	t.Run("lintian", func(t *testing.T) {
		tier.OnlyNightly(t)
		testtool.Require(t, "lintian", "lintian")
		out, err := exec.Command("lintian", "--allow-root", "--fail-on", "error,warning", deb).CombinedOutput()
		assert.NoError(t, err, "%s", out)
	})
}
