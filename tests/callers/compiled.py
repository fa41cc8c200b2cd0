"""The calls of the table of mistakes for compiled languages, through ctypes
(testdata/mistakes/called.h)."""

import ctypes

import numpy as np

PARAMETERS = {
    "mix": ("x", "weight", "places", "by", "times", "also", "bias", "sizes", "mode"),
    "fill": ("tiny", "x", "y"),
}


class Skipped(Exception):
    """The host cannot express a call."""


class Elsewhere:
    """A host array whose producer declares CUDA."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **keywords):
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        capsule = self.array.__dlpack__()
        device = ctypes.c_int32.from_address(get(capsule, b"dltensor") + 8)
        device.value = 2
        return capsule


class Graded:
    """An array for which its library records gradients."""

    def __init__(self, array):
        self.array = array


class Lent(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64), ("read_only", ctypes.c_int),
    ]  # fmt: skip


class Mixed(ctypes.Structure):
    _fields_ = [
        ("x", ctypes.POINTER(Lent)), ("weight", ctypes.POINTER(Lent)), ("places", ctypes.POINTER(Lent)),
        ("by", ctypes.c_double), ("times", ctypes.c_int64), ("also", ctypes.c_int), ("bias", ctypes.POINTER(Lent)),
        ("sizes", ctypes.POINTER(ctypes.c_int64)), ("nsizes", ctypes.c_int64), ("mode", ctypes.c_char_p),
    ]  # fmt: skip


CODES_OF = {"i": 0, "u": 1, "f": 2}


def lent_of(value):
    """A DLTensor that lives as long as the array."""
    if isinstance(value, Graded) or not (value is None or isinstance(value, (np.ndarray, Elsewhere))):
        raise Skipped
    if value is None:
        return None
    array, device = (value.array, 2) if isinstance(value, Elsewhere) else (value, 1)
    extents = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*[step // array.itemsize for step in array.strides])
    return Lent(array.ctypes.data, device, 0, array.ndim, CODES_OF[array.dtype.kind], 8 * array.itemsize, 1, extents,
                strides, 0, not array.flags.writeable)  # fmt: skip


def compiles(values):
    """Returns whether a compiler accepts the scalars of mix()."""
    kinds = {"by": float, "times": int, "also": bool, "sizes": list, "mode": str}
    wrong = [k for k, v in values.items() if k in kinds and v is not None and type(v) is not kinds[k]]
    if wrong or values.get("times") is None or "by" not in values:
        return False
    fits = -(1 << 63) <= values["times"] < 1 << 63
    return fits and all(type(item) is int for item in values.get("sizes") or [])


def mixed_of(args, keywords):
    values = dict(zip(PARAMETERS["mix"], args))
    if len(args) > len(PARAMETERS["mix"]) or set(keywords) & set(values) or set(keywords) - set(PARAMETERS["mix"]):
        raise Skipped
    values.update(keywords)
    if any(values.get(name) is None for name in ("x", "weight", "places")) or not compiles(values):
        raise Skipped
    lent = {k: lent_of(values.get(k)) for k in ("x", "weight", "places", "bias")}
    given = Mixed(**{k: ctypes.pointer(v) for k, v in lent.items() if v is not None})
    given.by, given.times, given.also, given.nsizes = values["by"], values["times"], values.get("also", False), -1
    given.mode = values["mode"].encode() if "mode" in values and values["mode"] is not None else None
    if values.get("sizes") is not None:
        given.sizes = (ctypes.c_int64 * len(values["sizes"]))(*values["sizes"])
        given.nsizes = len(values["sizes"])
    return given


class Reported(Exception):
    """An error of a compiled language, with its class."""


def compiled(file):
    library = ctypes.CDLL(file)

    def call(kernel, args, keywords):
        text = ctypes.create_string_buffer(4096)
        if kernel == "mix":
            given, made = mixed_of(args, keywords), np.zeros_like(args[0])
            library.call_mix(ctypes.byref(given), made.ctypes, ctypes.c_size_t(made.nbytes), text, len(text))
        else:
            tiny, x, made = args
            if type(tiny) is not int or not -128 <= tiny < 128:
                raise Skipped
            given = ctypes.byref(lent_of(x)), ctypes.byref(lent_of(made))
            library.call_fill(ctypes.c_int8(tiny), *given, text, len(text))
        if text.value:
            raise Reported(text.value.decode())
        return made

    return call


class Value(ctypes.Structure):
    """A value of testdata/mistakes/tvm_ffi.cpp."""


Value._fields_ = [
    ("kind", ctypes.c_int32), ("number", ctypes.c_int64), ("fraction", ctypes.c_double), ("letters", ctypes.c_char_p),
    ("items", ctypes.POINTER(Value)), ("lent", ctypes.POINTER(Lent)),
]  # fmt: skip
NONE, BOOL, INT, REAL, TEXT, LIST, TENSOR = range(7)
DEFAULTS = {"also": False, "bias": None, "sizes": None, "mode": "sum"}


def value_of(value, kept):
    """A value that lives as long as the objects that it appends to a list."""
    if value is None:
        return Value(NONE)
    if isinstance(value, bool):
        return Value(BOOL, number=value)
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return Value(INT, number=value)
    if isinstance(value, float):
        return Value(REAL, fraction=value)
    if isinstance(value, str):
        return Value(TEXT, letters=value.encode())
    if isinstance(value, list):
        kept.append((Value * len(value))(*(value_of(item, kept) for item in value)))
        return Value(LIST, number=len(value), items=kept[-1])
    kept.append(lent_of(value))
    return Value(TENSOR, lent=ctypes.pointer(kept[-1]))


def positions(kernel, args, keywords):
    """The positional arguments, with defaults for omitted ones in between."""
    names = PARAMETERS[kernel]
    if set(keywords) - set(names[len(args) :]):
        raise Skipped
    values = {**DEFAULTS, **keywords}
    count = max([len(args), *(names.index(name) + 1 for name in keywords)])
    return [*args, *(values[name] for name in names[len(args) : count])]


def tvm_ffi_in_cpp(file, libraries):
    library = ctypes.CDLL(file)

    def call(kernel, args, keywords):
        kept = []
        values = [value_of(value, kept) for value in positions(kernel, args, keywords)]
        made = args[-1] if kernel == "fill" else np.zeros_like(args[0] if isinstance(args[0], np.ndarray) else 0.0)
        text = ctypes.create_string_buffer(4096)
        library.call(libraries[kernel].encode(), kernel.encode(), (Value * len(values))(*values), len(values),
                     made.ctypes, ctypes.c_size_t(made.nbytes), text, ctypes.c_size_t(len(text)))  # fmt: skip
        if text.value:
            raise Reported(text.value.decode())
        return made

    return call
