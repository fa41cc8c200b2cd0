"""The Go library as a Python module: Matrix is memory of Go that any consumer of
DLPack can view, Taken is an array of any producer as Go sees it."""

import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_double, c_int, c_int64, py_object

_path = os.environ.get("GONUMPY_LIB") or os.path.join(os.path.dirname(__file__), "libgonumpy.so")
_lib = ctypes.PyDLL(_path)
_handle = ctypes.c_size_t


def _function(name, result, *arguments):
    function = _lib[name]
    function.restype, function.argtypes = result, arguments
    return function


_give = _function("gonumpy_give", py_object, _handle, c_bool)
take = _function("gonumpy_take", _handle, py_object)
_layout = _function("gonumpyLayout", c_int, _handle, POINTER(c_int64), c_int)
_sum = _function("gonumpySum", c_bool, _handle, POINTER(c_double))
_scale = _function("gonumpyScale", c_bool, _handle, c_double)
_matrix = _function("gonumpyMatrix", _handle, c_int, c_int, c_bool, c_bool)
_address = _function("gonumpyAddress", _handle, _handle)
drop = _function("gonumpyDrop", None, _handle)
collect = _function("gonumpyCollect", None)
live = _function("gonumpyLive", c_int)
if not _function("gonumpy_open", c_bool)():
    raise ImportError("this process has no Python C API")


class _Held:
    """A handle of Go that is dropped with the object, or by close()."""

    _handle = 0

    def close(self):
        if self._handle:
            drop(self._handle)
            self._handle = 0

    __del__ = close


class Matrix(_Held):
    """A matrix of float64 that Go owns, counting from 0 upwards in memory."""

    def __init__(self, rows, columns, transposed=False, read_only=False):
        self._handle = _matrix(rows, columns, transposed, read_only)

    @property
    def address(self):
        return _address(self._handle)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None:
            raise BufferError("host memory has no streams")
        if dl_device not in (None, (1, 0)) or copy:
            raise BufferError("this memory is given out as it is, or not at all")
        return _give(self._handle, max_version is not None and max_version[0] >= 1)


class Taken(_Held):
    """A tensor that Go took over; legacy asks for the capsule without flags."""

    def __init__(self, producer, legacy=False):
        capsule = producer.__dlpack__() if legacy else producer.__dlpack__(max_version=(1, 3))
        self._handle = take(capsule)

    def layout(self):
        """The address, the flags, the shape, and the strides in elements."""
        out = (c_int64 * 64)()
        _layout(self._handle, out, len(out))
        ndim = out[2]
        return out[0], out[1], tuple(out[3 : 3 + ndim]), tuple(out[3 + ndim : 3 + 2 * ndim])

    def sum(self):
        out = c_double()
        _sum(self._handle, byref(out))
        return out.value

    def scale(self, factor):
        _scale(self._handle, factor)
