# Functions for expressions in shapes. Their numbers may be unknown.


def _extent(tensor, rank, place):
    if len(tensor.shape) < rank:
        raise ValueError(f"expected a tensor of {rank} dimensions, got {len(tensor.shape)}")
    return tensor.shape[place]


def _leading(tensor, place, rank):
    """The dimensions of an ellipsis: all but rank, from an index on."""
    return tensor.shape[place : place + len(tensor.shape) - rank]


def _size(tensor):
    return _functools.reduce(_operator.mul, tensor.shape, 1)


def _floor_divide(a, b):
    if isinstance(b, int) and b == 0:
        raise ValueError("a shape of a result divides by 0")
    return a // b


def _floor_remainder(a, b):
    return a - _floor_divide(a, b) * b


def _least(a, b):
    return _UNKNOWN if _UNKNOWN in (a, b) else min(a, b)


def _greatest(a, b):
    return _UNKNOWN if _UNKNOWN in (a, b) else max(a, b)


# Sizes that replace unknown extents. An error that does not depend on them has the same message for
# all of them.
_SIZES = 1, 2, 3, 64, 840, 4097


def _infer(call, tensors):
    """Checks a call in a graph; returns the shape and the dtype of each result."""
    kernel, outlines = call.kernel, [None if t is None else _outlined(t) for t in tensors]
    if not any(o is not None and _UNKNOWN in o.shape for o in outlines):
        return tuple(_check(kernel, call.join(outlines)))
    sentences = [_mistake(call, outlines, size) for size in _SIZES]
    if sentences[0] is not None and all(str(s) == str(sentences[0]) for s in sentences):
        raise sentences[0]
    arguments = {p.name: value for p, value in zip(kernel.parameters, call.join(outlines))}
    return tuple(
        (tuple(-1 if n is _UNKNOWN else n for n in shape), dtype) for shape, dtype in kernel.shapes(arguments)
    )


def _mistake(call, outlines, size):
    known = [
        None if o is None else _Outline(tuple(size if n is _UNKNOWN else n for n in o.shape), o.dtype)
        for o in outlines
    ]
    try:
        _check(call.kernel, call.join(known))
    except Exception as error:
        return error
