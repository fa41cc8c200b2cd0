package builds

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each copy has a different release and prefix.
const (
	both = `#include <beta_dlpackgen/tensor.h> /* of the newer release, first, as the page specifies */
#include <beta_dlpackgen/checker.h>
#include <acme_dlpackgen/tensor.h>
#include <acme_dlpackgen/checker.h>
#include <stdio.h>

int of_acme(void);
int of_beta(void);

int main(void) {
  DLTensor tensor = {0};
  int64_t a = 1, b = 1;
  if (acme_dlpackgen_nbytes(&tensor, 0, &a) != ACME_DLPACKGEN_OK) return 1;
  if (beta_dlpackgen_nbytes(&tensor, 0, &b) != BETA_DLPACKGEN_OK) return 2;
  printf("%d %d\n", of_acme(), of_beta());
  return a != b;
}
`
	one = `#include <%[1]s_dlpackgen/abi_check.h>
#include <%[1]s_dlpackgen/codes.h>
int of_%[1]s(void) { return DLPACK_MINOR_VERSION; }
`
)

// Copies of two releases are in one program, and in one source file.
func TestVendoredCopiesDoNotClash(t *testing.T) {
	p := newProject(t, nil)
	for prefix, release := range map[string]string{"acme": "1.2", "beta": "1.3"} {
		p.run(t, ".", "dlpackgen", "generate", "--quiet", "--no-config", "--only", "c", "--dlpack", release, "--prefix",
			prefix+"_", "--out", prefix)
		require.NoError(t, os.WriteFile(p.path(prefix+".c"), fmt.Appendf(nil, one, prefix), 0o600))
	}
	require.NoError(t, os.WriteFile(p.path("both.c"), []byte(both), 0o600))
	for _, folders := range [][]string{{"-Iacme/c", "-Ibeta/c"}, {"-Ibeta/c", "-Iacme/c"}} {
		build := append([]string{"gcc", "-Wall", "-Werror", "-o", "both", "both.c", "acme.c", "beta.c"}, folders...)
		p.run(t, ".", build...)
		assert.Equal(t, "2 3\n", p.run(t, ".", "./both"), "%s", folders)
	}
}

// All names of a copy have the prefix, so none can clash.
func TestEveryNameOfACopyHasThePrefix(t *testing.T) {
	p := newProject(t, nil)
	p.run(t, ".", "dlpackgen", "generate", "--quiet", "--no-config", "--only", "c", "--prefix", "acme_", "--out",
		"acme")
	name := regexp.MustCompile(`\b(?:dlpackgen|DLPACKGEN)[_/]\w*`)
	defines := regexp.MustCompile(`(?m)^(?:static inline [^(\n]*\b|#define )(\w+)(?:\(|\s)`)
	files, err := filepath.Glob(p.path("acme/c/acme_dlpackgen/*.h"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Empty(t, name.FindAllString(string(text), -1), file)
		for _, defined := range defines.FindAllStringSubmatch(string(text), -1) {
			assert.Regexp(t, `^(?i:acme_dlpackgen)_`, defined[1], file)
		}
	}
}

// If the older release comes first, the newer copy lacks its types, which is an error instead of a
// silent mixture.
func TestTheOlderCopyFirstIsAnError(t *testing.T) {
	p := newProject(t, nil)
	p.run(t, ".", "dlpackgen", "generate", "--quiet", "--no-config", "--only", "c", "--dlpack", "1.1", "--prefix",
		"acme_",
		"--out", "acme")
	p.run(t, ".", "dlpackgen", "generate", "--quiet", "--no-config", "--only", "c", "--prefix", "beta_", "--out",
		"beta")
	source := "#include <acme_dlpack/dlpack.h>\n#include <beta_dlpackgen/tensor.h>\n"
	require.NoError(t, os.WriteFile(p.path("order.c"), []byte(source), 0o600))
	out, err := p.try(".", "gcc", "-Iacme/c", "-Ibeta/c", "-fsyntax-only", "order.c")
	assert.Error(t, err)
	assert.Contains(t, out, "the <beta_dlpack/dlpack.h> that was included first is 1.1")
}

const scales = `version: 1
%s
targets: {c: {path: .}, kernels: {path: ., stubs: true}}
kernels:
  scale: {namespace: %[2]s, symbol: %[2]s_scale, args: {x: "float32[n] inout"}}
`

// Two libraries describe kernels of the same name. Their checks are visible to the linker, and
// would clash without a prefix.
func TestVendoredKernelsDoNotClash(t *testing.T) {
	p := newProject(t, nil)
	require.NoError(t, os.WriteFile(p.path("main.c"), []byte("int main(void) { return 0; }\n"), 0o600))
	link := func(prefixed bool) (string, error) {
		objects := []string{"gcc", "-o", "main", "main.c"}
		for _, copied := range []string{"acme", "beta"} {
			key := ""
			if prefixed {
				key = "prefix: " + copied + "_"
			}
			require.NoError(t, os.MkdirAll(p.path(copied), 0o755))
			require.NoError(t, os.WriteFile(p.path(copied+"/dlpackgen.yaml"), fmt.Appendf(nil, scales, key, copied),
				0o600))
			p.run(t, copied, "dlpackgen", "generate", "--quiet")
			for _, source := range []string{"kernels", "scale_impl"} {
				object := copied + "/" + source + ".o"
				p.run(t, ".", "gcc", "-Wall", "-Werror", "-I", copied, "-c", "-o", object, copied+"/"+source+".c")
				objects = append(objects, object)
			}
		}
		return p.try(".", objects...)
	}
	out, err := link(false)
	assert.Error(t, err)
	assert.Contains(t, out, "multiple definition of `dlpackgen_")
	require.NoError(t, os.RemoveAll(p.path("acme")))
	require.NoError(t, os.RemoveAll(p.path("beta")))
	out, err = link(true)
	assert.NoError(t, err, "%s", out)
}
