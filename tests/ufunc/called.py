"""Calls kernels as NumPy ufuncs, compared with the Python module in the same library."""

import pickle
import threading
import warnings

import numpy as np

import kernels_ufunc as ufuncs
from tried import _kernels as module

count = 0
F4, F8, I1, I8 = np.float32, np.float64, np.int8, np.int64


def same(got, want):
    global count
    got = got if isinstance(got, tuple) else (got,)
    want = want if isinstance(want, tuple) else (want,)
    assert len(got) == len(want), (got, want)
    for a, b in zip(map(np.asarray, got), map(np.asarray, want)):
        assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b), (a, b)
    count += 1


def raised(make):
    try:
        made = make()
    except Exception as error:
        return error
    raise AssertionError(f"nothing was raised, but {made!r} returned")


def rejects(kernel, *arguments):
    """Compares an error with the module's."""
    global count
    want = raised(lambda: getattr(module, kernel)(*arguments))
    got = raised(lambda: getattr(ufuncs, kernel)(*arguments))
    assert (type(got), str(got)) == (type(want), str(want)), (got, want)
    count += 1


def host_rejects(kind, text, make):
    """An error of NumPy, before any loop runs."""
    global count
    error = raised(make)
    assert isinstance(error, kind) and text in str(error), error
    count += 1


def forms(rng, array):
    """The same values with other strides."""
    yield array
    yield np.asfortranarray(array)
    yield np.repeat(array, 2, axis=-1)[..., ::2]
    yield array[..., ::-1].copy()[..., ::-1]
    wide = rng.standard_normal((*array.shape[:-1], array.shape[-1] + 3)).astype(array.dtype)
    wide[..., 2:-1] = array
    yield wide[..., 2:-1]
    record = np.zeros(array.shape, np.dtype([("pad", "u1"), ("x", array.dtype)]))
    record["x"] = array
    yield record["x"]


def test_what_they_are():
    gufunc = ufuncs.rms_norm
    assert type(gufunc) is np.ufunc and gufunc.signature == "(n),(n)->(n)", gufunc.signature
    assert gufunc.types == ["ff->f", "dd->d"], gufunc.types
    assert "Scales each row" in gufunc.__doc__ and "where n <= 16" in gufunc.__doc__, gufunc.__doc__
    assert ufuncs.matmul.signature == "(m,k),(k,n)->(m,n)"
    assert ufuncs.twice.signature == "(n),(d0),(d1)->(n)", ufuncs.twice.signature
    assert ufuncs.calls.signature == "(3)->()"
    assert ufuncs.stats.signature == "(n),(),(),(),(),()->(),(),(),()"
    assert pickle.loads(pickle.dumps(gufunc)) is gufunc
    assert sorted(ufuncs.__all__) == sorted(name for name, f in vars(ufuncs).items() if isinstance(f, np.ufunc))


def test_values():
    rng = np.random.default_rng(1)
    for dtype in (F4, F8):
        for shape in [(4,), (2, 4), (3, 2, 4), (2, 1, 3, 4), (5, 0, 4), (1, 4)]:
            x, weight = rng.standard_normal(shape).astype(dtype), rng.standard_normal(4).astype(dtype)
            want = module.rms_norm(x, weight)
            for y in forms(rng, x):
                same(ufuncs.rms_norm(y, weight), want)
            for w in forms(rng, weight):
                same(ufuncs.rms_norm(x, w), want)


def test_broadcasting():
    rng = np.random.default_rng(2)
    x, weight = rng.standard_normal((3, 1, 4)), rng.standard_normal((2, 4))
    want = np.stack([np.stack([module.rms_norm(x[i, 0], weight[j]) for j in range(2)]) for i in range(3)])
    same(ufuncs.rms_norm(x, weight), want)
    a, b = rng.standard_normal((5, 2, 3)), rng.standard_normal((3, 4))
    same(ufuncs.matmul(a, b), np.stack([module.matmul(one, b) for one in a]))
    same(ufuncs.matmul(a, b[None, None]), np.stack([module.matmul(one, b) for one in a])[None])
    same(ufuncs.axpy(np.arange(3.0)[:, None], np.arange(4.0), 1.0), np.arange(3.0)[:, None] * np.arange(4) + 1)
    table, idx = rng.standard_normal((4, 3)).astype(F4), np.array([[3, 0], [1, 1]])
    same(ufuncs.gather(table, idx), table[idx])
    same(ufuncs.gather(np.stack([table, -table]), np.array([2, 3])), np.stack([table[2], -table[3]]))


def test_dtypes():
    for dtype in (F8, I8, np.uint64, np.bool_):
        x = np.arange(5).astype(dtype)
        same(ufuncs.axpy(x[1], x, x), x[1] * x + x)
    largest = np.array([2**64 - 3], np.uint64)
    same(ufuncs.axpy(np.uint64(1), largest, np.ones(1, np.uint64)), largest + np.uint64(1))
    same(ufuncs.axpy(2**63 + 5, np.ones(1, np.uint64), np.zeros(1, np.uint64)), np.full(1, 2**63 + 5, np.uint64))
    same(ufuncs.axpy(2**64 - 1, np.ones(2, np.uint64), np.zeros(2, np.uint64)), np.full(2, 2**64 - 1, np.uint64))
    same(ufuncs.axpy(np.array(2, np.uint8).view(np.bool_), np.ones(1, bool), np.zeros(1, bool)), np.ones(1, bool))
    x = np.arange(-3, 3, dtype=I1)
    same(ufuncs.axpy(I1(-2), x, x), module.axpy(-2, x, x))
    same(ufuncs.axpy(2, x, x), module.axpy(2, x, x))  # NumPy casts Python numbers
    assert ufuncs.axpy(np.ones(6, np.int16), x, x).dtype == I8
    assert ufuncs.axpy(1.5, x, x).dtype == F8
    assert ufuncs.axpy.types == ["???->?", "bbb->b", "lll->l", "LLL->L", "ddd->d"], ufuncs.axpy.types
    assert ufuncs.rms_norm(np.ones((2, 4), np.float16), np.ones(4, np.float16)).dtype == F4
    assert ufuncs.rms_norm(np.ones((2, 4), F4), np.ones(4, F4), dtype=F8).dtype == F8
    same(ufuncs.axpy(1, np.arange(3, dtype=">i8"), np.arange(3, dtype=">i8")), 2 * np.arange(3))
    for dtype, size in [("?", 1), ("u2", 2), ("i4", 4), ("f2", 2), ("c8", 8), ("c16", 16), ("u8", 8), ("i8", 8)]:
        same(ufuncs.sizes(np.ones(2, dtype), np.ones(2, "i2")), np.array([size, 2]))
        same(ufuncs.sizes(np.ones(2, dtype), np.ones(2, "i1")), np.array([size, 1]))
    unsupported = "not supported for the input types"
    host_rejects(TypeError, unsupported, lambda: ufuncs.rms_norm(np.ones(4, complex), np.ones(4)))
    host_rejects(TypeError, unsupported, lambda: ufuncs.sizes(np.ones(4, object), np.ones(4, I1)))
    host_rejects(TypeError, "", lambda: ufuncs.rms_norm(np.ones(4), np.ones(4), out=np.ones(4, I8)))


def test_layouts():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((3, 4)).astype(F4)
    weights = np.arange(1, 13, dtype=F8).reshape(3, 4)
    want = np.full(5, (x.astype(F8) * weights).sum())
    taken = {  # for each form: the strides that the kernel receives
        0: [4, 1, 4, 1, 4, 1, 1, 3, 4, 1],
        1: [1, 3, 4, 1, 1, 3, 1, 3, 4, 1],
        2: [8, 2, 4, 1, 4, 1, 1, 3, 4, 1],
        3: [4, -1, 4, 1, 4, -1, 1, 3, 4, 1],
        4: [7, 1, 7, 1, 4, 1, 1, 3, 4, 1],
        5: [4, 1, 4, 1, 4, 1, 1, 3, 4, 1],
    }
    for i, y in enumerate(forms(rng, x)):
        strides, sums = ufuncs.layouts(y, y, y, y, y)
        assert np.allclose(sums, want), (i, sums)
        same(strides, np.array(taken[i]))
    strides, sums = ufuncs.layouts(*[np.stack([x, x])] * 5)
    assert np.allclose(sums, want) and strides.shape == (2, 10)
    record = np.zeros(4, np.dtype([("pad", "f4"), ("z", "c8")]))  # strides of one and a half elements
    record["z"] = np.arange(4) * (1 + 2j)
    same(ufuncs.conjugate(record["z"]), record["z"].conj())
    same(ufuncs.conjugate(record["z"][::-2]), record["z"][::-2].conj())


def test_alignment():
    block = np.zeros(1000, np.uint8)
    block = block[-block.ctypes.data % 64 :]
    for shift in range(0, 40, 4):
        x = block[shift:][:64].view(F4)
        x[:] = np.arange(16)
        y, misplaced = ufuncs.aligned(x)
        same(misplaced, I8(0))
        same(y, x)
        y, misplaced = ufuncs.aligned(x[:10].reshape(2, 5))
        same(misplaced, np.zeros(2, I8))
        same(y, np.arange(10, dtype=F4).reshape(2, 5))


def test_scalars():
    x = np.arange(4.0)
    same(ufuncs.stats(x, 0.5, 7, False, 200, 3), (F8(10), I8(7), np.True_, np.int16(-700)))
    same(ufuncs.stats(x + 0.25, 1, -7, True, 0, -3), (F8(0), I8(1), np.True_, np.int16(-900)))
    want = tuple(np.asarray(one) for one in module.stats(x, 2.0, 1, True, 4, 9))
    got = ufuncs.stats(x, np.array([2.0, 2.0]), 1, True, 4, 9)
    for a, b in zip(got, want):
        assert a.shape == (2,) and (a == b).all(), (a, b)
    host_rejects(TypeError, "", lambda: ufuncs.stats(x, 1.0, 1.5, True, 4, 9))


def test_out():
    rng = np.random.default_rng(4)
    x, weight = rng.standard_normal((3, 4)), rng.standard_normal(4)
    want = module.rms_norm(x, weight)
    for out in forms(rng, np.empty((3, 4))):
        assert ufuncs.rms_norm(x, weight, out=out) is out
        same(out, want)
    out = np.empty((3, 4), F4)
    ufuncs.rms_norm(x, weight, out=out, casting="same_kind")
    same(out, want.astype(F4))
    y = x.copy()
    ufuncs.rms_norm(y, y[0], out=y)  # NumPy copies overlapping operands
    same(y, module.rms_norm(x, x[0]))
    same(ufuncs.rms_norm(x, weight, out=np.empty((2, 3, 4))), np.stack([want, want]))
    same(ufuncs.fill(2.5, np.arange(3.0)), np.arange(3.0) + 2.5)
    out = np.empty(3)
    assert ufuncs.fill(0, np.arange(3.0), out) is out
    same(out, np.arange(3.0))
    frozen = np.empty((3, 4))
    frozen.setflags(write=False)
    host_rejects(ValueError, "read-only", lambda: ufuncs.rms_norm(x, weight, out=frozen))


def test_elements():
    """Without core dimensions, NumPy permits outputs to overlap inputs, and relies on the order of
    the elements."""
    x, y = np.arange(1, 9), np.arange(8) * 10
    for n in (1, 8):
        got = y[:n].copy()
        ufuncs.plus(x[:n], got, out=got)
        same(got, x[:n] + y[:n])
        ufuncs.plus(got, got, got)
        same(got, 2 * (x[:n] + y[:n]))
    got = np.stack([x, y], axis=1)
    ufuncs.plus(got[::-1, 0], got[:, 0], out=got[:, 0])
    same(got, np.stack([np.full(8, 9), y], axis=1))
    got = np.arange(10)
    ufuncs.plus(got[1:], got[:-1], out=got[1:])
    same(got, np.array([0, 1, 3, 5, 7, 9, 11, 13, 15, 17]))
    got = np.arange(10)
    same(ufuncs.runs(got[:5], out=got[5:]), np.full(5, 5))
    same(ufuncs.runs(got[5:], out=got[:5]), np.full(5, 5))
    same(ufuncs.runs(got[6:], out=got[:4]), np.full(4, 4))
    same(ufuncs.runs(got, out=got), np.full(10, 10))
    same(ufuncs.runs(got[4:9], out=got[:5]), np.full(5, 1))
    same(ufuncs.plus.reduce(x), I8(36))
    same(ufuncs.plus.reduce(np.stack([x, y])), x + y)
    same(ufuncs.plus.accumulate(x), np.cumsum(x))
    same(ufuncs.plus.outer(x, y), x[:, None] + y)
    got = np.zeros(8, I8)
    ufuncs.plus(x, y, out=got, where=x % 2 == 0)
    same(got, np.where(x % 2 == 0, x + y, 0))
    ufuncs.plus.at(got, [0, 0], 5)
    same(got[0], I8(10))


def test_axes():
    rng = np.random.default_rng(5)
    x, weight = rng.standard_normal((4, 3)), rng.standard_normal(4)
    want = module.rms_norm(np.ascontiguousarray(x.T), weight)
    same(ufuncs.rms_norm(x, weight, axis=0), want.T)
    same(ufuncs.rms_norm(x, weight, axes=[0, 0, -1]), want)
    host_rejects(TypeError, "where", lambda: ufuncs.rms_norm(x.T, weight, where=True))
    host_rejects(RuntimeError, "Reduction not defined", lambda: ufuncs.rms_norm.reduce(x))


def test_calls_are_joined():
    x = np.zeros((4, 5, 3))
    same(ufuncs.calls(x), np.full((4, 5), 60))
    same(ufuncs.calls(x[:, ::2]), np.full((4, 3), 3))
    same(ufuncs.calls(np.zeros((4, 4))[:, 1:]), np.full(4, 3))
    same(ufuncs.calls(np.broadcast_to(np.zeros(3), (6, 3))), np.full(6, 3))
    same(ufuncs.calls(np.zeros(3)), I8(3))
    same(ufuncs.each(x, 0), np.full((4, 5), 3))


def test_mistakes():
    x, w = np.ones((3, 4)), np.ones(4)
    rejects("rms_norm", np.ones((2, 17)), np.ones(17))
    rejects("rms_norm", x * 1e6, w)
    rejects("rms_norm", (x * [[1], [1e6], [1]]).astype(F4), w.astype(F4))
    rejects("gather", np.ones((4, 2), F4), np.array([1, 4]))
    rejects("gather", np.ones((4, 2), F4), np.array([-1]))
    rejects("twice", np.ones(3), np.ones(7), w)
    rejects("twice", np.ones(1), np.ones(2), w)
    rejects("stats", np.ones(3), 1.0, 1, True, 99, 1)
    rejects("stats", np.ones(3), 1.0, 1, True, 98, 1)
    host_rejects(ValueError, "mismatch in its core dimension 0", lambda: ufuncs.rms_norm(x, np.ones(5)))
    host_rejects(ValueError, "mismatch in its core dimension 0", lambda: ufuncs.calls(x))
    host_rejects(ValueError, "does not have enough dimensions", lambda: ufuncs.rms_norm(1.0, w))
    host_rejects(TypeError, "", lambda: ufuncs.rms_norm(x))
    host_rejects(TypeError, "bias", lambda: ufuncs.rms_norm(x, w, bias=w))
    text = "layouts(): argument 'b' (2nd): no memory for a copy of it"
    wide = np.broadcast_to(F4(1), (1 << 40, 1 << 18))
    host_rejects(MemoryError, text, lambda: ufuncs.layouts(wide, wide, wide, wide, wide, out=(None, None)))


def test_an_error_is_the_first_one():
    """NumPy runs further loops after an error."""
    x, w = np.full((5, 2, 4), 1e6), np.ones((2, 4))
    error = raised(lambda: ufuncs.rms_norm(x, w))
    assert type(error) is IndexError and error.__context__ is None, error
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(100):
            raised(lambda: ufuncs.rms_norm(x, w))
    same(ufuncs.rms_norm(x / 1e6, w), module.rms_norm(x / 1e6, w[0]))


def test_threads():
    x, w = np.random.default_rng(6).standard_normal((2000, 16)), np.ones(16)
    want, wrong = module.rms_norm(x, w), []

    def work(i):
        for n in range(20):
            if (i + n) % 3 == 0:
                error = raised(lambda: ufuncs.rms_norm(x * 1e6, w))
                wrong.extend([error] if type(error) is not IndexError else [])
            elif not np.array_equal(ufuncs.rms_norm(x.T, w, axes=[0, 0, -1]), want):
                wrong.append(n)
            if (ufuncs.turns(np.ones((20, 30))) != 1).any():
                wrong.append("two threads are in a serial kernel")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong, wrong[:3]


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok", name, flush=True)
    print(f"{count} tests, numpy {np.__version__}")
