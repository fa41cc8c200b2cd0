"""Hosts that unload a library leave nothing behind that refers to it.

Usage: unloaded.py FOLDER
"""

import _ctypes
import ctypes
import gc
import os
import pathlib
import shutil
import sys
import tempfile

import numpy as np

import hosts

FOLDER = pathlib.Path(sys.argv[1])
LIBRARY = FOLDER / "first" / "first" / "_kernels.abi3.so"
X = np.arange(1, 7, dtype="float32").reshape(2, 3)


def is_loaded(file):
    """Returns whether its code is mapped. libbacktrace, with which tvm-ffi finds names of
    functions, maps other parts of files."""
    with open("/proc/self/maps") as maps:
        return any("r-xp" in line and file in line for line in maps)


class Copy:
    """A library that is not loaded as a Python module."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        return shutil.copy(LIBRARY, os.path.join(self.folder.name, "copy.so"))

    def __exit__(self, *_):
        self.folder.cleanup()


def forks():
    """The library's fork handler is removed with it."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child ended with status {status}"


def test_tvm_ffi():
    import torch
    import tvm_ffi

    with Copy() as file:
        for _ in range(3):
            module = tvm_ffi.load_module(file, keep_module_alive=False)
            mix, doc = module["mix"], module.get_function_doc("mix")
            made, error = mix(torch.from_numpy(X), 3), None
            try:
                mix(torch.from_numpy(X), -5)
            except ValueError as raised:
                error = raised.with_traceback(None)
            y = np.empty_like(X)
            assert (module.turn(X[0].copy(), 0, y[0]), (y[0] == 1).all()) == (None, True)
            assert is_loaded(file)
            del module, mix
            gc.collect()
            assert not is_loaded(file)
            assert (made.numpy() == X * 3).all() and "x: T[..., n]" in doc
            assert str(error) == "mix(): expected times > 0, where times = -5"
            forks()


def test_a_function_keeps_its_library():
    import tvm_ffi

    with Copy() as file:
        mix, y = tvm_ffi.load_module(file, keep_module_alive=False)["mix"], np.empty_like(X)
        gc.collect()
        assert is_loaded(file)
        mix(X, 3, y)
        assert (y == X * 3).all()
        del mix
        gc.collect()
        assert not is_loaded(file)


def test_onnxruntime():
    import onnxruntime as ort
    from model import FLOAT, model, node

    with Copy() as file:
        for _ in range(3):
            options = ort.SessionOptions()
            options.register_custom_ops_library(file)
            data = model([node("mix", "first", ["x"], ["y"], times=3)], [("x", FLOAT, 2)], [("y", FLOAT, 2)])
            session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            del options
            gc.collect()
            made = session.run(None, {"x": X})[0]
            assert (made == X * 3).all() and is_loaded(file)
            del session
            gc.collect()
            assert not is_loaded(file)
            assert (made == X * 3).all()
            forks()


def test_dlopen():
    with Copy() as file:
        for _ in range(3):
            library = ctypes.CDLL(file)
            assert is_loaded(file)
            _ctypes.dlclose(library._handle)
            assert not is_loaded(file)
            forks()


if __name__ == "__main__":
    hosts.main()
