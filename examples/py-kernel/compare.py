"""Compares pykernel with the softmax of each library that is there, on its own
tensors. Arguments are the names of libraries, all by default."""

import sys

import numpy as np

import pykernel

rng = np.random.default_rng(1)
SHAPES = (1, 1), (3, 5), (257, 33), (8, 4096), (0, 4), (4, 0)


def with_numpy():
    def softmax(x):
        if not x.size:
            return x
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return np.array, np.asarray, softmax, np.ndarray


def with_torch():
    import torch

    return torch.tensor, lambda t: t.numpy(), lambda x: torch.softmax(x, 1), torch.Tensor


def with_jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy.array, np.asarray, lambda x: jax.nn.softmax(x, 1) if x.size else x, jax.Array


def with_paddle():
    import paddle

    return (
        paddle.to_tensor,
        lambda t: t.numpy(),
        lambda x: paddle.nn.functional.softmax(x, 1) if x.size else x,
        paddle.Tensor,
    )


def with_tvm_ffi():
    import tvm_ffi

    def make(x):  # it has no softmax, so NumPy's is compared with
        return tvm_ffi.from_dlpack(np.array(x))

    softmax = with_numpy()[2]
    return make, np.from_dlpack, lambda x: softmax(np.from_dlpack(x)), tvm_ffi.Tensor


def rejected(kind, text, function, x):
    try:
        function(x)
    except kind as e:
        assert text in str(e), e
    else:
        raise AssertionError(f"no {kind.__name__}: {text}")


def compare(name, make, read, softmax, kind):
    for shape in SHAPES:
        for dtype in "float32", "float64":
            x = make((10 * rng.standard_normal(shape)).astype(dtype))
            want = np.array(read(softmax(x)))
            y = pykernel.softmax(x)
            assert isinstance(y, kind), type(y)
            tolerance = dict(rtol=2e-5, atol=1e-7) if dtype == "float32" else dict(rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(read(y), want, **tolerance)
            if name == "jax":  # its arrays never change
                rejected(BufferError, "softmax_(): argument 'x' (1st)", pykernel.softmax_, x)
                continue
            assert pykernel.softmax_(x) is x
            np.testing.assert_array_equal(read(x), read(y))
    x = make(np.ones((2, 3), "int32"))
    rejected(TypeError, "softmax(): argument 'x' (1st): expected float32 or float64, got int32", pykernel.softmax, x)
    x = make(np.ones(3, "float32"))
    rejected(ValueError, "softmax(): argument 'x' (1st): expected 2 dimensions, got 1", pykernel.softmax, x)
    print("ok", name)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["numpy", "torch", "jax", "paddle", "tvm_ffi"]:
        compare(name, *globals()["with_" + name]())
