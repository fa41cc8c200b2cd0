package backend

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	source "github.com/dlpackgen/dlpackgen/spec"
)

func releaseOf(t *testing.T, s *spec.Spec, version string) *spec.Release {
	t.Helper()
	r, err := s.Release(version)
	require.NoError(t, err)
	return r
}

// disagreements returns the findings of a description in which nothing else is wrong, by position.
func disagreements(t *testing.T, file, text string, r *spec.Release) string {
	t.Helper()
	diags := &diag.List{}
	b, m := decodeFile(file, []byte(text), diags)
	require.NotNil(t, b, diags.Sorted())
	for _, d := range b.Compare(r, m) {
		diags.Add(d)
	}
	var lines []string
	for _, d := range diags.Sorted() {
		lines = append(lines, d.Pos.String()+": "+d.Text)
	}
	return strings.Join(lines, "\n")
}

func TestEmbeddedBackEndsAgreeWithTheSpec(t *testing.T) {
	for _, version := range []string{"1.2", "1.3", "main"} {
		for _, name := range []string{"cuda", "rocm", "oneapi"} {
			r := releaseOf(t, spec.Embedded(), version)
			_, found := EmbeddedFor(name, r)
			assert.Empty(t, found, "%s of %s", name, version)
		}
	}
}

// What a description repeats of the spec is compared, in the description.
func TestDisagreementsHaveAPosition(t *testing.T) {
	r := releaseOf(t, spec.Embedded(), "1.3")
	for _, c := range []struct{ old, fresh, want string }{
		{"kDLCUDA, memory: device, id: ordinal", "kDLCUDA, memory: device, id: zero",
			"x.yaml:14:41: in DLPack 1.3, the id of kDLCUDA is not always 0"},
		{"kDLCUDAHost, memory: host, id: zero", "kDLCUDAHost, memory: host, id: ordinal",
			"x.yaml:15:43: in DLPack 1.3, the id of kDLCUDAHost is always 0"},
		{"  - {type: kDLCUDAHost, memory: host, id: zero}\n  - {type: kDLCUDAManaged, memory: managed,",
			"  - {type: kDLCUDAManaged, memory: host,",
			"x.yaml:15:36: in DLPack 1.3, kDLCUDAManaged has managed memory, not host"},
		{"  table: cuda ", "  table: rocm ", "x.yaml:19:10: in DLPack 1.3, the streams of kDLCUDA have the numbers " +
			"of table cuda\nx.yaml:20:9: in DLPack 1.3, None is number 0 of table rocm, not 1\n" +
			"x.yaml:21:13: in DLPack 1.3, number 1 of table rocm is rejected\n" +
			"x.yaml:21:19: in DLPack 1.3, number 2 of table rocm is rejected"},
		{"  table: cuda ", "  rejected: [0] ",
			"x.yaml:19:3: in DLPack 1.3, the streams of kDLCUDA have the numbers of table cuda"},
		{"none: 1 ", "none: 2 ", "x.yaml:20:9: in DLPack 1.3, None is number 1 of table cuda, not 2"},
		{"{1: 1, 2: 2}", "{1: 1}", "x.yaml:21:12: in DLPack 1.3, number 2 of table cuda is the per-thread default " +
			"stream, which has no alias here"},
		{"{1: 1, 2: 2}", "{1: 1, 2: 2, 3: 3}", "x.yaml:21:25: in DLPack 1.3, number 3 of table cuda is a handle"},
	} {
		assert.Equal(t, c.want, disagreements(t, "x.yaml", mutant.Once(t, cuda(t), c.old, c.fresh), r))
	}
	assert.Empty(t, disagreements(t, "x.yaml", mutant.Once(t, cuda(t),
		"kDLCUDA, memory: device, id: ordinal", "kDLExtDev, memory: device, id: zero"), r),
		"DLPack specifies nothing about kDLExtDev")
}

// A spec may change a fact that a built-in backend repeats.
func TestABackEndIsComparedWithAUsersSpec(t *testing.T) {
	const host = "{memory: pinned, of: kDLCUDA, host_readable: true, id_zero: true, streams: cuda}"
	s, list := spec.Load("spec.yaml", []byte(mutant.Once(t, string(source.YAML), host,
		"{memory: pinned, of: kDLCUDA, host_readable: true, streams: cuda}")))
	require.NotNil(t, s, list.Sorted())
	_, found := EmbeddedFor("cuda", releaseOf(t, s, "1.3"))
	require.Len(t, found, 1)
	assert.Equal(t, "spec/backends/cuda.yaml:15:43", found[0].Pos.String())
	assert.Equal(t, "in DLPack 1.3, the id of kDLCUDAHost is not always 0", found[0].Text)
}
