"""The kernels of a package (testdata/packages) through each host: functions of NumPy arrays."""

import importlib
import sys

import numpy as np


def library_of(package):
    return importlib.import_module(package + "._kernels").__file__


class Caller:
    """Calls kernels through a host's functions, with converted arrays."""

    def __init__(self, kernels, convert=lambda array: array):
        self.kernels, self.convert = kernels, convert

    def __getattr__(self, name):
        function = getattr(self.kernels, name)
        return lambda x, number: np.asarray(function(self.convert(x), number))


def python(package):
    return Caller(importlib.import_module(package + "._kernels"))


def torch(package):
    import torch

    importlib.import_module(package + ".kernels_torch").register()
    return Caller(getattr(torch.ops, package), torch.from_numpy)


def jax(package):
    import jax

    return Caller(importlib.import_module(package + ".kernels_jax"), jax.numpy.asarray)


def tvmffi(package):
    kernels = importlib.import_module(package + ".kernels_tvmffi").load(library_of(package))

    class InPlace:
        def __getattr__(self, name):
            def call(x, number):
                y = np.empty_like(x)
                getattr(kernels, name)(x, number, out=y)
                return y

            return call

    return Caller(InPlace())


def session(package, name, number, rank, library=""):
    """An ONNX Runtime session with one thread, whose model calls a kernel with a number."""
    import onnxruntime as ort
    from model import FLOAT, model, node

    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.register_custom_ops_library(library or library_of(package))
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    (scalar,) = {"times", "parties", "milliseconds"} & set(PARAMETERS[name])
    data = model([node(name, package, ["x"], ["y"], **{scalar: number})], [("x", FLOAT, rank)], [("y", FLOAT, rank)])
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def onnxruntime(package, library=""):
    class Sessions:
        def __getattr__(self, name):
            return lambda x, number: session(package, name, number, x.ndim, library).run(None, {"x": x})[0]

    return Caller(Sessions())


PARAMETERS = {"mix": ("x", "times"), "meet": ("x", "parties"), "turn": ("x", "milliseconds")}


def ufunc(package):
    return Caller(importlib.import_module(package + ".kernels_ufunc"))


def paddle(package):
    import paddle

    return Caller(importlib.import_module(package + ".kernels_paddle"), paddle.to_tensor)


ALL = {host.__name__: host for host in (python, torch, jax, tvmffi, onnxruntime, ufunc, paddle)}


def error_of(call, kind=Exception):
    """The text of the exception of a call."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


def send_mixed(folder, x, connection):
    """The function of a multiprocessing process."""
    sys.path.insert(0, folder)
    connection.send(python("first").mix(x, 3))


def main():
    """Runs the functions named test_... of the script."""
    for name, test in list(vars(sys.modules["__main__"]).items()):
        if name.startswith("test_"):
            test()
            print("ok", name, flush=True)
