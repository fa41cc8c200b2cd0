package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hosts are the packages that the tests install for the target of each caller, and the other
// versions that its page names: versions that do not work, and versions of other hosts.
var hosts = []struct{ target, name, others string }{
	{"torchshim", "torch", ""}, {"jax", "jaxlib", ""}, {"onnxruntime", "onnxruntime", ""}, {"ufunc", "numpy", ""},
	{"paddle", "paddlepaddle", "2.6.2"}, {"tvmffi", "apache-tvm-ffi", "0.19.0 0.27.0.post1"},
}

// ran returns the versions of a package that the tests of callers install, oldest first. PyTorch
// 2.9 is installed for other tests: it has no C shim.
func ran(t *testing.T, name string) (versions []string) {
	t.Helper()
	files, err := filepath.Glob("../requirements*.txt")
	require.NoError(t, err)
	pin := regexp.MustCompile(`(?m)(?:^|\s)` + name + `==(\S+)`)
	for _, file := range append(files, "../../tools/hosts.sh") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range pin.FindAllStringSubmatch(string(text), -1) {
			if filepath.Base(file) != "requirements-torch-2.9.txt" {
				versions = append(versions, m[1])
			}
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
	return slices.Compact(versions)
}

// numbers returns the numbers of a version.
func numbers(version string) (all []int) {
	for _, digits := range regexp.MustCompile(`\d+`).FindAllString(version, -1) {
		n, _ := strconv.Atoi(digits)
		all = append(all, n)
	}
	return all
}

// strays are the versions that a page names but no test runs, and the oldest and the newest version
// if the page does not name them.
func strays(page string, versions []string, others string) (found []string) {
	named := regexp.MustCompile(`\b\d+\.\d+\.\d+(?:\.post\d+)?\b`).FindAllString(page, -1)
	for _, version := range named {
		if !slices.Contains(versions, version) && !slices.Contains(strings.Fields(others), version) {
			found = append(found, version+" is not run")
		}
	}
	for _, version := range []string{versions[0], versions[len(versions)-1]} {
		if !slices.Contains(named, version) {
			found = append(found, version+" is run, and not named")
		}
	}
	return found
}

// row returns the oldest and the newest version in a target's row of the table of hosts.
func row(t *testing.T, table, target string) [2]string {
	t.Helper()
	const oldest, newest = `\| (?:jaxlib )?([^ ,|]+)(?:, [^|]+)? `, `\| (?:jaxlib )?(\S+) \|$`
	m := regexp.MustCompile("(?m)^\\| [^|]+ \\| `" + target + "` " + oldest + newest).FindStringSubmatch(table)
	require.NotNil(t, m, "docs/callers/index.md has no row of %s", target)
	return [2]string{m[1], m[2]}
}

// The table of docs/callers/index.md contains the oldest and the newest installed version of each
// host. The page of each target names both, and no version that is not run.
func TestTheTableOfHostsHasWhatIsRun(t *testing.T) {
	index, err := os.ReadFile("../../docs/callers/index.md")
	require.NoError(t, err)
	for _, host := range hosts {
		versions := ran(t, host.name)
		newest := versions[len(versions)-1]
		assert.Equal(t, [2]string{versions[0], newest}, row(t, string(index), host.target), host.target)
		page, err := os.ReadFile("../../docs/callers/" + host.target + ".md")
		require.NoError(t, err)
		assert.Empty(t, strays(string(page), versions, host.others), "docs/callers/%s.md", host.target)
	}
	compiled := ran(t, "torch")
	assert.Equal(t, compiled[len(compiled)-1], row(t, string(index), "torch")[1])
	assert.Contains(t, string(index), "| TVM | `tvmffi` | 0.19.0, in the [legacy form](tvmffi.md#tvm) | "+
		ran(t, "apache-tvm")[0]+" |\n")
	assert.Contains(t, ran(t, "xtc-tvm-python-bindings")[0], "0.19.0.")
}

// unlisted are the versions that make hosts runs and the record of these runs lacks, and the
// versions that only the record has.
func unlisted(script, record string) (names []string) {
	const version = `((?:torch|jax|onnxruntime|numpy|paddle)-[\d.]+)`
	row := regexp.MustCompile("(?m)^\\| `" + version + "` \\| (?:no record \\| |[^|]+ \\| \\d{4}-\\d\\d-\\d\\d )\\|$")
	count := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^`+version+` `).FindAllStringSubmatch(script, -1) {
		count[m[1]]++
	}
	for _, m := range row.FindAllStringSubmatch(record, -1) {
		count[m[1]]--
	}
	for name, n := range count {
		if n != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestTheRecordListsTheVersionsOfMakeHosts(t *testing.T) {
	script, err := os.ReadFile("../../tools/hosts.sh")
	require.NoError(t, err)
	record, err := os.ReadFile("../../docs/records/hosts.md")
	require.NoError(t, err)
	assert.Empty(t, unlisted(string(script), string(record)))
	const rows = "\njax-0.6.2 jax==0.6.2\nnumpy-2.0.2 numpy==2.0.2\n"
	assert.Empty(t, unlisted(rows, "| `jax-0.6.2` | 3 of 3 | 2026-11-27 |\n| `numpy-2.0.2` | no record | |\n"))
	assert.Equal(t, []string{"jax-0.6.2", "jax-0.7.2", "numpy-2.0.2"},
		unlisted(rows, "| `jax-0.7.2` | 3 of 3 | 2026-11-27 |\n| `numpy-2.0.2` | 3 of 3 | |\n"))
}

// recorded returns the versions in the newest record of a run on a GPU, by library.
func recorded(record string) map[string]string {
	versions := map[string]string{}
	named := regexp.MustCompile(`\b(torch|CuPy|JAX|tvm-ffi|NumPy)\s(\d+\.\d+\.\d+(?:\.post\d+)?)`)
	for _, m := range named.FindAllStringSubmatch(record, -1) {
		if versions[m[1]] == "" {
			versions[m[1]] = m[2]
		}
	}
	return versions
}

// unnamed lists the versions of a record that the table of callers and the table of Python's
// libraries lack.
func unnamed(record, callers, python string) (missing []string) {
	versions := recorded(record)
	targets := map[string]string{"torch": "torch", "torchshim": "torch", "jax": "JAX", "tvmffi": "tvm-ffi"}
	for target, library := range targets {
		if !strings.Contains(callers, " | `"+target+"` | "+versions[library]+" |\n") {
			missing = append(missing, target)
		}
	}
	for library, name := range map[string]string{"PyTorch": "torch", "CuPy": "CuPy", "JAX": "JAX", "NumPy": "NumPy"} {
		row := regexp.MustCompile(`(?m)^\| ` + library + `\b[^\n]*\b` + regexp.QuoteMeta(versions[name]) + `\b[^\n]*$`)
		if line := row.FindString(python); !strings.Contains(line, "GPU") {
			missing = append(missing, library)
		}
	}
	slices.Sort(missing)
	return missing
}

// The tables contain the versions that ran on a GPU.
func TestTheTablesHaveWhatRanOnAGPU(t *testing.T) {
	var texts []string
	for _, name := range []string{"records/gpu.md", "callers/index.md", "python.md"} {
		text, err := os.ReadFile("../../docs/" + name)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	require.Len(t, recorded(texts[0]), 5)
	_, onGPU, found := strings.Cut(texts[1], "run on a GPU")
	require.True(t, found)
	assert.Empty(t, unnamed(texts[0], onGPU, texts[2]))
	newer := strings.ReplaceAll(texts[0], "JAX 0.11.2", "JAX 0.11.3")
	require.NotEqual(t, texts[0], newer)
	assert.Equal(t, []string{"JAX", "jax"}, unnamed(newer, onGPU, texts[2]))
}

func TestStrayVersionsAreFound(t *testing.T) {
	versions := []string{"1.2.0", "1.10.3"}
	assert.Empty(t, strays("1.2.0 to 1.10.3, but not 1.1.9", versions, "1.1.9"))
	assert.Equal(t, []string{"1.1.9 is not run", "1.10.3 is run, and not named"},
		strays("1.2.0 and 1.1.9", versions, ""))
	assert.Equal(t, -1, slices.Compare(numbers("1.9.2"), numbers("1.10.0")))
}
