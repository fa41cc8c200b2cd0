# Fake kernels


def _fake(op, i, library):
    def fake(*args, **kwargs):
        values = op.arrange(args, kwargs)
        first = reject_other_devices(op, values)
        if not op.backward:
            reject_gradients(op, values)
        if not has_symbols(values):
            check(op, i, library, values)
        shapes = op.shapes({p.name: value for p, value in zip(op.arguments, values)})
        made = [torch().empty(s, dtype=dtype_named(d), device=first.device) for s, d in shapes]
        return op.pick(made)

    return fake


def dtype_named(dtype):
    return getattr(torch(), dtype) if isinstance(dtype, str) else dtype


def has_symbols(values):
    """Whether the checks of numbers would create a graph for each size."""
    kinds = (torch().SymInt, torch().SymFloat, torch().SymBool)
    for value in values:
        if isinstance(value, torch().Tensor):
            value = (*value.shape, *value.stride(), value.storage_offset())
        if any(isinstance(v, kinds) for v in (value if isinstance(value, (list, tuple)) else (value,))):
            return True
    return False


def reject_other_devices(op, values):
    """One tensor on the device meta is enough to select a fake kernel. Results like the other
    tensors would be uninitialized memory. Returns the first tensor."""
    there = [(i, p) for i, p in op.tensors if values[i] is not None]
    if not there:
        raise ValueError("expected at least one tensor, which determines the device")
    first = there[0][0]
    for i, _ in there:
        expected, got = values[first].device, values[i].device
        if expected.type != got.type:
            raise ValueError(
                f"{op.about(i)}expected a tensor on {_device(expected)}, as {op.argument(first)} is, got one on "
                f"{_device(got)}"
            )
    return values[first]


def _device(device):
    """The name of a device in the messages of all callers, or PyTorch's name if DLPack has none."""
    return str(device) if device.type == "meta" else f"{device.type}:{device.index or 0}"


def reject_gradients(op, values):
    if torch().is_grad_enabled() and any(values[i] is not None and values[i].requires_grad for i, _ in op.tensors):
        raise NotImplementedError(f"{op.qualified}(): {NO_BACKWARD}")


def reject_tangents(op, values):
    for value in values:
        if not isinstance(value, torch().Tensor):
            continue
        if torch().autograd.forward_ad.unpack_dual(value).tangent is not None:
            raise NotImplementedError(f"{op.qualified}(): {TANGENT}")


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Value(ctypes.Structure):
    """The same struct as dlpackgen_shim_value in C."""

    _fields_ = [
        ("present", ctypes.c_int32),
        ("kind", ctypes.c_int32),
        ("tensor", _Tensor),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("text", ctypes.c_char_p),
        ("items", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("dtype", ctypes.c_char_p),
        ("buffer", ctypes.c_uint64),
    ]


def check(op, i, library, values):
    """Compares arguments with the description, with the checks of a call except for overlaps:
    tensors without data have distant addresses."""
    outlined = (_Value * len(values))()
    kept = [_outline(op, at, outlined[at], value) for at, value in enumerate(values)]
    failed = _call(library.dlpackgen_torch_check, i, outlined)
    del kept
    if failed:
        raise _STATUSES[failed[0]](failed[1])


def _outline(op, i, to, value):
    """Fills a C value. Returns the objects that it points to, which must outlive it."""
    p = op.arguments[i]
    if value is None:
        return None
    to.present = 1
    if p.kind == "tensor":
        return _outline_tensor(op, i, to, value)
    if p.kind == "str":
        if "\0" in value:
            raise ValueError(f"{op.about(i)}expected a string without NUL")
        to.text = value.encode()
    elif p.kind in ("ints", "floats"):
        items = ((ctypes.c_int64 if p.kind == "ints" else ctypes.c_double) * max(len(value), 1))(*value)
        to.items, to.count = ctypes.addressof(items), len(value)
        return items
    elif p.kind == "number":
        to.integer, to.real, to.kind = split(value)
    elif p.kind == "float":
        to.real = value
    else:
        to.integer = int(value)
    return None


def _outline_tensor(op, i, to, value):
    p, tensor = op.arguments[i], to.tensor
    shape, strides, offset = list(value.shape), list(value.stride()), value.storage_offset()
    if p.copied:
        strides, offset = [math.prod(max(n, 1) for n in shape[j + 1 :]) for j in range(len(shape))], 0
    kept = [(ctypes.c_int64 * max(len(numbers), 1))(*numbers) for numbers in (shape, strides)]
    tensor.data = ((i + 1) << 56) + offset * value.dtype.itemsize
    tensor.device_type = _CPU if p.cpu else op.device
    tensor.ndim = len(shape)
    tensor.shape, tensor.strides = kept
    to.dtype = str(value.dtype).removeprefix("torch.").encode()
    return kept


# Functions for expressions in shapes. Their numbers may be symbols.


def extent(tensor, rank, place):
    if tensor.dim() < rank:
        raise ValueError(f"expected a tensor of {rank} dimensions, got {tensor.dim()}")
    return tensor.shape[place]


def leading(tensor, place, rank):
    """The dimensions of an ellipsis: all but rank, from an index on."""
    return list(tensor.shape[place : place + tensor.dim() - rank])


def floor_divide(a, b):
    if isinstance(b, int) and b == 0:
        raise ValueError("a shape of a result divides by 0")
    return a // b


def floor_remainder(a, b):
    return a - floor_divide(a, b) * b


def least(a, b):
    return torch().sym_min(a, b)


def greatest(a, b):
    return torch().sym_max(a, b)


# Scalars, for which the shim has no type.


def split(value):
    """A number as an integer of 64 bits, a float, and its kind: an enum dlpackgen_scalar_kind."""
    if isinstance(value, complex):
        return 0, 0.0, 4
    if isinstance(value, float):
        return 0, value, 1
    whole = int(value)
    if whole >= 1 << 63:  # PyTorch rejects what is above uint64
        return whole - (1 << 64), float(whole), 3
    return whole, float(whole), 2 if isinstance(value, bool) else 0


def _numbers(op):
    def numbers(*args, **kwargs):
        spread = []
        for i, value in enumerate(op.arrange(args, kwargs)):
            spread += split(value) if op.arguments[i].kind == "number" else [value]
        return op.overload(op.numbers)(*spread)

    return numbers
