"""Calls the kernels of testdata/kernels.yaml from Python: their results, and every mistake."""

import array
import ast
import collections
import gc
import inspect
import pathlib
import sys
import threading

import numpy as np
from tried import _kernels as k

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))
from kinds import compare_kinds  # noqa: E402

x23 = np.arange(6, dtype=np.float32).reshape(2, 3)
x, w, idx = np.ones((2, 3, 4), np.float32), np.ones((4, 2, 3), np.float32), np.zeros((2, 5), np.int64)


def raises(kind, text, f, *args, **keywords):
    try:
        f(*args, **keywords)
    except kind as e:
        assert type(e) is kind and str(e) == text, f"{type(e).__name__}: {e}"
    else:
        raise AssertionError(f"no {kind.__name__}: {text}")


def message(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def test_results_are_arrays_of_the_caller():
    y, rows = k.join(None, x, w, idx)
    assert type(y) is np.ndarray and y.shape == (2, 3, 4, 10) and y.dtype == np.float32 and rows == 240
    assert k.join(None, x, w, idx, 9)[1] == 9
    assert k.scalars("mean", [1, 3, 3])[0] == 1003
    assert k.scalars("sum", (1, 3, 3), [0.5, 0.25], True, 3, 20.0)[0] == 123.75
    z = np.from_dlpack(k.scalars("sum", [1, 3, 3])[1])
    assert z.shape == (2, 3) and not z.any(), "zeroed"


def lacks(kernel, result, dtype):
    return (f"{kernel}(): result '{result}': expected a dtype that the library of 'x' supports, got {dtype}: "
            "pass an array of another library, or memory as out=")  # fmt: skip


def test_dtypes_that_a_library_lacks():
    class Derived(np.ndarray):
        pass

    for array in (x23[0].copy(), x23[0].copy().view(Derived)):
        before = array.copy()
        raises(TypeError, lacks("shortened", "y", "bfloat16"), k.shortened, array)
        assert (array == before).all(), "the kernel has not run"
    raises(TypeError, lacks("shortest", "z", "float8_e3m4"), k.shortest, x23[0])
    z = np.empty(3, np.uint8)
    raises(TypeError, "shortest(): argument 'out[1]' (3rd): expected float8_e3m4, got uint8",
           k.shortest, x23[0], out=(None, z))  # fmt: skip


def test_arguments_are_written():
    y = x23.copy()
    assert k.scale(y, 3.0) is None and (y == 3 * x23).all()
    k.scale(y.T)
    assert (y == 6 * x23).all(), "by its default, and strided"


def test_scalars():
    y, most, half, first = k.copies(x23)
    assert (y == x23).all() and (most, half, first) == (1, 0.5, True)
    assert k.copies(x23, 2**64 - 1, None)[1:] == (2**64 - 1, -1.0, False)
    assert (k.copies(x23.T)[0] == x23.T).all(), "copied where it is not contiguous"
    assert (k.copies(x23[:, ::-1])[0] == x23[:, ::-1]).all(), "negative strides"
    assert k.numbers(np.ones(3, np.float16), 1.5) == (3.0, 4)
    assert k.numbers(np.ones(3, np.float16), 1, None) == (2.0, -1)
    assert k.numbers(np.ones(3, np.int16), -4) == (-8, 3)
    assert k.numbers(np.ones(3, np.uint64), 2**63 - 1) == (2**64 - 2, 3)
    assert k.numbers(np.ones(3, bool), 1) == (False, 3)
    for value in (65536.0, -65536.0):
        raises(
            OverflowError,
            f"numbers(): argument 'a' (2nd): float16 cannot represent {value}",
            k.numbers,
            np.ones(3, np.float16),
            value,
        )
    raises(
        OverflowError,
        "numbers(): argument 'a' (2nd): int16 cannot represent 32768",
        k.numbers,
        np.ones(3, np.int16),
        32768,
    )
    raises(
        OverflowError, "numbers(): argument 'a' (2nd): uint64 cannot represent -1", k.numbers, np.ones(3, np.uint64), -1
    )
    raises(OverflowError, "numbers(): argument 'a' (2nd): bool cannot represent 2", k.numbers, np.ones(3, bool), 2)
    raises(TypeError, "numbers(): argument 'a' (2nd): expected int16, got float", k.numbers, np.ones(3, np.int16), 1.5)
    assert k.numbers(np.ones(3, np.uint64), np.uint64(2**63)) == (0, 3)
    assert k.numbers(np.ones(3, bool), np.bool_(True)) == (False, 3)
    assert k.numbers(np.ones(3, bool), np.bool_(False)) == (True, 3)
    text = "numbers(): argument 'a' (2nd): expected int16, got bool"
    raises(TypeError, text, k.numbers, np.ones(3, np.int16), np.bool_(True))
    text = "numbers(): argument 'a' (2nd): expected bool, got float32"
    raises(TypeError, text, k.numbers, np.ones(3, bool), np.float32(1))
    text = "copies(): argument 'half' (3rd): float16 cannot represent 65536"
    raises(OverflowError, text, k.copies, x23, 1, np.int32(65536))
    raises(OverflowError, text + ".0", k.copies, x23, 1, np.array(65536.0))
    text = "numbers(): argument 'a' (2nd): uint64 cannot represent -1"
    raises(OverflowError, text, k.numbers, np.ones(3, np.uint64), np.int64(-1))
    text = "copies(): argument 'at' (2nd): expected uint64, got float32"
    raises(TypeError, text, k.copies, x23, np.float32(1))


def test_kinds_of_scalars():
    compare_kinds(lambda kernel, dtype, number: getattr(k, kernel)(np.zeros(1, dtype), number), without=("bfloat16",))


class Large(int):
    def __repr__(self):
        return "large"


class Indexed:
    calls = 0

    def __index__(self):
        self.calls += 1
        return 2**63


def test_large_integers():
    """Python does not convert an int of more than 4300 digits to a text."""
    for number, said in (
        (2**1023 - 1, str(2**1023 - 1)), (2**1023, "an integer of that size"), (-(2**20000), "an integer of that size"),
        (Large(2**70), str(2**70)), (Indexed(), "9223372036854775808"), (np.uint64(2**63), "9223372036854775808"),
    ):  # fmt: skip
        text = f"scalars(): argument 'sizes' (2nd): item 1: int64 cannot represent {said}"
        raises(OverflowError, text, k.scalars, "sum", [1, number, 3])
        raises(OverflowError, f"scalars(): argument 'tiny' (5th): int8 cannot represent {said}",
               k.scalars, "sum", [1, 3, 3], tiny=number)  # fmt: skip
    foreign, text = Indexed(), "scalars(): argument 'tiny' (5th): int8 cannot represent 9223372036854775808"
    raises(OverflowError, text, k.scalars, "sum", [1, 3, 3], tiny=foreign)
    assert foreign.calls == 1
    foreign = Indexed()
    text = "copies(): argument 'half' (3rd): float16 cannot represent 9223372036854775808"
    raises(OverflowError, text, k.copies, x23, 1, foreign)
    assert foreign.calls == 1
    large = "cannot represent an integer of that size"
    raises(OverflowError, f"numbers(): argument 'a' (2nd): uint64 {large}", k.numbers, np.ones(3, np.uint64), 2**20000)
    raises(OverflowError, f"numbers(): argument 'a' (2nd): float16 {large}", k.numbers, np.ones(3, np.float16), 2**1024)
    raises(OverflowError, f"copies(): argument 'half' (3rd): float16 {large}", k.copies, x23, 1, 2**20000)
    raises(OverflowError, f"scalars(): argument 'weights' (3rd): item 0: float {large}",
           k.scalars, "sum", [1, 3, 3], [2**20000, 1])  # fmt: skip
    text = "copies(): argument 'half' (3rd): float16 cannot represent 1e+300"
    raises(OverflowError, text, k.copies, x23, 1, np.float64(1e300))


def test_exhausted_memory():
    large = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (2**30, 2**28), (0, 0))
    raises(MemoryError, "copies(): argument 'x' (1st): no memory for a contiguous copy", k.copies, large)
    raises(MemoryError, "scalars(): result 'z': no memory", k.scalars, "sum", [0, 2**20, 2**36], like=x23)


def test_tuples_for_results():
    text = "pair(): argument 'out': expected a tuple of 2 tensors, got "
    one = np.ones(3, np.float32)
    for out, got in ([one, one], "list"), ((one,), "1"), ((one,) * 3, "3"), (one, "ndarray"):
        raises(TypeError, text + got, k.pair, one, out=out)


def test_out():
    out = np.empty((2, 3, 4, 10), np.float32)
    assert k.join(None, x, w, idx, out=out)[0] is out
    raises(
        TypeError,
        "join(): argument 'out' (6th): expected float32, got float64",
        k.join,
        None,
        x,
        w,
        idx,
        out=out.astype(np.float64),
    )
    raises(ValueError, "join(): argument 'out' (6th): expected 4 dimensions, got 3", k.join, None, x, w, idx, out=x)
    raises(
        ValueError,
        "join(): argument 'out' (6th): expected 3 in dimension 1, got 2",
        k.join,
        None,
        x,
        w,
        idx,
        out=out[:, :2],
    )
    y = np.ones((2, 3), np.float32)
    raises(
        BufferError,
        "copies(): argument 'out' (4th): it is writable, but overlaps argument 'x' (1st)",
        k.copies,
        y,
        out=y,
    )


def test_mistakes():
    raises(TypeError, "scale(): argument 'x' (1st): it is missing", k.scale)
    raises(TypeError, "scale() takes 2 arguments, got 3", k.scale, x23, 1, 2)
    raises(TypeError, "scale() got an unexpected keyword argument 'c'", k.scale, x23, c=3)
    raises(TypeError, "scale() got multiple values for argument 'x'", k.scale, x23, x=x23)
    raises(
        TypeError,
        "scale(): argument 'x' (1st): expected float32 or float64, got int64",
        k.scale,
        np.ones((2, 2), np.int64),
    )
    raises(TypeError, "scale(): argument 'by' (2nd): expected T, got None", k.scale, x23, None)
    raises(TypeError, "scale(): argument 'by' (2nd): expected float32, got str", k.scale, x23, "a")
    raises(ValueError, "scale(): argument 'x' (1st): expected 2 dimensions, got 1", k.scale, x23[0])
    raises(TypeError, "join(): argument 'idx' (4th): it is missing", k.join, x, w, idx)
    raises(TypeError, "join(): argument 'q' (5th): expected int, got str", k.join, None, x, w, idx, "a")
    raises(
        ValueError, "join(): argument 'w' (3rd): expected 3 in dimension 2, got 2", k.join, None, x, w[:, :, :2], idx
    )
    raises(
        TypeError,
        "join(): expected T in float32|float64, where T = int32",
        k.join,
        None,
        x.astype(np.int32),
        w.astype(np.int32),
        idx,
    )
    raises(TypeError, "scalars(): argument 'mode' (1st): expected str, got int", k.scalars, 3, [1, 3, 3])
    raises(ValueError, "scalars(): argument 'mode' (1st): expected a string without NUL", k.scalars, "m\0", [1, 3, 3])
    raises(
        ValueError,
        "scalars(): argument 'mode' (1st): expected a string that UTF-8 can encode, got '\\ud800'",
        k.scalars,
        "\ud800",
        [1, 3, 3],
    )
    raises(
        TypeError, "scalars(): argument 'sizes' (2nd): item 2: expected int, got str", k.scalars, "sum", [1, 3, "a"]
    )
    for error, text, sizes in [
        (OverflowError, "item 0: int64 cannot represent 9223372036854775808", [2**63, 3, 3]),
        (TypeError, "item 1: expected int, got bool", (1, True, 3)),
        (TypeError, "item 0: expected int, got float", [1.5]),
        (TypeError, "item 0: expected int, got None", [None]),
        (RuntimeError, "item 1: no number", [1, Failing(ZeroDivisionError("no number"))]),
        (ValueError, "item 0: ", [Failing(ValueError())]),
        (ValueError, "no items", Broken([1, 3, 3])),
    ]:
        raises(error, f"scalars(): argument 'sizes' (2nd): {text}", k.scalars, "sum", sizes)
    text = "scalars(): argument 'weights' (3rd): item 1: expected float, got str"
    raises(TypeError, text, k.scalars, "sum", [1, 3, 3], [1, "2"])
    raises(KeyboardInterrupt, "", k.scalars, "sum", [Failing(KeyboardInterrupt())])
    raises(TypeError, "scalars(): argument 'sizes' (2nd): expected a list of int, got ndarray", k.scalars, "sum", x23)
    for sizes in (range(1, 4), array.array("q", [1, 2, 3]), collections.deque([1, 2, 3]), bytearray([1, 2, 3])):
        assert k.scalars("sum", sizes, like=x23)[0] == k.scalars("sum", [1, 2, 3], like=x23)[0]
    for sizes in ("123", b"123", {1: 2}, {1, 2, 3}, iter([1])):
        text = f"scalars(): argument 'sizes' (2nd): expected a list of int, got {type(sizes).__name__}"
        raises(TypeError, text, k.scalars, "sum", sizes)
    raises(RuntimeError, "scalars(): argument 'sizes' (2nd): no class", k.scalars, "sum", Classless())
    raises(ValueError, "scalars(): argument 'sizes' (2nd): expected at least 3 items, got 2", k.scalars, "sum", [1, 3])
    raises(
        OverflowError,
        "scalars(): argument 'tiny' (5th): int8 cannot represent 128",
        k.scalars,
        "sum",
        [1, 3, 3],
        tiny=128,
    )
    raises(
        ValueError, 'scalars(): expected mode in "sum"|"mean", where mode = \'median\'', k.scalars, "median", [1, 3, 3]
    )


class Classless:
    """An object that raises when its class is queried."""

    @property
    def __class__(self):
        raise RuntimeError("no class")


class Broken(list):
    """A list that cannot be read."""

    def __iter__(self):
        raise ValueError("no items")


class Failing:
    """A number whose conversion raises."""

    def __init__(self, error):
        self.error = error

    def __index__(self):
        raise self.error


class Capsules:
    """An array that is read only through its methods."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_the_first_mistake_is_reported_however_tensors_are_read():
    wrong = x, w[0], idx.astype(np.float32)
    for read in (lambda array: array), Capsules:
        text = "join(): argument 'w' (3rd): expected 3 dimensions, got 2"
        raises(ValueError, text, k.join, None, *map(read, wrong))


def test_statuses():
    raises(
        IndexError, "scalars(): argument 'sizes' (2nd): a size is out of range", k.scalars, "sum", [50, 51, 1], tiny=1
    )
    raises(MemoryError, "scalars(): argument 'sum' has no room", k.scalars, "sum", [50, 51, 1], tiny=2)
    raises(NotImplementedError, "scalars(): not on this machine", k.scalars, "sum", [50, 51, 1], tiny=-3)
    raises(RuntimeError, "scalars(): the kernel failed with status 3", k.scalars, "sum", [50, 51, 1])


def test_read_only():
    y = x23.copy()
    y.flags.writeable = False
    raises(BufferError, "scale(): argument 'x' (1st): it is read-only, but the parameter is writable", k.scale, y)


def test_kernels_without_tensors():
    assert type(k.alone()) is k.Tensor
    y = k.alone(like=x)
    assert type(y) is np.ndarray and y.shape == (3,) and y[2] == 5


def test_the_gil_is_released():
    """Two threads are in one kernel concurrently."""
    met = []
    threads = [threading.Thread(target=lambda: met.append(k.meet(-1))) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert met == [None, None]


def test_the_gil_is_held_where_the_kernel_says_so():
    """A thread that waits in the kernel for another one never meets it; without a GIL it does."""
    met = []
    threads = [threading.Thread(target=lambda: met.append(message(k.meet_held, 50))) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        assert met == ["RuntimeError: meet_held(): the kernel failed with status 1"] * 2


def test_kernels_with_the_gil_check_everything():
    y = np.arange(3, dtype=np.float32)
    assert (k.held(x23, y, 2) == 2 * x23 + y).all()
    out = np.zeros_like(x23)
    assert k.held(x23, out=out) is out and (out == x23).all()
    assert (k.held(x23[:, ::-1].copy(), by=3.0) == 3 * x23[:, ::-1]).all()
    raises(TypeError, "held(): argument 'x' (1st): expected float32, got float64", k.held, x23.astype(float))
    raises(
        ValueError,
        "held(): argument 'y' (2nd): expected n = 3 in dimension 0, as in argument 'x' (1st), got 2",
        k.held,
        x23,
        y[:2],
    )
    y.flags.writeable = False
    read_only = "held(): argument 'out' (4th): it is read-only, but the parameter is writable"
    raises(BufferError, read_only, k.held, y, out=y)
    raises(OverflowError, "held(): argument 'by' (3rd): float32 cannot represent 1e+300", k.held, x23, None, 1e300)


def test_serial_kernels_run_one_call_at_a_time():
    failures = []

    def call():
        for _ in range(20):
            try:
                k.alone()
            except RuntimeError as e:
                failures.append(str(e))

    threads = [threading.Thread(target=call) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures


def test_signatures():
    assert str(inspect.signature(k.join)) == "(bias, x, w, idx, q=None, *, out=None)"
    assert str(inspect.signature(k.devices)) == "(x, y, host, *, stream=None)"
    assert "\nRaises:\n    IndexError: argument 'sizes': a size is out of range\n" in k.scalars.__doc__
    assert 'where mode in "sum"|"mean"' in k.scalars.__doc__ and 's: str? = "none"' in k.numbers.__doc__
    assert "x: T[..., n]" in k.join.__doc__ and "where n % 2 == 0 and n <= 64" in k.join.__doc__


def test_the_stub_says_the_same():
    stub = ast.parse(pathlib.Path(k.__file__).with_name("_kernels.pyi").read_text())
    functions = {f.name: f for f in stub.body if isinstance(f, ast.FunctionDef)}
    public = {n for n in dir(k) if inspect.isbuiltin(getattr(k, n))}
    assert set(functions) == public
    for name, f in functions.items():
        real = inspect.signature(getattr(k, name))
        assert [a.arg for a in f.args.args + f.args.kwonlyargs] == list(real.parameters), name
        given = [ast.literal_eval(d) for d in f.args.defaults]
        assert given == [
            p.default
            for p in real.parameters.values()
            if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is not p.empty
        ], name


def test_nothing_leaks():
    def all_mistakes():
        test_mistakes()
        test_statuses()
        test_out()
        test_scalars()
        test_results_are_arrays_of_the_caller()

    gc.freeze()  # so that collections are fast
    grown = 20
    for _ in range(8):  # Python's caches grow at first; a leak grows each time
        before = sys.getallocatedblocks()
        for _ in range(20):
            all_mistakes()
            gc.collect()
        grown = sys.getallocatedblocks() - before
        if grown < 10:
            break
    assert grown < 10, f"{grown} blocks of Python in 20 rounds"
    assert sys.getrefcount(x) < 10


def test_torch():
    import torch

    y, _ = k.join(None, torch.ones(2, 3, 4), torch.ones(4, 2, 3), torch.zeros(2, 5, dtype=torch.int64))
    assert type(y) is torch.Tensor and y.shape == (2, 3, 4, 10)
    t = torch.ones(2, 3)
    k.scale(t, 4)
    assert (t == 4).all()
    y, _ = k.join(None, torch.ones(2, 3, 4), w, idx)
    assert type(y) is torch.Tensor, "of the first argument that is always there"
    y = k.shortened(torch.ones(3))
    assert y.dtype is torch.bfloat16 and (y == 1).all()
    array, y = np.ones(3, np.float32), torch.zeros(3, dtype=torch.bfloat16)
    assert k.shortened(array, out=y) is y and (y == 1).all() and (array == 2).all()
    raises(TypeError, lacks("shortest", "z", "float8_e3m4"), k.shortest, torch.ones(3))


if __name__ == "__main__":
    chosen = [
        f for n, f in list(globals().items()) if n.startswith("test_") and (n != "test_torch" or "torch" in sys.argv)
    ]
    for test in chosen:
        test()
    print(len(chosen), "tests")
