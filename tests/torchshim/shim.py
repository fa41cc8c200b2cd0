"""Tests of operators with the C shim in addition to described.py, which tests both forms: the time
of registration, and rejections in other parts of the code."""

import importlib.util
import os
import subprocess
import sys
import warnings

from check import raises, run

sys.path.insert(0, os.path.join(os.environ.get("MUTANTS", ""), os.environ.get("DLPACKGEN_MUTANT", "0")))
spec = importlib.util.spec_from_file_location("_kernels", os.environ["MODULE"])
sys.modules["_kernels"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["_kernels"])
import kernels_torch

import torch
from torch.autograd import forward_ad

ops = torch.ops.described
kernels_torch.register()

LOAD = """
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("_kernels", os.environ["MODULE"])
sys.modules["_kernels"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["_kernels"])
sys.path.insert(0, os.path.join(os.environ.get("MUTANTS", ""), os.environ.get("DLPACKGEN_MUTANT", "0")))
"""


def python(program):
    """Runs a program in a process of its own, in which torch is not imported."""
    made = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-c", LOAD + program], capture_output=True,
                          text=True)  # fmt: skip
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def doubles(*shape, grad=False):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=grad)


def test_importing_it_does_not_import_torch():
    assert python("import kernels_torch; print('torch' in sys.modules)") == "False"


def test_operators_are_registered_when_torch_is_imported():
    call = "print(torch.ops.described.alone(torch.zeros(1, dtype=torch.float64)).item())"
    loader = "; print(type(torch.__loader__).__name__)"
    assert python("import kernels_torch, torch; " + call + loader) == "0.0\nSourceFileLoader"


def test_an_operator_that_is_defined_already_is_named():
    """The others are registered, by the import of this module after torch."""
    program = """
import torch, warnings
library = torch.library.Library("described", "FRAGMENT")
library.define("pad(Tensor x) -> Tensor")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import kernels_torch
print(["the operator pad" in str(w.message) for w in seen if w.category is RuntimeWarning])
print(torch.ops.described.alone.default._schema.name, torch.ops.described.alone(torch.zeros(1).double()).item())
"""
    assert python(program) == "[True]\ndescribed::alone 0.0"


def test_a_torch_that_lacks_functions_is_no_error_of_its_import():
    program = """
import warnings, sys, types
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    torch = sys.modules["torch"] = types.ModuleType("torch")
    torch.version, torch._C = types.SimpleNamespace(hip=None), types.SimpleNamespace(__file__=None)
    import ctypes, importlib, math
    for torch._C.__file__ in ("/no/such/library.so", importlib.import_module("_ctypes").__file__):
        import kernels_torch
        del sys.modules["kernels_torch"]
print("|".join(str(w.message) for w in seen))
"""
    texts = python(program).split("|")
    assert texts[0] == "_kernels: no operators: this is not a loaded library of torch: /no/such/library.so", texts
    assert "this torch does not export aoti_torch_" in texts[1] and "use torch 2.10 or newer" in texts[1], texts


def test_registering_again_does_nothing():
    kernels_torch.register()


def test_forward_mode_is_rejected():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(doubles(3, 8), doubles(3, 8))
        text = "(): an argument has a forward-mode derivative, which kernels do not support: use backward mode"
        raises(NotImplementedError, "described::rms_norm" + text, ops.rms_norm, x, doubles(8))
        raises(NotImplementedError, "described::alone" + text, ops.alone, x)
        assert ops.alone(doubles(3)).shape == (3,)


def test_gradients_are_rejected_where_the_mode_is_on():
    x = doubles(3, grad=True)
    text = "described::alone(): an argument requires a gradient, but the kernel has no backward: call it under"
    raises(NotImplementedError, text, ops.alone, x)
    with torch.no_grad():
        assert torch.equal(ops.alone(x), x)
    meta = torch.empty(3, device="meta", dtype=torch.float64, requires_grad=True)
    raises(NotImplementedError, text, ops.alone, meta)


def test_an_argument_that_is_None_has_no_gradient():
    x, w = doubles(3, 8, grad=True), doubles(8)
    ops.rms_norm(x, w, None, 1e-3).sum().backward()
    assert x.grad is not None


def test_inference_tensors_are_written_in_their_mode_alone():
    x = torch.ones(4)
    with torch.inference_mode():
        y = torch.ones(4)
        ops.axpy(1.0, x, y)
    assert y.tolist() == [2] * 4
    text = "described::axpy(): Inplace update to inference tensor outside InferenceMode is not allowed"
    raises(RuntimeError, text, ops.axpy, 1.0, x, y)
    assert y.tolist() == [2] * 4


def test_what_was_saved_is_not_changed_unseen():
    x = torch.ones(4, requires_grad=True)
    y = x.detach().clone()
    z = x * y
    ops.axpy(1.0, torch.ones(4), y)
    raises(RuntimeError, "modified by an inplace operation", z.sum().backward)


def test_negated_tensors_are_written():
    z = torch.complex(torch.ones(4), torch.zeros(4))
    y = z.conj().imag
    ops.axpy(1.0, torch.ones(4), y)
    assert y.tolist() == [1] * 4 and z.imag.tolist() == [-1] * 4


def test_undefined_tensors():
    text = "rms_norm(): argument 'weight' (2nd): expected a tensor, got None"
    raises(TypeError, text, ops.rms_norm, torch.ones(3, 8), None)


def test_storage_that_was_made_smaller():
    x = torch.ones(4, 8)
    x.untyped_storage().resize_(64)
    raises(BufferError, "rms_norm(): argument 'x' (1st): it extends beyond its storage", ops.rms_norm, x, torch.ones(8))


def test_memory_that_is_shared_until_it_is_written():
    base = torch.ones(4)
    y = torch._lazy_clone(base)
    ops.axpy(1.0, torch.ones(4), y)
    assert y.tolist() == [2] * 4 and base.tolist() == [1] * 4
    x = torch._lazy_clone(base)
    ops.axpy(1.0, x, y)
    assert torch._C._is_cow_tensor(x)


def test_errors_have_their_classes():
    """The shim itself raises RuntimeError alone."""
    x, w = torch.ones(3, 8), torch.ones(8)
    raises(TypeError, "expected float32 or float64", ops.rms_norm, x.int(), w.int())
    raises(ValueError, "expected n = 8", ops.rms_norm, x, torch.ones(7))
    big = torch.full((3, 8), 1e30, dtype=torch.float64)
    raises(IndexError, "rms_norm(): argument 'x' (1st): a row has no scale", ops.rms_norm, big, doubles(8).fill_(1))


def test_failed_calls_release_their_arguments():
    x, w = torch.ones(3, 8), torch.ones(7)
    for _ in range(3):
        raises(ValueError, "expected n = 8", ops.rms_norm, x, w, w, 1e-3)
    y = ops.words(torch.ones(3, 4), [1, 5], [1.0, 2.0], "abc", 7, 9, False, 2.5)
    raises(ValueError, "int8 cannot represent 300", ops.words, torch.ones(3, 4), [1, 5], [1.0], "clip", 300)
    for tensor in (x, w, *y):
        assert tensor._use_count() <= 2, tensor._use_count()


def test_layouts_without_a_kernel():
    raises(NotImplementedError, "SparseCPU", ops.alone, torch.ones(3).double().to_sparse())


def test_torch_func_of_a_kernel_with_a_backward():
    """PyTorch rejects operators whose gradients are registered in this way, with its own
    message."""
    w = doubles(8)
    raises(RuntimeError, "functorch transforms", torch.func.grad(lambda x: ops.rms_norm(x, w).sum()), doubles(3, 8))


def derivatives(f, x):
    """The derivatives of a function with torch.func, in both modes, and the warnings of the
    first."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        backward = torch.func.grad(lambda x: f(x).sum())(x)
    _, forward = torch.func.jvp(f, (x,), (torch.ones_like(x),))
    return backward.tolist(), forward.tolist(), [str(w.message) for w in seen]


def test_torch_func_of_a_kernel_without_a_backward():
    """PyTorch treats the derivatives as zero: the limit that list callers names."""

    def written(x):
        y = 2 * x
        ops.axpy(1.0, x, y)
        return y

    backward, forward, seen = derivatives(ops.alone, doubles(3))
    assert backward == forward == [0] * 3, (backward, forward)
    assert len(seen) == 1 and seen[0].startswith("described::alone: an autograd kernel was not registered"), seen
    assert derivatives(written, torch.ones(4)) == ([2] * 4, [2] * 4, []), "3 is right"


def test_compiled_by_inductor():
    x, w = torch.randn(3, 8), torch.ones(8)
    f = torch.compile(lambda x: ops.rms_norm(x * 2, w) + 1, fullgraph=True)
    want = x * 2 * torch.rsqrt((x * 2).pow(2).mean(-1, keepdim=True) + 1e-6) + 1
    assert torch.allclose(f(x), want, atol=1e-5)


if __name__ == "__main__":
    assert warnings
    run(dict(globals()))
