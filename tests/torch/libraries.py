"""from_dlpack(): tensors of jax, paddle and tvm-ffi, as they are."""

import jax.numpy as jnp
import paddle
import torch
import tvm_ffi

import check
from check import from_dlpack, rejected


def test_jax():
    x = jnp.arange(4.0)
    with rejected(BufferError, "read-only"):
        from_dlpack(x)
    assert from_dlpack(x, read_only="copy").tolist() == [0, 1, 2, 3]
    assert from_dlpack(x, read_only="allow").tolist() == [0, 1, 2, 3]


def test_paddle():
    x = paddle.to_tensor([1.0, 2.0])
    y = from_dlpack(x)
    y[0] = 5
    assert x.tolist() == [5, 2]


def test_tvm_ffi():
    x = torch.arange(3.0)
    assert from_dlpack(tvm_ffi.from_dlpack(x)).data_ptr() == x.data_ptr()


if __name__ == "__main__":
    check.run(globals())
