"""The computations of the kernels of kernels.yaml, in NumPy."""

import numpy as np


def many(y, x, w, idx, wide, last, like, mode, sizes, by, tiny, shift):
    y *= y.dtype.type(by)
    rows = int(np.dot(idx, np.arange(1, len(idx) + 1))) + tiny + (100 if mode == "mean" else 0) + sizes[0]
    return y.sum(axis=1) + y.dtype.type(shift or 0), rows


def counted(x):
    return 2 * x, (2 * x).astype("float64").sum(), (1 << 60) + len(x)


def halves(x, by):
    return x.astype(np.float32) * by


def eighths(x):
    return -x


def narrowed(x):
    return x


def alone(x, by):
    return np.full(3, by if x is None else by + x.size, "float32")
