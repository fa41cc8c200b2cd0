"""Calls with inlined checks: the results are the same as with dlpackgen_call_begin()."""

import itertools

from check import *


def outcome(call):
    try:
        return call()
    except Exception as e:
        return type(e), str(e), repr(e.__cause__)


def same(which, *args, **keywords):
    """Returns the common result of both."""
    first, second = [outcome(lambda: checked.called(which, inlined, *args, **keywords)) for inlined in (0, 1)]
    equal(second, first)
    return first


class Nothing:
    def __repr__(self):
        return "nothing"


def whatever(kind):
    """Tensors that some parameter accepts, and tensors that none accepts."""
    good = [
        kind(3),
        kind(4),
        kind(1),
        kind(2, 3),
        kind(3, 3),
        kind(2, 2, 3),
        kind(0),
        kind(),
        kind(3, dtype=INT32),
        kind(2, 3, dtype=INT32),
    ]
    bad = [
        kind(3, dtype=FLOAT64),
        kind(3, dtype=dtype(2, 24)),
        kind(3, strides=[2]),
        kind(3, strides=[0]),
        kind(2, 3, strides=[1, 2]),
        kind(2, 3, strides=[6, 1]),
        kind(3, strides=None),
        kind(3, data=0),
        kind(3, data=DATA + 1),
        kind(3, offset=4),
        kind(3, device=CUDA),
        kind(3, device=CUDA, device_id=1),
        kind(*[1] * 65),
        kind(3, flags=READ_ONLY),
        kind(3, fault="borrow silently"),
    ]
    return good + bad


def others():
    return [
        None,
        5,
        1 << 80,
        True,
        1.5,
        "text",
        Nothing(),
        New(3),
        New(2, 3),
        Tabled(3),
        Tabled(3, dtype=FLOAT64),
        Old(3),
    ]


@trusted(Known)
def test_the_same_outcome():
    """For every pair, both have the same result or the same message."""
    all_of_them = whatever(Known) + others()
    good = 0
    with frees_all():
        for which, (a, b) in itertools.product(range(4), itertools.product(all_of_them, repeat=2)):
            good += isinstance(same(which, a, b)[0], dict)
    assert good > 100, good


@trusted(Known)
def test_names_and_numbers():
    x = Known(3)
    equal(same(3, -1, 1 << 80)[:2], (OverflowError, f"f(): argument 'b' (2nd): int64 cannot represent {1 << 80}"))
    equal(same(0, x)[:2], (TypeError, "f(): argument 'b' (2nd): it is missing"))
    equal(same(2, x)[1], 7)
    for which in range(4):
        same(which, x)
        same(which)
        same(which, x, x, x)
        same(which, b=x, a=x)
        same(which, x, c=x)
        same(which, x, x, a=x)
        same(which, x, x, stream=1)
        same(which, x, 3, stream=-1)


Owned = table_type(1)


@trusted(Known, Owned)
def test_what_cannot_be_borrowed():
    """Owned tensors of a table are released, and its errors are reported once."""
    kind = Owned
    x, y = Known(3), kind(3)
    with frees_all():
        for which, pair in itertools.product(range(4), ((x, y), (y, x), (y, y), (y, kind(4)), (kind(3, data=0), y))):
            same(which, *pair)
            same(which, *pair)


main()
