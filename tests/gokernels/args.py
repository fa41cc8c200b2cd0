"""Every kind of argument and result of a kernel in Go, through the Python module."""

import ctypes

import numpy as np

import _args

INTS = np.array([7, 8], "int32")


def output(call):
    try:
        call()
    except RuntimeError as error:
        return str(error).removeprefix("say(): ")
    raise AssertionError("nothing was raised")


def test_say():
    half = np.array([1, 2], "float16")
    rest = dict(k=-3, f=0.5, b=True, s="héllo", tiny=-128, half=0.25, ks=[1, 2], fs=[], some=half, either=INTS)
    tail = '-3 0.5 true "héllo" -128 0.25 [1 2] [] float16[2] int32[2]; '
    none = "None None 2.5 None None None [] true"
    for dtype, by, got in (("float32", 1.5, "1.5"), ("float64", 2, "2"), ("float16", 0.5, "0.5"),
                           ("bool", True, "true"), ("int8", -7, "-7"), ("uint64", 2**64 - 1, str(2**64 - 1))):
        x = np.ones(2, dtype)
        ones = "[true true]" if dtype == "bool" else "[1 1]"
        heard = output(lambda: _args.say(x, by, **rest))
        assert heard == f"{ones} {got} {tail}{none}", heard
    given = dict(maybe_x=np.zeros(2, "int8"), maybe_k=1, maybe_f=None, maybe_b=False, maybe_tiny=255, maybe_s="",
                 maybe_ks=[])
    x = np.array([3, 4], "int8")
    assert output(lambda: _args.say(x, 1, **rest, **given)) == f"[3 4] 1 {tail}[0 0] 1 None false 255  [] false"
    empty = output(lambda: _args.say(np.empty(0, "int8"), 1, **rest))
    assert empty.startswith("[] 1 "), empty


def test_return_values():
    for dtype in ("float32", "int32"):
        x = np.arange(6, dtype=dtype).reshape(2, 3) + 1
        y, first, count, mean, yes, half, ones = _args.give(x)
        np.testing.assert_array_equal(y, x.T)
        assert (first, count, mean, yes, half) == (1, 6, 3.5, True, 1.5)
        assert type(first) is (float if dtype == "float32" else int)
        np.testing.assert_array_equal(ones, [1, 1])


def test_double():
    for dtype in ("float32", "complex64", "complex128", "float16", "uint8"):
        memory = np.arange(24, dtype=dtype).reshape(4, 6)
        x = memory[::-1, ::2]
        want, beside = x * np.array(2, dtype), memory[:, 1::2].copy()
        _args.twice(x)
        np.testing.assert_array_equal(x, want)
        np.testing.assert_array_equal(memory[:, 1::2], beside)
        other = np.ones(3, dtype)
        _args.twice(np.ones(3, dtype), other)
        np.testing.assert_array_equal(other, other * 0 + 2)


def test_pick():
    memory = np.arange(24, dtype="float64").reshape(4, 6)
    for x in (memory, memory.T, memory[1:, 1::2], memory[:, :1]):
        i, j = x.shape[0] - 1, x.shape[1] - 1
        assert _args.pick(x, i, j) == (x[i, j], x[i, j]), x.strides
    assert _args.pick(memory[::-1], 1, 2) == (memory[::-1][1, 2], -1)
    for shape in ((3, 0), (0, 3)):
        assert _args.pick(np.empty(shape), -1, 0) == (0, 0), shape
    wrong = output(lambda: _args.pick(memory, 4, 0))
    assert wrong.startswith("pick(): panic: runtime error: index out of range [4] with length 4, at kernels.go:"), wrong
    wrong = output(lambda: _args.pick(memory, 0, -6))
    text = "pick(): panic: runtime error: slice bounds out of range [:2] with capacity 1, at kern"
    assert wrong.startswith(text), wrong


def test_count():
    assert _args.count(np.arange(100)) == 4950


def test_nothing():
    assert _args.nothing() == 42


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
print("done")
