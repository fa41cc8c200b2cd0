"""Wrong and right calls of the described kernels: name, arguments and keywords."""

import collections.abc

import numpy as np

INT, FLOAT = np.int32, np.float32


def ones(*shape, dtype=np.float64):
    return np.ones(shape, dtype)


class Index:
    def __index__(self):
        return 3


class Counted:
    """An integer above the range of float16, which counts its conversions."""

    calls = 0

    def __index__(self):
        self.calls += 1
        return 1 << 200


class Real:
    def __float__(self):
        return 2.5


class Broken(list):
    """A list that cannot be read."""

    def __iter__(self):
        raise ValueError("no items")


class Lost:
    """A number and a list whose methods raise an exception of another class."""

    def __index__(self):
        raise KeyError("lost")

    def __float__(self):
        raise KeyError("lost")


class LostItems(collections.abc.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        raise LookupError("lost")


class Text(str):
    """A text with a method of its own."""

    def __contains__(self, other):
        return True


class Bad:
    def __index__(self):
        raise ValueError("no")

    def __repr__(self):
        return "Bad()"


X, W = ones(3, 8), ones(8)
I4, F4 = ones(4, dtype=INT), ones(4, dtype=FLOAT)
LARGE, HUGE = 1 << 70, 1 << 20000  # which Python does not convert to a text

NORM = [
    ((X,), {}),
    ((), {}),
    ((X, W, None, 1e-6, 5), {}),
    ((X, W), {"x": X}),
    ((X, W), {"nope": 1}),
    ((None, W), {}),
    ((X, W, None, None), {}),
    ((X, W, None, "a"), {}),
    ((X, W, None, 1j), {}),
    ((X, W, None, Bad()), {}),
    ((X, W, None, Lost()), {}),
    ((X, W, None, HUGE), {}),
    ((X, [1.0] * 8), {}),
    ((1.0, W), {}),
    ((object(), W), {}),
    ((X, ones(4)), {}),
    ((X, ones(8, dtype=FLOAT)), {}),
    ((X.astype(INT), W), {}),
    ((ones(), W), {}),
    ((ones(3, 0), ones(0)), {}),
    ((X, W, ones(8, 1)), {}),
]
# The scalar of a kernel whose tensors have a dtype.
NUMBERS = [
    (I4, (1.5, True, 1 << 40, 1 << 80, np.float32(2.5), Real(), np.int64(1 << 40), Bad(), "a", None, [1], 1j)),
    (I4, (Lost(), HUGE)),
    (F4, (Lost(), HUGE, 1e300, -1e300, "a", None, [1], 1j, LARGE << 100)),
]
FILLED = [
    (np.uint64, (-1, 1 << 64, 1.5, True, HUGE, np.int64(-1), np.float32(1))),
    (bool, (2, -1, 1.5, np.float32(1), "a")),
    (np.int8, (128, -129, 1.5, True, np.bool_(True))),
    (np.int64, (1 << 63, 1.5)),
    (np.float64, (1 << 2000, "a")),
    (np.int16, (1,)),
]
WORDS = {
    "sizes": ([1], [1, -5], 3, [1, 2.5], [1, True], [1, LARGE], "ab", b"ab", {1, 5}, None, [1, Bad()], Broken([1, 5]),
              [1, HUGE], [1, Lost()], LostItems()),
    "scales": ([1, "a"], 3, [Bad()], [Lost()], [HUGE], LostItems()),
    "mode": ("a\0b", 3, b"x", None),
    "tiny": (300, -129, 1.5, True, None, LARGE, Bad(), -HUGE, np.uint64(1 << 63), Lost()),
    "maybe": (1.5, LARGE, "a", Bad(), np.float32(1), HUGE, 1 << 1023, (1 << 1023) - 1),
    "exact": (1, None, "a", np.int64(1)),
    "half": (1e300, -1e300, "a", 1 << 2000, "1", np.float64(1e300), np.uint64(1 << 63),
             Counted()),
}
OTHERS = [
    ("axpy", (1.0, F4, ones(5, dtype=FLOAT)), {}),
    ("axpy", (1.0, None, F4), {}),
    ("words", (ones(3, dtype=FLOAT), [1, 5]), {}),
    ("filled", (ones(2, dtype=np.int8), 1), {"also": -1}),
    ("filled", (ones(2, dtype=np.int8), 1), {"also": 1 << 64}),
    ("filled", (ones(2, dtype=np.int8), 1), {"also": 1.5}),
    ("ramp", (-1,), {}),
    ("ramp", (1.5,), {}),
    ("ramp", ("a",), {}),
    ("pad", (ones(1, 1, dtype=FLOAT),), {"parts": 0}),
    ("pad", (ones(1, 1, dtype=FLOAT),), {"parts": LARGE}),
    ("nibbles", (ones(3),), {}),
    ("update", (ones(3, dtype=FLOAT), ones(2, dtype=FLOAT)), {}),
    ("count", ("a",), {}),
]
# Calls that both accept, although other callers of the same form may not.
FINE = [
    ("axpy", (True, F4, F4.copy()), {}),
    ("axpy", (Index(), I4, I4.copy()), {}),
    ("rms_norm", (X, W, None, True), {}),
    ("rms_norm", (X, W, None, Index()), {}),
    ("words", (ones(3, 4, dtype=FLOAT), [1, 5]), {"maybe": True}),
    ("words", (ones(3, 4, dtype=FLOAT), [1, 5]), {"half": float("inf")}),
    ("words", (ones(3, 4, dtype=FLOAT), (1, Index())), {}),
    ("words", (ones(3, 4, dtype=FLOAT), range(1, 9, 4)), {"scales": collections.deque([1, 2.5])}),
    ("filled", (ones(2, dtype=np.uint64), 1 << 63), {}),
    ("filled", (ones(2, dtype=np.uint64), np.uint64(1 << 63)), {}),
    ("words", (ones(3, 4, dtype=FLOAT), [1, 5]), {"mode": Text("sum")}),
    ("filled", (ones(2, dtype=bool), 1), {}),
    ("filled", (ones(2, dtype=bool), np.bool_(True)), {}),
    ("filled", (ones(2, dtype=np.float64), np.float32(2)), {}),
    ("ramp", (True,), {}),
    ("ramp", (np.int8(3),), {}),
]


def all_mistakes():
    yield from (("rms_norm", *case) for case in NORM)
    yield from (("axpy", (value, x, x.copy()), {}) for x, values in NUMBERS for value in values)
    yield from (("filled", (ones(2, dtype=dtype), value), {}) for dtype, values in FILLED for value in values)
    for name, values in WORDS.items():
        yield from (("words", (ones(3, 4, dtype=FLOAT),), {"sizes": [1, 5], name: value}) for value in values)
    yield from OTHERS
