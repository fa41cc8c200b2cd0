"""How each library takes a tensor, and what it then says that it has."""

import ctypes
import math


class Taken:
    """A tensor as its consumer sees it: an address, a shape, and its bytes where the address is one."""

    def __init__(self, address, shape, read):
        self.shape = tuple(int(n) for n in shape)
        self.empty = 0 in self.shape
        self.has_data = address != 0 or self.empty
        self.bytes = read() if self.has_data else None


def by_numpy():
    import numpy as np

    def take(x):
        y = np.from_dlpack(x)
        return Taken(y.__array_interface__["data"][0], y.shape, lambda: np.ascontiguousarray(y).tobytes())

    return take


def by_torch():
    import torch

    from cases import torch_bytes

    def take(x):
        y = torch.from_dlpack(x)
        return Taken(y.data_ptr(), y.shape, lambda: torch_bytes(y))

    return take


def by_jax():
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)

    def take(x):
        y = jax.dlpack.from_dlpack(x)
        return Taken(1, y.shape, lambda: np.asarray(y).tobytes())

    return take


def by_paddle():
    import paddle

    def take(x):
        y = paddle.from_dlpack(x)
        return Taken(y.data_ptr(), y.shape, lambda: y.contiguous().numpy().tobytes())

    return take


def by_tvm_ffi():
    import clients
    import tvm_ffi

    def take(x):
        y = tvm_ffi.from_dlpack(x)
        odd = y.data_ptr() % 16  # our module refuses to look there
        return Taken(y.data_ptr(), y.shape, lambda: ctypes.string_at(y.data_ptr(), 4 * math.prod(y.shape)) if odd % 4 and "32" in str(y.dtype) else clients.read(y)[1])

    return take


def by_nanobind():
    import withnanobind

    def take(x):
        address, shape, elements = withnanobind.read(x)
        return Taken(address, shape, lambda: elements)

    return take


CONSUMERS = {
    "torch": by_torch, "numpy": by_numpy, "jax": by_jax, "paddle": by_paddle, "tvm-ffi": by_tvm_ffi, "nanobind": by_nanobind,
}
