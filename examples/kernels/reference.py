"""The kernels in NumPy, which the tests in generated/python/tests compare them with."""

import numpy as np


def rms_norm(x, weight, eps):
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + eps)
    return wide * scale * weight.astype(np.float64)


def rms_norm_backward(grad, x, weight, rstd):
    grad, x, weight = (array.astype(np.float64) for array in (grad, x, weight))
    scale = rstd[..., None].astype(np.float64)
    dot = (grad * weight * x).sum(axis=-1, keepdims=True)
    dx = scale * (grad * weight - x * scale**2 * dot / x.shape[-1])
    return dx, (grad * x * scale).reshape(-1, x.shape[-1]).sum(axis=0)


def softmax(x):
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def gather(table, idx):
    return table[idx]


def silu_and_mul(x):
    gate, value = np.split(x.astype(np.float64), 2, axis=-1)
    return gate / (1 + np.exp(-gate)) * value


def norm(x):
    return np.sqrt((x.astype(np.float64) ** 2).sum())


def scale(x, by):
    x *= x.dtype.type(by)
