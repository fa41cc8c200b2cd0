"""Torch tensors through exchange tables: torch's own, and dlpackgen_torch's, which is built here
for the running torch."""

import ctypes
import importlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from table import Managed, Tensor

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def headers(torch):
    """The compiler's options for torch's headers and libraries."""
    return [
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        "-I" + os.path.join(torch.__path__[0], "include"),
        "-I" + os.path.join(torch.__path__[0], "include/torch/csrc/api/include"),
        "-I" + sysconfig.get_path("include"),
    ]


def build(torch):
    """Builds the package dlpackgen_torch, imports and returns it; raises an OSError with the
    reason."""
    minor = torch.__version__.split(".")[1]
    release = re.match(r"[0-9.]+", torch.__version__).group()
    folder = tempfile.mkdtemp()
    package = os.path.join(folder, "dlpackgen_torch")
    os.mkdir(package)
    sources, torch_root = os.path.join(ROOT, "gen", "cpp", "dlpackgen_torch"), torch.__path__[0]
    for name in ("__init__.py",):
        shutil.copy(os.path.join(sources, name), package)
    out = os.path.join(package, "_torch_" + release.replace(".", "_") + sysconfig.get_config_var("EXT_SUFFIX"))
    command = [
        "g++",
        "-std=c++20" if int(minor) >= 15 else "-std=c++17",
        "-O0" if os.environ.get("REHEARSAL") else "-O1",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-w",
        "-I" + os.path.join(ROOT, "gen", "c"),
        "-I" + os.path.join(ROOT, "gen", "cpp"),
        *headers(torch),
        "-o",
        out,
        os.path.join(sources, "module.cpp"),
        "-L" + os.path.join(torch_root, "lib"),
        "-ltorch_python",
        "-ltorch_cpu",
        "-lc10",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError("dlpackgen_torch does not build here: " + done.stderr[-300:])
    sys.path.insert(0, folder)
    return importlib.import_module("dlpackgen_torch")


class Exchange:
    """The functions of an exchange table, by position."""

    def __init__(self, holder):
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        places = ctypes.cast(get(holder, b"dlpack_exchange_api"), ctypes.POINTER(ctypes.c_void_p))
        self.managed = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Managed)))(
            places[3]
        )
        self.make = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Managed), ctypes.POINTER(ctypes.py_object))(
            places[4]
        )
        self.borrowed = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))(places[5])
        self.stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))(
            places[6]
        )

    def current_stream(self, kind, ordinal):
        out = ctypes.c_void_p()
        assert self.stream(kind, ordinal, ctypes.byref(out)) == 0
        return out.value

    def check(self, x, device):
        """Borrows a tensor, exports it as owned, and creates an object of the owned one."""
        t, owned, made = Tensor(), ctypes.POINTER(Managed)(), ctypes.py_object()
        assert self.borrowed(x, ctypes.byref(t)) == 0
        assert self.managed(x, ctypes.byref(owned)) == 0
        for one in (t, owned.contents.tensor):
            assert (one.device.type, one.device.id) == device, (one.device.type, one.device.id)
            assert one.data + one.byte_offset == x.data_ptr()
            assert [one.shape[i] for i in range(one.ndim)] == list(x.shape)
            assert [one.strides[i] for i in range(one.ndim)] == list(x.stride())
        assert self.make(owned, ctypes.byref(made)) == 0
        y = made.value
        assert y.data_ptr() == x.data_ptr() and y.shape == x.shape and y.device == x.device
