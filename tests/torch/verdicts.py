"""One table of cases for both consumers: a module over dlpackgen_python and from_dlpack() accept
the same tensors, or raise exceptions of the same class. docs/torch.md gives the reasons for
differences."""

import enum
import functools
import pathlib
import re
import sys

import numpy as np
import paddle
import torch

import check

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clients"))

import cases
import clients
import layouts
from cases import Case, of
from check import UntrustedProducer, from_dlpack
from consumers import named
from exports import REJECTED
from judge import Taken, taken

# The differences of the consumer, by the beginning of a row in docs/torch.md: the text of the
# exception, or "taken", and the cases.
DIFFERENCES = {
    "Negative strides": ("it has a negative stride", "negative strides?"),
    "Element types": (
        "no ATen equivalent|padded to bytes",
        "vectors of 4|packed|padded|float8_e3m4|float8_e4m3$|float8_e4m3b11fnuz|lanes|opaque|half of a byte",
    ),
    "Overlapping strides": ("taken", "zero strides|overlap"),
    "Conjugate and negative bits": ("taken", "^torch: (conjugate|negative|negative conjugate)"),
    "65 dimensions": ("taken", "^torch: (65|4000) dimensions"),
    "NumPy's warnings": ("taken", "^numpy: broadcast_arrays"),
    "Huge empty shapes": ("overflow", "an empty shape that torch cannot count"),
    "Devices": ("its device", "a device|OpenCL"),
}


class Exports:
    """Exports one capsule of a untrusted, created on request."""

    def __init__(self, **changes):
        self.changes = changes

    def __dlpack__(self, **keywords):
        return UntrustedProducer(**self.changes).capsule()

    def __dlpack_device__(self):
        return (1, 0)


class Silent(ValueError):
    def __str__(self):
        raise KeyError("no text")


class Kind(enum.Enum):
    CPU = 1
    NAMELESS = "cpu"


def exports(**members):
    """An object of a type with these members in addition to those of Exports."""
    return type("Other", (Exports,), members)()


def raising(error):
    def method(self, *args, **keywords):
        raise error

    return method


LOW, ODD = -(1 << 63), 1 << 62

UNTRUSTED = {name: changes for name, (changes, _) in REJECTED.items()} | {
    "unversioned": dict(legacy=True),
    "of a newer minor version": dict(version=(1, 99)),
    "read-only": dict(flags=check.READ_ONLY),
    "size 1, the largest stride": dict(shape=(1, 2), strides=(ODD, 1)),
    "size 1 before the largest stride": dict(shape=(1, 1, 3), strides=(5, ODD, 1)),
    "size 1 beside a stride that 63 bits cannot multiply": dict(shape=(1, 2), strides=(1, ODD), dtype=(0, 8, 1)),
    "size 1, negative stride that leads nowhere": dict(shape=(1,), strides=(-5,)),
    "overlap": dict(shape=(2, 3), strides=(1, 1)),
    "empty, no memory": dict(shape=(0, 3), data=None),
    "empty, odd strides": dict(shape=(2, 0), strides=(7, 3)),
    "empty, strides below zero": dict(shape=(3, 0), strides=(-1, -1)),
    "empty, the lowest strides": dict(shape=(3, 0, 2), strides=(LOW, LOW, LOW)),
    "empty, the largest strides": dict(shape=(3, 0, 2), strides=(ODD, ODD, ODD)),
    "empty, unaligned": dict(shape=(0, 3), offset=2),
    "empty, an offset beyond all memory": dict(shape=(0,), offset=(1 << 64) - 8),
    "empty, NULL strides": dict(shape=(4, 0), strides="NULL"),
    "an empty shape that torch cannot count": dict(shape=(1 << 40, 1 << 40, 0)),
    "complex, aligned to halves": dict(shape=(2,), dtype=(5, 64, 1), offset=4),
    "complex, unaligned": dict(shape=(2,), dtype=(5, 64, 1), offset=2),
}

UNMAPPED = {"size 1 beside a stride that 63 bits cannot multiply"}

RAISED = (
    TypeError("mine"),
    ValueError("mine"),
    RuntimeError("mine"),
    AttributeError("mine"),
    OverflowError("mine"),
    NotImplementedError("mine"),
    BufferError("mine"),
    KeyError("mine"),
    MemoryError("mine"),
    StopIteration("mine"),
    RecursionError("mine"),
    Exception("mine"),
    Silent(),
)

ANSWERS = (
    "x",
    (1, 0, 3),
    (1 << 40, 0),
    (1, 1 << 40),
    None,
    (1,),
    ("a", "b"),
    7,
    (1.5, 0),
    [1, 0],
    (Kind.CPU, 0),
    (Kind.CPU, None),
    (Kind.NAMELESS, 0),
    (None, 0),
    (1, None),
    {1, 0},
    "ab",
)


def objects():
    for name, changes in UNTRUSTED.items():
        yield name, functools.partial(Exports, **changes)
    for error in RAISED:
        name = type(error).__name__
        yield f"__dlpack__ raises {name}", lambda error=error: exports(__dlpack__=raising(error))
        yield f"__dlpack_device__ raises {name}", lambda error=error: exports(__dlpack_device__=raising(error))
        yield f"is_neg raises {name}", lambda error=error: exports(is_neg=raising(error), is_conj=raising(error))
    for answer in ANSWERS:
        yield (
            f"__dlpack_device__ gives {answer!r}",
            lambda answer=answer: exports(__dlpack_device__=lambda self: answer),
        )
    for name, capsule in ("an int", 7), ("another capsule", check.capsule_of(8, b"other")), ("None", None):
        yield f"__dlpack__ gives {name}", lambda capsule=capsule: exports(__dlpack__=lambda self, **k: capsule)
    yield "__dlpack__ gives a used capsule", lambda: exports(__dlpack__=lambda self, **k: used())
    yield "no __dlpack_device__", lambda: type("Old", (), {"__dlpack__": Exports.__dlpack__, "changes": {}})()
    yield "no __dlpack__", object
    yield "a class", lambda: Exports
    yield "a number", lambda: 3
    yield "masked", lambda: exports(mask=None, filled=None)
    yield "a mask alone", lambda: exports(mask=None)
    yield from like_torch()
    yield from of_torch()


def used():
    capsule = UntrustedProducer().capsule()
    from_dlpack(capsule)
    return capsule


def like_torch():
    def bits(neg, conj, **more):
        return exports(is_neg=lambda self: neg, is_conj=lambda self: conj, **more)

    yield "like torch", lambda: bits(False, False)
    yield "like torch, negated", lambda: bits(True, False)
    yield "like torch, conjugated", lambda: bits(False, True)
    yield "like torch, requires grad", lambda: bits(False, False, requires_grad=True)


def of_torch():
    class Own(torch.Tensor):
        def __dlpack__(self, **keywords):
            return UntrustedProducer((2,)).capsule()

    class Rejects(torch.Tensor):
        def __dlpack__(self, **keywords):
            raise BufferError("mine")

    def shrunk(kind=torch.Tensor):
        x = torch.ones(4).as_subclass(kind)
        x.untyped_storage().resize_(4)
        return x

    class Liar:
        __class__ = property(lambda self: torch.Tensor)

    yield "a derived type with its own __dlpack__", lambda: torch.ones(3).as_subclass(Own)
    yield "a derived type that rejects", lambda: torch.ones(3).as_subclass(Rejects)
    yield "a derived type that requires grad", lambda: torch.ones(3, requires_grad=True).as_subclass(Own)
    yield "a storage that was made smaller", shrunk
    yield "a storage that was made smaller, derived type", lambda: shrunk(Own)
    yield "an object that says that it is a torch.Tensor", Liar


def every_case():
    for library in "ours", "numpy", "torch", "jax", "paddle", "tvm-ffi":
        yield from cases.cases(library)
        for _, each in layouts.cases(library):
            yield from each
    for name, make in objects():
        yield Case("objects", name, of(make))


def run(case, take):
    try:
        return case.run(take)
    except Exception as e:
        return e


def word(outcome):
    return type(outcome).__name__ if isinstance(outcome, Exception) else "taken"


def output(outcome):
    return repr(outcome) if isinstance(outcome, Exception) else "taken"


def is_expected(case, outcome):
    """Returns whether the consumer behaves as documented."""
    text = "taken" if word(outcome) == "taken" else str(outcome)
    return any(re.search(output, text) and re.search(where, str(case)) for output, where in DIFFERENCES.values())


# byte_offset() reads an argument but none of its elements, which may be at unmapped addresses.
VERBS = {"write": (clients.write, "raise"), "read": (clients.byte_offset, "allow")}


def test_both_consumers_agree():
    seen, wrong = 0, []
    for case in every_case():
        for verb, (module, read_only) in VERBS.items():
            if verb == "write" and case.name in UNMAPPED:
                continue
            seen += 1
            ours, theirs = run(case, module), run(case, lambda x: from_dlpack(x, read_only=read_only))
            if word(ours) != word(theirs):
                if not is_expected(case, theirs):
                    wrong.append(f"{verb} {case}: the module: {output(ours)}, the consumer: {output(theirs)}")
    assert not wrong, "\n".join(wrong)
    assert seen > 1500, seen


def as_seen(x):
    y = from_dlpack(x, read_only="allow")
    return Taken(y.data_ptr(), y.shape, named(y.dtype), (1, 0), None, lambda: cases.torch_bytes(y))


def test_elements_are_those_of_the_tensor():
    """For every accepted case, including those that only the consumer accepts."""
    for case in every_case():
        got = run(case, as_seen) if case.truth is not None else None
        if isinstance(got, Taken):
            assert taken(case, got) in ("ok", "takes"), f"{case}: {taken(case, got)}"


def test_every_difference_is_documented():
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "torch.md").read_text()
    for name in DIFFERENCES:
        assert f"\n| {name} |" in text, name


def test_gradients_that_are_not_recorded():
    """Under no_grad(), both accept tensors that require a gradient, including Paddle's
    parameters."""
    parameter = paddle.nn.Linear(2, 2).weight
    x = paddle.ones([3])
    x.stop_gradient = False
    for tensor in parameter, x:
        with paddle.no_grad():
            assert from_dlpack(tensor).data_ptr() == tensor.data_ptr()
        with check.rejected(BufferError, "stop_gradient is False"):
            from_dlpack(tensor)
    y = torch.nn.Parameter(torch.ones(2))
    with torch.no_grad():
        assert from_dlpack(y).data_ptr() == y.data_ptr() and not from_dlpack(y).requires_grad
    with check.rejected(BufferError, "requires grad"):
        from_dlpack(y)


if __name__ == "__main__":
    check.run(globals())
