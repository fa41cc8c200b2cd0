package targets

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/template"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
	"github.com/dlpackgen/dlpackgen/templates"
)

// described returns the kernels of the goldens, which contain every construct of the templates.
func described(t *testing.T) []contract.Kernel {
	t.Helper()
	text, err := os.ReadFile("testdata/kernels.yaml")
	require.NoError(t, err)
	return emittest.Described(t, string(text))
}

// modelOf returns the model of a golden: with the kernels that the target supports, and with those
// of gradients only if it computes gradients.
func modelOf(t *testing.T, row emit.Target, version string, all []contract.Kernel) *emit.Model {
	t.Helper()
	m := &emit.Model{Release: emittest.Release(t, version), Import: "example.org/lib", Contracts: all,
		Imports: map[string]string{"go": "example.org/dlpack"},
		Options: map[string]string{"module": "lib.sub._kernels", "tests": "true", "stubs": "true", "legacy": "tvm_",
			"functions": "example.org/functions"},
		Library: emit.Library{Units: []string{"../kernels/kernels.c", "../torchshim/kernels_torch.c"},
			Folders: []string{"../c", "../kernels"}, Digest: "d1"}}
	if row.Name == "c" {
		m.Options["package"] = "true"
	}
	_, err := row.Manifest(m)
	rejected := map[string]bool{}
	for _, e := range emit.Rejected(err) {
		rejected[e.Kernel] = true
	}
	computes := slices.Contains([]string{"torch", "torchshim", "jax", "paddle"}, row.Name)
	m.Contracts = slices.DeleteFunc(slices.Clone(all), func(k contract.Kernel) bool {
		return rejected[k.Name] || strings.HasSuffix(k.Name, "_backward") && !computes
	})
	return m
}

// assetsOf returns the rendered assets of a target, each part as a file, without those that another
// target has too, which is named after the folder of their sources.
func assetsOf(t *testing.T, row emit.Target, m *emit.Model) map[string]emit.Asset {
	t.Helper()
	manifest, err := emittest.Unfolded(row).Manifest(m)
	require.NoError(t, err)
	all := map[string]emit.Asset{}
	for _, a := range manifest.Assets {
		if a.Rendered() && !isOthers(row, a.From) {
			all[a.To] = a
		}
	}
	return all
}

// rendered returns the files of those assets.
func rendered(t *testing.T, row emit.Target, m *emit.Model) map[string]string {
	t.Helper()
	files, err := emittest.Unfolded(row).Emit(m)
	texts, assets := emittest.Texts(t, files, err), assetsOf(t, row, m)
	maps.DeleteFunc(texts, func(name, _ string) bool { return assets[name].To == "" })
	return texts
}

// isOthers reports whether a source belongs to another target.
func isOthers(row emit.Target, source string) bool {
	folder := path.Dir(source)
	return folder != row.Name && folder != emit.SharedDevice && slices.Contains(Names(), folder)
}

// entries returns the entries of a section of a config of this repository.
func entries(t *testing.T, file, section string) []yaml.Entry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(golden.Root(t), file))
	require.NoError(t, err)
	diags := &diag.List{}
	root := yaml.Parse(file, text, diags)
	require.Empty(t, diags.Sorted())
	return root.Map("a config").Get(section).Entries
}

// committed are the targets whose output is committed, those of our own config.
func committed(t *testing.T) (names []string) {
	t.Helper()
	for _, e := range entries(t, "dlpackgen.yaml", "targets") {
		names = append(names, e.Key.Value)
	}
	return names
}

// vendors is the target of a vendor's backend.
func vendors(t *testing.T) emit.Target {
	t.Helper()
	text := `{implementation: custom, title: Acme, doc: Acme memory., install_hint: "Acme's driver", status_type: int,
devices: [{type: kDLExtDev, memory: device, id: ordinal}, {type: kDLMAIA, memory: managed, id: zero}],
streams: {none: 0, rejected: [1], aliases: {0: 5}}, library: {linux: [libacme.so.1], windows: [acme.dll]},
handles: {queue: {c: "struct acme_queue *", native: acme_queue}}, constants: {kept: {value: 7, native: ACME_KEPT}},
functions: {wait: {symbol: acmeWait, params: driver_queue queue}},
errors: {ACME_NO_MEMORY: {value: -4, kind: out_of_memory, text: no memory}}}`
	diags := &diag.List{}
	root := yaml.Parse("acme.yaml", []byte("acme: "+text), diags)
	require.Empty(t, diag.Text(diags.Sorted(), false))
	b := backend.Read(root.Entries[0].Value.Map("a backend"), root.Entries[0].Key, diags)
	require.Empty(t, diag.Text(diags.Sorted(), false))
	return device.Vendor(b)
}

// inGolden returns the files that the golden of a target contains: those that are not committed.
func inGolden(t *testing.T, row emit.Target, all []contract.Kernel) map[string]string {
	t.Helper()
	m := modelOf(t, row, "1.3", all)
	files := rendered(t, row, m)
	if slices.Contains(committed(t), row.Name) {
		m.Contracts, m.Options = nil, nil
		without := rendered(t, row, m)
		maps.DeleteFunc(files, func(name, text string) bool { return without[name] == text })
	}
	return files
}

// looseEnds are what no rendered file has: spaces at the end of a line, many empty lines, and
// remains of templates.
var looseEnds = regexp.MustCompile(`(?m)[ \t]+$|\n\n\n\n|<no value>|\{\{[.-]|\{\{(range|if|end|else)|[vV]0_0`)

// A target without a golden fails here.
func TestRenderedFilesHaveGoldens(t *testing.T) {
	kernels := described(t)
	var owned []string
	for _, row := range append(All(), vendors(t)) {
		files := inGolden(t, row, kernels)
		if len(files) == 0 {
			continue
		}
		archive := &txtar.Archive{Comment: fmt.Appendf(
			nil, "Target %s for the kernels of internal/targets.\n", row.Name)}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			assert.Empty(t, looseEnds.FindString(files[name]), "%s of %s", name, row.Name)
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(files[name])})
		}
		owned = append(owned, "out/described/"+row.Name+".txtar")
		golden.Assert(t, owned[len(owned)-1], txtar.Format(archive))
	}
	golden.Orphans(t, "out/described", owned)
}

// branches are the branches of templates by position, and whether a golden contains them.
type branches map[string]bool

// mark adds the branches below a node, each with its position as text.
func (b branches) mark(tree *parse.Tree, n parse.Node) {
	list := func(list *parse.ListNode) {
		if list == nil {
			return
		}
		for _, below := range list.Nodes {
			b.mark(tree, below)
		}
		at, _ := tree.ErrorContext(list)
		if _, marked := b[at]; !marked {
			b[at] = false
		}
		mark := &parse.TextNode{NodeType: parse.NodeText, Text: []byte("\x00" + at + "\x00")}
		list.Nodes = append([]parse.Node{mark}, list.Nodes...)
	}
	switch n := n.(type) {
	case *parse.ListNode:
		list(n)
	case *parse.IfNode:
		list(n.List)
		list(n.ElseList)
	case *parse.WithNode:
		list(n.List)
		list(n.ElseList)
	case *parse.RangeNode:
		list(n.List)
		list(n.ElseList)
	}
}

// of returns a template with its branches marked.
func (b branches) of(t *testing.T, name, text string) template.Set {
	t.Helper()
	set, err := template.Parse(name, text, nil)
	require.NoError(t, err)
	for _, tree := range set {
		b.mark(tree, tree.Root)
	}
	return set
}

// fill notes the branches that a template needs for its data.
func (b branches) fill(t *testing.T, set template.Set, name string, data any) {
	t.Helper()
	var out bytes.Buffer
	filler := template.Filler{Templates: set}
	require.NoError(t, filler.Fill(&out, name, data))
	for i, text := range strings.Split(out.String(), "\x00") {
		if i%2 == 1 {
			b[text] = true
		}
	}
}

// missing returns the branches that no data needs.
func (b branches) missing() []string {
	rest := maps.Clone(b)
	maps.DeleteFunc(rest, func(_ string, needed bool) bool { return needed })
	return slices.Sorted(maps.Keys(rest))
}

// The goldens need every branch of the templates. Targets c, cpp and go have goldens of releases.
func TestGoldensHaveEveryBranch(t *testing.T) {
	found, sets := branches{}, map[string]template.Set{}
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if path.Ext(name) == ".tmpl" {
			text, err := templates.Files.ReadFile(name)
			require.NoError(t, err)
			sets[name] = found.of(t, path.Base(name), string(text))
		}
		return err
	}))
	kernels, sp := described(t), spec.Embedded()
	for _, row := range append(All(), vendors(t)) {
		for _, info := range sp.Releases() {
			everyRelease := slices.Contains([]string{"c", "cpp", "go"}, row.Name)
			if info.Version != "1.3" && (!everyRelease || sp.Older(info.Version, row.Oldest)) {
				continue
			}
			for _, a := range assetsOf(t, row, modelOf(t, row, info.Version, kernels)) {
				if sets[a.From] != nil {
					found.fill(t, sets[a.From], path.Base(a.From), a.View)
				}
			}
		}
	}
	assert.Empty(t, found.missing(), "branches that no golden has: add a kernel to testdata/kernels.yaml")
}

func TestABranchWithoutAGoldenIsSeen(t *testing.T) {
	found := branches{}
	set := found.of(t, "x", "{{range .}}{{if .}}a{{else}}b{{end}}{{else}}none{{end}}{{define \"y\"}}c{{end}}")
	found.fill(t, set, "x", []bool{true})
	assert.Equal(t, []string{"x:1:28", "x:1:44", "x:1:69"}, found.missing())
	found.fill(t, set, "x", []bool{false})
	assert.NotContains(t, found.missing(), "x:1:28")
}
