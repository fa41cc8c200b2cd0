// Package rust builds examples/rust, whose bindings are rendered from templates, with cargo.
package rust

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// crate is a copy of the example, and the program that builds it.
type crate struct {
	testkit.Example
	cargo string
}

func newCrate(t *testing.T) crate {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a crate for some seconds, and -short was given")
	}
	cargo := testtool.Require(t, "cargo", "cargo-web")
	return crate{testkit.NewExample(t, "../../examples/rust", "target", "src/dlpack", "dlpackgen.lock"), cargo}
}

// run runs a verb of cargo offline, because the crate has no dependencies.
func (c crate) run(verb ...string) (string, error) {
	cmd := exec.Command(c.cargo, append(verb, "--offline", "--quiet")...)
	cmd.Dir = c.Dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCrateIsTested(t *testing.T) {
	c := newCrate(t)
	c.Generate(t)
	offsets := golden(t)
	require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "tests", "golden.rs"), []byte(offsets), 0o600))
	out, err := c.run("test")
	require.NoError(t, err, out)
	assert.Contains(t, out, "test result: ok. 5 passed")
	assert.Contains(t, out, "test result: ok. 1 passed")
}

var (
	structHead = regexp.MustCompile(`^[A-Z]\w+$`)
	fieldRow   = regexp.MustCompile(`^ +(\d+) +\d+ .*?[ *](\w+)(?:\)\(.*)?$`)
	extentRow  = regexp.MustCompile(`^ +(\d+) .* (size|align)(?:ment)?$`)
)

// golden is a Rust test of the offsets in the golden ABI table, which a C compiler measured.
func golden(t *testing.T) string {
	t.Helper()
	table, err := os.ReadFile("../../golden/abi/1.3.txt")
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("use dlpack_example::dlpack::sys::*;\n#[test]\nfn layout() {\n")
	current, rows := "", 0
	for line := range strings.SplitSeq(string(table), "\n") {
		if structHead.MatchString(line) {
			current = line
			continue
		}
		if m := extentRow.FindStringSubmatch(line); m != nil && current != "" {
			fmt.Fprintf(&b, "assert_eq!(std::mem::%s_of::<%s>(), %s);\n", m[2], current, m[1])
		} else if m := fieldRow.FindStringSubmatch(line); m != nil && current != "" {
			fmt.Fprintf(&b, "assert_eq!(std::mem::offset_of!(%s, %s), %s);\n", current, m[2], m[1])
			rows++
		}
	}
	require.Greater(t, rows, 20)
	return b.String() + "}\n"
}

// Each mistake in a template prevents the crate from compiling, or fails one of its tests.
func TestMistakesInTemplatesAreFound(t *testing.T) {
	c := newCrate(t)
	for name, m := range map[string]struct{ file, old, replacement, finding string }{
		"a wrong offset": {"templates/layout.rs.tmpl", "{{index .offset $model}}", "{{add 1 (index .offset $model)}}",
			"assertion failed"},
		"fields in another order": {"templates/sys.rs.tmpl", "#[repr(C)]", "#[repr(Rust)]", "assertion failed"},
		"a type of another width": {"templates/_types.tmpl", `u{{trimPrefix "uint" .}}`, "u32", "assertion failed"},
		"a deleter that runs twice": {"templates/owned.rs", "unsafe { deleter(self.raw.as_ptr()) }",
			"unsafe { deleter(self.raw.as_ptr()); deleter(self.raw.as_ptr()) }", "test failed"},
		"a deleter that never runs": {"templates/owned.rs", "unsafe { deleter(self.raw.as_ptr()) }", "let _ = deleter;",
			"a_drop_calls_the_deleter_once"},
		"a tensor that is passed on and released": {"templates/owned.rs", "std::mem::forget(self)", "drop(self)",
			"into_raw_passes_the_tensor_on"},
		"another major version": {"templates/owned.rs", "(tensor.managed().version.major == DLPACK_MAJOR_VERSION)",
			"true",
			"another_major_version_is_released_and_not_read"},
	} {
		t.Run(name, func(t *testing.T) {
			defer c.Change(t, m.file, m.old, m.replacement)()
			c.Generate(t)
			out, err := c.run("test", "--test", "tensor")
			require.Error(t, err)
			assert.Contains(t, out, m.finding)
		})
	}
}
