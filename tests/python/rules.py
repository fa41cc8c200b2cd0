"""The requirements of a parameter, rule by rule, and their messages."""

import itertools

from check import *


def test_dtypes():
    f = function(any_tensor(dtypes=[FLOAT32]), any_tensor(dtypes=[FLOAT32, FLOAT64, UINT8]))
    f(New(2), New(2, dtype=FLOAT64))
    f(New(2), New(2, dtype=UINT8))
    with raises(TypeError, "f(): argument 'a' (1st): expected float32, got float64"):
        f(New(2, dtype=FLOAT64), New(2))
    with raises(TypeError, "f(): argument 'b' (2nd): expected float32, float64 or uint8, got int32"):
        f(New(2), New(2, dtype=INT32))
    with raises(TypeError, "(2nd)", "got float32x4"):
        f(New(2), New(2, dtype=dtype(2, 32, 4)))
    with raises(TypeError, "(2nd)", "got kDLInt of 24 bits and 1 lanes"):
        f(New(2), New(2, dtype=dtype(0, 24)))


def test_the_dtype_of_another():
    f = function(any_tensor(optional=1), any_tensor(same_dtype_as=1))
    f(New(2, dtype=INT32), New(2, dtype=INT32))
    f(None, New(2, dtype=FLOAT64))
    with raises(TypeError, "f(): argument 'b' (2nd): expected int32, the dtype of argument 'a' (1st), got float32"):
        f(New(2, dtype=INT32), New(2))


def test_ranks():
    f = function({"ndim": 2, "shape": [ANY, ANY]}, {"ndim": 1, "leading_dims": 1, "shape": [ANY]}, {"ndim": 0})
    f(New(2, 3), New(4), New())
    f(New(2, 3), New(4, 5, 6), New())
    with raises(ValueError, "f(): argument 'a' (1st): expected 2 dimensions, got 1"):
        f(New(2), New(1), New())
    with raises(ValueError, "f(): argument 'b' (2nd): expected at least 1 dimension, got 0"):
        f(New(2, 3), New(), New())
    with raises(ValueError, "f(): argument 'c' (3rd): expected 0 dimensions, got 1"):
        f(New(2, 3), New(4), New(1))


@trusted(Known)
def test_extents():
    f = function(
        {"ndim": 2, "shape": [3, symbol(0)]}, {"ndim": 1, "leading_dims": 1, "shape": [symbol(0)]}, symbols=["n"]
    )
    f(New(3, 5), New(5))
    f(New(3, 5), New(7, 5))
    f(New(3, 0), New(0))
    for n in 5, 6, 5:
        f(Known(3, n), Known(n))
    with raises(ValueError, "f(): argument 'a' (1st): expected 3 in dimension 0, got 2"):
        f(New(2, 5), New(5))
    with raises(ValueError, "f(): argument 'b' (2nd): expected n = 5 in dimension 1, as in argument 'a' (1st), got 4"):
        f(New(3, 5), New(2, 4))
    square = function({"ndim": 2, "shape": [symbol(3), symbol(3)]})
    with raises(ValueError, "f(): argument 'a' (1st): expected s3 = 2 in dimension 1, as in argument 'a' (1st), got 3"):
        square(New(2, 3))
    nothing = function({"ndim": 1, "shape": [EXTENT_ZERO]})
    nothing(New(0))
    with raises(ValueError, "expected 0 in dimension 0, got 1"):
        nothing(New(1))
    anything = function({"ndim": 2})  # an omitted extent is not checked
    for shape in (0, 0), (3, 5), (1, 0):
        anything(New(*shape))


def test_the_shape_of_another():
    f = function(any_tensor(), any_tensor(same_shape_as=1))
    f(New(2, 3), New(2, 3))
    for other in (New(2, 4), New(2), New(2, 3, 1)):
        expected = "f(): argument 'b' (2nd): expected shape (2, 3), the shape of argument 'a' (1st), got ("
        with raises(ValueError, expected):
            f(New(2, 3), other)


def test_densities():
    shapes = {
        "row-major": New(2, 3),
        "column-major": New(2, 3, strides=[1, 2]),
        "gaps in rows": New(2, 3, strides=[6, 2]),
        "gaps between rows": New(2, 3, strides=[4, 1]),
        "reversed": New(2, 3, strides=[3, -1]),
        "broadcast": New(2, 3, strides=[0, 1]),
        "size 1": New(1, 3, strides=[77, 1]),
        "empty": New(0, 3, strides=[5, 5]),
        "0-d": New(),
    }
    passes = {
        STRIDED: set(shapes),
        ROW_MAJOR: {"row-major", "size 1", "empty", "0-d"},
        DENSE: {"row-major", "size 1", "empty", "0-d", "column-major", "reversed"},
        ROWS: {"row-major", "size 1", "empty", "0-d", "gaps between rows", "broadcast"},
    }
    for layout, fine in passes.items():
        f = function(any_tensor(layout=layout))
        for name, x in shapes.items():
            if name in fine:
                f(x)
                continue
            with raises(
                ValueError, "f(): argument 'a' (1st): expected ", "contiguous", ", got strides (", "for shape (2, 3)"
            ):
                f(x)
    with raises(ValueError, "expected a C-contiguous tensor, got strides (1, 2) for shape (2, 3)"):
        function(any_tensor(layout=ROW_MAJOR))(shapes["column-major"])


@trusted(Known)
def test_devices():
    f = function({"ndim": 1, "shape": [ANY]})
    with raises(ValueError, "f(): argument 'a' (1st): expected a tensor on cpu, got one on cuda:1"):
        f(New(2, device=CUDA, device_id=1))
    f = function({"ndim": 1, "shape": [ANY], "devices": [CPU, CUDA, ROCM]})
    with raises(ValueError, "f(): argument 'a' (1st): expected a tensor on cpu, cuda or rocm, got one on metal:0"):
        f(Tabled(2, device=METAL))
    for f in read, function(any_tensor(dtypes=[FLOAT32])):
        with raises(BufferError, "the device type is unknown"):
            f(Tabled(2, device=99))
        with raises(BufferError, "the device type is unknown"):
            f(Known(2, device=99))


def test_what_is_written():
    write(New(2, 3))
    write(New(2, 3, strides=[-3, 1]))
    with raises(BufferError, "f(): argument 'a' (1st): it is read-only, but the parameter is writable"):
        write(New(2, flags=READ_ONLY))
    with raises(BufferError, "f(): argument 'a' (1st): it is read-only, but the parameter is writable"):
        write(Old(2))  # has no flags, and is therefore treated as read-only
    equal(read(Old(2))[0]["flags"], READ_ONLY)
    equal(read(New(2, flags=READ_ONLY | PADDED))[0]["flags"], READ_ONLY | PADDED)


@trusted(Known)
def test_what_overlaps_is_not_written():
    text = "f(): argument 'a' (1st): its elements may overlap, but the parameter is writable, got strides ("
    for shape, strides in (
        ([2, 3], [0, 1]),
        ([2, 3], [1, 1]),
        ([2, 3], [2, 1]),
        ([3, 2], [1, -2]),
        ([2, 2, 2], [3, 1, 2]),
        ([2] * 40, [1] * 40),
    ):
        for kind in New, Tabled, Known:
            with raises(BufferError, text):
                write(kind(*shape, strides=strides))
            read(kind(*shape, strides=strides))
        with raises(BufferError, "its elements may overlap, but the parameter is writable"):
            checked.take(New(*shape, strides=strides), 1)
        checked.take(New(*shape, strides=strides), 0)
    for shape, strides in (
        ([1, 3], [0, 1]),
        ([2, 3], [3, -1]),
        ([2, 3], [1, 2]),
        ([0, 3], [0, 0]),
        ([3, 2], [-2, 1]),
        ([2, 2, 2], [4, 1, 2]),
        ([2, 3], [7, 2]),
    ):
        write(New(*shape, strides=strides))
        checked.take(New(*shape, strides=strides), 1)


@trusted(Known)
def test_what_is_rejected_to_be_written_by_every_way():
    """A BufferError, for both reasons and with precedence, even if a library reports only one of
    them."""
    own = [
        checked.give(New(2, 3, flags=READ_ONLY), READ_ONLY),
        checked.give(New(2, 3, strides=[0, 1], flags=READ_ONLY), READ_ONLY),
    ]
    others = function({"ndim": 1, "writable": 1, "shape": [7], "dtypes": [FLOAT64], "devices": [METAL]})
    for x in (
        New(2, 3, flags=READ_ONLY),
        New(2, 3, strides=[0, 1], flags=READ_ONLY),
        Old(2, 3),
        Old(2, 3, strides=[0, 1]),
        Tabled(2, 3, flags=READ_ONLY),
        Tabled(2, 3, strides=[0, 1], flags=READ_ONLY),
        *own,
    ):
        for f in write, others, lambda x: checked.take(x, 1):
            with raises(BufferError, "it is read-only"):
                f(x)
    for x in (
        New(2, 3, strides=[0, 1]),
        Tabled(2, 3, strides=[0, 1]),
        Known(2, 3, strides=[0, 1]),
        checked.give(New(2, 3, strides=[0, 1]), 0),
    ):
        for f in write, lambda x: checked.take(x, 1):
            with raises(BufferError, "its elements may overlap, but the parameter is writable"):
                f(x)


def test_the_cpu_has_one_number():
    """JAX has several CPU devices, and DLPack has one."""
    for kind in New, Old, Tabled, table_type(1):
        for x in kind(2, device_id=3), kind(2, device_id=3, strides=None):
            equal(read(x)[0]["device"], (CPU, 0))
            equal(checked.described(checked.take(x, 0))["device"], (CPU, 0))
    with frees_all():
        equal(function(any_tensor(), any_tensor())(New(2, device_id=1), New(2, device_id=2))[2], (CPU, 0))


@trusted(Known)
def test_alignment():
    """The first element must be aligned to its size, or to the size of a part if it is complex;
    sizes without a C type need no alignment."""
    three = [
        (FLOAT32, 4),
        (FLOAT64, 8),
        (COMPLEX64, 4),
        (dtype(5, 128), 8),
        (dtype(2, 16), 2),
        (UINT8, 1),
        (dtype(2, 128), 16),
        (FLOAT4, 1),
        (dtype(2, 32, 4), 4),
        (dtype(0, 24), 1),
        (dtype(5, 32), 2),
        (dtype(5, 33), 1),
        (dtype(1, 12), 1),
        (dtype(0, 128), 16),
    ]
    for of, bytes_of in three:
        for f in (
            read,
            function(any_tensor(dtypes=[of])),
            lambda x: checked.take(x, 0),
        ):
            for odd in 1, 2, 4, 8, 16:
                for kind in New, Old, Tabled, Known, table_type(1):
                    for place in dict(data=DATA + odd), dict(data=DATA, offset=odd):
                        if odd % bytes_of == 0:
                            f(kind(2, dtype=of, **place))
                            continue
                        f(kind(0, dtype=of, **place))
                        with (
                            frees_all(),
                            raises(
                                BufferError,
                                f"its data at {DATA + odd:#x} is not aligned to {bytes_of} bytes, as its elements "
                                f"require: pass a copy",
                            ),
                        ):
                            f(kind(2, dtype=of, **place))
    with raises(BufferError, "f(): argument 'a' (1st): its data at 0x4 is not aligned to 8 bytes"):
        function(any_tensor(), takes_stream=1)(Tabled(2, dtype=FLOAT64, data=0x1001, offset=4, device=METAL))
    read(Tabled(2, dtype=FLOAT64, data=0x1001, offset=8, device=METAL))


def test_the_first_error_is_reported():
    f = function({"ndim": 1, "shape": [symbol(0)], "dtypes": [FLOAT32]}, {"ndim": 1, "shape": [symbol(0)]})
    for a, b in (New(2, dtype=INT32), New(3)), (Tabled(2, dtype=INT32), Tabled(3)), (Tabled(2, dtype=INT32), New(3)):
        with raises(TypeError, "(1st): expected float32, got int32"):
            f(a, b)


@trusted(Known)
def test_the_first_error_is_reported_by_every_access_method():
    """Each mistake in one argument combined with each in a later one, if both are read through a
    table, through a capsule, and through one of each."""
    on_cuda = any_tensor(dtypes=[FLOAT32], devices=[-1], ndim=1, shape=[symbol(0)])
    f = function({**on_cuda}, {**on_cuda}, {"kind": INT}, {**on_cuda})

    class Fails(New):
        def __dlpack__(self, **asked):
            raise BufferError("not today")

    owns = table_type(1)
    faults = {
        "dtype": lambda kind: kind(2, dtype=INT32),
        "ndim": lambda kind: kind(),
        "memory": lambda kind: kind(2, data=0),
        "alignment": lambda kind: kind(2, data=DATA + 1),
        "rules": lambda kind: kind(2, dtype=dtype(99, 32)),
        "unreadable": lambda kind: Fails(2) if kind is New else owns(2, fault="own silently"),
        "no tensor": lambda kind: None,
    }
    for kinds in itertools.product([New, Tabled, Known], repeat=3):
        f(*[kind(2) for kind in kinds[:2]], 5, kinds[2](2))
        with frees_all():
            for (one, two), (i, j) in itertools.product(
                itertools.product(faults.values(), repeat=2), itertools.combinations(range(3), 2)
            ):
                given = [kind(2) for kind in kinds]
                given[i], given[j] = one(kinds[i]), two(kinds[j])
                for number in 5, "x":
                    wrong = 2 if number == "x" and i == 2 else (0, 1, 3)[i]
                    try:
                        f(*given[:2], number, given[2])
                    except (BufferError, TypeError, ValueError) as e:
                        assert f"argument '{'abcd'[wrong]}'" in str(e), (e, kinds, i, j)
                    else:
                        raise AssertionError("taken")


@trusted(Known)
def test_the_first_error_may_be_a_device():
    f = function(any_tensor(), any_tensor(), any_tensor(dtypes=[FLOAT32]), any_tensor(optional=1), takes_stream=1)
    for kinds in itertools.product([New, Tabled, Known], repeat=3):
        for last in None, New(2):
            given = [kind(2, device=CUDA, device_id=i == 1) for i, kind in enumerate(kinds)]
            given[2].desc["dtype"] = INT32
            with raises(ValueError, "(2nd): expected a tensor on cuda:0, as argument 'a' (1st) is, got one on cuda:1"):
                f(*given, last, stream=5)
            given[1].desc["device_id"] = 0
            with raises(TypeError, "(3rd): expected float32, got int32"):
                f(*given, last, stream=5)


def test_errors_outside_arguments_are_reported_first():
    class Stops(New):
        def __dlpack__(self, **asked):
            raise KeyboardInterrupt

    f = function(any_tensor(dtypes=[FLOAT32]), any_tensor(), {"kind": INT})
    for last in 5, "x":
        with raises(KeyboardInterrupt):
            f(New(2), Stops(2), last) if last == 5 else f(New(2, dtype=INT32), Stops(2), 5)


@trusted(Known)
def test_elements_without_memory():
    read(New(0, 3))
    read(New(0, data=DATA))
    for x in New(2, data=0), Old(2, data=0), Tabled(2, data=0), Known(2, data=0), New(data=0):
        with raises(BufferError, "f(): argument 'a' (1st): it has elements but no memory: its data is NULL"):
            read(x)


@trusted(Known)
def test_what_the_validator_finds():
    huge = 2**62
    for changes, text in [
        (dict(shape=[2, -1]), "an extent of shape is negative"),
        (dict(shape=[huge, huge], strides=[1, 1]), "more elements or bytes than 63 bits can count"),
        (dict(shape=[2, 2], strides=[huge, huge]), "more elements or bytes than 63 bits can count"),
        (dict(ndim=-1), "ndim is negative or too large"),
        (dict(shape=None, ndim=1), "shape is NULL though ndim is not 0"),
        (dict(dtype=dtype(99, 32)), "the type code of dtype is unknown"),
        (dict(dtype=dtype(2, 0)), "dtype.bits is 0 or does not fit its type code"),
        (dict(dtype=dtype(6, 1)), "dtype.bits is 0 or does not fit its type code"),
        (dict(dtype=dtype(2, 32, 0)), "dtype.lanes is 0"),
        (dict(data=2**64 - 16, shape=[100], strides=[1]), "before the buffer or beyond the address space"),
        (dict(data=16, shape=[100], strides=[-1]), "before the buffer or beyond the address space"),
        (dict(offset=2**64 - 8), "before the buffer or beyond the address space"),
    ]:
        for kind in New, Old, Tabled, Known:
            with (
                frees_all(),
                raises(
                    BufferError,
                    "f(): argument 'a' (1st): its library returned an invalid DLPack tensor: ",
                    text,
                ),
            ):
                read(kind(2, **changes))


@trusted(Known)
def test_more_dimensions_than_are_served():
    """DLPack does not limit them, so the library violates no rule."""
    for ndim in 65, 2**31 - 1:
        for kind in New, Old, Tabled, Known:
            for f in (
                read,
                function(any_tensor(dtypes=[FLOAT32])),
                lambda x: checked.take(x, 0),
            ):
                with frees_all(), raises(BufferError, f"it has {ndim} dimensions; at most 64 are supported"):
                    f(kind(2, ndim=ndim))


@trusted(Known)
def test_what_the_validator_finds_in_named_dtypes():
    """With named dtypes, valid tensors pass the fast check."""
    f = function(any_tensor(dtypes=[FLOAT32]))
    for shape in [], [1], [5], [2, 3, 4], [1] * 64, [2**20, 2**18]:
        f(Known(*shape))
    for changes in [
        dict(shape=[2, -1]),
        dict(shape=[-1, -1], strides=[1, 1]),
        dict(shape=[2**31, 2**31, 2**31], strides=[2**62, 2**31, 1]),
        dict(shape=[2**24, 2**24, 2**24], strides=[2**48, 2**24, 1]),
        dict(shape=[2**31, 2**40], strides=[2**40, 1]),
        dict(shape=[2**33, 2**33], strides=[2**33, 1]),
        dict(shape=[2**62], strides=[1]),
        dict(shape=[2, 2], strides=[2**62, 2**62]),
        dict(shape=[1, 2], strides=[0, 2**62]),
        dict(data=2**64 - 16, shape=[100], strides=[1]),
        dict(data=2**63 - 16, offset=2**63, shape=[100], strides=[1]),
        dict(offset=2**64 - 8),
        dict(ndim=65),
        dict(shape=[1] * 65, strides=[1] * 65),
        dict(ndim=-1),
        dict(shape=None, ndim=1),
        dict(data=0),
    ]:
        with raises(BufferError, "f(): argument 'a' (1st): "):
            f(Known(2, **changes))
    f(Known(0, strides=[9]))
    f(Known(1, strides=[9]))
    f(Known(4, strides=[2]))


@trusted(Known)
def test_more_dimensions_than_extents():
    """The extents are those of the last eight dimensions, in every kind of check."""
    for changes in {}, {"dtypes": [FLOAT32]}:
        f = function({"ndim": 9, "shape": [ANY] * 7 + [5], **changes})  # the fields after the extents read as ANY
        for kind in New, Tabled, Known:
            f(kind(*[1] * 8, 5))
            with raises(ValueError, "f(): argument 'a' (1st): expected 5 in dimension 8, got 1"):
                f(kind(*[1] * 7, 5, 1))


@trusted(Known)
def test_null_strides_are_written_out():
    for kind in New, Old, Tabled, Known:
        equal(read(kind(2, 3, 4, strides=None))[0]["strides"], (12, 4, 1))
    equal(checked.described(checked.take(Old(2, 3, strides=None), 0))["strides"], (3, 1))
    equal(checked.described(checked.take(New(2, 3, strides=None, minor=1), 0))["strides"], (3, 1))


def test_offsets_and_many_dimensions():
    equal(read(New(2, offset=8))[0]["offset"], 8)
    equal(len(read(New(*[1] * 64))[0]["shape"]), 64)
    equal(read(New(2, 3, strides=[3, -1]))[0]["strides"], (3, -1))


main()
