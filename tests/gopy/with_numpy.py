import contextlib
import threading

from check import equal, framework, main, no_leak, outstanding, raises

(np,) = framework("numpy")
import gopy


def test_go_sees_an_array_in_place():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    want = (x.ctypes.data, "float32", (2, 3), (3, 1), "CPU:0", False)
    equal(gopy.describe(x), want)
    equal(gopy.describe_owned(x), want)
    equal(gopy.sum(x), 15.0)
    gopy.fill(x, 2)
    equal(x.tolist(), [[2, 2, 2], [2, 2, 2]])


def test_strides_and_order():
    x = np.arange(24, dtype=np.float64).reshape(2, 3, 4)[:, ::-1, ::2].transpose(2, 0, 1)
    equal(gopy.describe(x), (x.ctypes.data, "float64", (2, 2, 3), (2, 12, -4), "CPU:0", False))
    with raises(BufferError, "fill(): argument 1", "not C-contiguous", "strides [2 -1] of shape [2 3]"):
        gopy.fill(np.lib.stride_tricks.as_strided(np.zeros(12, np.float32)[3:], (2, 3), (8, -4)), 1)


def test_scalars_and_nothing():
    x = np.array(3.5, np.float32)
    equal(gopy.describe(x)[2:4], ((), ()))
    equal(gopy.sum(x), 3.5)
    equal(gopy.sum(np.zeros((0, 3), np.float32)), 0.0)


def test_every_type():
    for (
        name
    ) in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split():
        equal(gopy.describe(np.zeros(2, name))[1], name)


def test_read_only_is_honoured():
    x = np.ones(3, np.float32)
    x.flags.writeable = False
    equal(gopy.describe(x)[5], True)
    equal(gopy.sum(x), 3.0)
    with raises(BufferError, "fill(): argument 1", "read-only"):
        gopy.fill(x, 1)


def test_wrong_types_say_both():
    with raises(BufferError, "sum(): argument 1", "float64", "float32"):
        gopy.sum(np.ones(2))
    with raises(BufferError, "int64", "float32"):
        gopy.sum(np.ones(2, np.int64))
    with raises(TypeError, "sum(): argument 1", "not a tensor"):
        gopy.sum([1.0])
    with raises(TypeError, ", got 0"):
        gopy.sum()


def test_values_that_are_not_in_memory():
    with raises(BufferError, "masked"):
        gopy.sum(np.ma.array(np.ones(3, np.float32), mask=[0, 1, 0]))
    unaligned = np.frombuffer(b"\0" * 13, np.uint8)[1:].view(np.float32)
    with raises(BufferError, "not aligned"):
        gopy.sum(unaligned)
    with raises(BufferError):
        gopy.sum(np.ones(2, ">f4"))
    with raises(BufferError):
        gopy.sum(np.array([None]))


def test_subclasses_that_are_plain():
    class Sub(np.ndarray):
        pass

    equal(gopy.sum(np.ones(3, np.float32).view(Sub)), 3.0)


def test_numpy_sees_go_in_place():
    t = gopy.counting(2, 3, 0)
    x = np.from_dlpack(t)
    equal(x.tolist(), [[0, 1, 2], [3, 4, 5]])
    equal(x.ctypes.data, gopy.describe(t)[0])
    x[0, 0] = 7
    equal(gopy.sum(t), 22.0)
    equal(x.flags.writeable, True)


def test_numpy_sees_strides_of_go():
    x = np.from_dlpack(gopy.strided())
    equal(x.strides, (4, 16))
    equal(x.tolist(), [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]])


def test_numpy_honours_read_only():
    x = np.from_dlpack(gopy.counting(2, 2, 1))
    equal(x.flags.writeable, False)
    with raises(ValueError, "read-only"):
        x[0, 0] = 1


def test_copies():
    t = gopy.counting(2, 3, 1)
    x = np.from_dlpack(t, copy=True)
    assert x.ctypes.data != gopy.describe(t)[0]
    equal(x.flags.writeable, True)
    equal(x.tolist(), [[0, 1, 2], [3, 4, 5]])
    equal(np.from_dlpack(gopy.strided(), copy=True).tolist(), np.from_dlpack(gopy.strided()).tolist())
    equal(np.from_dlpack(gopy.strided(), copy=True).flags.c_contiguous, True)
    equal(np.from_dlpack(t, copy=False).ctypes.data, gopy.describe(t)[0])
    equal(np.from_dlpack(t, device="cpu").ctypes.data, gopy.describe(t)[0])


def test_the_same_memory_through_two_objects():
    x = np.arange(3, dtype=np.float32)
    y = np.from_dlpack(gopy.forward(x))
    equal(y.ctypes.data, x.ctypes.data)
    del x
    equal(y.tolist(), [0, 1, 2])


def test_go_owns_what_it_retains():
    x = np.ones(1000, np.float32)
    number = gopy.hold(x)
    del x
    equal(gopy.held_sum(number), 1000.0)
    gopy.release(number, 1)
    with raises(BufferError, "released"):
        gopy.held_sum(number)


def test_the_slice_lives_while_somebody_looks():
    before = outstanding()
    x = np.from_dlpack(gopy.counting(100, 10, 0))
    view = x[50:]
    del x
    equal(outstanding(), before + 1)
    equal(view[0, 0], 500)
    del view
    equal(outstanding(), before)


def test_deleters_on_other_threads():
    before = outstanding()
    arrays = [np.from_dlpack(gopy.counting(3, 3, 0)) for _ in range(200)]

    def drop():
        while arrays:
            with contextlib.suppress(IndexError):
                arrays.pop()

    threads = [threading.Thread(target=drop) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal(outstanding(), before)
    numbers = [gopy.hold(np.ones(3, np.float32)) for _ in range(200)]
    for n in numbers:
        gopy.release(n, 1)


def test_many_rounds_without_a_leak():
    x = np.ones((2, 3), np.float32)
    no_leak(lambda: gopy.add(x, x, x))
    no_leak(lambda: np.from_dlpack(gopy.counting(2, 3, 0)))
    no_leak(lambda: gopy.forward(x))
    equal(outstanding(), 0)


def test_many_rejections_without_a_leak():
    wrong = np.ones(3)

    def rejected():
        with raises(BufferError):
            gopy.sum(wrong)

    no_leak(rejected)


main()
