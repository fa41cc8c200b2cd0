# Converts shapes and dtypes of Paddle for the checks.


class _Unknown:
    """An extent that is unknown while a graph is traced, or a value computed from one."""

    def _same(self, other=None):
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __floordiv__ = __rfloordiv__ = __neg__ = _same


_UNKNOWN = _Unknown()


class _Outline(_NamedTuple):
    """A tensor without data."""

    shape: tuple
    dtype: str


_TRACED = getattr(getattr(_paddle, "pir", None), "Value", ())
_TRACED_HINT = "a graph value: pass a Python number"
_ARRAYS = "a tensor of Paddle", ": convert it with paddle.to_tensor()"


def _array(value):
    """Returns the tensor of a value, or None."""
    return value if isinstance(value, (_paddle.Tensor, _TRACED)) else None


def _dtype_name(tensor):
    return str(tensor.dtype).rpartition(".")[2] if not isinstance(tensor, _Outline) else tensor.dtype


def _extents(kernel, i, outline):
    return outline.shape


def _outlined(tensor):
    """Extents of graphs may be unknown: -1, or values of the graph."""
    shape = tuple(n if isinstance(n, int) and n >= 0 else _UNKNOWN for n in tensor.shape)
    return _Outline(shape, _dtype_name(tensor))
