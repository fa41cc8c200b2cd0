"""The table of a backend for devices, as dlpackgen_backend.h declares it, in ctypes."""

import ctypes as c


class Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class DType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device", Device),
        ("ndim", c.c_int32),
        ("dtype", DType),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class Managed(c.Structure):
    pass


DELETER = c.CFUNCTYPE(None, c.POINTER(Managed))
Managed._fields_ = [
    ("major", c.c_uint32),
    ("minor", c.c_uint32),
    ("context", c.c_void_p),
    ("deleter", DELETER),
    ("flags", c.c_uint64),
    ("tensor", Tensor),
]


class Error(c.Structure):
    _fields_ = [("code", c.c_int32), ("driver_code", c.c_int32), ("text", c.c_char * 504)]


class Stream(c.Structure):
    _fields_ = [("handle", c.c_void_p), ("device", Device), ("flags", c.c_uint32), ("reserved", c.c_uint32)]


class Pointer(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("device", Device),
        ("ordinal", c.c_int32),
        ("reserved", c.c_int32),
        ("base", c.c_void_p),
        ("bytes", c.c_size_t),
    ]


class Facts(c.Structure):
    _fields_ = [("size", c.c_size_t), ("version", c.c_int64), ("devices", c.c_int32), ("reserved", c.c_int32)]


class Request(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("device", Device),
        ("dtype", DType),
        ("ndim", c.c_int32),
        ("shape", c.POINTER(c.c_int64)),
        ("stream", c.c_void_p),
        ("flags", c.c_uint64),
    ]


def function(*arguments):
    """The type of a table's function, whose last argument is the error."""
    return c.CFUNCTYPE(c.c_int, *arguments, c.POINTER(Error))


class Table(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("abi_version", c.c_uint32),
        ("device_type", c.c_int32),
        ("name", c.c_char_p),
        ("probe", function(c.POINTER(Facts))),
        ("device_count", function(c.POINTER(c.c_int32))),
        ("pointer_attributes", function(c.c_void_p, c.POINTER(Pointer))),
        ("alloc", function(c.POINTER(Request), c.POINTER(c.POINTER(Managed)))),
        ("free", function(c.POINTER(Managed))),
        ("current_stream", function(c.c_void_p, Device, c.POINTER(Stream))),
        ("stream_from_dlpack", function(Device, c.POINTER(c.c_int64), c.POINTER(Stream))),
        ("stream_wait", function(c.POINTER(Stream), c.POINTER(Stream))),
        ("keep_until", function(c.POINTER(Managed), c.POINTER(Stream))),
        ("copy", function(c.POINTER(Tensor), c.POINTER(Tensor), c.POINTER(Stream))),
        ("finish", function(c.POINTER(Stream))),
    ]


class Rejected(Exception):
    """A call returned a code other than 0."""

    def __init__(self, error):
        super().__init__(error.text.decode())
        self.code, self.driver_code = error.code, error.driver_code


class Backend:
    """A backend, whose calls raise exceptions and return their results."""

    def __init__(self, library, entry):
        find = getattr(c.CDLL(library), entry)
        find.restype = c.POINTER(Table)
        self.table = find().contents
        assert self.table.size == c.sizeof(Table) and self.table.abi_version == 1

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.table, name)(*arguments, c.byref(error)):
            raise Rejected(error)

    def probe(self):
        facts = Facts(c.sizeof(Facts))
        self.call("probe", c.byref(facts))
        return facts.version, facts.devices

    def info(self, address):
        p = Pointer(c.sizeof(Pointer))
        self.call("pointer_attributes", address, c.byref(p))
        return (p.device.type, p.device.id), p

    def alloc(self, count, device=(2, 0), stream=None):
        shape = (c.c_int64 * 1)(count)
        request = Request(c.sizeof(Request), Device(*device), DType(2, 32, 1), 1, shape, stream, 0)
        out = c.POINTER(Managed)()
        self.call("alloc", c.byref(request), c.byref(out))
        return out

    def order(self, consumer, producer):
        self.call("stream_wait", c.byref(consumer), c.byref(producer))


def stream(handle, device=0):
    """The stream with a handle; None and 0 are the default stream."""
    return Stream(handle or None, Device(2, device), 0, 0)


class Unversioned(c.Structure):
    """A managed tensor from before 1.0, which some libraries still request."""


RELEASE = c.CFUNCTYPE(None, c.POINTER(Unversioned))
Unversioned._fields_ = [("tensor", Tensor), ("context", c.c_void_p), ("deleter", RELEASE)]
LENT = {}  # the older structs in use, and their tensors, by address


@RELEASE
def release(older):
    managed, _ = LENT.pop(c.addressof(older.contents))
    managed.contents.deleter(managed)


def unversioned(managed):
    """The older struct of a tensor; its deleter deletes the tensor."""
    older = Unversioned(managed.contents.tensor, None, release)
    LENT[c.addressof(older)] = managed, older
    return c.pointer(older)


def capsule(managed, versioned=True):
    """A tensor as a capsule, the result of `__dlpack__`; its consumer deletes it."""
    new = c.pythonapi.PyCapsule_New
    new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
    form, name = (managed, b"dltensor_versioned") if versioned else (unversioned(managed), b"dltensor")
    return new(c.cast(form, c.c_void_p), name, None)


class Wrapped:
    """An object with `__dlpack__` over a tensor, for from_dlpack."""

    def __init__(self, managed, device):
        self.managed, self.device = managed, device

    def __dlpack__(self, *, max_version=None, **_):
        return capsule(self.managed, bool(max_version) and max_version[0] >= 1)

    def __dlpack_device__(self):
        return self.device
