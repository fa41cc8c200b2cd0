"""Calls the kernels from TVM 0.19 with the ABI of its packed functions (TVMBackendPackedCFunc)."""

import os

import numpy as np
import tvm

library = tvm.runtime.load_module(os.environ["LIBRARY"])
x = np.arange(6, dtype=np.float32).reshape(2, 3)


def error_of(name, *args):
    try:
        library[name](*args)
    except Exception as error:
        return type(error).__name__, str(error)
    raise AssertionError(f"{name}: nothing was raised")


# Tensors and scalars.
y = tvm.nd.array(x)
library["tvm_scale"](y, 3.0)
assert (y.numpy() == 3 * x).all()
library["tvm_scale"](y)
assert (y.numpy() == 6 * x).all(), "a default"
one, two = (tvm.nd.array(np.zeros(3, np.float32)) for _ in range(2))
library["tvm_pair"](tvm.nd.array(x[1].copy()), one, two)
assert (one.numpy() == x[1]).all() and (two.numpy() == 2 * x[1]).all(), "memory for results"

# Errors, which TVM raises with their message.
_, text = error_of("tvm_scale", y, "a")
assert "TypeError: scale(): argument 'by' (2nd): expected float32, got str" in text, text
_, text = error_of("tvm_scale", one, 1)
assert "ValueError: scale(): argument 'x' (1st): expected 2 dimensions, got 1" in text, text
_, text = error_of("tvm_pair", one)
assert "pair(): " in text and "no allocator" in text, text
print("called by TVM", tvm.__version__)
