// Package bazel builds examples/builds/bazel with Bazel, in its sandbox, and shares the results
// through a remote cache: nginx with WebDAV, on the loopback interface. It contains only tests.
package bazel

import (
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "bazel")) }

// user is a user with a separate checkout and a separate folder for Bazel's files.
type user struct {
	dir    string
	who    *syscall.Credential // nil: the user of the test
	flag   []string            // of every build
	server bool                // keeps Bazel running between builds
	from   string              // the repository of the program in WORKSPACE
}

// nobody returns the user of that name, for tests that root runs.
func noUser() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: 65534, Gid: 65534}
}

// folder creates a folder that the user owns, outside of the test's folders, which others cannot
// enter.
func folder(t *testing.T, who *syscall.Credential) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dlpackgen-bazel-")
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+w", dir).Run() // Bazel's outputs are read-only
		os.RemoveAll(dir)
	})
	if who != nil {
		require.NoError(t, os.Chown(dir, int(who.Uid), int(who.Gid)))
	}
	return dir
}

// newUser creates a user with a copy of the rules, the example and the program.
func newUser(t *testing.T, who *syscall.Credential) *user {
	t.Helper()
	u := &user{dir: folder(t, who), who: who, from: `dlpackgen_local(name = "dlpackgen_local")`}
	root := golden.Root(t)
	for _, part := range []string{"bazel", "examples/builds/bazel"} {
		require.NoError(t, os.CopyFS(filepath.Join(u.dir, part), os.DirFS(filepath.Join(root, part))))
	}
	require.NoError(t, os.CopyFS(filepath.Join(u.dir, "repositories"), os.DirFS("testdata/repositories")))
	data, err := os.ReadFile(testkit.Program(t, ""))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(u.dir, "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "bin/dlpackgen"), data, 0o755)) //nolint:gosec // executable
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "bazelrc"), []byte(u.offline()), 0o644))
	if who != nil {
		out, err := exec.Command("chown", "-R", fmt.Sprintf("%d:%d", who.Uid, who.Gid), u.dir).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return u
}

// prefix is the folder of an archive in the how-to, with the name from tools/release.
func prefix(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(golden.Root(t), "docs/how-to/bazel.md"))
	require.NoError(t, err)
	m := regexp.MustCompile(`strip_prefix = "(dlpackgen_[0-9.]+_linux_amd64)"`).FindSubmatch(page)
	require.NotNil(t, m)
	return string(m[1])
}

// download makes Bazel download the user's program, from an archive with a folder, like a
// release's. A later call creates another release.
func (u *user) download(t *testing.T, program string) {
	t.Helper()
	top := prefix(t)
	archive := filepath.Join(folder(t, u.who), "dlpackgen.tar.gz")
	out, err := exec.Command("tar", "-C", filepath.Dir(program), "-czf", archive, "--transform", "s,^,"+top+"/,",
		"dlpackgen").CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(archive)
	require.NoError(t, err)
	made := fmt.Sprintf(
		`dlpackgen_download(name = "dlpackgen_local", urls = ["file://%s"], sha256 = "%x", strip_prefix = "%s")`,
		archive, sha256.Sum256(data), top)
	u.replace(t, "WORKSPACE", u.from, made)
	if strings.HasPrefix(u.from, "dlpackgen_local(") {
		u.replace(t, "WORKSPACE", `bzl", "dlpackgen_local")`, `bzl", "dlpackgen_download")`)
	}
	u.from = made
}

// replace changes the only occurrence of a text in a file of the example.
func (u *user) replace(t *testing.T, file, old, text string) {
	t.Helper()
	mutant.OnceIn(t, filepath.Join(u.dir, "examples/builds/bazel", file), old, text)
}

// write creates a file of the example.
func (u *user) write(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join(u.dir, "examples/builds/bazel", file)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))  //nolint:gosec // another user reads it
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) //nolint:gosec // as above
}

// offline lists the repositories that Bazel would otherwise download.
func (u *user) offline() string {
	var flags strings.Builder
	for name, dir := range map[string]string{
		"rules_java": "/usr/share/bazel/rules/java", "rules_proto": "/usr/share/bazel/rules/proto",
		"platforms":             "/usr/share/bazel/tools/platforms",
		"rules_cc":              filepath.Join(u.dir, "repositories/rules_cc"),
		"remote_coverage_tools": filepath.Join(u.dir, "repositories/remote_coverage_tools"),
	} {
		fmt.Fprintf(&flags, "common --override_repository=%s=%s\n", name, dir)
	}
	return flags.String()
}

// command runs a program as the user, in the example.
func (u *user) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join(u.dir, "examples/builds/bazel")
	cmd.Env = []string{"HOME=" + u.dir, "USER=" + filepath.Base(u.dir), "PATH=" + u.dir + "/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.who}
	return cmd
}

// bazel runs a command of Bazel.
func (u *user) bazel(args ...string) *exec.Cmd {
	options := []string{"--bazelrc=" + u.dir + "/bazelrc", "--output_user_root=" + u.dir + "/out"}
	if !u.server {
		options = append(options, "--batch")
	}
	return u.command("bazel", append(options, args...)...)
}

// serve keeps Bazel running until the end of the test, so that further builds do not start it.
func (u *user) serve(t *testing.T) {
	t.Helper()
	u.server = true
	t.Cleanup(func() {
		out, err := u.bazel("shutdown").CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
}

// test builds and tests the whole example, and returns the source of each action's result.
func (u *user) test(t *testing.T) map[string]int {
	t.Helper()
	cmd := u.bazel(append([]string{"test", "--noshow_progress", "--subcommands", "--spawn_strategy=sandboxed"},
		append(u.flag, "//...")...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	m := regexp.MustCompile(`(?m)^INFO: \d+ process(?:es)?: (.*)\.$`).FindSubmatch(out)
	require.NotNil(t, m, "no summary: %s", out)
	t.Logf("%s", debug.ReplaceAll(out, nil))
	counts := map[string]int{}
	for part := range strings.SplitSeq(string(m[1]), ", ") {
		count, how, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(count)
		require.NoError(t, err, "%s", m[1])
		counts[strings.TrimPrefix(strings.TrimPrefix(how, "linux-"), "processwrapper-")] += n
	}
	delete(counts, "internal") // symbolic links, and files that Bazel writes itself
	return counts
}

// debug matches the debug output of Debian's sandbox.
var debug = regexp.MustCompile(`(?m)^[0-9.]+: src/main/tools/.*\n`)

func requireBazel(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Bazel several times: left to make test")
	}
	testtool.Require(t, "bazel", "bazel-bootstrap")
	for dir, debian := range map[string]string{"rules/java": "bazel-rules-java", "rules/proto": "bazel-rules-proto",
		"tools/platforms": "bazel-platforms"} {
		if _, err := os.Stat("/usr/share/bazel/" + dir); err != nil {
			t.Skipf("needs %s: apt-get install %[1]s", debian)
		}
	}
}

const server = `daemon off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events {}
http {
  access_log off;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  server {
    listen 127.0.0.1:%[2]d;
    location /cache/ {
      root %[1]s;
      dav_methods PUT;
      create_full_put_path on;
      client_max_body_size 1G;
    }
  }
}
`

// remoteCache starts nginx as Bazel's documentation of remote caching describes.
func remoteCache(t *testing.T) (url string) {
	t.Helper()
	nginx := testtool.Require(t, "nginx", "nginx-light")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it listens on TCP
	require.NoError(t, listener.Close())
	who := noUser()
	dir := folder(t, who)
	require.NoError(t, os.WriteFile(dir+"/nginx.conf", fmt.Appendf(nil, server, dir, port), 0o644))
	cmd := exec.Command(nginx, "-c", dir+"/nginx.conf", "-e", dir+"/error.log")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Pdeathsig: syscall.SIGTERM}
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for {
		if conn, err := net.Dial("tcp", address); err == nil {
			require.NoError(t, conn.Close())
			return "http://" + address + "/cache"
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nginx ended without listening: %v", err)
		case <-time.After(20 * time.Millisecond): // load may delay it for any time
		}
	}
}

// The sources of the results of actions.
const sandbox, hit = "sandbox", "remote cache hit"

// A second clean build, by another user in another folder, runs no action: all results come from
// the cache that the first build filled. Each later change runs exactly the affected actions.
func TestASecondUserTakesEverythingFromTheRemoteCache(t *testing.T) {
	requireBazel(t)
	url := remoteCache(t)
	first, second := newUser(t, nil), newUser(t, noUser())
	second.download(t, testkit.Program(t, ""))
	require.NoError(t, os.Remove(second.dir+"/bin/dlpackgen"))
	second.serve(t)
	first.flag, second.flag = []string{"--remote_cache=" + url}, []string{"--remote_cache=" + url}

	ran := first.test(t)
	assert.Equal(t, map[string]int{sandbox: ran[sandbox]}, ran, "the cache was empty, and all ran in the sandbox")
	assert.Greater(t, ran[sandbox], 9, "three rules, four compilations, the links and two tests")
	assert.Equal(t, map[string]int{hit: ran[sandbox]}, second.test(t))
	t.Run("changes", func(t *testing.T) {
		tier.OnlyNightly(t)
		second.changes(t)
	})
}

// changes builds after each kind of change, none of which was built before.
func (u *user) changes(t *testing.T) {
	builds := func(what string, want map[string]int) {
		t.Helper()
		assert.Equal(t, want, u.test(t), what)
	}
	u.replace(t, "dlpackgen.yaml", "version: 1\n", "# A comment.\nversion: 1\n")
	builds("a comment in a config: the headers and the sources are as they were", map[string]int{sandbox: 2})
	builds("nothing", map[string]int{})
	u.replace(t, "BUILD.bazel", `dlpack = "1.3"`, `dlpack = "main"`)
	builds("another release: the rule and one compilation, which makes the same object", map[string]int{sandbox: 2})
	u.download(t, testkit.Rebuilt(t, testkit.Program(t, "")))
	builds("the program is newer, its templates are the same: the rules alone", map[string]int{sandbox: 3})
	u.download(t, testkit.Program(t, "c/rules.h"))
	builds("a comment in a template of the program: the rules and each compilation", map[string]int{sandbox: 3 + 4})
	lost, err := filepath.Glob(u.dir + "/out/*/execroot/*/bazel-out/*/bin/dlpack_generated/c/dlpack/dlpack.h")
	require.NoError(t, err)
	require.Len(t, lost, 1)
	require.NoError(t, os.Chmod(filepath.Dir(lost[0]), 0o755)) //nolint:gosec // Bazel's outputs are read-only
	require.NoError(t, os.Remove(lost[0]))
	builds("an output is lost", map[string]int{hit: 1})
	assert.FileExists(t, lost[0])
	u.ownTarget(t, builds)
}

// ownTarget adds a target with its own templates: a rule, and the compilation that reads its tree.
func (u *user) ownTarget(t *testing.T, builds func(string, map[string]int)) {
	t.Helper()
	u.write(t, "own.yaml", "version: 1\ndlpack: main\ntargets: {c: {}, own: {templates: templates, path: own}}\n")
	u.write(t, "templates/a.h.tmpl", "#define RELEASE {{.dlpack.minor}}\n")
	u.replace(t, "BUILD.bazel", `    dlpack = "main",`, `    config = "own.yaml",
    targets = [],
    templates = glob(["templates/*"]),`)
	builds("a target with its own templates", map[string]int{sandbox: 2})
	u.write(t, "templates/a.h.tmpl", "#define RELEASE {{.dlpack.minor}} /* changed */\n")
	builds("a template has changed", map[string]int{sandbox: 2})
	made, err := filepath.Glob(u.dir + "/out/*/execroot/*/bazel-out/*/bin/dlpack_generated/own/a.h")
	require.NoError(t, err)
	require.Len(t, made, 1)
	text, err := os.ReadFile(made[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), "/* changed */")
}

// buildifier is pinned, so that new releases cannot break the checks.
const buildifier = "github.com/bazelbuild/buildtools/buildifier@v0.0.0-20260904073137-eaa4d125b423"

// Syntax of newer Bazel versions is only parsed, because none of them runs here.
func TestBuildFilesAreFormattedAndWithoutWarnings(t *testing.T) {
	if testing.Short() {
		t.Skip("builds buildifier: left to make test")
	}
	root, tool := golden.Root(t), testkit.Built(t, "buildifier", func(dir string) {
		cmd := exec.Command("go", "install", buildifier)
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-trimpath")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("needs %s from the module proxy: %s", buildifier, out)
		}
	})
	check := func(args ...string) error {
		// Newer versions load cc_test from rules_cc, which Bazel 4 cannot.
		cmd := exec.Command(filepath.Join(tool, "buildifier"), append([]string{"-mode=check", "-lint=warn",
			"-warnings=-native-cc-test", "-r"}, args...)...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		return err
	}
	require.NoError(t, check("bazel", "examples/builds/bazel", "tests/bazel/testdata"))
	bad := filepath.Join(t.TempDir(), "BUILD.bazel")
	require.NoError(t, os.WriteFile(bad, []byte("cc_library(\n  name='x')\n"), 0o600))
	require.Error(t, check(bad), "buildifier has found nothing in a file that is wrong")
}
