"""Producers with fewer features than a Go tensor, and a producer in Python."""

import ctypes


class Old:
    """A producer from before DLPack 1.0."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, stream=None):
        return self.tensor.__dlpack__(stream=stream)


class New(Old):
    """A producer without a table."""

    def __dlpack__(self, **arguments):
        return self.tensor.__dlpack__(**arguments)


class Gives:
    def __init__(self, value):
        self.value = value

    def __dlpack__(self, **arguments):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class Whole(ctypes.Structure):
    """A legacy managed tensor of one float32, whose deleter runs Python code."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint8 * 4),
    ]
    _fields_ += [("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]
    _fields_ += [("context", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


class Pythons:
    def __init__(self):
        self.deleted = []
        self.number = ctypes.c_float(1)
        self.tensor = Whole(
            ctypes.addressof(self.number),
            (1, 0),
            0,
            (2, 32, 1, 0),
            None,
            None,
            0,
            None,
            Whole._fields_[-1][1](self.delete),
        )

    def delete(self, address):
        try:
            int("x")
        except ValueError:
            self.deleted.append(address)

    def __dlpack__(self, **arguments):
        capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi)
        )
        self.name = b"dltensor"
        return capsule(ctypes.addressof(self.tensor), self.name, None)
