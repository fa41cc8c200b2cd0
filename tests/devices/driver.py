"""The CUDA backend in a capsule, and its driver's stand-in, for scripts."""

import ctypes
import os


class Table(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("abi_version", ctypes.c_uint32),
        ("device_type", ctypes.c_int32),
        ("name", ctypes.c_char_p),
    ]


def capsule(table):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.cast(table, ctypes.c_void_p), b"dlpackgen_backend", None)


def table():
    entry = ctypes.CDLL(os.environ["BACKEND"]).dlpackgen_cuda
    entry.restype = ctypes.POINTER(Table)
    return entry()


def is_loaded():
    with open("/proc/self/maps") as maps:
        return "libcuda.so.1" in maps.read()


class Driver:
    """The stand-in of testdata/standin.c, loaded on first use."""

    def __getattr__(self, name):
        function = getattr(ctypes.CDLL("libcuda.so.1"), "standin_" + name)
        function.restype = ctypes.c_void_p if name in ("stream", "make") else ctypes.c_int
        if name in ("capture", "close"):
            function.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint64][: 3 if name == "capture" else 1]
        return function

    def log(self):
        """The driver calls since the last query, without those that enter a context."""
        out = ctypes.create_string_buffer(1 << 16)
        self.take(out, len(out))
        usual = "cuCtx", "cuDevicePrimaryCtx", "cuStreamIsCapturing", "cuStreamGet", "cuThreadExchange"
        return [call for call in out.value.decode().split(") ") if call and not call.startswith(usual)]

    def memory(self, kind, ordinal=0):
        """The address of 64 bytes."""
        return self.make(kind.encode(), ordinal)

    def fails(self, name, code, after=0):
        self.inject(name.encode(), code, after)


driver = Driver()
