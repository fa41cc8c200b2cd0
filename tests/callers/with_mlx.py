"""Calls the kernels of the table of mistakes with MLX arrays, which are on the CPU on Linux."""

import mlx.core as mx
import numpy as np
from mistaken import array
from mixed import _kernels as mixed
from written import _kernels as written

PLACES = array(2, 4, dtype="int32")
WEIGHT = np.arange(8, dtype="float32")


def error_of(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("nothing was raised")


x = mx.arange(24, dtype=mx.float32).reshape(3, 8) * 2  # not evaluated yet
made = mixed.mix(x, mx.array(WEIGHT), PLACES, 2.0, 1)
assert isinstance(made, mx.array) and made.dtype == mx.float32
np.testing.assert_array_equal(np.array(made), np.arange(0, 48, 2, dtype="float32").reshape(3, 8) * WEIGHT * 2 + 9)

y = np.zeros(8, "float32")
written.fill(3, mx.array(WEIGHT), y)
np.testing.assert_array_equal(y, WEIGHT * 3)

output = error_of(lambda: written.fill(3, mx.array(WEIGHT), mx.zeros(8)))
assert output == "BufferError: fill(): argument 'y' (3rd): it is read-only, but the parameter is writable", output
output = error_of(lambda: mixed.mix(x, mx.ones(4), PLACES, 2.0, 1))
assert output.endswith("expected n = 8 in dimension 0, as in argument 'x' (1st), got 4"), output
output = error_of(lambda: mixed.mix(x.astype(mx.bfloat16), mx.ones(8), PLACES, 2.0, 1))
assert output == "TypeError: mix(): argument 'x' (1st): expected float32 or float64, got bfloat16", output
print("MLX", mx.__version__)
