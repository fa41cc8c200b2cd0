"""The common parts of this folder's scripts: producers that violate the rules, and functions with
tensor arguments. tests/scripts.py describes how they run."""

import contextlib
import ctypes
import gc
import os
import sys
import types

sys.path[:0] = [os.environ["MODULES"], os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)]

import checked
import untrusted
from scripts import *

CPU, CUDA, PINNED, OPENCL, METAL, ROCM, ROCM_HOST, MANAGED = 1, 2, 3, 4, 8, 10, 11, 13
READ_ONLY, COPIED, PADDED = 1, 2, 4
TENSOR, INT, FLOAT, BOOL = range(4)
STRIDED, ROW_MAJOR, DENSE, ROWS = range(4)
ANY = 0
EXTENT_ZERO = -1


def dtype(code, bits, lanes=1):
    return code | bits << 8 | lanes << 16


INT32, UINT8, FLOAT32, FLOAT64 = dtype(0, 32), dtype(1, 8), dtype(2, 32), dtype(2, 64)
FLOAT4, COMPLEX64 = dtype(17, 4), dtype(5, 64)

# Memory of the untrusted producers' tensors, some of which have negative strides.
room = ctypes.create_string_buffer(1 << 16)
DATA = (ctypes.addressof(room) + (1 << 15)) & -64


def symbol(which):
    return -2 - which


def compact(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= max(extent, 1)
    return strides


def desc(*shape, **changes):
    """Describes a float32 tensor, valid except for the given changes."""
    return {"shape": list(shape), "strides": compact(shape), "data": DATA if all(shape) else 0, **changes}


class Old:
    """A producer from before DLPack 1.0."""

    make = staticmethod(untrusted.legacy)

    def __init__(self, *shape, **changes):
        self.desc = desc(*shape, **changes)
        self.asked = []

    def __dlpack__(self, stream=None):
        self.asked.append({} if stream is None else {"stream": stream})
        return self.make(self.desc)

    def __dlpack_device__(self):
        return self.desc.get("device", CPU), self.desc.get("device_id", 0)


class New(Old):
    """A producer without a table."""

    make = staticmethod(untrusted.capsule)

    def __dlpack__(self, **asked):
        self.asked.append(asked)
        return self.make(self.desc)


def table_type(which, **members):
    """A type with one of the untrusted's tables: 0 valid, 1 cannot lend, 2 another version, 3 with
    an older table after it, 4 incomplete, 5 can allocate, 6 valid with another stream, 7 with
    permanent shapes."""
    return type("Tabled", (New,), {"__dlpack_c_exchange_api__": untrusted.table(which), **members})


Tabled = table_type(0)


@contextlib.contextmanager
def trusted(*kinds):
    """Types whose own tables are trusted: each is named paddle.Tensor when it is looked up, like
    the first one here."""
    sys.modules["paddle"] = types.ModuleType("paddle")
    try:
        for kind in reversed(kinds):
            sys.modules["paddle"].Tensor = kind
            read(kind(2))
        yield
    finally:
        del sys.modules["paddle"]


def counted():
    """The calls of the untrusted's table: allocate, own, wrap, borrow, stream."""
    return untrusted.counted()


@contextlib.contextmanager
def calls(**expected):
    names = ["allocate", "own", "wrap", "borrow", "stream"]
    before = counted()
    yield
    got = {n: b - a for n, a, b in zip(names, before, counted()) if b != a}
    equal(got, expected)


# Named paddle.Tensor, for tests that need it.
Known = table_type(7)


defined = 0


def function(*parameters, takes_stream=0, symbols=(), name="f"):
    """Defines a function; returns its caller."""
    global defined
    which = defined if defined < 64 else 2 + (defined - 2) % 62  # the first two are read and write
    defined += 1
    full = [{"name": "abcdefgh"[i], **p} for i, p in enumerate(parameters)]
    checked.define(which, name, full, takes_stream, list(symbols))

    def call(*args, **keywords):
        return checked.run(which, *args, **keywords)

    call.which = which
    return call


def any_tensor(**changes):
    return {"ndim": 0, "leading_dims": 1, "devices": [-1], **changes}


read = function(any_tensor())
write = function(any_tensor(writable=1))


def free_threaded():
    """Whether this Python runs without the GIL."""
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


class Caught:
    exception = None


@contextlib.contextmanager
def raises(kind, *texts):
    caught = Caught()
    try:
        yield caught
    except kind as e:
        assert type(e) is kind, repr(e)
        caught.exception = e
        for text in texts:
            assert text in str(e), f"{text!r} is not in {e!r}"
    else:
        raise AssertionError(f"no {kind.__name__}")


@contextlib.contextmanager
def frees_all():
    """Expects that the block leaves no untrusted's tensor alive. Fewer may remain: a new type may
    evict another one from the cache, together with its objects."""
    gc.collect()
    before = untrusted.alive()
    yield
    gc.collect()
    assert untrusted.alive() <= before, f"{untrusted.alive() - before} tensors are left"


def no_leak(step, rounds=50_000):
    """Repeats a step: no memory and no untrusted's tensor may remain."""
    gc.collect()
    alive = untrusted.alive()
    grows_less(step, rounds, rounds // 10, 16)
    equal(untrusted.alive(), alive)
