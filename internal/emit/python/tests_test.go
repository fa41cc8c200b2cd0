package python

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// Tests are generated if the option requests them, one for each kernel.
func TestTestsAreAnOption(t *testing.T) {
	one := contract.Kernel{Name: "f", Devices: []contract.Device{{Name: "kDLCPU", Value: 1}}}
	other := one
	other.Name = "g"
	for _, row := range []struct {
		option string
		want   []string
	}{
		{"", nil}, {"false", nil},
		{"true", []string{"tests/dlpackgen_contract.py", "tests/dlpackgen_contract_calls.py",
			"tests/dlpackgen_contract_rejected.py", "tests/test_f_contract.py", "tests/test_g_contract.py"}},
	} {
		files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
			Contracts: []contract.Kernel{one, other}, Options: map[string]string{"tests": row.option}})
		var got []string
		for name, text := range emittest.Texts(t, files, err) {
			if !strings.HasPrefix(name, "tests/") {
				continue
			}
			got = append(got, name)
			for line := range strings.Lines(text) {
				assert.LessOrEqual(t, len(line), widest+1, line)
				assert.NotRegexp(t, `[ \t]\n$`, line)
			}
		}
		assert.ElementsMatch(t, row.want, got)
	}
}

// A value that does not fit on a line has one item per line.
func TestValuesAreWrapped(t *testing.T) {
	long := strings.Repeat("n", 60)
	items := []pythonValue{plain(long), group("x=(", []pythonValue{plain(long), plain("1")}, ")")}
	assert.Equal(t, "f(\n    "+long+",\n    x=("+long+", 1),\n)", group("f(", items, ")").text(0, 0))
	assert.Equal(t, "x=(1,)", group("x=(", []pythonValue{plain("1")}, ")").line(), "a tuple of one item")
	assert.Equal(t, "x=()", group("x=(", nil, ")").line())
	assert.Equal(t, []pythonValue{plain("1")}, present([]pythonValue{plain("1"), group("x=(", nil, ")")}))
}

func TestTextsAreQuoted(t *testing.T) {
	for text, want := range map[string]string{
		`a`: `"a"`, `m in "a"`: `'m in "a"'`, `'"`: `"'\""`, `a\b`: `"a\\b"`, `"\`: `'"\\'`,
	} {
		assert.Equal(t, want, quoted(text))
	}
}

// Conditions are evaluated like Python expressions: a condition about an absent value is true.
func TestConditionsOfPython(t *testing.T) {
	k := &contract.Kernel{
		Args: []contract.Param{{Name: "q", Kind: contract.Int, Optional: true}, {Name: "m", Kind: contract.Str}},
		Dims: []contract.Dim{{Name: "q", Arg: 0}, {Name: "n", Always: true}},
		Vars: []contract.Var{{Name: "T"}},
	}
	for text, want := range map[string]string{
		"n in 2|4":               `contract.Condition("n in 2|4", "n in [2, 4]", names=("n",))`,
		"q == n or n > 2":        `contract.Condition("q == n or n > 2", "(q is None or q == n) or (n > 2)", names=("q", "n"))`,
		`m in "a"|"b"`:           `contract.Condition('m in "a"|"b"', 'm in ["a", "b"]', names=("m",))`,
		"T in float32":           `contract.Condition("T in float32", 'T in ["float32"]', names=("T",), raises=TypeError)`,
		"n // 2 * 2 == min(n,8)": `contract.Condition("n // 2 * 2 == min(n, 8)", "n // 2 * 2 == min(n, 8)", names=("n",))`,
	} {
		cond, err := notation.ParseCond(text)
		assert.Nil(t, err)
		assert.Equal(t, want, describer{k}.condition(cond).line())
	}
}
