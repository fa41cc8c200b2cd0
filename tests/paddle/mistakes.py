"""Mistakes in calls of described kernels: each has the same message here and in the Python
module."""

from loaded import raises, run, tensor

import itertools

import numpy as np
import paddle
from cases import FINE, W, all_mistakes

import _kernels
import kernels_paddle

names = map("x{}".format, itertools.count())


def outcome(module, convert, name, args, words):
    try:
        made = getattr(module, name)(*map(convert, args), **{n: convert(v) for n, v in words.items()})
    except Exception as e:
        return type(e), str(e)
    return made


def eager(value):
    return paddle.to_tensor(value) if isinstance(value, np.ndarray) else value


def traced(value):
    return paddle.static.data(next(names), value.shape, str(value.dtype)) if isinstance(value, np.ndarray) else value


def copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def cases(all_):
    """Those with a dtype that Paddle has."""
    for name, args, words in all_:
        if name != "nibbles" and not any(isinstance(a, np.ndarray) and a.dtype == np.uint64 for a in args):
            yield name, args, words


def is_mistake(result):
    return isinstance(result, tuple) and isinstance(result[0], type)


def compare(convert, case, raised):
    ours, theirs = outcome(kernels_paddle, convert, *case), outcome(_kernels, copied, *case)
    assert is_mistake(theirs) == raised and is_mistake(ours) == raised, (case, ours, theirs)
    if raised:
        assert ours == theirs, f"{case}\n  {ours}\n  {theirs}"


def compare_all(convert, all_, raised, outside=()):
    compared = 0
    for case in cases(all_):
        if case[0] not in outside:
            compare(convert, case, raised)
            compared += 1
    assert compared > 5


def test_the_sentences_are_those_of_the_module():
    compare_all(eager, all_mistakes(), True)
    compare_all(eager, FINE, False)


def test_the_sentences_of_graphs_are_those_of_the_module():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            compare_all(traced, all_mistakes(), True, ("axpy", "update"))
            compare_all(traced, FINE, False, ("axpy", "update"))
    finally:
        paddle.disable_static()


def test_gradients_do_not_change_sentences():
    for args in (1,), (tensor(8, gradient=True), 3), (tensor(3, 8, gradient=True), tensor(4)):
        detached = [a.detach() if isinstance(a, paddle.Tensor) else a for a in args]
        kind, text = outcome(_kernels, lambda a: a, "rms_norm", detached, {})
        raises(kind, text, kernels_paddle.rms_norm, *args)


def test_what_paddle_has_no_tensor_for():
    text = "expected a tensor of Paddle, got ndarray: convert it with paddle.to_tensor()"
    text = f"rms_norm(): argument 'x' (1st): {text}"
    raises(TypeError, text, kernels_paddle.rms_norm, np.ones((3, 8)), W)
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            text = "ramp(): argument 'n' (1st): expected int, got a graph value: pass a Python number"
            raises(TypeError, text, kernels_paddle.ramp, paddle.static.data("n", [], "int64"))
            text = "rms_norm(): argument 'eps' (4th): expected float, got a graph value: pass a Python number"
            x, w = traced(np.ones((3, 8))), traced(W)
            raises(TypeError, text, kernels_paddle.rms_norm, x, w, None, paddle.static.data("e", [], "float64"))
    finally:
        paddle.disable_static()


if __name__ == "__main__":
    run(dict(globals()))
