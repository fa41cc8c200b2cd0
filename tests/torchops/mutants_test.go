package torchops

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each of these makes the sources wrong in one place, which the named test sees.
var mutants = map[string]struct{ file, old, replacement, script string }{
	"overlaps are written":             {"kernel.hpp", "!site.strided || may_overlap(tensor)", "!site.strided", "guards.py test_overlapping_elements_are_not_written"},
	"equal steps do not overlap":       {"strides.hpp", "tensor.strides[a] < tensor.strides[b] || (tensor.strides[a] == tensor.strides[b] && a < b)", "tensor.strides[a] < tensor.strides[b]", "guards.py test_overlapping_elements_are_not_written"},
	"steps that cross do not overlap":  {"strides.hpp", "reached += (tensor.shape[i] - 1) * tensor.strides[i];", "reached = tensor.strides[i];", "guards.py test_overlapping_elements_are_not_written"},
	"steps have no order":              {"strides.hpp", "if (next < 0 || leads_before(tensor, i, next)) next = i;", "if (next < 0) next = i;", "guards.py test_overlapping_elements_are_not_written"},
	"strides are written through":      {"kernel.hpp", "!site.strided || may_overlap(tensor)", "site.strided && may_overlap(tensor)", "guards.py test_strides"},
	"a teen is an 11st":                {"kernel.hpp", "place % 100 / 10 == 1", "false", "guards.py test_numbers_of_arguments"},
	"a device needs no tensor":         {"kernel.hpp", "TORCH_CHECK_VALUE(first != nullptr, kernel,", "TORCH_CHECK(first != nullptr, kernel,", "guards.py test_no_tensor_at_all"},
	"strides are read through":         {"kernel.hpp", "if (!site.strided && !from.is_contiguous()) copy(from);", "", "guards.py test_strides"},
	"reading materialises":             {"kernel.hpp", "detail::lend<Access::read>(site, device, from, tensor_);", "detail::lend<Access::write>(site, device, from, tensor_);", "guards.py test_copy_on_write"},
	"writing does not":                 {"kernel.hpp", "    lend<Access::write>(site, device, from, tensor);", "    lend<Access::read>(site, device, from, tensor);", "guards.py test_copy_on_write"},
	"what ATen refuses has no place":   {"kernel.hpp", `e.add_context(where(site.kernel, site.argument, site.number) + "it cannot be lent");`, "", "guards.py test_types_that_have_no_name"},
	"devices may differ":               {"kernel.hpp", "if (device != expected)", "if (false)", "devices.py test_tensors_of_two_devices"},
	"the device is not made current":   {"kernel.hpp", "guard_.reset_device(device_);", "", "devices.py test_the_device_is_current_and_its_stream_handed_over"},
	"there is no stream":               {"kernel.hpp", "stream_ = c10::impl::", "c10::impl::", "devices.py test_the_device_is_current_and_its_stream_handed_over"},
	"errors are ignored":               {"kernel.hpp", "if (code != 0) detail::fail_code", "if (false) detail::fail_code", "guards.py test_errors_of_the_kernel"},
	"an empty text is told":            {"kernel.hpp", "text != nullptr && *text != '\\0'", "text != nullptr", "guards.py test_errors_of_the_kernel"},
	"shapes are numbers":               {"kernel.hpp", "at::empty_symint(like.sym_sizes(), like.options())", "at::empty(like.sizes(), like.options())", "compiled.py test_one_graph_for_all_shapes"},
	"gradients are dropped":            {"derivative.hpp", "if (std::is_void_v<typename K::backward> && recorded) refuse_gradient(K::name);", "if (std::is_void_v<typename K::backward>) return false;", "gradients.py test_without_a_backward_a_gradient_is_refused"},
	"gradients are recorded always":    {"derivative.hpp", "const bool recorded = c10::GradMode::is_enabled();", "const bool recorded = true;", "gradients.py test_without_a_backward_a_gradient_is_refused"},
	"tangents are dropped":             {"derivative.hpp", "if (tensor._fw_grad(0).defined()) refuse_tangent(K::name);", "", "gradients.py test_forward_mode_is_refused"},
	"versions stay":                    {"derivative.hpp", "argument.unsafeGetTensorImpl()->bump_version()", "(void)0", "forms.py test_every_form_raises_the_version"},
	"versions stay behind boxes":       {"derivative.hpp", "if constexpr (writes) raise_if<true>(value.toTensor());", "", "forms.py test_every_form_raises_the_version"},
	"versions stay below autograd":     {"derivative.hpp", "    raise(arguments...);\n", "", "forms.py test_every_form_raises_the_version_below_autograd"},
	"and behind boxes":                 {"derivative.hpp", "    raise(stack);\n", "", "forms.py test_every_form_raises_the_version_below_autograd"},
	"inference tensors are written":    {"derivative.hpp", "if (argument.defined()) argument", "if (argument.defined() && !argument.is_inference()) argument", "forms.py test_inference_mode"},
	"optional tensors have none":       {"derivative.hpp", "if (value.has_value()) tracking.see(*value);", "", "gradients.py test_every_argument_is_looked_at"},
	"the last tensor decides":          {"derivative.hpp", "wanted_ = wanted_ || tensor", "wanted_ = tensor", "gradients.py test_every_argument_is_looked_at"},
	"gradients of the wrong arguments": {"derivative.hpp", "made[before(I)] : at::Tensor()", "made[tensors - 1 - before(I)] : at::Tensor()", "gradients.py test_gradcheck"},
	"operators are not compliant":      {"registration.hpp", ", {at::Tag::pt2_compliant_tag}", "", "compiled.py test_they_are_compliant"},
}

// fewer are the kernels that the mutants do without.
var fewer = regexp.MustCompile(`(?m)^  mix_(pointer|lambda|functor|boxed_functor): .*\n`)

func TestMutants(t *testing.T) {
	p, _ := library(t)
	dir := t.TempDir()
	config, err := os.ReadFile("module/dlpackgen.yaml")
	require.NoError(t, err)
	require.Len(t, fewer.FindAll(config, -1), 4)
	file := filepath.Join(dir, "dlpackgen.yaml")
	require.NoError(t, os.WriteFile(file, fewer.ReplaceAll(config, nil), 0o600))
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			headers := t.TempDir()
			generate(t, file, headers)
			source := filepath.Join(headers, "dlpackgen_torch", m.file)
			text, err := os.ReadFile(source)
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(string(text), m.old), "%s has it once", m.file)
			require.NoError(t, os.WriteFile(source, []byte(strings.Replace(string(text), m.old, m.replacement, 1)), 0o600))
			mutant := filepath.Join(headers, "mutant.so")
			require.NoError(t, p.compile(headers, mutant, "-Wno-error"))
			script := strings.Fields(m.script)
			out, err := p.script(mutant, script[0], script[1])
			assert.Error(t, err, "the test sees nothing")
			assert.Contains(t, out, "FAILED "+script[1], "and says so itself")
		})
	}
}
