// Package spec describes DLPack as data: it decodes and validates a spec of all releases, and
// resolves single releases. internal/layout computes sizes, and the emitters generate code.
package spec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	source "github.com/dlpackgen/dlpackgen/spec"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// Spec is a valid spec: each of its releases resolves without a finding.
type Spec struct {
	File     string
	SHA256   string // of the bytes, with LF line ends
	releases []ReleaseInfo
	decls    []declaration // in the order of every header
	elements elementsDef
	limits   Limits
	dtypes   []dtypeDef
	streams  []StreamTable
	python   pythonDef
	resolved sync.Map // releases by index, for all callers, and never changed
}

// ReleaseInfo names a release without resolving it.
type ReleaseInfo struct {
	Version    string
	Date       string // YYYY-MM-DD or YYYY-MM
	Unreleased bool
}

// Load decodes and validates a spec. It returns all findings; the spec is nil if one of them is an
// error.
func Load(file string, src []byte) (*Spec, *diag.List) {
	diags := &diag.List{}
	root := yaml.Parse(file, src, diags)
	if root == nil {
		return nil, diags
	}
	s := decode(root)
	s.File, s.SHA256 = file, digest(src)
	if !diags.Failed() {
		s.validate()
	}
	if diags.Failed() {
		return nil, diags
	}
	return s, diags
}

// loaded is the result of Load.
type loaded struct {
	spec  *Spec
	diags *diag.List
}

// embedded is the built-in spec, by the address of its text, which a test replaces.
var embedded sync.Map

// LoadEmbedded loads the built-in spec of DLPack as Load does, once in a process. While a
// contributor works on the spec, it may be invalid. The caller must not add findings to the list.
func LoadEmbedded() (*Spec, *diag.List) {
	text := &source.YAML[0]
	found, ok := embedded.Load(text)
	if !ok {
		s, diags := Load(source.File, source.YAML)
		found, _ = embedded.LoadOrStore(text, loaded{s, diags})
	}
	l := found.(loaded) //nolint:forcetypeassert // only such structs are stored
	return l.spec, l.diags
}

// Embedded returns the built-in spec, for tests and tools. Each call loads it again, because tests
// change it.
func Embedded() *Spec {
	s, diags := Load(source.File, source.YAML)
	if s == nil {
		panic(fmt.Sprintf("unreachable: its tests keep the embedded spec valid: %v", diags.Sorted()[0]))
	}
	return s
}

// digest hashes a text file independently of CRLF line ends.
func digest(src []byte) string {
	sum := sha256.Sum256(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// Releases lists the releases, oldest first and the unreleased main last.
func (s *Spec) Releases() []ReleaseInfo { return s.releases }

// Latest returns the newest published release.
func (s *Spec) Latest() string {
	latest := ""
	for _, r := range s.releases {
		if !r.Unreleased {
			latest = r.Version
		}
	}
	return latest
}

// Release resolves a release by its version: "1.3", "v1.3", "main", or "latest" for the newest
// published one.
func (s *Spec) Release(version string) (*Release, error) {
	name := strings.TrimPrefix(version, "v")
	if name == "latest" {
		name = s.Latest()
	}
	i := s.index(name)
	if i < 0 {
		return nil, fmt.Errorf("no DLPack release %q; there are %s and latest", version,
			strings.Join(s.versions(), ", "))
	}
	if known, ok := s.resolved.Load(i); ok {
		return known.(*Release), nil //nolint:forcetypeassert // nothing else is stored
	}
	known, _ := s.resolved.LoadOrStore(i, s.resolve(i))
	return known.(*Release), nil //nolint:forcetypeassert // as above
}

// Older reports whether release a came before release b; both must exist.
func (s *Spec) Older(a, b string) bool { return s.index(a) < s.index(b) }

func (s *Spec) index(version string) int {
	for i, r := range s.releases {
		if r.Version == version {
			return i
		}
	}
	return -1
}

func (s *Spec) versions() []string {
	var out []string
	for _, r := range s.releases {
		out = append(out, r.Version)
	}
	return out
}
