"""The kernels in NumPy, which the tests of generated/python/tests compare them with."""

import numpy as np


def axpy(a, x, y):
    y += y.dtype.type(a) * x


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
