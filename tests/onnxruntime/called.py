"""Calls kernels from ONNX Runtime, compared with the Python module in the same library."""

import os
import sys

import numpy as np
import onnxruntime as ort
from model import BOOL, DOUBLE, FLOAT, INT64, model, node

from tried import _kernels as module

TYPES = {np.dtype("float32"): FLOAT, np.dtype("float64"): DOUBLE, np.dtype("int64"): INT64, np.dtype("bool"): BOOL}
DOMAINS = {"affine": "acme", "pool": "acme", "pick": "other"}
ort.set_default_logger_severity(4)
count = 0

# The form of an error during session creation.
INIT = "RuntimeException"


def session(nodes, inputs, outputs, between=()):
    options = ort.SessionOptions()
    options.register_custom_ops_library(os.environ["LIBRARY"])
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    data = model(nodes, inputs, outputs, between)
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def call(kernel, inputs, outputs, **attributes):
    """Runs a model of one node; None inputs are omitted, and outputs are described by type and
    rank."""
    names = ["" if x is None else f"in{i}" for i, x in enumerate(inputs)]
    given = {name: x for name, x in zip(names, inputs) if name}
    made = [f"out{i}" for i in range(len(outputs))]
    made_by = session(
        [node(kernel, DOMAINS[kernel], names, made, **attributes)],
        [(name, TYPES[x.dtype], x.ndim) for name, x in given.items()],
        [(name, *form) for name, form in zip(made, outputs)],
    )
    return made_by.run(None, given)


def same(got, want):
    global count
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want), (got, want)
    count += 1


def raised(make):
    try:
        make()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def rejects(kernel, inputs, outputs, code, python=None, **attributes):
    """Compares the messages of both callers, and ONNX Runtime's form of the error."""
    global count
    tensors = [np.asarray(x) if x is not None else None for x in inputs]
    want = str(raised(lambda: getattr(module, kernel)(*tensors, **(python or attributes))))
    error = raised(lambda: call(kernel, inputs, outputs, **attributes))
    assert want in str(error), (want, str(error))
    assert type(error).__name__ == code, (code, type(error).__name__, str(error))
    count += 1


def values():
    for dtype in (np.float32, np.float64):
        x, w = np.arange(12, dtype=dtype).reshape(2, 2, 3), np.array([1, 2, 4], dtype)
        out = [(TYPES[x.dtype], 3)]
        same(call("affine", [x], out)[0], x * dtype(2.5))
        same(call("affine", [x, w], out)[0], module.affine(x, w))
        same(call("affine", [x, w], out, by=0.5)[0], x * w * dtype(0.5))
        same(call("affine", [x, None], out, by=3)[0], x * dtype(3))
        same(call("affine", [x[:0]], out)[0], x[:0])
    x = np.arange(11)
    pooled = [(INT64, 1), (INT64, 0), (DOUBLE, 0), (BOOL, 0)]
    for attributes in ({"width": 3}, {"width": 3, "first": 2}, {"width": 11, "mean": 0}, {"width": 20}):
        python = {k: bool(v) if k == "mean" else v for k, v in attributes.items()}
        want = module.pool(x, **python)
        for got, one in zip(call("pool", [x], pooled, **attributes), want):
            one = np.asarray(one)
            same(got, one)
    x = np.arange(6, dtype=np.float32)
    for attributes in (
        {"at": [5, 1]},
        {"at": [1, 2], "mode": "last"},
        {"at": [3, 4], "weights": [0.5, 4.0], "mode": "last"},
        {"at": [3, 4], "weights": [3, 2], "mode": "last"},
        {"at": [3, 4], "weights": [0.5, 4.0, 8.0, 16.0, 32.0], "limit": 2.25},
    ):
        same(call("pick", [x], [(FLOAT, 1)], **attributes)[0], module.pick(x, **attributes))


def chained():
    """An output whose type depends on the call is the input of another operator, and the model need
    not declare it."""
    x = np.arange(6, dtype=np.float64).reshape(2, 3)
    nodes = [
        node("affine", "acme", ["x"], ["h"], by=2.0),
        node("affine", "acme", ["h"], ["k"], by=5.0),
        node("Neg", "", ["k"], ["y"]),
    ]
    made = session(nodes, [("x", DOUBLE, 2)], [("y", DOUBLE, 2)])
    for _ in range(3):
        same(made.run(None, {"x": x})[0], x * -10)


def mistakes():
    f, d = np.float32, np.float64
    x = np.ones((2, 3), f)
    out = [(FLOAT, 2)]
    rejects("affine", [np.ones((2, 3), np.int64)], [(INT64, 2)], "InvalidArgument")
    rejects("affine", [x, np.ones(4, f)], out, "InvalidArgument")
    rejects("affine", [x, np.ones(3, d)], out, "InvalidArgument")
    rejects("affine", [x, np.ones((1, 3), f)], out, "InvalidArgument")
    rejects("affine", [np.ones((2, 9), f)], out, "InvalidArgument")
    rejects("affine", [x], out, INIT, by="two")
    rejects("affine", [x], out, INIT, by=[1])
    pooled = [(INT64, 1), (INT64, 0), (DOUBLE, 0), (BOOL, 0)]
    x = np.arange(11)
    rejects("pool", [x], pooled, INIT)
    rejects("pool", [x], pooled, INIT, width=2.5)
    rejects("pool", [x], pooled, "InvalidArgument", width=0)
    rejects("pool", [x], pooled, "InvalidArgument", width=1, first=12)
    rejects("pool", [x], pooled, INIT, width=1, mean=2)
    rejects("pool", [x], pooled, "NotImplemented", width=1, mean=1, python={"width": 1, "mean": True})
    rejects("pool", [x], pooled, "Fail", width=7, mean=1, python={"width": 7, "mean": True})
    x = np.arange(6, dtype=f)
    rejects("pick", [x], [(FLOAT, 1)], INIT)
    rejects("pick", [x], [(FLOAT, 1)], INIT, at=3)
    rejects("pick", [x], [(FLOAT, 1)], INIT, at=[1.5, 2.5])
    rejects("pick", [x], [(FLOAT, 1)], "InvalidArgument", at=[1, 2, 3])
    rejects("pick", [x], [(FLOAT, 1)], "InvalidArgument", at=[1, 2], mode="first")
    rejects("pick", [x], [(FLOAT, 1)], INIT, at=[1, 2], mode=3)
    rejects("pick", [x], [(FLOAT, 1)], INIT, at=[1, 2], mode=b"su\0m", python={"at": [1, 2], "mode": "su\0m"})
    rejects("pick", [x], [(FLOAT, 1)], INIT, at=[1, 2], weights="x")


def complex_tensors():
    """ONNX Runtime has none."""
    nodes, x = [node("affine", "acme", ["x"], ["y"])], [("x", 14, 1)]
    assert "complex64" in str(raised(lambda: session(nodes, x, [("y", 14, 1)])))


values()
complex_tensors()
chained()
mistakes()
print(f"{count} tests, onnxruntime {ort.__version__}")
sys.exit(0)
