"""Ends Python in every order with the table: what it says last must be said, and the
process must end well. The argument names the order."""

import atexit
import ctypes
import sys
import threading
import time

import torch

import check
import dlpackgen_torch

how = sys.argv[1]


def keep(x):
    """Holds a tensor in a place that Python does not clear."""
    managed = check.own(check.WRITE, x)
    check._kept.append(managed)
    return managed


class Late:
    """Deletes when the module is torn down, or later."""

    def __init__(self, managed):
        self.managed, self.delete = managed, check.delete

    def __del__(self):
        self.delete(self.managed)


if how == "installed":
    dlpackgen_torch.install()
elif how == "uninstalled at exit":
    dlpackgen_torch.install()
    atexit.register(dlpackgen_torch.uninstall)
elif how == "installed at exit":
    atexit.register(dlpackgen_torch.install)
elif how == "tensors kept":
    for _ in range(1000):
        keep(torch.ones(100))
elif how == "deleted at exit":
    managed = keep(torch.ones(100))
    atexit.register(check.delete, managed)
elif how == "deleted while modules go":
    late = Late(keep(torch.ones(100)))
    sys.late = late
elif how == "deleted after the end":
    # C calls the deleter when Python is gone, as the end of a program's own statics does.
    managed = keep(torch.ones(100))
    contents = managed.contents
    ctypes.CDLL(None).__cxa_atexit(contents.deleter, managed, None)
elif how == "memory of NumPy after the end":
    import numpy as np

    managed = keep(torch.from_numpy(np.ones(100)))
    ctypes.CDLL(None).__cxa_atexit(managed.contents.deleter, managed, None)
elif how == "a thread at work":
    x = torch.ones(100)

    def work():
        while True:
            check.delete(check.own(check.WRITE, x))

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.05)
elif how == "tvm-ffi":
    import tvm_ffi

    dlpackgen_torch.install()
    kept = tvm_ffi.get_global_func("testing.echo")(torch.ones(3))
    check._kept.append(tvm_ffi.from_dlpack(kept))
    dlpackgen_torch.uninstall()
else:
    sys.exit(f"no order {how}")
atexit.register(lambda: None)
print("ends:", how, flush=True)
