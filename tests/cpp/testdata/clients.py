"""Tensors of real libraries in the C++ module cppx, and its own tensors in these libraries."""

import gc
import sys

import cppx

if not sys.argv[1:]:
    sys.modules["torch"] = None  # tvm-ffi would import it

import tvm_ffi  # noqa: E402


def raises(kind, part, call, *args):
    try:
        call(*args)
    except kind as error:
        assert part in str(error), str(error)
    else:
        raise AssertionError(f"{call} raises no {kind}")


def library(name, tensor, ones):
    """tensor: 2 x 3, from 0 to 5; ones: a function of a shape."""
    assert cppx.total(tensor) == 15
    again = cppx.through(tensor)
    assert type(again) is type(tensor) and cppx.total(again) == 15
    assert cppx.total(cppx.like(tensor)) == 12
    raises(BufferError, "expected 2, got 1", cppx.total, ones((4,)))
    print(name)


def own():
    library("cppx", cppx.make((2, 3)), lambda shape: cppx.make(shape))
    assert tvm_ffi.convert(lambda x: list(x.shape))(cppx.make((2, 3))) == [2, 3]
    big = cppx.make((1, 1, 1, 1, 6))
    raises(BufferError, "expected 4, got 5", cppx.through, big)
    spent = cppx.make((2, 3))
    cppx.drop(spent)
    raises(RuntimeError, "the tensor was given away", cppx.total, spent)
    raises(RuntimeError, "the tensor was given away", cppx.through, spent)
    raises(AttributeError, "__dlpack_c_exchange_api__", cppx.total, 7)


def frameworks(names):
    if "torch" in names:
        import torch

        library("torch", torch.arange(6, dtype=torch.float32).reshape(2, 3), torch.ones)
        turned = torch.arange(6, dtype=torch.float32).reshape(3, 2).t()
        assert cppx.total(turned) == 15 and cppx.total(turned[:, 1:]) == 2 + 3 + 4 + 5
        raises(BufferError, "expected float32, got int64", cppx.total, torch.ones((2, 2), dtype=torch.int64))
    if "paddle" in names:
        import paddle

        library("paddle", paddle.arange(6, dtype="float32").reshape([2, 3]), paddle.ones)


own()
frameworks(sys.argv[1:])
gc.collect()
print("done")
