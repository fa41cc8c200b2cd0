package codes

import (
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/compat"
	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// pkg is the output of `go list` for a package.
type pkg struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

const module = "github.com/dlpackgen/dlpackgen"

// ours matches the packages that report findings. In emitters and mutants, code is emitted text.
var ours = regexp.MustCompile(`^` + module + `/(cmd|internal)/([^em]|emit$|emit/templated$)`)

// emitted type-checks the module's packages and collects each constant that becomes a code: as an
// argument for a parameter named code, or as the field Code of a diagnostic. Expressions that are
// not constant are returned as source text, to be compared with a list.
func emitted(t *testing.T) (found, computed []string) {
	t.Helper()
	c := &collector{fset: token.NewFileSet(), exports: map[string]string{}}
	packages := listed(t)
	for _, p := range packages {
		c.exports[p.ImportPath] = p.Export
	}
	c.importer = importer.ForCompiler(c.fset, "gc", c.export)
	for _, p := range packages {
		if ours.MatchString(p.ImportPath) {
			c.pkg(t, p)
		}
	}
	slices.Sort(c.found)
	slices.Sort(c.computed)
	return slices.Compact(c.found), slices.Compact(c.computed)
}

func listed(t *testing.T) (out []pkg) {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles",
		module+"/cmd/dlpackgen")
	list.Stderr = os.Stderr
	text, err := list.Output()
	require.NoError(t, err)
	for d := json.NewDecoder(strings.NewReader(string(text))); d.More(); {
		var p pkg
		require.NoError(t, d.Decode(&p))
		out = append(out, p)
	}
	return out
}

type collector struct {
	fset            *token.FileSet
	exports         map[string]string
	importer        types.Importer
	info            *types.Info
	found, computed []string
}

func (c *collector) export(path string) (io.ReadCloser, error) { return os.Open(c.exports[path]) }

func (c *collector) pkg(t *testing.T, p pkg) {
	t.Helper()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	_, err := (&types.Config{Importer: c.importer}).Check(p.ImportPath, c.fset, files, c.info)
	require.NoError(t, err)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				c.call(n)
			case *ast.CompositeLit:
				c.literal(n)
			case *ast.AssignStmt:
				c.assignment(n)
			}
			return true
		})
	}
}

func (c *collector) call(call *ast.CallExpr) {
	signature, ok := underlying(c.info.Types[call.Fun].Type).(*types.Signature)
	if !ok || signature.Params().Len() == 1 { // of a lookup
		return
	}
	for i := range min(signature.Params().Len(), len(call.Args)) {
		if p := signature.Params().At(i); p.Name() == "code" && types.Identical(p.Type(), types.Typ[types.String]) {
			c.add(call.Args[i])
		}
	}
}

func (c *collector) literal(lit *ast.CompositeLit) {
	if !strings.HasSuffix(c.info.Types[lit].Type.String(), "internal/diag.Diagnostic") {
		return
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Code" {
			c.add(kv.Value)
		}
	}
}

// assignment finds codes that are assigned to a variable of that name.
func (c *collector) assignment(a *ast.AssignStmt) {
	for i, left := range a.Lhs {
		if name, ok := left.(*ast.Ident); ok && name.Name == "code" && len(a.Lhs) == len(a.Rhs) &&
			isText(c.info.Types[a.Rhs[i]].Value) {
			c.add(a.Rhs[i])
		}
	}
}

// isText distinguishes texts from codes.
func isText(v constant.Value) bool { return v != nil && v.Kind() == constant.String }

func underlying(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

func (c *collector) add(e ast.Expr) {
	if v := c.info.Types[e].Value; isText(v) {
		c.found = append(c.found, constant.StringVal(v))
		return
	}
	text := types.ExprString(e)
	if text != "code" {
		c.computed = append(c.computed, text)
	}
}

// The words of the tree's states and kinds are codes too, passed on by drift.go and fail.go.
func words() (out []string) {
	for s := tree.Missing; s <= tree.Interrupted; s++ {
		out = append(out, s.String())
	}
	for k := tree.KindIO; k <= tree.KindStopped; k++ {
		out = append(out, k.String())
	}
	return out
}

func TestEachCodeIsExplained(t *testing.T) {
	found, computed := emitted(t)
	assert.Equal(t, []string{"it.State.String()", "kind.String()", "tree.Untracked.String()"}, computed,
		"add other computed codes to words")
	for _, r := range compat.Rules() {
		found = append(found, r.Name)
	}
	found = append(found, words()...)
	var explained []string
	for _, e := range All() {
		explained = append(explained, e.Code)
	}
	for _, code := range found {
		assert.Contains(t, explained, code, "explain it in text/*.md; make golden writes the output of its example")
	}
	for _, code := range explained {
		assert.Contains(t, found, code, "nothing reports it")
	}
}
