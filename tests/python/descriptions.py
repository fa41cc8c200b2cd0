"""Descriptions of functions and parameters with a mistake."""

from check import *


def described(*parameters, **keywords):
    """A function with mistakes, which was never called."""
    read(New(2))
    return function(*parameters, **keywords)


def test_descriptions():
    """A mistake is found at the first call, with any arguments, and the error names function,
    parameter and field."""
    x, own = {"ndim": 1, "shape": [ANY], "dtypes": [FLOAT32]}, checked.give(New(2), 0)
    described(x)(own)  # its type is cached now, so a valid tensor may pass the fast check
    for wrong, text in [
        (
            {"ndim": 2, "shape": [ANY, symbol(8)]},
            "shape[1] is -10, which is not an extent: a symbol is DLPACKGEN_DIM(0) to DLPACKGEN_DIM(7)",
        ),
        ({"ndim": 65, "shape": [-(2**63)]}, "rank is 65; at most 64 is supported"),
        ({"ndim": 9, "shape": [-(2**63)]}, f"shape[0] is {-(2**63)}, which is not an extent"),
        ({**x, "same_dtype_as": 2}, "same_dtype_as is 2, which is not an earlier parameter, counted from 1"),
        ({**x, "same_dtype_as": 255}, "same_dtype_as is 255, which is not an earlier parameter"),
        ({**x, "same_shape_as": 2}, "same_shape_as is 2, which is not an earlier parameter, counted from 1"),
        ({**x, "same_shape_as": 3}, "same_shape_as is 3, which is not an earlier parameter"),
        ({**x, "kind": 4}, "kind is 4, which is not a dlpackgen_kind"),
        ({**x, "layout": 4}, "layout is 4, which is not a dlpackgen_layout"),
        ({**x, "dtypes": [FLOAT32, 2]}, "dtypes[1] is 2, which is not a dtype such as DLPACKGEN_DTYPE_FLOAT32"),
        ({**x, "dtypes": [dtype(2, 0)]}, "dtypes[0] is 65538, which is not a dtype"),
        ({**x, "devices": [CPU, -2]}, "devices[1] is -2, which is not a device type"),
        ({**x, "name": "a"}, "name is also used by parameter 1"),
    ]:
        for arguments in (New(2), New(2), New(2)), (own, own, own), (), (5, "x", None, None):
            with raises(SystemError, f"f(): argument '{wrong.get('name', 'b')}' (2nd): its {text}"):
                described(x, wrong, any_tensor())(*arguments)
        for _ in range(2):
            with raises(SystemError, f"its {text}"):
                described(x, wrong)(a=New(2))
        with raises(SystemError, f"its {text}"):
            described(x, wrong)(own, own)  # may pass the fast check
    for field in "same_dtype_as", "same_shape_as":
        with raises(SystemError, f"f(): argument 'b' (2nd): its {field} is 1, but that parameter is not a tensor"):
            described({"kind": INT}, {**x, field: 1})(5, New(2))
    twice = "f(): argument 'stream' (1st): its name is also used by the argument that takes_stream adds"
    with raises(SystemError, twice):
        described({**x, "name": "stream"}, takes_stream=1)(New(2))
    described(
        {**x, "ndim": 8, "shape": [symbol(n) for n in range(8)]},
        {**x, "leading_dims": 1, "same_dtype_as": 1, "same_shape_as": 1},
    )(New(*[1] * 8), New(*[1] * 8))


def test_functions_that_are_misdescribed():
    for what, at, text in [
        (0, 33, "f() has 33 parameters; at most 32 are supported"),
        (0, 255, "f() has 255 parameters; at most 32 are supported"),
        (0, 9, "f() has 9 parameters, but its call has room for 8: pass its parameters to DLPACKGEN_CALL"),
        (1, 0, "a function has no name"),
        (2, 0, "f() has 2 parameters, but no table of them"),
        (3, 1, "f(): parameter 2 has no name"),
        (4, 1, "f(): parameter 2 has no name"),
    ]:
        f = described(any_tensor(), any_tensor())
        checked.spoil(f.which, what, at)
        for _ in range(2):
            with raises(SystemError, text):
                f(New(2), New(2))
    two = described(any_tensor(), any_tensor())
    with raises(
        SystemError, "f() has 2 parameters, but its call has room for 1: pass its parameters to DLPACKGEN_CALL"
    ):
        checked.like(two.which, FLOAT32, [2], 0, New(2))


main()
