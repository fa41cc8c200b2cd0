package gokernels

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// The files with mistakes.
const (
	failure  = "generated/gokernels/failure.go"
	inC      = "generated/gokernels/trampolines.c"
	inGo     = "generated/gokernels/trampolines.go"
	ofArrays = "generated/go/dlpack/array.go"
)

// inHosts are mistakes that hosts.py detects through the Python module, or through tvm-ffi, which
// needs texts in UTF-8.
var inHosts = map[string]mutant.Mutant{
	"panics unwind C": {File: failure, Old: "if reason := recover(); reason != nil {",
		New: "if reason := any(nil); reason != nil {"},
	"panics are lost":        {File: failure, Old: "*status = failed(", New: "_ = failed("},
	"errors are lost":        {File: failure, Old: "if err == nil {", New: "if err == nil || err != nil {"},
	"statuses are lost":      {File: failure, Old: "if status == 0 {", New: "if status != 0 {"},
	"texts are cut anywhere": {File: failure, Old: "end > 0 && !utf8.RuneStart(text[end])", New: "end < 0"},
	"texts are not cut":      {File: failure, Old: "len(text) > most {", New: "len(text) > 100*most {"},
	"the place is Go's own": {File: failure, Old: `strings.HasPrefix(of, "runtime.")`,
		New: `strings.HasPrefix(of, "none.")`},
	"texts have no end":     {File: inC, Old: "kept[size] = 0;", New: "kept[size] = 'x';"},
	"one choice of dtypes":  {File: inC, Old: "call_.choice = 1;", New: "call_.choice = 0;"},
	"arguments are lost":    {File: inC, Old: "call_.a1 = how;", New: "call_.a1 = 0;"},
	"a status is no status": {File: ofArrays, Old: "return found.status", New: "return 0"},
	"the last is the first": {File: ofArrays, Old: "dimension += a.NDim()", New: "dimension = 0"},
}

// inArgs are mistakes that args.py detects.
var inArgs = map[string]mutant.Mutant{
	"all may be written": {File: ofArrays, Old: "return Array[T]{Tensor{p, flags}}",
		New: "return Array[T]{Tensor{p, 0}}"},
	"flags are lost": {File: inGo, Old: "dlpack.CheckedArray[int8]((*dlpack.DLTensor)(call.a0), dlpack.FlagReadOnly)",
		New: "dlpack.CheckedArray[int8]((*dlpack.DLTensor)(call.a0), 0)"},
	"None is a text":        {File: failure, Old: "if text == nil {", New: "if text != nil && false {"},
	"results are exchanged": {File: inGo, Old: "(*float64)(call.r0)", New: "(*float64)(call.r1)"},
	"the last is left out": {File: ofArrays, Old: "unsafe.Slice((*T)(a.first()), last+1)",
		New: "unsafe.Slice((*T)(a.first()), last)"},
	"gaps are left out": {File: ofArrays, Old: "last += (shape[i] - 1) * stride",
		New: "last += (shape[i] - 1) * next"},
	"backward strides":         {File: ofArrays, Old: "if backward {", New: "if backward && last > 1<<40 {"},
	"nothing has elements":     {File: ofArrays, Old: "if shape[i] == 0 {", New: "if shape[i] < 0 {"},
	"indices are not compared": {File: ofArrays, Old: "_ = make([]struct{}, shape[d])[index]", New: "_ = shape[d]"},
	"indices may be missing":   {File: ofArrays, Old: "_ = indices[:len(shape)]", New: "_ = indices"},
	"the place is an array's": {File: failure,
		Old: `strings.HasPrefix(of, "example.com/args/generated/go/dlpack.")`, New: `strings.HasPrefix(of, "none.")`},
	"elements lie side by side": {File: ofArrays, Old: "offset*int64(unsafe.Sizeof(*new(T)))", New: "offset"},
	"None is a tensor":          {File: ofArrays, Old: "return a.dl == nil", New: "return a.dl != nil"},
}

// Each mistake in a trampoline, and in the arrays that it passes, fails a call.
func TestMistakesInTrampolinesAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	slow(t)
	if !testtool.Has(testtool.RequirePython(t), "tvm_ffi") {
		t.Skip("needs tvm-ffi: make setup")
	}
	for name, rows := range map[string]map[string]mutant.Mutant{"hosts": inHosts, "args": inArgs} {
		var names []string
		var all []mutant.Mutant
		for mistake, m := range rows {
			names, all = append(names, mistake), append(all, m)
		}
		started := mutant.Programs(t, written(t, name), all, func(dir string, _ ...string) string {
			return mutated(t, name, dir)
		})
		script := map[string][]string{"hosts": {"hosts.py", "python,tvmffi"}, "args": {"args.py"}}[name]
		for i, mistake := range names {
			t.Run(mistake, func(t *testing.T) {
				file, env := started(t, i)
				out, err := says(t, []string{file}, []string{env}, script[0], script[1:]...)
				assert.Error(t, err, out)
			})
		}
		file, _ := started(t, 0)
		out, err := says(t, []string{file}, []string{mutant.Env(0)}, script[0], script[1:]...)
		require.NoError(t, err, out)
	}
}

// mutated builds a library with mistakes. cgo's flags also apply to the assembler, so the only file
// that needs the header of mutants includes it.
func mutated(t *testing.T, name, dir string) string {
	t.Helper()
	if header := filepath.Join(dir, mutant.Header); fileExists(header) {
		mutant.OnceIn(t, filepath.Join(dir, inC), "#include <kernels.h>",
			"#include \""+header+"\"\n#include <kernels.h>")
	}
	return build(t, name, dir)
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Go rebuilds the library if a source of another target changes, because the including files change
// too. A selection of targets changes nothing.
func TestTheLibraryChangesWithItsSources(t *testing.T) {
	slow(t)
	before := unit(t, written(t, "hosts"))
	dir := t.TempDir()
	copied(t, "hosts", dir)
	assert.Equal(t, before, unit(t, dir))
	testkit.Run(t, testkit.Program(t, ""), "generate", "--quiet", "--only", "gokernels", "--config",
		dir+"/dlpackgen.yaml")
	assert.Equal(t, before, unit(t, dir))
	mutant.OnceIn(t, dir+"/dlpackgen.yaml", "n >= 1", "n >= 2")
	testkit.Run(t, testkit.Program(t, ""), "generate", "--quiet", "--config", dir+"/dlpackgen.yaml")
	assert.NotEqual(t, before, unit(t, dir))
}
