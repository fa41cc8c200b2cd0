"""Calls that a type checker accepts; assert_type checks the inferred types."""

from array import array
from collections import deque
from typing import Any, Literal, assert_type

import numpy
from tried import _kernels as k

Array = numpy.ndarray[tuple[int, int], numpy.dtype[numpy.float32]]


def calls(x: Array, w: Array, producer: k.SupportsDLPack, mode: Literal["sum", "mean"]) -> None:
    assert_type(k.scale(x), None)
    assert_type(k.scale(producer, by=2.5), None)
    assert_type(k.usual(x, w, producer), Array)
    assert_type(k.usual(x, w, producer, bias=None, out=x), Array)
    assert_type(k.usual(x, w, producer, out=producer), k.SupportsDLPack)
    assert_type(k.usual(producer, w, x, out=x), Array)
    assert_type(k.usual(x, w, x, out=None), Array)
    assert_type(k.join(None, x, w, producer, out=producer), tuple[k.SupportsDLPack, int])
    assert_type(k.pair(x, out=(x, None)), tuple[Array, Array])
    k.pair(x, out=(producer, None))
    assert_type(k.join(None, x, w, producer, q=3), tuple[Array, int])
    assert_type(k.copies(x, at=1, half=None), tuple[Array, int, float, bool])
    assert_type(k.numbers(x, 3, s=None), tuple[float, int])
    k.scalars("mean", [1, 2, 3], weights=(0.5, 1), flag=True, tiny=3, limit=1.5, like=x)
    k.scalars("sum", range(1, 4), out=x)
    k.scalars("sum", b"123", out=x)  # bytes are a Sequence[int]; the call raises TypeError
    k.scalars("sum", array("q", [1, 2, 3]), deque([0.5, 1.5]))
    k.scalars(mode, [1, 2, 3], out=producer, like=x)
    k.on_device(x, stream=7)
    assert_type(k.alone(), Any)
    assert_type(k.alone(out=x), Array)
