"""Calls kernels in Go from each host on the command line, in order, in one process."""

import gc
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
X = np.random.default_rng(0).standard_normal((3, 8)).astype("float32")
WEIGHT = np.linspace(0.5, 1.5, 8).astype("float32")
ROW = X[0].copy()


def norm(x, weight, eps=1e-6):
    x = x.astype("float64")
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def line():
    """The line of kernels.go that panics."""
    with open(os.environ["SOURCE"], encoding="utf-8") as source:
        return [n for n, text in enumerate(source, 1) if "// panics here" in text][0]


LONG = "é" * 509 + " ..."
# The exception of failing(x, how): the Python class and the message.
FAILURES = {
    1: (RuntimeError, "failing(): no luck"),
    2: (IndexError, "failing(): argument 'how' (2nd): around: no row 2"),
    3: (ValueError, "failing(): a text of the description"),
    4: (RuntimeError, "failing(): panic: runtime error: index out of range [12] with length 8, "
                      f"at kernels.go:{line()}"),
    5: (RuntimeError, f"failing(): panic: a value: 5, at kernels.go:{line() + 2}"),
    6: (RuntimeError, "failing(): panic: runtime error: invalid memory address or nil pointer dereference, "
                      f"at kernels.go:{line() + 4}"),
    7: (RuntimeError, "failing(): " + LONG),
    8: (RuntimeError, "failing(): a\ufffdb"),
    9: (RuntimeError, "failing(): panic: no text, at kernels.go:"),
    10: (RuntimeError, "failing(): a status that is none"),
    11: (RuntimeError, "failing(): the kernel failed with status -1"),
    12: (RuntimeError, f"failing(): panic: panic called with nil argument, at kernels.go:{line() + 16}"),
    13: (RuntimeError, f"failing(): panic: assignment to entry in nil map, at kernels.go:{line() + 19}"),
}
# A nil pointer is a panic through a signal. Importing tvm-ffi installs a handler that ends the
# process: see signals.py.
NIL = 6
SHORT = "norm(): argument 'weight' (2nd): expected n = 8 in dimension 0, as in argument 'x' (1st), got 4"
# Hosts with their own exceptions.
OWN_CLASS = {"jax", "onnxruntime"}
# The compared length of a long message: ONNX Runtime truncates it, and so does a ufunc's loop.
SHOWN = {"onnxruntime": 100, "ufunc": 100}
# NumPy itself compares the symbols of a signature, before a loop runs.
OWN_SENTENCE = {
    "ufunc": "norm: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->(n) "
    "(size 4 is different from 8)"
}


def python():
    import _kernels

    return _kernels, lambda x: x


def torch():
    import torch
    import kernels_torch

    kernels_torch.register()
    return torch.ops.gokernels, torch.from_numpy


def jax():
    import jax
    import kernels_jax

    jax.config.update("jax_enable_x64", True)

    class Jitted:
        norm = staticmethod(jax.jit(kernels_jax.norm, static_argnames="eps"))
        failing = staticmethod(jax.jit(kernels_jax.failing, static_argnames="how"))

    return Jitted, jax.numpy.asarray


def tvmffi():
    import kernels_tvmffi

    kernels = kernels_tvmffi.load(os.environ["LIBRARY"])

    class InPlace:
        @staticmethod
        def norm(x, weight, **eps):
            y = np.empty_like(x)
            kernels.norm(x, weight, **eps, out=y)
            return y

        @staticmethod
        def failing(x, how):
            y = np.empty_like(x)
            kernels.failing(x, how, out=y)
            return y

    return InPlace, lambda x: x


def onnxruntime():
    import onnxruntime as ort
    from model import DOUBLE, FLOAT, model, node

    ort.set_default_logger_severity(4)

    def run(name, inputs, **attributes):
        names = [f"in{i}" for i in range(len(inputs))]
        dtype = DOUBLE if inputs[0].dtype == "float64" else FLOAT
        options = ort.SessionOptions()
        options.register_custom_ops_library(os.environ["LIBRARY"])
        data = model(
            [node(name, "gokernels", names, ["y"], **attributes)],
            [(n, dtype, x.ndim) for n, x in zip(names, inputs)],
            [("y", dtype, inputs[0].ndim)],
        )
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        return session.run(None, dict(zip(names, inputs)))[0]

    class Operators:
        @staticmethod
        def norm(x, weight, **eps):
            return run("norm", [x, weight], **eps)

        @staticmethod
        def failing(x, how):
            return run("failing", [x], how=how)

    return Operators, lambda x: x


def ufunc():
    import kernels_ufunc

    return kernels_ufunc, lambda x: x


def paddle():
    import kernels_paddle
    import paddle

    return kernels_paddle, paddle.to_tensor


def fails(host, call, kind, sentence):
    try:
        call()
    except Exception as error:
        assert host in OWN_CLASS or type(error) is kind, (host, type(error), kind)
        text = str(error)
        fits = text == sentence or text.startswith(sentence) and (host in SHOWN or sentence.endswith(":"))
        assert fits or host in OWN_CLASS and sentence in text, (host, text, sentence)
    else:
        raise AssertionError(f"{host}: nothing was raised")


def check(host):
    kernels, convert = globals()[host]()
    for x, weight in ((X, WEIGHT), (X.astype("float64"), WEIGHT.astype("float64"))):
        got = np.asarray(kernels.norm(convert(x), convert(weight)))
        assert got.dtype == x.dtype, (host, got.dtype)
        np.testing.assert_allclose(got, norm(x, weight), rtol=1e-5, err_msg=host)
    if host != "ufunc":
        got = np.asarray(kernels.norm(convert(X), convert(WEIGHT), eps=0.5))
        np.testing.assert_allclose(got, norm(X, WEIGHT, 0.5), rtol=1e-5, err_msg=host)
    fails(host, lambda: np.asarray(kernels.norm(convert(X), convert(WEIGHT[:4].copy()))), ValueError,
          OWN_SENTENCE.get(host, SHORT))
    for how, (kind, sentence) in FAILURES.items():
        if how == NIL and "tvm_ffi" in sys.modules:
            continue
        fails(host, lambda: np.asarray(kernels.failing(convert(ROW), how)), kind, sentence[: SHOWN.get(host)])
        np.testing.assert_array_equal(np.asarray(kernels.failing(convert(ROW), 0)), ROW)
    return kernels, convert


hosts = sys.argv[1].split(",")
calls = {host: check(host) for host in hosts}
for host, (kernels, convert) in calls.items():  # again, with all of them loaded
    got = np.asarray(kernels.norm(convert(X), convert(WEIGHT)))
    np.testing.assert_allclose(got, norm(X, WEIGHT), rtol=1e-5, err_msg=host)
gc.collect()
print("called by", ", ".join(hosts))
