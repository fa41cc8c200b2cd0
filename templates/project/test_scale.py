"""Calls scale with arrays of NumPy."""

import numpy as np
import pytest
from placeholder import scale


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values(dtype):
    x = np.arange(6, dtype=dtype).reshape(2, 3)
    y = scale(x, factor=3)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x * 3)


def test_another_dtype_is_rejected():
    with pytest.raises(TypeError, match="argument 'x'"):
        scale(np.zeros(3, "int32"))
