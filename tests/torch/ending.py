"""Ends Python in every order with the table: its last output must appear, and the process must exit
successfully. The arguments name the orders."""

import atexit
import ctypes
import os
import sys
import threading
import time

# The first registered one runs last.
waiters = []
atexit.register(lambda: [start() for start in waiters])

import torch  # noqa: E402

import check  # noqa: E402
import dlpackgen_torch  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import endings  # noqa: E402

how = endings.each(sys.argv[1:])
path = os.path.join(os.path.dirname(dlpackgen_torch.__file__), "..", "helper.so")


def keep(x, table=check.WRITE):
    """Keeps a tensor in a place that Python does not clear."""
    managed = check.own(table, x)
    check._kept.append(managed)
    return managed


class Late:
    """Runs code when the module is cleared, or later."""

    def __init__(self, do):
        sys.late, self.do = self, do

    def __del__(self):
        self.do()


def use_tvm_ffi():
    """Leaves tensors of both kinds that nobody releases before the end."""
    import tvm_ffi

    kept = tvm_ffi.get_global_func("testing.echo")(torch.ones(3))
    check._kept.append(tvm_ffi.from_dlpack(kept))
    check._kept.append(tvm_ffi.get_global_func("testing.echo")(torch.nn.Parameter(torch.ones(3))))


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
    late = Late(lambda managed=keep(torch.ones(100)), delete=check.delete: delete(managed))
elif how == "deleted after the end":
    # C calls the deleter after Python has ended, like the destruction of a program's own statics.
    managed = keep(torch.ones(100))
    contents = managed.contents
    ctypes.CDLL(None).__cxa_atexit(contents.deleter, managed, None)
elif how == "memory of NumPy after the end":
    import numpy as np

    managed = keep(torch.from_numpy(np.ones(100)))
    ctypes.CDLL(None).__cxa_atexit(managed.contents.deleter, managed, None)
elif how == "a thread at work":
    x = torch.ones(100)

    def work(table):
        while True:
            check.delete(check.own(table, x))

    for table in check.TABLES.values():
        threading.Thread(target=work, args=(table,), daemon=True).start()
    time.sleep(0.05)
elif how == "objects kept":
    for _ in range(1000):
        keep(torch.ones(100), check.OBJECT)
elif how == "an object deleted at exit":
    atexit.register(check.delete, keep(torch.ones(100), check.OBJECT))
elif how == "an object deleted after the end":
    managed = keep(torch.ones(100), check.OBJECT)
    ctypes.CDLL(None).__cxa_atexit(managed.contents.deleter, managed, None)
elif how == "an object deleted while modules go":
    managed = keep(torch.ones(100), check.OBJECT)
    late = Late(lambda deleter=managed.contents.deleter, managed=managed: deleter(managed))
elif how == "an object deleted by a thread while modules go":
    managed = keep(torch.ones(100), check.OBJECT)
    late = Late(
        lambda call=ctypes.CDLL(path).on_a_thread, deleter=managed.contents.deleter, managed=managed: call(
            deleter, managed
        )
    )
elif how == "a thread that waits to delete an object":
    # It already waits while we hold the GIL, and gets it when Python is about to end.
    managed = keep(torch.ones(100), check.OBJECT)
    sys.setswitchinterval(5)
    waiters.append(lambda call=ctypes.PyDLL(path).comes_back_meanwhile: call(managed.contents.deleter, managed))
    late = Late(lambda sleep=time.sleep: sleep(1))
elif how == "tvm-ffi, after install":
    dlpackgen_torch.install()
    use_tvm_ffi()
elif how == "tvm-ffi, before install":
    use_tvm_ffi()
    dlpackgen_torch.install()
    use_tvm_ffi()
elif how == "tvm-ffi, install and uninstall":
    dlpackgen_torch.install()
    use_tvm_ffi()
    dlpackgen_torch.uninstall()
elif how == "tvm-ffi, install and uninstall at exit":
    dlpackgen_torch.install()
    use_tvm_ffi()
    atexit.register(dlpackgen_torch.uninstall)
elif how == "tvm-ffi, before install, uninstall at exit":
    use_tvm_ffi()
    dlpackgen_torch.install()
    atexit.register(dlpackgen_torch.uninstall)
elif how == "tvm-ffi, install at exit":
    use_tvm_ffi()
    atexit.register(use_tvm_ffi)
    atexit.register(dlpackgen_torch.install)
elif how == "the module after the end":
    ctypes.CDLL(None).__cxa_atexit(
        ctypes.CDLL(path).expect_references, ctypes.c_void_p(id(dlpackgen_torch._module)), None
    )
else:
    sys.exit(f"no order {how}")
atexit.register(lambda: None)
print("ends:", how, flush=True)
