// Package config compares the JSON Schema of configs with the decoder, on the values that two YAML
// parsers return.
package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema(embedded, targets.Table())))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("config.json", doc))
	return c.MustCompile("config.json")
}

// reading is a config and its findings.
type reading struct {
	text  string
	valid bool
	codes []string
	equal bool // the schema must have the same verdict
}

var code = regexp.MustCompile(`(?m): error: .*\[([a-z-]+)\]$`)

var embedded = spec.Embedded()

func read(text string) reading {
	_, list := config.Decode("dlpackgen.yaml", []byte(text), embedded, targets.Table(), config.Choice{})
	r := reading{text: text, valid: !list.Failed()}
	for _, found := range code.FindAllStringSubmatch(diag.Text(list.Sorted(), false), -1) {
		r.codes = append(r.codes, found[1])
	}
	return r
}

// head is the config around a section of kernels.
const head = "version: 1\ntargets: {c: {}, kernels: {}, python: {}}\nkernels:\n"

// configs returns the configs of the examples, of the docs and of the contract's design, and each
// wrong description of the contract's tests.
func configs(t *testing.T) (all []reading) {
	t.Helper()
	root := golden.Root(t)
	for _, pattern := range []string{"dlpackgen.yaml", "examples/*/dlpackgen.yaml", "tests/torchops/module/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			all = append(all, read(text(t, file)))
		}
	}
	all = append(all, documented(t, root)...)
	for _, text := range odd {
		r := read(text)
		require.True(t, r.valid, "%v: %s", r.codes, text)
		all = append(all, r)
	}
	all = append(all, spaced(t)...)
	contract := filepath.Join(root, "internal", "kernel", "contract", "testdata")
	all = append(all, read(head+indented(text(t, filepath.Join(contract, "design.yaml")))))
	for line := range strings.Lines(text(t, filepath.Join(contract, "mistakes.txt"))) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n")
		all = append(all, read(head+indented(line)))
	}
	return all
}

// odd are valid but unusual configs.
var odd = []string{
	head + "  f: {args: {x: 'float32[n]inout', y: 'float32[n]?strided', z: 'float32[n]?  aligned 16strided'}}\n",
	head + "  f: {args: {mode: \"str = 'a\\nb'\"}}\n",
	head + "  f: {args: {\"null\": 'float32[n]'}}\n",
	"version: '1'\ntargets: {c: }\nelsewhere: \ndevices: \nkernels: \n",
}

// spaced returns configs with a space, a tab, a line break or a Unicode space at one position of a
// line, marked by ~.
func spaced(t *testing.T) (all []reading) {
	t.Helper()
	for _, line := range []string{
		"~float32~|~int8~[m, n]~?~inout~ aligned 16~ aliases y~=~None~",
		"~list~[int, 3]~?~=~None~",
		"~float32~[]~out~ aliases ~y~",
		"~str~=~'a b'~",
		"~int~=~-~1~",
		"~float~=~-1e-6~",
		"float32[n] stri~ded",
		"float32[n] strided~inout",
		"float32[n] aligned~16~copied",
	} {
		parts := strings.Split(line, "~")
		for i := range len(parts) - 1 {
			for _, space := range []string{"", " ", "\t", "\n", "\u00a0"} {
				line := strings.Join(parts[:i+1], "") + space + strings.Join(parts[i+1:], "")
				r := read(fmt.Sprintf("%s  f: {args: {y: 'float32[]', x: %s}}\n", head, asJSON(t, line)))
				r.equal = true
				all = append(all, r)
			}
		}
	}
	return all
}

func text(t *testing.T, file string) string {
	t.Helper()
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(src)
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

var fence = regexp.MustCompile("(?s)\n```yaml[^\n]*\n(.*?)```")

// documented returns the complete configs of the docs, which are all valid.
func documented(t *testing.T, root string) (all []reading) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "docs"), func(page string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".md" {
			return err
		}
		for _, found := range fence.FindAllStringSubmatch(text(t, page), -1) {
			if !strings.HasPrefix(found[1], "version: 1\n") {
				continue
			}
			r := read(found[1])
			assert.True(t, r.valid, "%s: %v\n%s", page, r.codes, found[1])
			all = append(all, r)
		}
		return nil
	}))
	require.NotEmpty(t, all)
	return all
}

// shapes are the codes of mistakes that a schema can express.
var shapes = []string{"unknown-key", "missing-key", "type-mismatch", "unknown-value"}

// isShape reports whether a schema can express all mistakes.
func (r reading) isShape() bool {
	return !slices.ContainsFunc(r.codes, func(code string) bool { return !slices.Contains(shapes, code) })
}

func TestTheSchemaAgreesWithTheDecoder(t *testing.T) {
	s := schema(t)
	valid, rejected := 0, 0
	for _, r := range configs(t) {
		value, err := yaml.Untyped([]byte(r.text))
		if err != nil {
			assert.False(t, r.valid, "%s", r.text)
			continue
		}
		err = s.Validate(plain(value))
		if r.valid {
			valid++
			assert.NoError(t, err, "the decoder accepts:\n%s", r.text)
			continue
		}
		if err != nil {
			rejected++
		}
		if r.isShape() || r.equal {
			assert.Error(t, err, "%v:\n%s", r.codes, r.text)
		}
	}
	assert.Positive(t, valid)
	assert.Positive(t, rejected)
}

// plain returns a value as in JSON.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = plain(item)
		}
	case map[any]any:
		out := map[string]any{}
		for k, item := range v {
			name, err := json.Marshal(k)
			if is, text := k.(string); text {
				name = []byte(is)
			}
			out[string(name)] = plain(item)
			if err != nil {
				out[fmt.Sprint(k)] = plain(item)
			}
		}
		return out
	case []any:
		for i, item := range v {
			v[i] = plain(item)
		}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Sprint(v)
		}
	}
	return value
}

// PyYAML interprets no, on and 1e-5 differently from yaml.v3. The decoder accepts none of these,
// and the schema then has the same verdict for both.
func TestTheVerdictIsTheSameUnderPyYAML(t *testing.T) {
	s := schema(t)
	all := configs(t)
	read := pyYAML(t, all)
	differ := 0
	for i, r := range all {
		value, err := yaml.Untyped([]byte(r.text))
		ours := err == nil && s.Validate(plain(value)) == nil
		theirs := !read[i].Rejected && s.Validate(read[i].Value) == nil
		if r.valid {
			require.NoError(t, err)
			assert.True(t, theirs, "%s", r.text)
			assert.Equal(t, asJSON(t, plain(value)), asJSON(t, read[i].Value), "%s", r.text)
		}
		if ours != theirs {
			differ++
			assert.Contains(t, []string{"unquoted", "type-mismatch", "invalid-line", "yaml-syntax", "duplicate-key"},
				r.codes[0], "the decoder must reject:\n%s", r.text)
		}
	}
	assert.Positive(t, differ, "some mistakes are detected by only one reader")
}

type untyped struct {
	Value    any
	Rejected bool
}

func pyYAML(t *testing.T, all []reading) (out []untyped) {
	t.Helper()
	var texts []string
	for _, r := range all {
		texts = append(texts, r.text)
	}
	in, err := json.Marshal(texts)
	require.NoError(t, err)
	python := exec.Command(testtool.RequirePython(t), "untyped.py")
	python.Stdin, python.Stderr = bytes.NewReader(in), os.Stderr
	answer, err := python.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(answer, &out))
	require.Len(t, out, len(all))
	return out
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}
