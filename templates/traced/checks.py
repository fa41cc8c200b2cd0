# The checks of kernels.c, which compare shapes and dtypes while the host traces.

#include "statuses.py"


class _DType(_ctypes.Structure):
    _fields_ = [("code", _ctypes.c_uint8), ("bits", _ctypes.c_uint8), ("lanes", _ctypes.c_uint16)]


class _Tensor(_ctypes.Structure):
    _fields_ = [
        ("data", _ctypes.c_void_p),
        ("device_type", _ctypes.c_int32),
        ("device_id", _ctypes.c_int32),
        ("ndim", _ctypes.c_int32),
        ("dtype", _DType),
        ("shape", _ctypes.POINTER(_ctypes.c_int64)),
        ("strides", _ctypes.POINTER(_ctypes.c_int64)),
        ("byte_offset", _ctypes.c_uint64),
    ]


class _Value(_ctypes.Structure):
    """The same struct as dlpackgen_traced_value in C."""

    _fields_ = [
        ("items", _ctypes.c_void_p),
        ("count", _ctypes.c_int64),
        ("integer", _ctypes.c_int64),
        ("real", _ctypes.c_double),
        ("is_present", _ctypes.c_int64),
        ("narrow", _ctypes.c_int64),
    ]


class _Result(_ctypes.Structure):
    _fields_ = [("dtype", _DType), ("ndim", _ctypes.c_int32), ("shape", _ctypes.c_int64 * _MAX_NDIM)]


_NAMES = {number: name for name, number in _DTYPES.items()}
_library = _ctypes.CDLL(_module.__file__)


def _strides(shape, column_major):
    strides, step = [0] * len(shape), 1
    for i in range(len(shape)) if column_major else reversed(range(len(shape))):
        strides[i] = step
        step *= shape[i]
    return strides


def _outline(kernel, i, array, keep):
    """A tensor without data. The addresses differ, because traced arrays never overlap."""
    shape, dtype, p = _extents(kernel, i, array), _dtype_name(array), kernel.parameters[i]
    if dtype not in _DTYPES:
        _fail(kernel, i, TypeError, f"expected a dtype with a DLPack equivalent, got {dtype}")
    extents = (_ctypes.c_int64 * (2 * len(shape) + 1))(*shape, *_strides(shape, p.column_major))
    first = _ctypes.cast(extents, _ctypes.POINTER(_ctypes.c_int64))
    second = _ctypes.cast(_ctypes.byref(extents, 8 * len(shape)), _ctypes.POINTER(_ctypes.c_int64))
    code, bits = _DTYPES[dtype]
    keep.append(extents)
    device = _CPU if p.cpu else kernel.device
    return _Tensor((i + 1) << 56, device, 0, len(shape), _DType(code, bits, 1), first, second, 0)


def _value(kernel, i, passed, keep):
    """An argument for the checks; `keep` retains the objects that it points to."""
    form = kernel.parameters[i].form
    if passed is None:
        return _Value(is_present=0)
    made = _Value(is_present=1)
    if form == "tensor":
        held = _outline(kernel, i, passed, keep)
    elif form == "text":
        held = _ctypes.create_string_buffer(passed.encode())
    elif form in ("integers", "reals"):
        held = ((_ctypes.c_int64 if form == "integers" else _ctypes.c_double) * (len(passed) + 1))(*passed)
        made.count = len(passed)
    elif isinstance(passed, float):
        made.real = passed
        return made
    else:
        made.integer = _signed(passed)
        return made
    keep.append(held)
    made.items = _ctypes.addressof(held)
    return made


def _check(kernel, arguments):
    """Raises the error of the checks, or returns shape and dtype of each result."""
    keep = []
    values = (_Value * (len(arguments) + 1))(*(_value(kernel, i, a, keep) for i, a in enumerate(arguments)))
    results = (_Result * (len(kernel.results) + 1))()
    text = _ctypes.create_string_buffer(4096)
    status = kernel.check(values, results, text, _ctypes.c_size_t(len(text)))
    if status:
        raise _STATUSES[status](text.value.decode(errors="replace"))
    return [
        (tuple(r.shape[: r.ndim]), _NAMES[r.dtype.code, r.dtype.bits])
        for r in results[: len(kernel.results)]
    ]
