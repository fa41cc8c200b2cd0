"""What a process may do with libraries of kernels beside one call after the other: load them in any order, two copies
of one, unload them, fork, and call them from many threads.

Usage: loaded.py TEST,... LIBRARY has the path, and OTHER that of a copy.
"""

import ctypes
import gc
import importlib.machinery
import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np

import one

LIBRARY, OTHER = os.environ["LIBRARY"], os.environ["OTHER"]
HOSTS = "python", "torch", "jax", "tvmffi", "onnxruntime", "ufunc"


def in_child(work, *args):
    """Runs work in a child of fork(), and returns what it raised, as text."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        code = 0
        try:
            work(*args)
        except BaseException as error:
            code = 1
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as opened:
        text = opened.read()
    status = os.waitpid(pid, 0)[1]
    return text or ("" if status == 0 else f"status {status}")


def mapped(library):
    return library in pathlib.Path("/proc/self/maps").read_text()


def test_every_order_of_loading():
    """The frameworks are there, and the library is not: each child loads it by the hosts in another order."""
    import jax  # noqa: F401
    import onnxruntime  # noqa: F401
    import torch  # noqa: F401
    import tvm_ffi  # noqa: F401

    assert not mapped(LIBRARY)
    hosts = [host for host in HOSTS if host != "jax"]  # XLA has threads, which a child of fork() lacks
    for order in itertools.permutations(hosts):
        failed = in_child(lambda order=order: [one.check(host) for host in order])
        assert not failed, (order, failed)


def other_module(name, file):
    loader = importlib.machinery.ExtensionFileLoader(name, file)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    made = importlib.util.module_from_spec(spec)
    loader.exec_module(made)
    return made


def test_two_copies():
    """Modules, tvm-ffi and ONNX Runtime tell copies apart; operators and ufuncs of one name are those of the first."""
    import onnxruntime as ort
    import torch
    import tvm_ffi

    first, second = other_module("_kernels", LIBRARY), other_module("_kernels", OTHER)
    assert mapped(LIBRARY) and mapped(OTHER) and first.softmax is not second.softmax
    for module in first, second, first:
        np.testing.assert_allclose(module.softmax(one.X), one.want_softmax(), rtol=1e-5)
    for file in LIBRARY, OTHER, LIBRARY:
        y = np.empty_like(one.X)
        tvm_ffi.load_module(file).softmax(one.X, y)
        np.testing.assert_allclose(y, one.want_softmax(), rtol=1e-5)
    options = ort.SessionOptions()
    options.register_custom_ops_library(LIBRARY)
    try:
        options.register_custom_ops_library(OTHER)
        raise AssertionError("two operators of one name were registered")
    except Exception as error:
        print("onnxruntime:", str(error).split("\n")[0])
    sys.modules["_kernels"] = first
    one.check("torch")
    sys.modules["_kernels"] = second
    del sys.modules["kernels_torch"]
    import kernels_torch

    try:
        kernels_torch.register()
        print("torch: registered twice")
    except Exception as error:
        print("torch:", type(error).__name__, str(error).split("\n")[0])
    x = torch.from_numpy(one.X)
    np.testing.assert_allclose(torch.ops.callers.softmax(x), one.want_softmax(), rtol=1e-5)


def test_fork():
    """A child calls what its parent has called."""
    calls = {host: one.check(host) for host in HOSTS if host != "jax"}
    for host, (_, softmax, convert) in calls.items():
        failed = in_child(lambda: np.testing.assert_allclose(softmax(convert(one.X)), one.want_softmax(), rtol=1e-5))
        assert not failed, (host, failed)


def test_threads():
    """Eight threads call by all hosts at once."""
    calls = [one.check(host) for host in HOSTS]
    failed = []
    barrier = threading.Barrier(8)

    def work(start):
        barrier.wait()
        try:
            for i in range(60):
                _, softmax, convert = calls[(start + i) % len(calls)]
                np.testing.assert_allclose(np.asarray(softmax(convert(one.X))), one.want_softmax(), rtol=1e-5)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def test_unloading():
    """A library that no host holds goes away by dlclose, and comes back."""
    import tvm_ffi

    for _ in range(3):
        held = ctypes.CDLL(LIBRARY)
        assert mapped(LIBRARY)
        handle = held._handle
        del held
        close = ctypes.CDLL(None).dlclose
        close.argtypes = [ctypes.c_void_p]
        assert close(handle) == 0 and not mapped(LIBRARY), "it stays"
    module = tvm_ffi.load_module(LIBRARY)
    y = np.empty_like(one.X)
    module.softmax(one.X, y)
    del module
    gc.collect()
    print("tvm-ffi: it", "stays" if mapped(LIBRARY) else "is unloaded")
    one.check("onnxruntime")
    gc.collect()
    print("onnxruntime: it", "stays" if mapped(LIBRARY) else "is unloaded")
    for host in HOSTS:
        one.check(host)


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        globals()[name]()
        print("ok", name, flush=True)
    sys.stdout.flush()
