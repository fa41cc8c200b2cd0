package torchops

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// mutant is a replaced text of a source, and the test that detects it.
type mutant struct{ file, old, replacement, script string }

const borrowFrom = "borrow_at<Access::read>(site, from, tensor);"

// Each of these breaks the sources in one place, which the named test detects.
var mutants = map[string]mutant{
	"arguments have other numbers": {"arguments.hpp", "dlpackgen_put_site(&message_, &at_);",
		"at_.number += 1; dlpackgen_put_site(&message_, &at_);", "guards.py test_data_that_is_gone"},
	"reading materialises": {"borrowed.hpp", borrowFrom, "borrow_at<Access::write>(site, from, tensor);",
		"guards.py test_copy_on_write"},
	"writing does not": {"borrowed.hpp", "borrow_at<Access::write>(site, from, tensor);", borrowFrom,
		"guards.py test_copy_on_write"},
	"a copy reads beyond its storage": {"borrowed.hpp", borrowFrom,
		"if (!copied[site.number] || from.is_contiguous()) " + borrowFrom,
		"guards.py test_storage_that_was_made_smaller"},
	"a device needs no tensor": {"kernel.hpp",
		`TORCH_CHECK_VALUE(first != nullptr, K::name, "(): expected at least one tensor, which determines the device");`,
		`TORCH_CHECK(first != nullptr, K::name, "(): expected a tensor among the arguments");`,
		"guards.py test_no_tensor_at_all"},
	"what ATen rejects has no place": {"kernel.hpp",
		`e.add_context(Sentence(site).begin().text() + std::string(DLPACKGEN_TEXT_NOT_BORROWED));`, "",
		"guards.py test_types_that_have_no_name"},
	"the device is not made current": {"kernel.hpp", "    current_.enter();", "",
		"devices.py test_the_device_is_current_and_its_stream_handed_over"},
	"the device stays current": {"kernel.hpp", "if (before_ != device_) backend().uncheckedSetDevice(before_);", "",
		"devices.py test_the_device_is_current_and_its_stream_handed_over"},
	"there is no stream": {"kernel.hpp",
		"stream_ = current_.backend().getStream(device_).native_handle();", "",
		"devices.py test_the_device_is_current_and_its_stream_handed_over"},
	"gradients are dropped": {"derivative.hpp",
		"if (std::is_void_v<typename K::backward> && recorded) reject_gradient(K::name);",
		"if (std::is_void_v<typename K::backward>) return false;",
		"gradients.py test_without_a_backward_a_gradient_is_rejected"},
	"gradients are recorded always": {"derivative.hpp", "c10::GradMode::is_enabled()", "true",
		"gradients.py test_without_a_backward_a_gradient_is_rejected"},
	"tangents are dropped": {"derivative.hpp",
		"if (tensor._fw_grad(0).defined()) reject_tangent(K::name);", "",
		"gradients.py test_forward_mode_is_rejected"},
	"versions stay": {"derivative.hpp", "argument.unsafeGetTensorImpl()->bump_version();", ";",
		"forms.py test_every_form_raises_the_version"},
	"versions stay behind boxes": {"derivative.hpp", "if constexpr (writes) raise_if<true>(value.toTensor());",
		"", "forms.py test_every_form_raises_the_version"},
	"versions stay below autograd": {"derivative.hpp", "\n    raise(arguments...);", "",
		"forms.py test_every_form_raises_the_version_below_autograd"},
	"and behind boxes": {"derivative.hpp", "\n    raise(stack);", "",
		"forms.py test_every_form_raises_the_version_below_autograd"},
	"inference tensors are written": {"derivative.hpp", "argument.defined()",
		"argument.defined() && !argument.is_inference()", "forms.py test_inference_mode"},
	"optional tensors have none": {"derivative.hpp", "if (value.has_value()) tracking.see(*value);", "",
		"gradients.py test_every_argument_is_looked_at"},
	"the last tensor decides": {"derivative.hpp", "wanted_ || tensor.requires_grad()",
		"tensor.requires_grad()", "gradients.py test_every_argument_is_looked_at"},
	"what is read is lent first": {"arguments.hpp",
		"(read<true, I, A>(first, from), ...);\n    (read<false, I, A>(first, from), ...);",
		"(read<false, I, A>(first, from), ...);\n    (read<true, I, A>(first, from), ...);",
		"guards.py test_memory_that_is_shared_and_read_and_written"},
	"negated values are not resolved": {"bits.hpp", "value.toTensor().is_neg()", "false",
		"guards.py test_negated_values_are_written_beside_results"},
	"conjugated values are not": {"bits.hpp", "value.toTensor().is_conj()", "false",
		"guards.py test_conjugated_values_are_written"},
	"what is resolved is lost": {"bits.hpp", "detail::write_back(passed[i], values[i]);", ";",
		"guards.py test_negated_values_are_written_beside_results"},
	"torch.func has its own words": {"derivative.hpp", "detail::reject_transform(K::name);", "",
		"gradients.py test_torch_func_is_rejected"},
	"operators are not compliant": {"registration.hpp", "library.def(K::schema, {at::Tag::pt2_compliant_tag});",
		"library.def(K::schema);", "compiled.py test_they_are_compliant"},
}

// numbered assigns a number to each mutant, from 1 on.
func numbered(all map[string]mutant) map[string]int {
	numbers := map[string]int{}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		numbers[name] = i + 1
	}
	return numbers
}

// withMutants adds all mutants to their sources, because a build takes long, and returns the
// required flags. An environment variable selects one in a process.
func withMutants(t *testing.T, headers string, all map[string]mutant) []string {
	t.Helper()
	testkit.Split(t, filepath.Join(headers, "dlpackgen_torch", "described_operators.hpp"))
	mutations := make([]mutation.Mutant, len(all))
	for name, number := range numbered(all) {
		m := all[name]
		mutations[number-1] = mutation.Mutant{File: filepath.Join("dlpackgen_torch", m.file), Old: m.old,
			New: m.replacement}
	}
	written := mutation.Write(t, headers, mutations)
	require.Empty(t, written.Apart, "mutants that change no statements")
	return append(written.Flags, "-O0", "-Wno-error")
}

// forked runs scripts, or tests of one, each in a separate process with the mutant of a number:
// torch is imported before. It returns the output of those with number 0 by verdict.
func (p places) forked(t *testing.T, library string, pairs ...string) map[string]string {
	t.Helper()
	args := []string{"-W", "ignore", "../mutants.py", "torch,torch._dynamo.testing"}
	cmd := testkit.Forked(p.python, testkit.Torch, append(args, pairs...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "LIBRARY="+library)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return testkit.Verdicts(string(out))
}

// areSeen runs the tests that must fail with each mutant, and pass without it.
func (p places) areSeen(t *testing.T, all map[string]mutant, library string) {
	t.Helper()
	numbers, runs := numbered(all), map[string][]string{}
	for name, m := range all {
		script, test, _ := strings.Cut(m.script, " ")
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		require.Contains(t, string(text), "\ndef "+test+"(")
		runs[m.script] = append(runs[m.script], fmt.Sprint(numbers[name]), m.script)
	}
	var pairs []string
	for script, mutants := range runs {
		pairs = append(append(pairs, "0", script), mutants...)
	}
	printed := p.forked(t, library, pairs...)
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, printed, fmt.Sprintf("caught %d %s", numbers[name], m.script),
				"the test detects nothing")
			assert.Contains(t, printed, "missed 0 "+m.script, "it fails with all guards in place:\n%s",
				printed["caught 0 "+m.script])
		})
	}
}

// fewer are the kernels that builds with mutants omit, to be faster.
var fewer = regexp.MustCompile(`(?m)^  mix_(pointer|lambda|functor|boxed_functor): .*\n(?:    .*\n)*`)

func TestMutants(t *testing.T) {
	tier.OnlyNightly(t)
	p, _ := library(t)
	dir := t.TempDir()
	config, err := os.ReadFile("module/dlpackgen.yaml")
	require.NoError(t, err)
	require.Len(t, fewer.FindAll(config, -1), 4)
	file := filepath.Join(dir, "dlpackgen.yaml")
	require.NoError(t, os.WriteFile(file, fewer.ReplaceAll(config, nil), 0o600))
	testkit.Generate(t, file, dir)
	lib := filepath.Join(dir, "kernels.so")
	require.NoError(t, p.build(dir, lib, withMutants(t, dir, mutants)...))
	p.areSeen(t, mutants, lib)
}
