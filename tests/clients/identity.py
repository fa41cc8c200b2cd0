"""How types of other libraries are distinguished from types with their names, and reading them
without native readers. Part of special.py."""

import contextlib
import os
import sys
import types

import clients
from rejections import rejected
from torch_fields import fresh_clients, patched


def torch_is_told_by_its_type_in_c():
    """Only torch's own types are read as torch.Tensor, independently of names."""
    import torch

    class Foreign:
        __torch_dispatch__ = torch.Tensor.__torch_dispatch__

        def __init__(self):
            self.x = torch.arange(3.0)
            self.__dlpack_device__ = self.x.__dlpack_device__

        def __dlpack__(self, **asked):
            return self.x.__dlpack__(**asked)

    class Derived(torch.Tensor):
        pass

    torch.overrides.get_default_nowrap_functions()  # which torch keeps, and otherwise takes from the name torch.Tensor
    tensor, x, kept = torch.Tensor, torch.ones(3), torch.ones(3)
    x.untyped_storage().resize_(8)
    clients.read(kept)
    for known in False, True:
        for other in Foreign, Derived:
            module = fresh_clients()
            if known:
                module.read(kept)
            with patched(torch, Tensor=other):
                assert module.read(Foreign())[0][1] == (3,)
                assert module.read(kept)[0][0] == kept.data_ptr()
                rejected(module.read, x, text="it needs 12 bytes of storage, but its storage was resized to 8")
                assert module.read(kept.as_subclass(Derived))[0][0] == kept.data_ptr()
                rejected(module.read, tensor._neg_view(kept).as_subclass(Derived), text="negated values")
            assert module.torch_fields() == clients.torch_fields() != (0,) * 7


def paddle_in_place_of_torch_is_not_torch():
    """paddle.enable_compat() replaces torch's modules with Paddle's. Known types are read as
    before; new types are read through torch's own table, with the same queries in Python."""
    import paddle
    import torch

    kept, shrunk, gradient = torch.ones(3), torch.ones(3), torch.ones(3, requires_grad=True)
    shrunk.untyped_storage().resize_(8)
    bad = {
        "negated values": torch._neg_view(kept),
        "no strided memory": torch.eye(2).to_sparse(),
        "requires grad": gradient,
    }
    bad["it needs 12 bytes of storage, but its storage was resized to 8"] = shrunk
    derived = kept.as_subclass(type("Derived", (torch.Tensor,), {}))
    for known in True, False:
        module = fresh_clients()
        if known:
            module.read(kept)
        paddle.enable_compat()
        try:
            assert sys.modules.get("torch") is not torch
            for f in module.read, module.write, module.export:
                f(paddle.ones([3]))
                f(kept)
                f(derived)
                for text, x in bad.items():
                    rejected(f, x, text=text)
        finally:
            paddle.disable_compat()
        assert (module.torch_fields() != (0,) * 7) == known
    module = fresh_clients()
    with patched_module("torch._C", TensorBase=object, is_grad_enabled=lambda: False):
        module.read(kept)
        rejected(module.read, gradient, text="autograd would not record this call")


@contextlib.contextmanager
def patched_module(name, **values):
    """Replaces one module with another."""
    before = sys.modules[name]
    sys.modules[name] = types.SimpleNamespace(**values)
    try:
        yield
    finally:
        sys.modules[name] = before


@contextlib.contextmanager
def without_native_readers():
    os.environ["DLPACKGEN_NO_NATIVE_READERS"] = "1"
    try:
        yield fresh_clients()
    finally:
        del os.environ["DLPACKGEN_NO_NATIVE_READERS"]


def torch_without_native_readers():
    import torch

    x, shrunk = torch.arange(3.0), torch.ones(3)
    shrunk.untyped_storage().resize_(8)
    with without_native_readers() as module:
        assert module.read(x)[0][0] == x.data_ptr()
        assert module.torch_fields() == (0,) * 7
        rejected(module.read, shrunk, text="it needs 12 bytes of storage, but its storage was resized to 8")
        rejected(module.read, torch._neg_view(x), text="negated values")
        rejected(module.export, torch.ones(3, requires_grad=True), text="requires grad")
    with without_native_readers() as module:
        os.environ["DLPACKGEN_NO_NATIVE_READERS"] = "0"
        module.read(x)
    assert module.torch_fields() != (0,) * 7


def numpy_without_native_readers():
    import numpy as np

    x, swapped = np.arange(3, dtype="f4"), np.ones(3, np.dtype("f4").newbyteorder())
    with without_native_readers() as module:
        assert module.read(x)[0][0] == x.ctypes.data
        rejected(module.read, swapped, text="ndarray was not exported|byte")  # NumPy itself reports it
        rejected(module.read, np.ma.array([1.0], mask=[True]), text="masked")
        x.flags.writeable = False
        rejected(module.write, x, text="read-only")
    rejected(fresh_clients().read, swapped, text=r"newbyteorder\('='\)")


def jax_without_native_readers():
    import jax
    import jax.numpy as jnp

    x = jnp.arange(3.0, dtype="float32")
    expected = clients.read(x)[1]  # while the readers are enabled, because the module caches them
    with without_native_readers() as module:
        assert module.read(x)[1] == expected
        rejected(module.write, x, text="read-only")
        rejected(lambda y: jax.jit(module.read)(y), x, text="JAX tracer")


def numpy_is_told_by_its_type_in_c():
    import numpy as np

    class Foreign:
        __module__, __qualname__ = "numpy", "ndarray"

        def __init__(self, *args):
            self.x = np.zeros(3)

        def __dlpack__(self, **asked):
            return self.x.__dlpack__(**asked)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    Foreign.__name__ = "ndarray"
    x = np.zeros(3)
    for known in False, True:
        module = fresh_clients()
        if known:
            module.read(x)
        with patched(np, ndarray=Foreign):
            assert module.read(Foreign())[0][1] == (3,)
            assert module.read(x)[0][0] == x.ctypes.data
