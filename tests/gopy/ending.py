"""Ends Python, in each of the ways that its first argument names, while Go and
Python hold tensors of each other. The exit code tells."""

import atexit
import ctypes
import importlib
import sys
import threading
import time

import check
import gopy

how = sys.argv[1]
producers = [gopy.counting(2, 3, 0)]
for name in sys.argv[2:]:
    (module,) = check.framework(name)
    ones = getattr(module, "ones", None) or importlib.import_module("jax.numpy").ones
    producers.append(ones((2, 3), dtype="float32") if name != "torch" else ones(2, 3))


class AtTheEnd:
    """Calls back when the interpreter takes the modules apart."""

    def __init__(self, function):
        self.function = function

    def __del__(self):
        self.function()


if how == "holding":  # Go never gives back
    for p in producers:
        gopy.hold(p)
elif how == "held":  # Python never gives back
    alive = [gopy.counting(2, 3, 0), gopy.counting(2, 3, 0).__dlpack__(max_version=(1, 0))]
    alive.append(alive)
    if "numpy" in sys.argv:
        view = sys.modules["numpy"].from_dlpack(gopy.counting(2, 3, 0))
elif how == "late":  # calls while Python ends
    alive = AtTheEnd(lambda gopy=gopy, p=producers: (gopy.sleep(0.01), [gopy.sum(x) for x in p]))
    atexit.register(gopy.sleep, 0.01)
elif how == "after":  # a deleter when Python is no more
    for p in producers:
        gopy.hold(p)
    release = ctypes.CDLL(gopy.__file__).gopyReleaseAll
    ctypes.pythonapi.Py_AtExit(ctypes.cast(release, ctypes.c_void_p))
elif how == "daemon":  # a thread in Go that wants the GIL while Python ends
    for _ in range(4):
        threading.Thread(target=lambda: [gopy.sleep(0.001) for _ in range(10**9)], daemon=True).start()
    time.sleep(0.1)
print("end of", how, flush=True)
