"""Every access method, repeated so that leaks are detected: successes and failures."""

import sys

from check import *

ROUNDS = int(os.environ.get("ROUNDS", "50000"))


def rejected(function, *args):
    try:
        function(*args)
    except (TypeError, ValueError, BufferError, RuntimeError, MemoryError):
        return
    raise AssertionError("taken")


def test_what_succeeds():
    two = function(any_tensor(), {"kind": FLOAT})
    one = function(any_tensor())
    x, y, z, o = New(2, 3), Old(2, 3), Tabled(2, 3), table_type(1)(2, 3)
    x.asked = y.asked = type("Forgets", (), {"append": lambda self, asked: None})()

    def step():
        two(x, 1.5), two(b=1.5, a=y), one(z), two(o, 2.0)
        checked.take(z, 0), checked.take(y, 0)
        t = checked.give(x, 0)
        t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), t.__dlpack__(copy=True)
        checked.like(one.which, FLOAT32, [2], 0, y)

    no_leak(step, ROUNDS)


def test_what_fails():
    strict = function(
        any_tensor(), any_tensor(dtypes=[FLOAT32], ndim=1, shape=[symbol(0)]), any_tensor(optional=1, same_dtype_as=1)
    )
    shaped = function(
        {"ndim": 1, "shape": [symbol(0)]}, {"ndim": 1, "shape": [symbol(0)], "layout": ROW_MAJOR, "same_shape_as": 1}
    )
    fine = [New(2), Old(2), table_type(1)(2)]
    wrong = [New(2, dtype=INT32), Old(2, data=0), New(2, major=3), Tabled(-2), 5]
    for x in fine + wrong[:-1]:
        x.asked = type("Forgets", (), {"append": lambda self, asked: None})()
    faults = [Tabled(2, fault=f) for f in ("own silently", "own nothing", "own and raise")]
    one = function(any_tensor())

    def step(i=[0]):
        i[0] += 1
        rejected(strict, fine[i[0] % 3], wrong[i[0] % 5])
        rejected(shaped, fine[i[0] % 3], New3)
        rejected(shaped, fine[i[0] % 3], Strided)
        rejected(write, faults[i[0] % 3])
        rejected(checked.take, wrong[i[0] % 5] if i[0] % 5 else 5, 1)
        rejected(checked.give(fine[0], 1).__dlpack__)
        rejected(checked.like, one.which, FLOAT32, [-1], 0, fine[0])

    New3, Strided = New(3), New(2, strides=[2])
    New3.asked = Strided.asked = fine[0].asked
    no_leak(step, ROUNDS // 4)


def test_types():
    def step():
        read(type("T", (New,), {})(2))

    # Without the GIL, every type is kept, about 2.4 KB each (test_types_are_kept_and_driven_out).
    grows_less(step, ROUNDS // 10, 3000, 4000 if free_threaded() else 200)


main()
