"""Loads the library before tvm-ffi: alone, then like TVM before 0.20, then with libtvm_ffi."""

import ctypes
import os
import sys

import numpy as np


class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", ctypes.c_int64)]


class Value(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("real", ctypes.c_double), ("handle", ctypes.c_void_p)]


library = ctypes.CDLL(os.environ["LIBRARY"])

# Without libtvm_ffi, a failing call returns only its status.
result = Any()
assert library.__tvm_ffi_divide(None, (Any * 4)(), 4, ctypes.byref(result)) == -1
ints = (Any * 4)(*[Any(1, 0, n) for n in (7, 2, 3, 1)])
assert library.__tvm_ffi_divide(None, ints, 4, ctypes.byref(result)) == 0 and result.type_index == 0

# The legacy form: the host sets a variable to its error function.
output = []
handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: output.append(text.decode()))
ctypes.c_void_p.in_dll(library, "__TVMAPISetLastError").value = ctypes.cast(handler, ctypes.c_void_p).value


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


def packed(name, *arguments):
    values = (Value * 8)()
    codes = (ctypes.c_int * 8)()
    kept = []
    for i, a in enumerate(arguments):
        if isinstance(a, bool):
            values[i].integer, codes[i] = a, 15
        elif isinstance(a, int):
            values[i].integer, codes[i] = a, 0
        elif isinstance(a, float):
            values[i].real, codes[i] = a, 2
        elif a is None:
            codes[i] = 4
        elif isinstance(a, str):
            kept.append(ctypes.c_char_p(a.encode()))
            values[i].handle, codes[i] = ctypes.cast(kept[-1], ctypes.c_void_p).value, 11
        else:
            shape = (ctypes.c_int64 * a.ndim)(*a.shape)
            kept += [shape, Tensor(a.ctypes.data, (1, 0), a.ndim, 2, 32, 1, ctypes.addressof(shape), None, 0)]
            values[i].handle, codes[i] = ctypes.addressof(kept[-1]), 7 + 6 * (i % 2)
    given, code = Value(), ctypes.c_int(-1)
    status = getattr(library, name)(values, codes, len(arguments), ctypes.byref(given), ctypes.byref(code), None)
    return status, code.value, given


x = np.arange(6, dtype=np.float32).reshape(2, 3)
y, out = x.copy(), np.zeros((2, 3), np.float32)
assert packed("tvm_scale", y, 3.0)[:2] == (0, 4) and (y == 3 * x).all(), "and without strides"
assert packed("tvm_scale", y)[:2] == (0, 4) and (y == 6 * x).all()
assert packed("tvm_scale", y, "a")[0] == -1
assert output.pop() == "TypeError: scale(): argument 'by' (2nd): expected float32, got str"
assert packed("tvm_scale", x[0], 1)[0] == -1
assert output.pop() == "ValueError: scale(): argument 'x' (1st): expected 2 dimensions, got 1"
assert packed("tvm_divide", 7, 2, 3, True)[0] == 0
assert packed("tvm_scalars", "sum", 3)[0] == -1
assert output.pop() == "TypeError: scalars(): argument 'sizes' (2nd): expected a list of int, got int"
one, two = np.zeros(3, np.float32), np.zeros(3, np.float32)
assert packed("tvm_pair", x[0].copy(), one, two)[0] == 0
assert packed("tvm_pair", x[0].copy())[0] == -1 and "no allocator" in output.pop()
assert packed("tvm_copies", y, 1, None, out)[0] == -1
assert output.pop() == "RuntimeError: copies(): several results need the function ffi.Array of libtvm_ffi"

# tvm-ffi is loaded after the library, and still receives the errors.
sys.modules["torch"] = None  # tvm-ffi would import it
import tvm_ffi  # noqa: E402

module = tvm_ffi.load_module(os.environ["LIBRARY"])
try:
    module.scale(x[0])
except ValueError as e:
    assert str(e) == "scale(): argument 'x' (1st): expected 2 dimensions, got 1", e
else:
    raise AssertionError("no error")
print("loaded")
