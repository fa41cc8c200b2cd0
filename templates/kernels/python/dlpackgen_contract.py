"""Tests kernels against their descriptions, which are in the files test_NAME_contract.py.

Each test starts from a valid call: sizes that satisfy the conditions, and random data. `rejected`
lists the requirements of a description. A test violates one of them, and expects the exact
exception and unchanged tensors. `accepted` lists the valid variations of a call. Values are
compared with the reference, a function with NumPy arrays instead of tensors. Like the kernel, it
returns the results, and writes to the written arguments.
"""

import functools
import importlib
import os
import re
import warnings

import numpy as np
import pytest
from dlpackgen_contract_calls import (
    LIBRARIES,
    Call,
    Case,
    Condition,
    Kernel,
    Scalar,
    Tensor,
    call_with,
    has_two,
    is_small,
    is_valid,
    memory,
    returning,
    solutions,
    spread,
)
from dlpackgen_contract_rejected import check_rejected, rejected

__all__ = [
    "LIBRARIES", "Condition", "Kernel", "Scalar", "Tensor", "accepted", "check_accepted", "check_gradients",
    "check_rejected", "check_values", "rejected",
]  # fmt: skip
TOLERANCE = {"float64": 1e-12, "complex128": 1e-12, "float16": 4e-3, "bfloat16": 4e-2}


# Accepted calls.


def accepted(kernel):
    cases = [Case(usual)]
    for p in kernel.args:
        cases += [Case(without, p.name)] if p.optional else []
        if isinstance(p, Tensor) and p.layout in ("strided", "copied", "inner", "any_order") and p.shape:
            cases.append(Case(strided, p.name))
    return cases + ([Case(into_out)] if kernel.made else [])


def usual(kernel, library, case):
    return call_with(kernel, library)


def without(kernel, library, case):
    """None for an argument; a symbol that only this argument determines then has no value."""
    for values in solutions(kernel, library.name):
        values = values | {case.name: None}
        if is_valid(kernel, values):
            return Call(kernel, library, values)
    pytest.skip("no valid call goes without the argument")


def strided(kernel, library, case):
    library.needs_strides()
    call, p = call_with(kernel, library, has_two(case.name)), kernel.arg(case.name)
    shape = call.shapes[p.name]
    if p.layout == "any_order":
        array = memory(shape, call.dtype(p), "F")
    elif p.layout == "inner":
        array = memory(shape[:-1] + (shape[-1] + 1,), call.dtype(p))[..., :-1]
    else:
        array = spread(call, p, shape)
    call.put(p, call.fill(p, array))
    return call


def into_out(kernel, library, case):
    library.needs_writable_out()
    call = call_with(kernel, library)
    for i, p in enumerate(kernel.made):
        call.out[i] = library.array(memory(call.shapes[p.name], call.dtype(p)))
    return call


def check_accepted(kernel, library, case):
    call = case.breaks(kernel, returning(kernel, library), case)
    try:
        check_results(call)
    except kernel.errors as error:
        pytest.skip(f"the description lists this error for such data: {error}")


# Values.


def check_results(call):
    """Calls the kernel, and compares results and written arguments with the reference."""
    kernel, library = call.kernel, call.library
    inputs = {n: v if isinstance(kernel.arg(n), Scalar) or v is None else library.numpy(v).copy()
              for n, v in call.arguments.items()}  # fmt: skip
    returned = call.run()
    results = () if not kernel.results else (returned,) if len(kernel.results) == 1 else returned
    assert len(results) == len(kernel.results), f"{kernel.name}() returned {len(results)} results"
    for p, value in zip(kernel.results, results):
        if isinstance(p, Tensor):
            check_tensor(call, p, value)
    for i, out in call.out.items():
        assert results[kernel.results.index(kernel.made[i])] is out, "the result is not the object of out="
    check_unwritten(call, inputs)
    if kernel.reference:
        check_reference(call, inputs, results)


def as_numpy(call, value):
    """A result as a NumPy array. Calls without tensors have no library, so their results are the
    module's own type."""
    return call.library.numpy(value) if hasattr(value, "dtype") else np.from_dlpack(value)


def check_tensor(call, p, value):
    array = as_numpy(call, value)
    assert array.shape == call.shapes[p.name], f"result {p.name} has shape {array.shape}"
    assert array.dtype == call.dtype(p), f"result {p.name} has dtype {array.dtype}"


def check_unwritten(call, inputs):
    for p in call.kernel.tensors:
        if p.access == "in" and call.arguments[p.name] is not None:
            now = call.library.numpy(call.arguments[p.name])
            assert now.tobytes() == inputs[p.name].tobytes(), f"the kernel wrote to {p.name}, which is only read"


def check_reference(call, inputs, results):
    kernel = call.kernel
    module, _, name = kernel.reference.partition(":")
    function = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    expected = function(*inputs.values())
    expected = () if not kernel.results else (expected,) if len(kernel.results) == 1 else expected
    assert len(expected) == len(results), f"{kernel.reference} returned {len(expected)} results"
    for p, got, want in zip(kernel.results, results, expected):
        compare(call, p, as_numpy(call, got) if isinstance(p, Tensor) else got, want)
    for p in kernel.tensors:
        if p.access != "in" and inputs[p.name] is not None:
            compare(call, p, call.library.numpy(call.arguments[p.name]), inputs[p.name])


def compared_as(call, p):
    """The name of the dtype that determines the tolerance."""
    if isinstance(p, Tensor):
        return call.dtype(p).name
    return {"int": "int64", "bool": "bool", "number": call.values.get(p.variable) or (*p.dtypes, "float64")[0]}.get(
        p.kind, "float64"
    )


def tolerance_of(dtype):
    """A little more than the last digit of a format that the name states, such as float8_e4m3fn."""
    digits = re.search(r"_e\d+m(\d+)", dtype)
    return 1.04 * 2.0 ** -int(digits[1]) if digits else TOLERANCE.get(dtype, 1e-5)


def compare(call, p, got, want):
    dtype = compared_as(call, p)
    if dtype.startswith(("int", "uint", "bool")):
        np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"{p.name} differs from the reference")
        return
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    off = call.kernel.tolerance.get(dtype, tolerance_of(dtype))
    got, want = np.asarray(got).astype(wide), np.asarray(want).astype(wide)
    message = f"{p.name} differs from the reference, in {dtype}"
    np.testing.assert_allclose(got, want, rtol=off, atol=off, err_msg=message)


def check_values(kernel, name):
    """Compares random calls: sizes, dtypes, groups of dimensions, arguments that are None."""
    hypothesis = pytest.importorskip("hypothesis", reason="random calls need hypothesis")
    library = returning(kernel, name)
    draw, found = hypothesis.strategies, solutions(kernel, name)
    extents_ = draw.lists(draw.integers(0, 3), max_size=3).map(tuple)
    optional = [p.name for p in kernel.args if p.optional]

    @hypothesis.settings(max_examples=50 if name == "numpy" else 10, deadline=None, database=None, derandomize=True,
                         suppress_health_check=[hypothesis.HealthCheck.filter_too_much])
    @hypothesis.given(data=draw.data())
    def random_calls(data):
        values = dict(data.draw(draw.sampled_from(found)))
        values |= {group: data.draw(extents_) for group in values if group.startswith("...")}
        values |= {absent: None for absent in optional if data.draw(draw.booleans())}
        hypothesis.assume(is_valid(kernel, values) and is_small(kernel, name, values))
        try:
            check_results(Call(kernel, library, values, data.draw(draw.integers(0, 2**32 - 1))))
        except kernel.errors:
            hypothesis.reject()

    try:
        random_calls()
    except hypothesis.errors.Unsatisfiable:
        pytest.skip("the kernel rejects all random data")


# Gradients.


def check_gradients(kernel):
    """Compares the gradients of the torch operator with differences of its results, in float64 if
    the kernel supports it, else in float32."""
    library = returning(kernel, "torch")
    operator = operator_of(kernel, library.module)
    exact = {"eps": 1e-6, "atol": 1e-5, "rtol": 1e-3}
    rough = {"eps": 1e-2, "atol": 2e-2, "rtol": 2e-2, "check_undefined_grad": False}
    for seed, values in enumerate(differentiable(kernel, library)):
        call = Call(kernel, library, values, seed)
        tensors = [call.arguments[name].clone().requires_grad_() for name in kernel.gradients]
        fine = exact if all(tensor.dtype == library.module.float64 for tensor in tensors) else rough
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of gradcheck, for float32
            library.module.autograd.gradcheck(with_arguments(operator, call), tensors, **fine)


def operator_of(kernel, torch):
    """The registered operator. DLPACKGEN_OPERATORS can name the library of target torch, or the
    Python module of target torchshim, that registers it."""
    name = f"torch.ops.{kernel.namespace}.{kernel.name}"
    path = os.environ.get("DLPACKGEN_OPERATORS")
    if path and os.path.exists(path):
        torch.ops.load_library(path)
    elif path:
        importlib.import_module(path)
    try:
        return getattr(getattr(torch.ops, kernel.namespace), kernel.name)
    except AttributeError:
        pytest.skip(f"{name} does not exist: set DLPACKGEN_OPERATORS to the library of target torch, or to the module "
                    "kernels_torch of target torchshim")


def differentiable(kernel, library):
    """The values of up to 3 calls, whose arguments are as exact as the kernel allows."""
    found = solutions(kernel, "torch")
    for wide in ("float64", "float32"):
        fits = [values for values in found if all(dtype_of(kernel, values, name) == wide for name in kernel.gradients)]
        if fits:
            return fits[:3]
    pytest.skip("differences need float32 or float64")


def dtype_of(kernel, values, name):
    p = kernel.arg(name)
    return values[p.variable] if p.variable else p.dtypes[0]


def with_arguments(operator, call):
    """The operator as a function of the tensors with a gradient."""
    return lambda *tensors: operator(**(call.arguments | dict(zip(call.kernel.gradients, tensors))))
