package main

import (
	archivezip "archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const modulePath = "github.com/dlpackgen/dlpackgen"

// release is a version of the module, and its build folder.
type release struct {
	tmp     string
	version string // without the v
	commit  string
	when    time.Time // of the commit, or SOURCE_DATE_EPOCH: the time of every packed file
	env     []string  // of the go command
	digest  string    // the output of dlpackgen version
	tool    string    // the program that renders man pages, completions and headers
	quick   bool      // builds and compresses fast
}

// prepare publishes the checked-out commit as a module to a file proxy, and builds this machine's
// tool from it. The binaries then have the version of their module, as with go install.
func prepare(root, tmp string, quick bool) (*release, error) {
	r := &release{tmp: tmp, quick: quick}
	if err := r.identify(root); err != nil {
		return nil, err
	}
	if _, err := output(root, nil, "go", "mod", "download"); err != nil { // and check go.sum
		return nil, err
	}
	cache, err := output(root, nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	if err := r.publish(root); err != nil {
		return nil, err
	}
	r.env = append(os.Environ(), "GOENV=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOSUMDB=off", "GOEXPERIMENT=",
		"GOPROXY="+fileURL(r.proxy())+","+fileURL(filepath.Join(strings.TrimSpace(cache), "cache", "download")),
		"GOPATH="+filepath.Join(tmp, "go"), "GOMODCACHE="+r.modules(), "GOBIN=", "GOFLAGS=-modcacherw -trimpath",
		"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0")
	return r, r.installTool()
}

// identify reads the version and the time of the commit. Uncommitted changes are ignored.
func (r *release) identify(root string) error {
	version, err := output(root, nil, "git", "show", "HEAD:VERSION")
	if err != nil {
		return err
	}
	r.version = strings.TrimSpace(version)
	about, err := output(root, nil, "git", "log", "-1", "--format=%H %ct", "HEAD")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(about), " ")
	if passed := os.Getenv("SOURCE_DATE_EPOCH"); passed != "" {
		seconds = passed
	}
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit, or SOURCE_DATE_EPOCH: %w", err)
	}
	r.commit, r.when = commit, time.Unix(epoch, 0).UTC()
	changed, err := output(root, nil, "git", "status", "--porcelain")
	if changed != "" {
		fmt.Fprintf(os.Stderr, "release: warning: made from commit %.12s, without these changes:\n%s", commit, changed)
	}
	return err
}

func (r *release) tag() string { return "v" + r.version }

// modules is the folder of the unpacked sources of all modules.
func (r *release) modules() string { return filepath.Join(r.tmp, "modules") }

// proxy is the folder in the layout of a module proxy.
func (r *release) proxy() string { return filepath.Join(r.tmp, "proxy") }

// publish writes a module proxy's files of the commit.
func (r *release) publish(root string) error {
	dir := filepath.Join(r.proxy(), modulePath, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := output(root, nil, "git", "show", "HEAD:go.mod")
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]string{"Version": r.tag(), "Time": r.when.Format(time.RFC3339)})
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	committed, err := committedFiles(root)
	if err != nil {
		return err
	}
	if err := zip.Create(&archive, module.Version{Path: modulePath, Version: r.tag()}, committed); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(r.tag() + "\n"), r.tag() + ".mod": []byte(mod), r.tag() + ".info": info,
		r.tag() + ".zip": archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// archived is a file of a commit, in the form for module zips.
type archived struct{ *archivezip.File }

func (a archived) Path() string                 { return a.Name }
func (a archived) Lstat() (fs.FileInfo, error)  { return a.FileInfo(), nil }
func (a archived) Open() (io.ReadCloser, error) { return a.File.Open() }

// committedFiles returns the files of the checked-out commit, independently of git's conversion of
// line ends.
func committedFiles(root string) (files []zip.File, err error) {
	text, err := output(root, nil, "git", "-c", "core.autocrlf=false", "-c", "core.eol=lf", "archive", "--format=zip",
		"HEAD")
	if err != nil {
		return nil, err
	}
	archive, err := archivezip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	for _, f := range archive.File {
		if f.FileInfo().Mode().IsRegular() {
			files = append(files, archived{f})
		}
	}
	return files, nil
}

// installTool builds the tool with the sources that determine its digest.
func (r *release) installTool() error {
	installed, err := r.install(platform{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return err
	}
	r.tool = filepath.Join(r.tmp, "tool"+filepath.Ext(installed))
	if err := os.Rename(installed, r.tool); err != nil {
		return err
	}
	printed, err := output(r.tmp, nil, r.tool, "version")
	if err != nil {
		return err
	}
	words := strings.Fields(printed)
	if len(words) != 3 || words[1] != r.tag() {
		return fmt.Errorf("dlpackgen version prints %q, not %s and a digest", printed, r.tag())
	}
	r.digest = words[2]
	return nil
}

// output runs a command. Its error contains the command's output.
func output(dir string, env []string, argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, stderr.Bytes())
	}
	return string(out), nil
}

func fileURL(dir string) string { return "file://" + filepath.ToSlash(dir) }
