"""A nil pointer in a kernel in Go, with tvm-ffi imported before the library, or after it.

Usage: signals.py before | after | restored | through, which imports kernels_tvmffi

Go makes a panic of SIGSEGV. Its runtime installs the handler when the library is loaded, and passes
on to the handler that was there what is not Go's. tvm-ffi's library replaces the handler when it is
loaded, and passes on nothing. The one that is loaded last handles the signal.
"""

import ctypes
import signal
import sys

import numpy as np

sys.modules["torch"] = None  # tvm-ffi would import it
LIBC = ctypes.CDLL(None)
ROW = np.arange(8, dtype="float32")


def handler(new=None):
    """The SIGSEGV handler, as the bytes of a struct sigaction; replaced if a new one is passed."""
    old = ctypes.create_string_buffer(256)
    assert LIBC.sigaction(signal.SIGSEGV, new, old) == 0
    return old


order = sys.argv[1]
if order == "before":
    import tvm_ffi  # noqa: F401

others = handler().raw
import _kernels  # noqa: E402

gos = handler()
assert gos.raw != others
if order == "through":
    import kernels_tvmffi  # noqa: F401

    assert handler().raw[:8] == gos.raw[:8]  # the function; the C library has another return from it
elif order != "before":
    import tvm_ffi  # noqa: F401, F811

    assert handler().raw != gos.raw
if order == "restored":
    handler(gos)
try:
    _kernels.failing(ROW, 6)
except RuntimeError as error:
    print(error)
