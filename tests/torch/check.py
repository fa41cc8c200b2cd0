"""The common functions of this folder's scripts. Each runs its own functions named test_..., or
those that its arguments name, prints a line for each, and exits with 1 if one failed."""

import contextlib
import ctypes
import gc
import importlib
import os
import sys
import traceback

import torch

import dlpackgen_torch

READ_ONLY, COPIED, PADDED = 1, 2, 4
CPU, CUDA = 1, 2
TORCH = tuple(int(number) for number in torch.__version__.split(".")[:2])  # the running version


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("context", ctypes.c_void_p),
    ("deleter", Deleter),
    ("flags", ctypes.c_uint64),
    ("tensor", Tensor),
]


class Legacy(ctypes.Structure):
    pass


LegacyDeleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Legacy))
Legacy._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", LegacyDeleter)]

SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ManagedPointer = ctypes.POINTER(Managed)


class Table(ctypes.Structure):
    """DLPackExchangeAPI. The functions with objects hold the GIL and set exceptions; the allocator
    is called without the GIL."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("prev", ctypes.c_void_p),
        (
            "allocate",
            ctypes.CFUNCTYPE(
                ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ManagedPointer), ctypes.c_void_p, SetError
            ),
        ),
        ("own", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ManagedPointer))),
        ("give", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
        ("borrow", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))),
        ("stream", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))),
    ]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


# The consumer with ATen's own C++, or with the stable ABI.
from_dlpack = importlib.import_module(os.environ.get("DLPACKGEN_CONSUMER", "dlpackgen_torch")).from_dlpack


def table_in(capsule):
    return Table.from_address(_pointer(capsule, b"dlpack_exchange_api"))


def capsule_of(address, name):
    return _capsule(address, name, None)


WRITE, READ = table_in(dlpackgen_torch.exchange_api), table_in(dlpackgen_torch.exchange_api_read_only)
OBJECT = table_in(dlpackgen_torch.exchange_api_object_owned)
TABLES = {"write": WRITE, "read": READ, "object": OBJECT}


def borrow(table, x):
    """Returns the borrowed view; raises the table's exception."""
    view = Tensor()
    assert table.borrow(id(x), view) == 0
    return view


def own(table, x):
    """Returns the owned tensor."""
    out = ManagedPointer()
    assert table.own(id(x), out) == 0
    return out


def delete(managed):
    managed.contents.deleter(managed)


def give(table, managed):
    """Creates an object, or raises the table's exception."""
    made = ctypes.c_void_p(1)
    assert table.give(ctypes.addressof(managed), made) == 0
    found = ctypes.cast(made, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(found))
    return found


def shape_of(view):
    return tuple(view.shape[: view.ndim])


def strides_of(view):
    return tuple(view.strides[: view.ndim])


# The memory of a untrusted's tensor, never freed: a deleter that is called twice must be detected
# and not crash.
_kept = []
room = (ctypes.c_float * 64)(*range(64))


class UntrustedProducer:
    """A managed tensor of 64 floats or other memory, which counts its deletions."""

    def __init__(
        self,
        shape=(2, 3),
        strides=None,
        data=ctypes.addressof(room),
        dtype=(2, 32, 1),
        device=(CPU, 0),
        offset=0,
        flags=0,
        version=(1, 3),
        legacy=False,
    ):
        self.deleted = 0
        ndim = len(shape)
        if strides is None:
            strides, step = [0] * ndim, 1
            for i in reversed(range(ndim)):
                strides[i], step = step, step * max(shape[i], 1)
        self.shape = (ctypes.c_int64 * max(ndim, 1))(*shape)
        self.strides = (ctypes.c_int64 * max(ndim, 1))(*strides) if strides != "NULL" else None
        pointer = ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64))
        tensor = Tensor(data, Device(*device), ndim, DType(*dtype), self.shape, pointer, offset)
        if legacy:
            self.managed = Legacy(tensor, None, LegacyDeleter(self.delete))
        else:
            self.managed = Managed(*version, None, Deleter(self.delete), flags, tensor)
        self.name = b"dltensor" if legacy else b"dltensor_versioned"
        _kept.append(self)

    def delete(self, managed):
        self.deleted += 1

    def capsule(self):
        return capsule_of(ctypes.addressof(self.managed), self.name)


@contextlib.contextmanager
def rejected(kind, *texts):
    """Expects an exception with these texts."""
    try:
        yield
    except kind as e:
        assert type(e) is kind, f"{type(e)}: {e}"
        for text in texts:
            assert text in str(e), f"{e} does not say {text}"
    else:
        raise AssertionError(f"no {kind.__name__}")


def same(view, x):
    """Compares a view with its tensor."""
    assert view.data == (x.data_ptr() if x.numel() else None), (view.data, x.data_ptr())
    assert shape_of(view) == tuple(x.shape) and strides_of(view) == x.stride()
    assert view.byte_offset == 0 and (view.device.type, view.device.id) == (CPU, 0)


def run(scope):
    wanted = sys.argv[1:] or [name for name in scope if name.startswith("test_")]
    failed = 0
    gc.freeze()  # so that collections are fast
    for name in wanted:
        try:
            scope[name]()
            gc.collect()
            print("ok", name, flush=True)
        except Exception:
            failed = 1
            print("failed", name, flush=True)
            traceback.print_exc()
    sys.exit(failed)
