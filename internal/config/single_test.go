package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// everyKey has each key of a kernel, and sections that the examples lack.
const everyKey = `version: 1
dlpack: "1.3"
out: generated
elsewhere: [c]
devices:
  kDLAcme: {value: 1002}
targets:
  kernels: {path: kernels}
  python: {module: mylib._kernels, tests: true}
kernels:
  norm:
    namespace: mylib
    doc: Scales.
    types: {T: [float32, float64], U: {int32: i32}}
    args: {x: "T[..., n]", w: "T[n]?", idx: "U[m]", sizes: "list[int, 2]", eps: float = 1e-6, mode: str = "a"}
    returns: {y: "T[..., n]", s: "float32[...] saved"}
    where: [n >= 1, 'mode in "a"|"b"', m % 2 == 0]
    symbol: norm_{T}
    devices: {kDLCPU: {}, kDLCUDA: {symbol: "norm_{T}_cuda", graphs: true}}
    error: norm_error
    errors: {3: {raise: IndexError, arg: idx, text: out of range}}
    serial: true
    gil: held
    batch: none
    form: function
    backward: {kernel: norm_backward, saves: [x, s], of: [x]}
    test: {reference: "reference:norm", sizes: {n: [1, 2]}, tolerance: {float32: 1.0e-03}}
  norm_backward:
    namespace: mylib
    types: {T: [float32, float64]}
    args: {grad: "T[..., n]", x: "T[..., n]", s: "float32[...]"}
    returns: {grad_x: "T[..., n]"}
`

var plain = regexp.MustCompile(`^[A-Za-z0-9_.+-]*$`)

// flow returns a YAML tree on one line.
func flow(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.Scalar:
		if n.Quoted || !plain.MatchString(n.Value) {
			return strconv.Quote(n.Value)
		}
		return n.Value
	case yaml.List:
		for _, item := range n.Items {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		for _, e := range n.Entries {
			parts = append(parts, flow(e.Key)+": "+flow(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
}

// visited calls a function for every value of a tree except the root.
func visited(n *yaml.Node, path string, visit func(path string, n *yaml.Node)) {
	for i, item := range n.Items {
		visit(fmt.Sprintf("%s[%d]", path, i), item)
		visited(item, fmt.Sprintf("%s[%d]", path, i), visit)
	}
	for _, e := range n.Entries {
		visit(path+"."+e.Key.Value, e.Value)
		visited(e.Value, path+"."+e.Key.Value, visit)
	}
}

var embedded = sync.OnceValue(spec.Embedded)

func findings(text string) []diag.Diagnostic {
	_, list := config.Decode("dlpackgen.yaml", []byte(text), embedded(), targets.Table(), config.Choice{})
	return list.Sorted()
}

// valueOf returns the value that YAML reads from a text.
func valueOf(t *testing.T, text string) yaml.Node {
	t.Helper()
	var diags diag.List
	root := yaml.Parse("value", []byte("a: "+text+"\n"), &diags)
	require.NotNil(t, root)
	return *root.Entries[0].Value
}

// excessive lists the values and keys of a config that have several findings for one change: values
// of another kind, and keys of the schema with one additional letter.
func excessive(t *testing.T, root *yaml.Node) (places []string) {
	t.Helper()
	note := func(place string, found []diag.Diagnostic) {
		if len(found) > 1 {
			places = append(places, place+": "+diag.Text(found, false))
		}
	}
	visited(root, "", func(path string, n *yaml.Node) {
		whole := *n
		for kind, text := range []string{"xyz", "[1]", "{a: b}"} {
			if yaml.Kind(kind) != whole.Kind {
				*n = valueOf(t, text)
				note(path+" = "+text, findings(flow(root)))
			}
		}
		*n = whole
		for _, e := range n.Entries {
			key := e.Key.Value
			e.Key.Value += "x"
			if found := findings(flow(root)); strings.Contains(diag.Text(found, false), "[unknown-key]") {
				note(path+"."+e.Key.Value, found)
			}
			e.Key.Value = key
		}
	})
	return places
}

// One mistake has one finding: its consequences are not reported.
func TestOneMistakeIsOneFinding(t *testing.T) {
	if testing.Short() {
		t.Skip("changes each value of two configs, and -short was given")
	}
	texts := map[string]string{"every key": everyKey}
	for _, example := range []string{"vendor", "go-kernel"} {
		src, err := os.ReadFile(filepath.Join(golden.Root(t), "examples", example, "dlpackgen.yaml"))
		require.NoError(t, err)
		texts[example] = string(src)
	}
	for name, text := range texts {
		var diags diag.List
		root := yaml.Parse(name, []byte(text), &diags)
		require.NotNil(t, root, name)
		require.Empty(t, diag.Text(findings(flow(root)), false), name)
		assert.Empty(t, excessive(t, root), name)
	}
	wrong := valueOf(t, "{version: 2, targets: {c: {}}}")
	assert.Contains(t, strings.Join(excessive(t, &wrong), ""), ".targets.cx: dlpackgen.yaml:1:11: error: ")
}

// Several mistakes have several findings.
func TestSeveralMistakesAreSeveralFindings(t *testing.T) {
	for text, want := range map[string]int{
		"targets: {c: {}}\nbackends: {acme: {}}\n":                                                          8,
		"targets: {c: {}, kernels: {}}\nkernels: {f: {args: {x: 'T[n]', y: 'U[m]'}}}\n":                     2,
		"targets: {c: {}, kernels: {}}\nkernels: {f: {arg: {x: 'int8[n]'}, return: {y: 'int8[n]'}}}\n":      2,
		"targets: {c: {}, kernels: {}}\nkernels: {f: {args: {x: 3, y: 'int8[n]'}, where: ['n ~ 1']}}\n":     2,
		"dlpack: 7\ntargets: {c: {}, kernels: {}}\nkernels: {f: {args: {x: 'floot[n]'}, symbols: 'f_g'}}\n": 3,
	} {
		assert.Len(t, findings("version: 1\n"+text), want, text)
	}
}
