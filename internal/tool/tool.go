// Package tool identifies this build of dlpackgen: by the version of its module, and by a digest of
// everything in the module that determines the output.
package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/semver"

	"github.com/dlpackgen/dlpackgen/internal"
	"github.com/dlpackgen/dlpackgen/internal/order"
	"github.com/dlpackgen/dlpackgen/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Devel is the version of every build from a checkout.
const Devel = "devel"

// Version returns the version of the module that this program was built from: v1.2.3, or
// Devel. The version that go build takes from a checkout's repository does not count,
// since go run has none for the same sources.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Devel
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	version := info.Main.Version
	if info.Main.Replace != nil {
		version = info.Main.Replace.Version // "" for a folder
	}
	local := slices.ContainsFunc(info.Settings,
		func(s debug.BuildSetting) bool { return strings.HasPrefix(s.Key, "vcs.") })
	if local || !semver.IsValid(version) {
		return Devel
	}
	return version
}

// Digest identifies the spec, the templates and the sources of the emitters. Builds with the same
// digest and the same dependencies generate the same output. The digest is the same for go run, go
// build and go install, for a checkout with CRLF, and for release binaries.
var Digest = sync.OnceValue(func() string {
	if stamped != "" {
		return stamped
	}
	return digestOf(sources())
})

// stamped is the digest of a binary that does not contain the sources. tools/release computes it,
// and passes it to the linker.
var stamped string

// source is a file of the module, with its path from the root.
type source struct {
	path string
	data []byte
}

// sources returns the files of the module that determine the output, by path.
func sources() []source {
	out := []source{{spec.File, spec.YAML}}
	for folder, files := range map[string][]fs.FS{
		"internal": {internal.Sources}, "spec": {spec.Backends, spec.Hosts},
		"templates": {templates.Files},
	} {
		for _, tree := range files {
			out = append(out, read(folder, tree)...)
		}
	}
	order.By(out, func(s source) string { return s.path })
	return out
}

// read returns the files of an embedded tree, without tests.
func read(folder string, tree fs.FS) []source {
	var out []source
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || folder == "internal" && strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		out = append(out, source{path.Join(folder, name), data})
		return err
	})
	if err != nil {
		panic("unreachable: an embedded file cannot be read: " + err.Error())
	}
	return out
}

// digestLength is enough to distinguish builds. The digest has no security purpose.
const digestLength = 16

func digestOf(sources []source) string {
	h := sha256.New()
	for _, s := range sources {
		data := s.data
		if bytes.Contains(data, []byte("\r\n")) {
			data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		}
		fmt.Fprintf(h, "%s %d\n%s", s.path, len(data), data)
	}
	return hex.EncodeToString(h.Sum(nil))[:digestLength]
}
