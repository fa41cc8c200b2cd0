"""Calls the kernels of tests/kernels through tvm-ffi and through the Python module: the same values
and messages."""

import collections
import itertools
import json
import os
import pathlib
import sys
import threading

import kernels_tvmffi
import numpy as np
import tvm_ffi
from tried import _kernels as k

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))
from kinds import NUMBERS, compare_kinds  # noqa: E402

LIBRARY = os.environ["LIBRARY"]
raw = tvm_ffi.load_module(LIBRARY)
t = kernels_tvmffi.load(LIBRARY)

x23 = np.arange(6, dtype=np.float32).reshape(2, 3)
x, w, idx = np.ones((2, 3, 4), np.float32), np.ones((4, 2, 3), np.float32), np.zeros((2, 5), np.int64)


def outcome(f, *args, **keywords):
    """The result of a call, or its exception's class and text."""
    try:
        return f(*args, **keywords)
    except Exception as e:
        return type(e).__name__, str(e).splitlines()[0]


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def strided(a):
    return np.repeat(a, 2, axis=-1)[..., ::2]


# Failing calls: of the module and of tvm-ffi, with the same class and message.
MISTAKES = [
    ("scale",),
    ("scale", x23, 1, 2),
    ("scale", ones(2, 2, dtype=np.int64)),
    ("scale", x23, None),
    ("scale", x23, "a"),
    ("direct", ones(3), "a", 2, False, None),
    ("direct", ones(3), 1.0, 2.0, False, None),
    ("direct", ones(3), 1.0, 2, 1, None),
    ("direct", ones(3), 1.0, 2, False, ones(4)),
    ("direct", None, 1.0, 2, False, None),
    ("scale", x23, True, 1),
    ("scale", x23[0]),
    ("scale", x23, 1e300),
    ("scale", ones(2, 2, dtype=np.float64), 0),
    ("join", x, w, idx),
    ("join", None, x, w, idx, "a"),
    ("join", None, x, w, idx, 1.5),
    ("join", None, x, w[:, :, :2], idx),
    ("join", None, x.astype(np.int32), w.astype(np.int32), idx),
    ("join", ones(3), x, w, idx),
    ("join", None, strided(x), w, idx),
    ("join", None, x.astype(np.float16), w, idx),
    ("join", None, None, w, idx),
    ("join", None, x, w, idx.astype(np.int16)),
    ("scalars", 3, [1, 3, 3]),
    ("scalars", None, [1, 3, 3]),
    ("scalars", "m\0", [1, 3, 3]),
    ("scalars", "a text of many letters\0", [1, 3, 3]),
    ("scalars", "sum", [1, 3, "a"]),
    ("scalars", "sum", [1, 3, True]),
    ("scalars", "sum", [1, 3, 2.5]),
    ("scalars", "sum", 3),
    ("scalars", "sum", None),
    ("scalars", "sum", [1, 3]),
    ("scalars", "sum", [1, 3, 3], [1.0]),
    ("scalars", "sum", [1, 3, 3], [1.0, "a"]),
    ("scalars", "sum", [1, 3, 3], [1.0, 2.0], 1),
    ("scalars", "sum", [1, 3, 3], None, True, 128),
    ("scalars", "sum", [1, 3, 3], None, True, -129),
    ("scalars", "sum", [1, 3, 3], None, True, 1.0),
    ("scalars", "sum", [1, 3, 3], None, True, False),
    ("scalars", "sum", [1, 3, 3], None, True, None),
    ("scalars", "sum", [1, 3, 3], None, True, 1, "x"),
    ("scalars", "median", [1, 3, 3]),
    ("scalars", "sum", [3, 1, 3]),
    ("scalars", "sum", [2**32, 1, 1]),
    ("divide", 7, 0, 0, 0),
    ("divide", 7, 2, 3, 2),
    ("divide", 20, 10, 2, 0),
    ("divide", 7, 2, 3),
    ("divide", 7, 2, "3", 1),
    ("divide", 7, 2, None, 1),
    ("divide", 7, 2, 3, 1, 1),
    ("copies", x23, -1),
    ("copies", x23, 2**64),
    ("copies", x23, -(2**63) - 1),
    ("copies", x23, -(2**64)),
    ("copies", x23, 10**200),
    ("copies", x23, 2**20000),
    ("copies", x23, -(2**1030)),
    ("copies", x23, 1, 2**1024),
    ("scalars", "sum", [1, 3, 3], None, True, 1, 2**20000),
    ("scalars", "sum", [1, 3, 3], None, True, 1, -(2**1024)),
    ("scalars", "sum", [1, 3, 3], [1, 2**2000]),
    ("numbers", ones(3, dtype=np.float16), 2**2000),
    ("copies", x23, 1.5),
    ("copies", x23, 1, 65520.0),
    ("copies", x23, 1, -1e6),
    ("copies", x23, 1, "a"),
    ("copies", x23.astype(np.float64)),
    ("numbers", ones(3, dtype=np.float16), 65536.0),
    ("numbers", ones(3, dtype=np.float16), -65536.0),
    ("numbers", ones(3, dtype=np.int16), 32768),
    ("numbers", ones(3, dtype=np.int16), 1.5),
    ("numbers", ones(3, dtype=np.int16), True),
    ("numbers", ones(3, dtype=np.int16), "a"),
    ("numbers", ones(3, dtype=np.uint64), -1),
    ("numbers", ones(3, dtype=bool), 2),
    ("numbers", ones(3, dtype=np.float32), 2),
    ("numbers", ones(3, dtype=np.int16), 1, 3),
    ("numbers", ones(3, dtype=np.int16), None),
    ("layouts", x23, x, ones(2, 3, dtype=np.float64), ones(64, dtype=np.uint8)),
    ("layouts", x23.T, x, ones(2, 3, dtype=np.float64).T, ones(64, dtype=np.uint8)),
    ("written", x23[0], x23[1], x23[0], None),
    ("written", ones(2), ones(3), ones(3), None),
    ("written", ones(3), ones(3), ones(3), ones(3, 3)),
    ("groups", ones(2), ones(2, 2), None, ones(3, dtype=np.int8)),
    ("usual", ones(4), ones(3, 4), ones(4)),
    ("usual", ones(4), ones(4, 4), ones(4), ones(3)),
    ("on_device", x23),
]

# The host's own message: only it knows the names of its types.
WORDS = [
    (("scale", 3), ("TypeError", "scale(): argument 'x' (1st): expected a tensor, got int")),
    (("scale", "x"), ("TypeError", "scale(): argument 'x' (1st): expected a tensor, got str")),
    (("scale", {"a": 1}), ("TypeError", "scale(): argument 'x' (1st): expected a tensor, got dict")),
    (("scale", object()), ("TypeError", "scale(): argument 'x' (1st): expected a tensor, got object")),
    (
        ("join", None, x, w, idx, 2**63),
        ("OverflowError", "join(): argument 'q' (5th): int64 cannot represent 9223372036854775808"),
    ),
    (
        ("scalars", "sum", [1, 3, 3], None, True, 2**65 + 1),
        ("OverflowError", "scalars(): argument 'tiny' (5th): int8 cannot represent 36893488147419103233"),
    ),
    (
        ("scalars", "sum", [1, 3, "a"]),
        ("TypeError", "scalars(): argument 'sizes' (2nd): item 2: expected int, got str"),
    ),
    (
        ("scalars", "sum", [1, 3, 3], [1, None]),
        ("TypeError", "scalars(): argument 'weights' (3rd): item 1: expected float, got None"),
    ),
    (("scalars", "sum", [2, 1]), ("ValueError", "scalars(): argument 'sizes' (2nd): expected at least 3 items, got 2")),
    (("scalars", "sum", x23), ("TypeError", "scalars(): argument 'sizes' (2nd): expected a list of int, got Tensor")),
    (("scale", x23, x23), ("TypeError", "scale(): argument 'by' (2nd): expected float32, got Tensor")),
    (
        ("join", None, x, w, idx, 1, x, x),
        ("TypeError", "join() takes 5 arguments, or 6 with memory for its result, got 7"),
    ),
    (
        ("pair", ones(3), ones(3)),
        ("TypeError", "pair() takes 1 argument, or 3 with memory for its results, got 2"),
    ),
    (("join", None, x, w, idx, None, None), ("TypeError", "join(): argument 'y' (6th): expected a tensor, got None")),
    (
        ("join", None, x, w, idx, None, ones(2, 3, 4, 10, dtype=np.float64)),
        ("TypeError", "join(): argument 'y' (6th): expected float32, got float64"),
    ),
    (
        ("join", None, x, w, idx, None, x),
        ("ValueError", "join(): argument 'y' (6th): expected 4 dimensions, got 3"),
    ),
    (
        ("copies", x23, 1, None, x23),
        ("BufferError", "copies(): argument 'y' (4th): it is writable, but overlaps argument 'x' (1st)"),
    ),
    (
        ("join", None, x, w, idx),
        (
            "RuntimeError",
            "join(): result 'y': the caller's library has no allocator: pass memory for each result after the "
            "arguments",
        ),
    ),
]


def test_the_sentences_are_those_of_the_module():
    others = []
    for name, *args in MISTAKES:
        want, got = outcome(getattr(k, name), *args), outcome(raw[name], *args)
        if str(got) != str(want) or not want or not isinstance(want[0], str):
            others.append(f"{name} {[type(a).__name__ for a in args]}\n  module:  {want}\n  tvm-ffi: {got}")
    assert not others, "\n".join(others)


def test_kinds_of_scalars():
    """tvm-ffi passes no complex numbers."""
    call = lambda kernel, dtype, number: getattr(t, kernel)(ones(1, dtype=dtype), number)  # noqa: E731
    compare_kinds(call, without=("bfloat16",), numbers=NUMBERS[:4])


def test_the_words_of_the_host():
    for (name, *args), want in WORDS:
        got = outcome(raw[name], *args)
        assert got == want, f"{name}\n  want {want}\n  got  {got}"


def test_statuses():
    sizes = [50, 51, 1]
    z = ones(1, 1, dtype=np.float64)
    for tiny, want in (
        (1, ("IndexError", "scalars(): argument 'sizes' (2nd): a size is out of range")),
        (2, ("MemoryError", "scalars(): argument 'sum' has no room")),
        (-3, ("NotImplementedError", "scalars(): not on this machine")),
        (3, ("RuntimeError", "scalars(): the kernel failed with status 3")),
    ):
        got = outcome(raw.scalars, "sum", sizes, None, False, tiny, None, z)
        assert got == want, got


def test_memory_for_results():
    y = np.zeros((2, 3, 4, 10), np.float32)
    assert raw.join(None, x, w, idx, None, y) == 240 and y[0, 0, 0, 0] == 1
    assert raw.join(ones(4) * 7, x, w, idx, 9, y) == 9 and y[0, 0, 0, 0] == 7
    one, two = np.zeros(3, np.float32), np.zeros(3, np.float32)
    assert raw.pair(ones(3), one, two) is None
    z = ones(2, 3, dtype=np.float64)
    assert raw.scalars("mean", [1, 3, 3], None, False, 3, None, z) == 1003 and not z.any(), "zeroed"
    assert raw.scalars("sum", (1, 3, 3), [0.5, 0.25], True, 3, 20, z) == 123.75
    many = list(range(1, 3)) + [3] * 40
    assert raw.scalars("sum", many, None, False, 3, None, ones(1, 3, dtype=np.float64)) == 42
    assert raw.scalars("sum", tvm_ffi.Shape((1, 3, 3)), None, False, 3, None, z) == 3
    for limit in (2**1023, -(2**1023) + 1, 2**64 + 1, -(2**64) - 1):
        assert raw.scalars("sum", (1, 3, 3), None, False, 3, limit, z) == float(limit) + 3
    assert raw.scalars("sum", tvm_ffi.Array([1, 3, 3]), None, False, 3, None, z) == 3


def test_direct_calls():
    """Calls that need no conversion, and calls that differ from them in one argument."""
    x3, y = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
    for by, back, w3 in itertools.product((3.0, 3), (True, False), (None, ones(3))):
        want = x3 * 6 + (w3 is not None)
        for given in (x3, tvm_ffi.from_dlpack(x3)):
            y[:] = -1
            assert raw.direct(given, by, 2, back, w3, y) is None
            assert (y == (want[::-1] if back else want)).all(), (by, back, w3, y)
    for args, want in (
        ((x3, 1.0, 10, False, None, y), ("IndexError", "direct(): argument 'times' (3rd): too many")),
        ((x3, 1.0, 2, 1, None, y), ("TypeError", "direct(): argument 'back' (4th): expected bool, got int")),
        ((x3, 1.0, 2.0, False, None, y), ("TypeError", "direct(): argument 'times' (3rd): expected int, got float")),
        ((x3, "a", 2, False, None, y), ("TypeError", "direct(): argument 'by' (2nd): expected float, got str")),
        ((x3, 1.0, 2, False, 7, y), ("TypeError", "direct(): argument 'w' (5th): expected a tensor, got int")),
        ((x3, 1.0, 2, False, None, 7), ("TypeError", "direct(): argument 'y' (6th): expected a tensor, got int")),
        (
            (x3, 1.0, 2, False, None, y, y),
            ("TypeError", "direct() takes 5 arguments, or 6 with memory for its result, got 7"),
        ),
        (
            (x3, 1.0, 2, False, None, x3),
            ("BufferError", "direct(): argument 'y' (6th): it is writable, but overlaps argument 'x' (1st)"),
        ),
    ):
        y[:] = -1
        got = outcome(raw.direct, *args)
        assert got == want, got


def test_values():
    y = x23.copy()
    assert raw.scale(y, 3.0) is None and (y == 3 * x23).all()
    raw.scale(y.T)
    assert (y == 6 * x23).all(), "by its default, and strided"
    out = np.zeros((2, 3), np.float32)
    assert list(raw.copies(x23, 1, 0.5, out)) == [1, 0.5, True] and (out == x23).all()
    assert list(raw.copies(x23, 2**64 - 1, None, out)) == [2**64 - 1, -1.0, False]
    assert list(raw.copies(x23, 2**63, 1, out)) == [2**63, 1.0, False]
    for other in (x23.T.copy().T, x23[:, ::-1]):
        raw.copies(other, 1, 0.5, out)
        assert (out == other).all(), "copied where it is not contiguous"
    assert list(raw.numbers(ones(3, dtype=np.float16), 1.5)) == [3.0, 4]
    assert list(raw.numbers(ones(3, dtype=np.float16), 1, None)) == [2.0, -1]
    assert list(raw.numbers(ones(3, dtype=np.float16), 1, "a text of many letters")) == [2.0, 22]
    assert list(raw.numbers(ones(3, dtype=np.int16), -4)) == [-8, 3]
    assert list(raw.numbers(ones(3, dtype=np.uint64), 2**63 - 1)) == [2**64 - 2, 3]
    assert list(raw.numbers(ones(3, dtype=bool), 1)) == [False, 3]
    assert raw.divide(7, 2, 3, 1) is None and raw.divide(-7, 2, -4, True) is None


def test_tensors_of_tvm_ffi():
    y = x23.copy()
    raw.scale(tvm_ffi.from_dlpack(y), 2)
    assert (y == 2 * x23).all()
    out = np.zeros((2, 3), np.float32)
    raw.copies(tvm_ffi.from_dlpack(y), 1, 0.5, tvm_ffi.from_dlpack(out))
    assert (out == y).all()


def test_keywords_and_defaults():
    y = x23.copy()
    t.scale(by=2, x=y)
    assert (y == 2 * x23).all()
    out = np.zeros((2, 3, 4, 10), np.float32)
    made, rows = t.join(None, x, w, idx=idx, out=out)
    assert made is out and rows == 240
    one, two = np.zeros(3, np.float32), np.zeros(3, np.float32)
    assert t.pair(ones(3), out=(one, two)) == (one, two)
    text = "pair(): argument 'out': expected a tuple of 2 tensors, got "
    for wrong, got in (one, "ndarray"), ((one,), "1"), ([one, two], "list"):
        assert outcome(t.pair, ones(3), out=wrong) == ("TypeError", text + got) == outcome(k.pair, ones(3), out=wrong)
    for name, *args in MISTAKES:
        want = outcome(getattr(k, name), *args)
        if "takes" not in want[1] and "missing" not in want[1]:
            assert outcome(getattr(t, name), *args) == want, (name, args)


def test_sequences():
    z = ones(1, 3, dtype=np.float64)
    for sizes in (range(1, 4), collections.deque([1, 2, 3])):
        made = t.scalars("sum", sizes, collections.UserList([0.5, 1]), tiny=3, out=z)
        assert made[0] == t.scalars("sum", [1, 2, 3], [0.5, 1], tiny=3, out=z)[0]
    for wrong in ("123", b"123", {1, 2}, iter([1])):
        got = outcome(t.scalars, "sum", wrong, tiny=3, out=z)
        assert got[0] == "TypeError" and "'sizes' (2nd): expected a list of int, got" in got[1], got


class Raising(collections.UserList):
    def __getitem__(self, i):
        raise self.data[0]


class Unprintable(ValueError):
    def __str__(self):
        raise KeyError("text")


def test_sequences_that_raise():
    for error in (KeyError("lost"), UnicodeError("lost"), NotImplementedError("lost"), Unprintable()):
        want = outcome(k.scalars, "sum", Raising([error]))
        assert outcome(t.scalars, "sum", Raising([error])) == want and "'sizes' (2nd): " in want[1], want
    assert outcome(t.scalars, "sum", Raising([MemoryError("lost")])) == ("MemoryError", "lost")


def test_documents():
    text = raw.get_function_doc("join")
    assert text.startswith("join(bias, x, w, idx, q=None)\n") and "x: T[..., n]\n" in text
    assert "where n % 2 == 0 and n <= 64" in text
    schema = json.loads(raw.get_function_metadata("join")["type_schema"])
    assert schema["type"] == "ffi.Function" and len(schema["named_args"]["params"]) == 5
    for name in ("scale", "scalars", "alone"):
        made = tvm_ffi.core.TypeSchema.from_json_str(raw.get_function_metadata(name)["type_schema"])
        assert made.origin == "Callable", made


def test_threads():
    met = []
    threads = [threading.Thread(target=lambda: met.append(outcome(raw.meet, 60_000))) for _ in range(2)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert met == [None, None], met


def test_nothing_leaks():
    def rss():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1])

    many = [1, 3] + [3] * 1000
    z = ones(2, 3, dtype=np.float64)
    if "SANITIZED" in os.environ:
        return  # AddressSanitizer delays frees
    before = 0
    out = np.zeros((2, 3), np.float32)
    for round_ in range(3000):
        if round_ == 1000:
            before = rss()
        raw.scalars("sum", many, None, False, 3, None, z)
        raw.copies(x23.T.copy().T, 2**64 - 1, 0.5, out)
        outcome(raw.scalars, "sum", [1, 3, "a"])
    assert rss() - before < 500, "pages"


def test_torch():
    import torch

    y, rows = t.join(None, torch.ones(2, 3, 4), torch.ones(4, 2, 3), torch.zeros(2, 5, dtype=torch.int64))
    assert type(y) is torch.Tensor and y.shape == (2, 3, 4, 10) and rows == 240 and y[0, 0, 0, 0] == 1
    one, two = raw.pair(torch.ones(3))
    assert one.shape == two.shape == (3,) and type(two) is torch.Tensor
    a = torch.ones(2, 3)
    raw.scale(a, 4)
    assert (a == 4).all()
    out = torch.empty(2, 3)
    assert t.copies(a.T.contiguous().T, out=out)[0] is out and (out == 4).all()
    real = torch.tensor([1.0, 3.0])
    negated = torch._neg_view(real)
    assert negated.is_neg() and torch.equal(raw.pair(negated)[0], raw.pair(real)[0]), "its bit is lost"
    assert torch.equal(raw.pair(negated.resolve_neg())[0], raw.pair(-real)[0])
    want = outcome(k.scale, torch.ones(2, 2, dtype=torch.int64))
    assert outcome(raw.scale, torch.ones(2, 2, dtype=torch.int64)) == want
    import gc

    for _ in range(200):
        raw.pair(torch.ones(1000))
    gc.collect()


if __name__ == "__main__":
    chosen = [
        f for n, f in list(globals().items()) if n.startswith("test_") and (n != "test_torch" or "torch" in sys.argv)
    ]
    for test in chosen:
        test()
    print(len(chosen), "tests")
