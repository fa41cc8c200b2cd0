"""Prints the values that kernels receive from each host on the command line, if a call omits all
arguments with a default."""

import importlib
import inspect
import os
import sys

import numpy as np

REAL, WHOLE = np.ones(1), np.ones(1, "uint64")


def python():
    module = importlib.import_module("_kernels")
    if hasattr(module, "edges"):
        assert inspect.signature(module.edges).parameters["text"].default == 'a\\b"c?\n\tü'
    return module, lambda x: x


def torch():
    import torch

    importlib.import_module("kernels_torch").register()
    return torch.ops.defaults, torch.from_numpy


def jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    return importlib.import_module("kernels_jax"), jax.numpy.asarray


def tvmffi():
    kernels = importlib.import_module("kernels_tvmffi").load(os.environ["LIBRARY"])

    class InPlace:
        def __getattr__(self, name):
            def call(x):
                z = np.empty({"edges": 8, "wide": 5, "huge": 3}[name], "int64")
                getattr(kernels, name)(x, out=z)
                return z

            return call

    return InPlace(), lambda x: x


def onnxruntime():
    import onnxruntime as ort
    from model import DOUBLE, INT64, model, node

    class Operators:
        def edges(self, x):
            options = ort.SessionOptions()
            options.register_custom_ops_library(os.environ["LIBRARY"])
            data = model([node("edges", "defaults", ["x"], ["z"])], [("x", DOUBLE, 1)], [("z", INT64, 1)])
            return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]

    return Operators(), lambda x: x


def ufunc():
    return importlib.import_module("kernels_ufunc"), lambda x: x


def paddle():
    import paddle

    return importlib.import_module("kernels_paddle"), paddle.to_tensor


def show(name, z):
    print(name, "[" + " ".join(map(str, np.asarray(z).tolist())) + "]")


def main(config, hosts):
    for host in hosts:
        kernels, convert = globals()[host]()
        print(host)
        if config == "edges":
            show("edges", kernels.edges(convert(REAL)))
            continue
        show("wide float64", kernels.wide(convert(REAL)))
        if host != "paddle":  # it has no uint64
            show("wide uint64", kernels.wide(convert(WHOLE)))
        show("huge", kernels.huge(convert(REAL)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(","))
