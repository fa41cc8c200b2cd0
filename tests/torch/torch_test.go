package torch

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// scripts are the scripts that run in one process.
var scripts = []string{"table.py", "object_owned.py", "exports.py", "consume.py", "rules.py", "attack.py"}

// Each script compares one side of the package with torch.
func TestTheTableAndTheConsumer(t *testing.T) {
	to, dir := modules(t)
	eachPasses(t, to, dir, nil, append(slices.Clone(scripts), libraries, verdicts, "errors.py", "device.py",
		"threads.py")...)
}

// found returns a pattern's matches in each line of a script.
func found(t *testing.T, script, pattern string) (all []string) {
	t.Helper()
	f, err := os.Open(script)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(lines.Text()); m != nil {
			all = append(all, m[1])
		}
	}
	require.NotEmpty(t, all)
	return all
}

// testsOf returns each test of a script, preceded by the script.
func testsOf(t *testing.T, script string) (all []string) {
	t.Helper()
	for _, name := range found(t, script, `^def (test_\w+)`) {
		all = append(all, script+" "+name)
	}
	return all
}

// Consumers cache types, so each order has a separate process.
func TestInstalling(t *testing.T) {
	to, dir := modules(t)
	eachPasses(t, to, dir, nil, testsOf(t, "install.py")...)
}

func TestEndings(t *testing.T) {
	tier.OnlyNightly(t)
	to, dir := modules(t)
	ways := found(t, "ending.py", `^(?:el)?if how == "(.*)":`)
	out, err := script(to, dir, nil, append([]string{"ending.py"}, ways...)...)
	require.NoError(t, err, out)
	printed := testkit.Verdicts(out)
	for _, how := range ways {
		t.Run(how, func(t *testing.T) {
			require.Contains(t, printed, "ended 0 "+how, out)
			assert.Equal(t, "ends: "+how+"\n", printed["ended 0 "+how], "there is no later output")
		})
	}
}

// A package that was built for other versions names them, and looks up no torch symbol: the file in
// place of its module could not even be loaded.
func TestAnotherTorchIsNamed(t *testing.T) {
	to, dir := modules(t)
	for _, test := range []struct {
		modules []string
		says    string
	}{
		{[]string{"_torch_2_3_1", "_torch_2_12_0", "_torch_2_99"},
			"dlpackgen_torch was built for torch 2.3.1 and 2.12.0, but torch "},
		{nil, "dlpackgen_torch was built for no version of torch, but torch "},
	} {
		other := t.TempDir()
		folder := filepath.Join(other, "dlpackgen_torch")
		require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(dir, "dlpackgen_torch"))))
		require.NoError(t, os.Remove(filepath.Join(folder, to.name()+to.Suffix)))
		for _, name := range test.modules {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name+to.Suffix), []byte("no library"), 0o600))
		}
		out, err := script(to, other, nil, "-c", "import dlpackgen_torch")
		assert.Error(t, err)
		last := strings.TrimSpace(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:])
		assert.Regexp(t, `^ImportError: `+regexp.QuoteMeta(test.says)+`\S+ is running: rebuild it$`, last)
	}
}

// The same sources, built for older torches: 2.10 is the first with a table, and 2.9 has none that
// install() could replace.
func TestOlderTorches(t *testing.T) {
	older := strings.Fields(os.Getenv("DLPACKGEN_TORCHES"))
	if len(older) == 0 {
		t.Skip("needs older versions of torch: make torches")
	}
	for _, python := range older {
		to := torchOf(t, python)
		t.Run(fmt.Sprintf("%d.%d", to.Major, to.Minor), func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, to.build(t, generated(t), dir, "-O1"))
			helper(t, dir)
			for _, name := range scripts {
				passes(t, to, dir, nil, name)
			}
			for _, name := range []string{"test_once_and_twice", "test_the_table_outlives_the_package",
				"test_versions"} {
				out, err := script(to, dir, nil, "install.py", name)
				require.NoError(t, err, out)
			}
		})
	}
}
