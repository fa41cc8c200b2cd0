"""How each library imports a tensor, the properties that it then reports, and the form of its
rejections."""

import ctypes
import math

from cases import DTYPES
from judge import Taken

CPU = (1, 0)


def named(dtype):
    """(code, bits, lanes) of a library's own name for a data type; None for an unknown one."""
    return DTYPES.get(str(dtype).rpartition(".")[2])


def by_numpy():
    import numpy as np

    def take(x):
        y = np.from_dlpack(x)
        return Taken(
            y.__array_interface__["data"][0],
            y.shape,
            named(y.dtype),
            CPU,
            not y.flags.writeable,
            lambda: np.ascontiguousarray(y).tobytes(),
        )

    return take


def by_torch():
    import torch

    from cases import torch_bytes

    def take(x):
        y = torch.from_dlpack(x)
        return Taken(
            y.data_ptr(),
            y.shape,
            named(y.dtype),
            CPU if y.device.type == "cpu" else str(y.device),
            None,
            lambda: torch_bytes(y),
        )

    return take


def by_jax():
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)

    def take(x):
        y = jax.dlpack.from_dlpack(x)
        device = y.device.platform
        return Taken(
            1, y.shape, named(y.dtype), CPU if device == "cpu" else device, None, lambda: np.asarray(y).tobytes()
        )

    return take


def by_paddle():
    import paddle

    def take(x):
        y = paddle.from_dlpack(x)
        return Taken(
            y.data_ptr(),
            y.shape,
            named(y.dtype),
            CPU if y.place.is_cpu_place() else str(y.place),
            None,
            lambda: y.contiguous().numpy().tobytes(),
        )

    return take


def by_tvm_ffi():
    import clients
    import tvm_ffi

    def take(x):
        y = tvm_ffi.from_dlpack(x)
        dtype = y.dtype.type_code, y.dtype.bits, y.dtype.lanes

        def elements():
            if y.data_ptr() % 4 and dtype == (2, 32, 1):  # our module does not read there
                return ctypes.string_at(y.data_ptr(), 4 * math.prod(y.shape))
            return clients.read(y)[1]

        return Taken(y.data_ptr(), y.shape, dtype, y.__dlpack_device__(), None, elements)

    return take


def by_nanobind():
    import withnanobind

    def take(x):
        address, shape, dtype, device, elements = withnanobind.read(x)
        return Taken(address, shape, dtype, device, None, lambda: elements)

    return take


CONSUMERS = {
    "torch": by_torch,
    "numpy": by_numpy,
    "jax": by_jax,
    "paddle": by_paddle,
    "tvm-ffi": by_tvm_ffi,
    "nanobind": by_nanobind,
}

# The exceptions of producers for tensors that they do not export, which any consumer propagates:
# the class and a part of the text. By the rules, it is a BufferError.
EXPORTERS = [
    ("BufferError", "DLPack only supports|Cannot export readonly array"),  # NumPy
    ("BufferError", "needs a consumer that passes max_version|not a valid DLPack tensor"),  # ours
    ("BufferError", "Can't export tensors|Cannot pack tensors on meta|types are not supported by dlpack"),  # torch
    ("RuntimeError", "Cannot pack tensors on meta|types are not supported by dlpack|doesn't have storage"),
    ("RuntimeError", "NestedTensorImpl doesn't support|NestedTensor does not support|Batching rule not implemented"),
    ("NotImplementedError", "Cannot access storage of OpaqueTensorImpl"),
    ("ValueError", "Unknown device type meta"),
    ("JaxRuntimeError", "has no DLPack equivalent"),  # JAX
    ("RuntimeError", "Array has been deleted"),
    ("ConcretizationTypeError", "Abstract tracer value encountered"),
]

# The exceptions of a library for tensors that it does not accept. Any other exception is a failure,
# not a rejection.
REJECTIONS = {
    "torch": [
        ("RuntimeError", "Storage size calculation overflowed|received an invalid capsule"),
        ("BufferError", "ATen does not support lanes|Unsupported (kU?Int bits|kDLFloat4_e2m1fn lanes|code)"),
    ],
    "numpy": [("RuntimeError", "Unsupported (lanes|dtype) in DLTensor|higher than the supported maxdims")],
    "jax": [
        ("JaxRuntimeError", "^UNIMPLEMENTED: "),
        ("ValueError", "number of dimensions must be within"),
        ("TypeError", "must have __dlpack__ and __dlpack_device__ methods"),
    ],
    "paddle": [
        ("NotImplementedError", "Vector type is not supported|Unsupported DLDataType|DLDataType code <.*> is illegal"),
        ("RuntimeError", "Invalid dimension to be accessed"),
        ("ValueError", "received an invalid capsule"),
    ],
    "tvm-ffi": [("ValueError", "unknown type_code"), ("TypeError", "Expect from_dlpack to take")],
    "nanobind": [("TypeError", "incompatible function arguments|elements share bytes")],
}
