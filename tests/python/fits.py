"""Valid tensors pass the fast check; invalid ones have the usual errors."""

import itertools

from check import *

Owned = table_type(1)


@trusted(Known, Owned)
def test_what_fits_at_once():
    """Tensors that a table lends or exports and that are row-major, of a named dtype and on the CPU
    pass the fast check; all others have the usual errors."""
    f = function(
        {"dtypes": [FLOAT32, INT32], "ndim": 2, "shape": [symbol(0), symbol(0)]},
        {"same_dtype_as": 1, "dtypes": [FLOAT32, INT32], "ndim": 2, "shape": [symbol(0), 3], "writable": 1},
        {"same_shape_as": 2, "dtypes": [FLOAT32], "ndim": 2, "shape": [ANY, ANY], "devices": [CUDA, CPU]},
        symbols=["n"],
    )
    on_cuda = function({"dtypes": [FLOAT32], "ndim": 1, "shape": [ANY], "devices": [CUDA]}, takes_stream=1)
    rows = function({"dtypes": [FLOAT32], "ndim": 2, "leading_dims": 1, "shape": [ANY, ANY]})
    for lends in Known, Owned:
        x = lends(3, 3)
        with frees_all():
            f(x, x, x)
            f(lends(2, 2), lends(2, 3), lends(2, 3))
            for args, kind, text in [
                (
                    (lends(3, 3, dtype=FLOAT64), x, x),
                    TypeError,
                    "argument 'a' (1st): expected float32 or int32, got float64",
                ),
                ((lends(3), x, x), ValueError, "argument 'a' (1st): expected 2 dimensions, got 1"),
                ((lends(2, 3, 3), x, x), ValueError, "argument 'a' (1st): expected 2 dimensions, got 3"),
                (
                    (lends(3, 2), x, x),
                    ValueError,
                    "argument 'a' (1st): expected n = 3 in dimension 1, as in argument 'a' (1st), got 2",
                ),
                (
                    (x, lends(2, 3), x),
                    ValueError,
                    "argument 'b' (2nd): expected n = 3 in dimension 0, as in argument 'a' (1st), got 2",
                ),
                ((x, lends(3, 4), x), ValueError, "argument 'b' (2nd): expected 3 in dimension 1, got 4"),
                (
                    (x, lends(3, 3, dtype=INT32), x),
                    TypeError,
                    "argument 'b' (2nd): expected float32, the dtype of argument 'a' (1st), got int32",
                ),
                (
                    (x, x, lends(3, 4)),
                    ValueError,
                    "argument 'c' (3rd): expected shape (3, 3), the shape of argument 'b' (2nd), got (3, 4)",
                ),
                (
                    (x, lends(3, 3, device=CUDA), x),
                    ValueError,
                    "argument 'b' (2nd): expected a tensor on cpu, got one on cuda:0",
                ),
                ((x, x, lends(3, 3, data=0)), BufferError, "argument 'c' (3rd): it has elements but no memory"),
                ((lends(3, 3, data=DATA + 1), x, x), BufferError, "argument 'a' (1st): its data at 0x"),
                ((x, lends(3, 3, flags=READ_ONLY), x), BufferError, "argument 'b' (2nd): it is read-only"),
            ]:
                if lends is Known and "read-only" in text:
                    continue  # tensors that this table lends never are
                with raises(kind, "f(): " + text):
                    f(*args)
            with raises(ValueError, "expected a tensor on cuda, got one on cpu:0"):
                on_cuda(lends(3))
            equal(on_cuda(lends(3, device=CUDA), stream=1)[1], (CUDA, 0))
            equal(on_cuda(lends(3, device=CUDA))[1], (CUDA, 0))
            rows(lends(2, 3, 4))
            with raises(ValueError, "expected at least 2 dimensions, got 1"):
                rows(lends(3))


@trusted(Known)
def test_a_trusted_table_without_strides():
    """The fast check also applies if omitted fields must not be followed."""
    f = function({"dtypes": [FLOAT32], "ndim": 2, "shape": [symbol(0), ANY], "layout": ROW_MAJOR})
    equal(f(Known(2, 3))[0]["strides"], (3, 1))  # the first is read on the slow path
    equal(f(Known(2, 3, strides=None))[0]["strides"], (3, 1))


@trusted(Known, Owned)
def test_arguments_of_several_types():
    """The access method of one type is reused for the next argument, if that has the same type."""
    f = function(
        {"dtypes": [FLOAT32], "ndim": 1, "shape": [symbol(0)]},
        {"kind": INT},
        *[{"dtypes": [FLOAT32], "ndim": 1, "shape": [ANY]}] * 2,
    )
    for kinds in itertools.product((Known, Owned), repeat=3):
        a, b, c = [kind(3) for kind in kinds]
        got = f(a, 5, b, c)
        equal([got[i]["owned"] for i in (0, 2, 3)], [kind is Owned for kind in kinds])
        with raises(ValueError, "argument 'd' (4th): expected 1 dimension, got 2"):
            f(a, 5, b, kinds[0](3, 3))
        with raises(TypeError, "argument 'c' (3rd): expected a tensor, got None"):
            f(a, 5, None, c)


main()
