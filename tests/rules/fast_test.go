package rules

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
	"github.com/dlpackgen/dlpackgen/tests/gobind"
)

// fastChecks are the checks that accept most valid tensors without the rules.
var fastChecks = []string{
	"dlpackgen_tensor_fits()", "dlpackgen_tensor_fits() with leading dimensions",
	"dlpackgen_is_usual()", "dlpackgen_is_usual() with leading dimensions", "dlpackgen_check_kernel_checked()", goCheck,
}

const inKernel = "kernels.c"

const goCheck = "plain() of templates/go/validate.go"

// accepting returns the fast checks that accept a tensor.
func (l languages) accepting(f gobind.Foreign) (names []string) {
	accepting := l.fast.Accepting(f.Versioned())
	if plain(&f.Versioned().DLTensor) {
		accepting |= 1 << (len(fastChecks) - 1)
	}
	for i, name := range fastChecks {
		if accepting>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return names
}

// tooFast returns the fast checks that accept a tensor against the rules of C, which are c's
// verdicts. Go accepts unknown type codes and device types.
func (l languages) tooFast(f gobind.Foreign, c Measured) (names []string) {
	for _, name := range l.accepting(f) {
		if c.Fault != 0 || c.Strict != 0 && name != goCheck {
			names = append(names, name)
		}
	}
	return names
}

// openFast builds the fast checks of C with folders of headers and of a described kernel.
func openFast(t testing.TB, headers, kernels string, flags ...string) FastChecks {
	t.Helper()
	flags = append(flags, "-std=c11", "-I", headers, "-I", kernels)
	fast, err := OpenFast(build(t, "gcc", "fast.c", flags...))
	require.NoError(t, err)
	return fast
}

// describedKernel generates the folder of a described kernel.
func describedKernel(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	testkit.Generate(t, filepath.Join("testdata", "kernels.yaml"), dir)
	return filepath.Join(dir, "kernels")
}

// each calls check for the tensors of a seed.
func each(check func(f gobind.Foreign)) {
	random := rand.New(rand.NewPCG(5, 6))
	for range rounds {
		f := gobind.NewForeign()
		bytes := choices(draw(random))
		bytes.spoil(f)
		check(f)
		f.Free()
	}
}

// violators returns the fast checks that accept some tensor against the rules.
func (l languages) violators() (names []string) {
	each(func(f gobind.Foreign) { names = append(names, l.tooFast(f, l.c.Measure(f.Versioned()))...) })
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// The fast checks accept many of the tensors; otherwise, the comparison would be empty.
func TestFastChecksAcceptOnlyValidTensors(t *testing.T) {
	l := generated(t)
	assert.Empty(t, l.violators())
	accepted := map[string]int{}
	each(func(f gobind.Foreign) {
		for _, name := range l.accepting(f) {
			accepted[name]++
		}
	})
	for _, name := range fastChecks {
		assert.Greater(t, accepted[name], rounds/100, name)
	}
}

// newRules are rules that some usual tensors violate. Each is added to the rules of C alone.
var newRules = map[string]string{
	"strides":      "tensor->ndim > 0 && tensor->strides && tensor->strides[0] == 12",
	"extents":      "tensor->ndim > 1 && tensor->shape[0] == 5",
	"device ids":   "tensor->device.device_id < 0",
	"addresses":    "(uintptr_t)tensor->data == 64",
	"byte offsets": "tensor->byte_offset == 64",
	"dtypes":       "tensor->dtype.bits == 64",
	"dimensions":   "tensor->ndim == 1",
}

// Each fast check that ignores a new rule is named.
func TestFastChecksThatIgnoreARuleAreNamed(t *testing.T) {
	tier.OnlyNightly(t)
	for name, condition := range newRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := headers(t, inC, "  if (!limits->known_device)\n",
				"  if ("+condition+") return DLPACKGEN_ERROR_EXCHANGE_SLOT;\n  if (!limits->known_device)\n")
			l := generated(t)
			l.c = openC(t, filepath.Join(dir, "c"), quick...)
			l.fast = openFast(t, filepath.Join(dir, "c"), describedKernel(t), quick...)
			assert.ElementsMatch(t, fastChecks, l.violators())
		})
	}
}

// looseChecks removes conditions of fast checks.
var looseChecks = map[string]struct{ check, file, old, new string }{
	"extents in C": {"dlpackgen_tensor_fits()", inC,
		"if (DLPACKGEN_RARE(extent - 1 >= DLPACKGEN_USUAL_EXTENT)) return 0;", ""},
	"sizes in C": {"dlpackgen_is_usual()", inC, "return *elements <= DLPACKGEN_USUAL_SIZE;", "return 1;"},
	"NULL in C": {"dlpackgen_is_usual()", inC, "((data - alignment) | tensor->byte_offset)",
		"(data | tensor->byte_offset)"},
	"addresses in C": {"dlpackgen_tensor_fits()", inC,
		"DLPACKGEN_RULES_CAST(uintptr_t, -1) >> 2;", "DLPACKGEN_RULES_CAST(uintptr_t, -1);"},
	"offsets in C": {"dlpackgen_tensor_fits()", inC, "((data - alignment) | tensor->byte_offset)",
		"(data - alignment)"},
	"dtypes of tables": {"dlpackgen_tensor_fits()", inAll, "if (!dlpackgen_is_dtype(p->dtypes[n]))",
		"if (0)"},
	"the number of dimensions of kernels": {"dlpackgen_is_usual() with leading dimensions", inKernel,
		" && tensor->ndim <= DLPACKGEN_MAX_NDIM", ""},
}

func TestLooseFastChecksAreNamed(t *testing.T) {
	tier.OnlyNightly(t)
	for name, m := range looseChecks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := generated(t)
			dir, kernel := filepath.Join(golden.Root(t), "gen", "c"), describedKernel(t)
			if m.file == inKernel {
				mutation.Mutant{File: m.file, Old: m.old, New: m.new}.Alone(t, kernel)
			} else {
				dir = filepath.Join(headers(t, m.file, m.old, m.new), "c")
			}
			l.fast = openFast(t, dir, kernel, quick...)
			assert.Contains(t, l.violators(), m.check)
		})
	}
}
