"""Loads the Paddle functions in BUILD, or those with the mutant DLPACKGEN_MUTANT, and runs
tests."""

import os
import sys
import warnings

warnings.filterwarnings("ignore")
BUILD = os.environ["BUILD"]
MUTANT = os.path.join(BUILD, "mutants", os.environ.get("DLPACKGEN_MUTANT", "0"))
sys.path[:0] = [MUTANT if os.path.isdir(MUTANT) else os.path.join(BUILD, "made"), BUILD]
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jaxkernels"))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import running  # noqa: E402
from running import raises  # noqa: E402, F401


def tensor(*shape, dtype="float64", gradient=False):
    made = paddle.to_tensor(np.random.default_rng(sum(shape)).standard_normal(shape)).astype(dtype)
    made.stop_gradient = not gradient
    return made


def static(function, *specs):
    """The function as a static graph; each spec is a shape and a dtype. Before 3.3, Paddle's graphs
    support no operators in Python: there, it is the function itself."""
    if not hasattr(paddle.static, "register_op"):
        return function
    spec = [paddle.static.InputSpec(shape, dtype, stop_gradient=False) for shape, dtype in specs] or None
    return paddle.jit.to_static(function, full_graph=True, input_spec=spec)


def equal(got, want):
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6, atol=1e-9)


def gradients(function, *arguments):
    """The results, and the gradient of each argument, or None."""
    made = function(*arguments)
    made = made if isinstance(made, (list, tuple)) else [made]
    real = [m for m in made if m.dtype in (paddle.float32, paddle.float64)]
    sum((m * paddle.arange(1, m.size + 1, dtype=m.dtype).reshape(m.shape)).sum() for m in real).backward()
    found = [None if a.grad is None else a.grad.numpy().copy() for a in arguments]
    for a in arguments:
        a.clear_grad()
    return [m.numpy() for m in made], found


def same_gradients(function, reference, *arguments):
    got, want = gradients(function, *arguments), gradients(reference, *arguments)
    for a, b in zip(got[0] + got[1], want[0] + want[1], strict=True):
        assert (a is None) == (b is None), (got, want)
        if a is not None:
            equal(a, b)


def run(names):
    running.run(names, end)


def end(failed):
    """Paddle's threads end late."""
    sys.stdout.flush()
    os._exit(failed)
