"""Calls two kernels of one library by each host that the command line names, in that order.

A host is imported when its turn comes, so that the library meets it before or after the others.
"""

import contextlib
import gc
import os
import sys

import numpy as np

X = np.random.default_rng(0).standard_normal((3, 8)).astype("float32")
WEIGHT = np.linspace(0.5, 1.5, 8).astype("float32")
SHORT = WEIGHT[:4].copy()
SENTENCE = "rms_norm(): argument 'weight' (2nd): expected n = 8 in dimension 0, as in argument 'x' (1st), got 4"

CONDITION = "softmax(): expected n >= 1, where n = 0"


def want_softmax():
    e = np.exp(X - X.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def want_rms_norm():
    return X / np.sqrt((X.astype("float64") ** 2).mean(-1, keepdims=True) + 1e-6).astype("float32") * WEIGHT


def python():
    import _kernels

    return _kernels.rms_norm, _kernels.softmax, lambda x: x


@contextlib.contextmanager
def alone():
    """Prevents tvm-ffi and Paddle from importing torch, which they do if it is installed."""
    hidden = "torch" not in sys.modules
    if hidden:
        sys.modules["torch"] = None
    yield
    if hidden:
        del sys.modules["torch"]


def torch():
    import first.kernels_torch, other.kernels_torch  # after torch
    import torch

    twos = torch.full((2,), 2.0)
    assert torch.ops.first.mix(twos, 3).tolist() == [6, 6] and torch.ops.other.mix(twos, 3).tolist() == [5, 5]
    import kernels_torch

    kernels_torch.register()
    ops = torch.ops.callers
    return ops.rms_norm, ops.softmax, torch.from_numpy


def jax():
    import jax
    import kernels_jax

    return jax.jit(kernels_jax.rms_norm), jax.jit(kernels_jax.softmax), jax.numpy.asarray


def tvmffi():
    with alone():
        import kernels_tvmffi

    kernels = kernels_tvmffi.load(os.environ["LIBRARY"])

    def in_place(function):
        def call(*args):
            y = np.empty_like(X)
            function(*args, out=y)
            return y

        return call

    return in_place(kernels.rms_norm), in_place(kernels.softmax), lambda x: x


def onnxruntime():
    import onnxruntime as ort
    from model import FLOAT, model, node

    ort.set_default_logger_severity(4)

    def operator(name):
        def call(*args):
            names = [f"in{i}" for i in range(len(args))]
            options = ort.SessionOptions()
            options.register_custom_ops_library(os.environ["LIBRARY"])
            data = model(
                [node(name, "callers", names, ["y"])],
                [(n, FLOAT, x.ndim) for n, x in zip(names, args)],
                [("y", FLOAT, 2)],
            )
            run = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"]).run
            return run(None, dict(zip(names, args)))[0]

        return call

    return operator("rms_norm"), operator("softmax"), lambda x: x


def ufunc():
    import kernels_ufunc

    return kernels_ufunc.rms_norm, kernels_ufunc.softmax, lambda x: x


def paddle():
    with alone():
        import kernels_paddle
        import paddle

    return kernels_paddle.rms_norm, kernels_paddle.softmax, paddle.to_tensor


# NumPy itself compares the symbols of a signature, before a loop runs.
HOSTS_OWN = {
    "ufunc": "mismatch in its core dimension 0, with gufunc signature (n),(n)->(n) (size 4 is different from 8)",
}


def fails(host, call, sentence):
    try:
        call()
    except Exception as error:
        assert sentence in str(error), (host, str(error))
    else:
        raise AssertionError(f"{host}: nothing was raised")


def check(host):
    rms_norm, softmax, convert = globals()[host]()
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(softmax(convert(X))), want_softmax(), rtol=1e-5, err_msg=host)
        got = rms_norm(convert(X), convert(WEIGHT))
        np.testing.assert_allclose(np.asarray(got), want_rms_norm(), rtol=1e-5, err_msg=host)
    fails(host, lambda: rms_norm(convert(X), convert(SHORT)), HOSTS_OWN.get(host, SENTENCE))
    fails(host, lambda: softmax(convert(X[:, :0])), CONDITION)
    return rms_norm, softmax, convert


def main(hosts):
    calls = {host: check(host) for host in hosts}
    for host, (rms_norm, softmax, convert) in calls.items():  # again, with all of them loaded
        np.testing.assert_allclose(np.asarray(softmax(convert(X))), want_softmax(), rtol=1e-5, err_msg=host)
    gc.collect()
    print("called by", ", ".join(hosts))


if __name__ == "__main__":
    main(sys.argv[1].split(","))
