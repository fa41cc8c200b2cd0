"""Calls the kernels with the tensors of each library that is named, and prints a line of the table
for each caller: python use.py numpy torch jax paddle"""

import importlib
import sys

import _kernels

X = [[0.0, 1.0, 2.0, 3.0], [3.0, 3.0, 1.0, -1.0]]
WEIGHT = [1.0, 2.0, 0.5, 1.0]
LINE = "{:<14}{:>9}{:>9}{:>9}{:>13}{:>9}{:>9}  {}"
BAD_INDEX = "gather(): argument 'idx' (2nd): an index is out of range"


def digest(y):
    """One number for a result: the sum of its elements, each times its place."""
    return sum(i * float(value) for i, value in enumerate(y.reshape((-1,)), 1))


def values(kernels, array, scaled):
    """Calls each kernel once. `scaled` is written to; None where the library has immutable arrays."""
    x, weight, idx = array(X, "float32"), array(WEIGHT, "float32"), array([1, 0, 1], "int64")
    if scaled is not None:
        kernels.scale(scaled, 3.0)
    return {
        "rms_norm": kernels.rms_norm(x, weight), "softmax": kernels.softmax(x), "gather": kernels.gather(x, idx),
        "silu_and_mul": kernels.silu_and_mul(x), "norm": kernels.norm(x), "scale": scaled,
    }  # fmt: skip


def print_line(caller, results, kernels, array):
    numbers = ["-" if y is None else f"{digest(y):.3f}" for y in results.values()]
    try:
        kernels.gather(array(X, "float32"), array([2], "int64"))
        error = "none"
    except IndexError as e:
        error = "IndexError" if str(e) == BAD_INDEX else str(e)
    print(LINE.format(caller, *numbers, error), flush=True)


def use_numpy():
    import numpy as np

    print_line("NumPy", values(_kernels, np.array, np.array(X, "float32")), _kernels, np.array)


def use_jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    print_line("JAX", values(_kernels, jax.numpy.array, None), _kernels, jax.numpy.array)


def use_paddle():
    import paddle

    print_line("Paddle", values(_kernels, paddle.to_tensor, paddle.to_tensor(X)), _kernels, paddle.to_tensor)


def use_torch():
    import torch

    def tensor(data, dtype):
        return torch.tensor(data, dtype=getattr(torch, dtype))

    importlib.import_module("kernels_torch").register()
    ops = torch.ops.mylib
    print_line("torch", values(_kernels, tensor, torch.tensor(X)), _kernels, tensor)
    print_line("torch.ops", values(ops, tensor, torch.tensor(X)), ops, tensor)
    compiled = torch.compile(lambda scaled: values(ops, tensor, scaled), fullgraph=True)
    print_line("torch.compile", compiled(torch.tensor(X)), ops, tensor)
    for dtype in (torch.float16, torch.bfloat16):
        x, weight = torch.tensor(X, dtype=dtype), torch.tensor(WEIGHT, dtype=dtype)
        off = (_kernels.rms_norm(x, weight) - torch.nn.functional.rms_norm(x, (4,), weight, 1e-6)).abs().max()
        print(f"rms_norm, {dtype}: at most {float(off):.1e} from torch's own")
    train(torch, ops)


def train(torch, ops):
    """Trains a layer for 50 steps, by the kernel and by torch's own function."""
    losses = []
    for rms_norm in (ops.rms_norm, lambda x, weight: torch.nn.functional.rms_norm(x, (8,), weight, 1e-6)):
        torch.manual_seed(0)
        layer, weight = torch.nn.Linear(8, 8), torch.ones(8, requires_grad=True)
        x, target = torch.randn(32, 8), torch.randn(32, 8)
        optimizer = torch.optim.SGD([*layer.parameters(), weight], lr=0.1)
        for _ in range(50):
            optimizer.zero_grad()
            loss = (rms_norm(layer(x), weight) - target).pow(2).mean()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    print(f"rms_norm, trained for 50 steps: loss {losses[0]:.5f}, by torch's own {losses[1]:.5f}")


if __name__ == "__main__":
    libraries = sys.argv[1:] or ["numpy", "torch"]
    print(LINE.format("", "rms_norm", "softmax", "gather", "silu_and_mul", "norm", "scale", "a bad index"))
    for library in libraries:
        importlib.import_module(library)
        globals()[f"use_{library}"]()
