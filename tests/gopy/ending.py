"""Ends Python, in each of the ways in its first argument, separated by commas, while Go and Python
own tensors of each other. The exit code is the result, or tests/endings.py reports several."""

import atexit
import ctypes
import importlib
import os
import sys
import threading
import time
import types

import check
import endings

frameworks = {name: check.framework(name)[0] for name in sys.argv[2:]}
how = endings.each(sys.argv[1].split(","))
import gopy  # noqa: E402: a fork has no threads of Go

producers = [gopy.counting(2, 3, 0)]
for name, module in frameworks.items():
    ones = getattr(module, "ones", None) or importlib.import_module("jax.numpy").ones
    producers.append(ones((2, 3), dtype="float32") if name != "torch" else ones(2, 3))


class AtTheEnd:
    """Calls back while the interpreter clears the modules."""

    def __init__(self, function):
        self.function = function
        # Not in this module: a thread that runs one of its functions keeps it alive.
        sys.modules["ending_later"] = types.ModuleType("ending_later")
        sys.modules["ending_later"].alive = self

    def __del__(self):
        self.function()


def alive(of, exists=os.path.exists):
    return all(exists(f"/proc/self/task/{t.native_id}") for t in of)


if how == "holding":  # Go never releases them
    for p in producers:
        gopy.hold(p)
elif how == "held":  # Python never releases them
    kept = [gopy.counting(2, 3, 0), gopy.counting(2, 3, 0).__dlpack__(max_version=(1, 0))]
    kept.append(kept)
    if "numpy" in sys.argv:
        view = sys.modules["numpy"].from_dlpack(gopy.counting(2, 3, 0))
elif how == "late":  # calls while Python ends
    AtTheEnd(lambda gopy=gopy, p=producers: (gopy.sleep(0.01), [gopy.sum(x) for x in p], gopy.tell("late")))
    atexit.register(gopy.sleep, 0.01)
elif how == "after":  # a deleter after Python has ended
    for p in producers:
        gopy.hold(p)
    release = ctypes.CDLL(gopy.__file__).gopyReleaseAll
    ctypes.pythonapi.Py_AtExit(ctypes.cast(release, ctypes.c_void_p))
elif how == "daemon":  # threads in Go slowly request the GIL while Python ends
    daemons = [threading.Thread(target=gopy.sleep, args=(1.5,), daemon=True) for _ in range(4)]
    for daemon in daemons:
        daemon.start()
    back = time.monotonic() + 1.7
    AtTheEnd(
        lambda gopy=gopy, of=daemons, back=back, alive=alive, now=time.monotonic: (
            gopy.sleep(max(0, back - now())),
            gopy.tell("all there" if alive(of) else "some are gone"),
        )
    )
print("end of", how, flush=True)
