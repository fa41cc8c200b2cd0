"""A module's exports: objects, capsules, the table of its type, new tensors."""

import ctypes
import gc
import sys

from check import *

OWN_TABLE = checked.Tensor.__dlpack_c_exchange_api__


def view_of(address):
    """(major, minor, flags, ndim, shape[0], strides[0], data)"""
    return untrusted.look(address)


def taken_from(capsule):
    """The fields that a consumer of a versioned capsule reads."""
    address = untrusted.consume(capsule)
    seen = view_of(address)
    untrusted.release(address)
    return seen


def test_an_object_exports_capsules():
    with frees_all():
        t = checked.give(New(2, 3), 0)
        equal(taken_from(t.__dlpack__(max_version=(1, 0))), (1, 3, 0, 2, 2, 3, DATA))
        equal(taken_from(t.__dlpack__(max_version=(2, 5), stream=None, copy=None, dl_device=None))[:2], (1, 3))
        for version in None, (0, 8):
            assert '"dltensor"' in repr(t.__dlpack__(max_version=version))
        equal(read(type("Through", (), {"__dlpack__": lambda self, **k: t.__dlpack__()})())[0]["flags"], READ_ONLY)
        equal(t.__dlpack_device__(), (CPU, 0))
        equal(checked.give(Tabled(2, device=CUDA, device_id=3), 0).__dlpack_device__(), (CUDA, 3))
        del t


def test_flags_stay():
    t = checked.give(New(2), READ_ONLY | PADDED | COPIED)
    equal(taken_from(t.__dlpack__(max_version=(1, 0)))[2], READ_ONLY | PADDED)
    for flags in READ_ONLY, PADDED:
        with raises(
            BufferError, "a read-only or padded tensor needs a consumer that passes max_version=(1, 0)"
        ):
            checked.give(New(2), flags).__dlpack__()
    checked.give(New(2), COPIED).__dlpack__()
    with raises(BufferError, "it is read-only"):
        write(checked.give(New(2), READ_ONLY))
    write(checked.give(New(2), 0))
    equal(read(checked.give(New(2), READ_ONLY))[0], {**read(New(2, flags=READ_ONLY))[0], "owned": False})
    equal(read(checked.give(New(2), COPIED))[0]["flags"], 0)


def test_arguments_of_dlpack():
    t = checked.give(New(2), 0)
    for wrong in (
        dict(max_version=[1, 0]),
        dict(max_version=(1,)),
        dict(max_version=("x", 0)),
        dict(dl_device=5),
        dict(other=1),
        dict(stream="x"),
    ):
        with raises(TypeError):
            t.__dlpack__(**wrong)
    with raises(TypeError):
        t.__dlpack__(None)
    t.__dlpack__(stream=-1)
    for stream in 0, 1, 2, 77, -2:
        with raises(RuntimeError, f"stream {stream} is invalid on cpu:0"):
            t.__dlpack__(stream=stream)
    for device, fine, wrong in (CUDA, (None, -1, 1, 2, 77), (0, -2)), (ROCM, (None, -1, 0, 77), (1, 2, -2)):
        t = checked.give(Tabled(2, device=device), 0)
        for stream in fine:
            t.__dlpack__(stream=stream)
        for stream in wrong:
            with raises(RuntimeError, f"stream {stream} is invalid on "):
                t.__dlpack__(stream=stream)


def test_copies():
    room[:24] = b"abcdefghijklmnopqrstuvwx"
    base = ctypes.addressof(room)
    t = checked.give(New(2, 3, dtype=UINT8, data=base, strides=[3, -1], offset=2), READ_ONLY)
    major, minor, flags, ndim, shape, stride, data = taken_from(t.__dlpack__(max_version=(1, 0)))
    equal((flags, stride, data), (READ_ONLY, 3, base + 2))  # the offset is in data, for consumers that ignore it
    for asked in dict(copy=True), dict(copy=True, dl_device=(CPU, 0)):
        address = untrusted.consume(t.__dlpack__(max_version=(1, 0), **asked))
        flags, stride, data = [view_of(address)[i] for i in (2, 5, 6)]
        equal((flags, stride, ctypes.string_at(data, 6), data % 256), (COPIED, 3, b"cbafed", 0))
        untrusted.release(address)
    for of, each in (FLOAT4, 1), (dtype(1, 6, 3), 3), (dtype(0, 12), 2):
        padded = checked.give(New(4, dtype=of, data=base), PADDED)
        address = untrusted.consume(padded.__dlpack__(max_version=(1, 0), copy=True))
        flags, data = [view_of(address)[i] for i in (2, 6)]
        equal((flags, ctypes.string_at(data, 4 * each)), (COPIED | PADDED, b"abcdefghijkl"[: 4 * each]))
        untrusted.release(address)
    t.__dlpack__(copy=True)  # a copy is no longer read-only
    equal(taken_from(t.__dlpack__(max_version=(1, 0), copy=False, dl_device=(CPU, 0)))[6], base + 2)
    pinned = checked.give(Tabled(2, device=PINNED, data=base), 0)
    equal(taken_from(pinned.__dlpack__(max_version=(1, 0), dl_device=(CPU, 0)))[2], COPIED)
    with raises(BufferError, "the tensor is on device (3, 0), requested (1, 0)"):
        pinned.__dlpack__(dl_device=(CPU, 0), copy=False)
    with raises(BufferError, "the tensor is on device (1, 0), requested (2, 0)"):
        t.__dlpack__(dl_device=(CUDA, 0))
    with raises(BufferError, "the tensor is on device (2, 0), requested (2, 1)"):
        checked.give(New(2, device=CUDA), 0).__dlpack__(dl_device=(CUDA, 1))
    for x in Tabled(2, device=CUDA), New(3, dtype=FLOAT4):
        with raises(BufferError, "only host memory with elements of whole bytes can be copied"):
            checked.give(x, 0).__dlpack__(copy=True)
    equal(taken_from(checked.give(New(0, 3), 0).__dlpack__(max_version=(1, 0), copy=True))[6], 0)


def test_strides_are_written_out():
    """Strides that an older producer omitted, or that a module passes as NULL, are explicit in
    every form of export."""
    room[:6] = b"abcdef"
    bare = dict(dtype=UINT8, data=ctypes.addressof(room), strides=None, minor=1)

    def address(*shape, **changes):
        return untrusted.consume(untrusted.capsule(desc(*shape, **{**bare, **changes})))

    def wrapped(*shape, **changes):
        return untrusted.by_table("wrap", OWN_TABLE, address(*shape, **changes))

    def given(*shape, **changes):
        return checked.give_bare(address(*shape, **changes), 0)

    for make in wrapped, given:
        with frees_all():
            t = make(2, 3)
            equal(untrusted.by_table("lend strides", OWN_TABLE, t), 3)
            equal(taken_from(t.__dlpack__(max_version=(1, 0)))[5], 3)
            copy = untrusted.consume(t.__dlpack__(max_version=(1, 0), copy=True))
            equal(ctypes.string_at(view_of(copy)[6], 6), b"abcdef")
            untrusted.release(copy)
            equal((read(make())[0]["shape"], read(make(0, 3))[0]["shape"]), ((), (0, 3)))
            del t
    with frees_all():
        equal(taken_from(checked.give_bare(address(2, 3), 1))[5], 3)
        checked.give_bare(address(2, 3), 2)
    for changes in dict(ndim=65), dict(shape=[2**40, 2**40]), dict(data=0):
        for where in 0, 1:
            with frees_all(), raises(BufferError, "it is not a valid DLPack tensor: "):
                checked.give_bare(address(2, 3, **changes), where)


def test_a_capsule_without_a_consumer():
    with frees_all():
        for arguments in {}, dict(max_version=(1, 0)), dict(copy=True):
            t = checked.give(New(2), 0)
            capsule = t.__dlpack__(**arguments)
            del t
            gc.collect()
            del capsule


def test_a_capsule_that_dies_of_an_exception():
    """The destructor runs while an exception is set, and a careless deleter clears it."""
    untrusted.careless(1)
    try:
        for arguments in {}, dict(max_version=(1, 0)):
            # The capsule is only an argument of the failing call.
            with frees_all(), raises(TypeError, "int() argument must be"):
                int(checked.give(New(2), 0).__dlpack__(**arguments))
    finally:
        untrusted.careless(0)


def test_an_exported_tensor_outlives_its_object():
    with frees_all():
        before = untrusted.alive()
        t = checked.give(New(2), 0)
        address = untrusted.consume(t.__dlpack__(max_version=(1, 0)))
        del t
        gc.collect()
        equal(untrusted.alive(), before + 1)
        equal(view_of(address)[4], 2)
        untrusted.release_in_thread(address)
        equal(untrusted.alive(), before)


def test_the_type():
    equal(checked.Tensor.__name__, "Tensor")
    equal(checked.Tensor.__module__, "checked")
    with raises(TypeError, "cannot create"):
        checked.Tensor()
    with raises(TypeError, "not an acceptable base type"):
        type("Derived", (checked.Tensor,), {})
    equal(untrusted.address(OWN_TABLE), checked.Tensor.__c_dlpack_exchange_api__)


def test_the_table():
    with frees_all():
        t = checked.give(New(2, 3), READ_ONLY)
        address = untrusted.by_table("own", OWN_TABLE, t)
        equal(view_of(address), (1, 3, READ_ONLY, 2, 2, 3, DATA))
        with raises(BufferError, "a borrowed tensor cannot be marked read-only or padded"):
            untrusted.by_table("borrow", OWN_TABLE, t)
        untrusted.release(address)
        t = checked.give(New(2), 0)
        equal(untrusted.by_table("borrow", OWN_TABLE, t), DATA)
        for what in "own", "borrow":
            with raises(TypeError, "the object is not of the exchange table's type"):
                untrusted.by_table(what, OWN_TABLE, 5)
        address = untrusted.consume(untrusted.capsule(desc(2, flags=READ_ONLY)))
        wrapped = untrusted.by_table("wrap", OWN_TABLE, address)
        equal(type(wrapped), checked.Tensor)
        equal(read(wrapped)[0]["flags"], READ_ONLY)
        for changes, text in (
            (dict(major=2), "unsupported DLPack major version"),
            (dict(data=0), "no memory"),
            (dict(ndim=-1), "ndim"),
        ):
            address = untrusted.consume(untrusted.capsule(desc(2, **changes)))
            with raises(BufferError, text):
                untrusted.by_table("wrap", OWN_TABLE, address)
            untrusted.release(address)  # a failing function does not take ownership
        for device in CPU, PINNED, ROCM_HOST:
            equal(untrusted.by_table("stream", OWN_TABLE, device), 0)
        with raises(RuntimeError, "tensors of this type have no streams"):
            untrusted.by_table("stream", OWN_TABLE, CUDA)
        del t, wrapped


@trusted(Known)
def test_calls_with_our_own_tensors():
    """Nothing is allocated or retained, the flags are known, and strides are explicit."""
    table = checked.Tensor.__dlpack_c_exchange_api__
    for changes in {}, {"dtypes": [FLOAT32]}:
        f = function(any_tensor(**changes), any_tensor(writable=1, **changes))
        for flags in 0, PADDED, COPIED:
            x, y = f(checked.give(New(2), flags), checked.give(New(3), flags))[:2]
            equal((x["owned"], x["flags"], y["owned"]), (False, flags & ~COPIED, False))
        unstrided = untrusted.by_table("wrap", table, untrusted.consume(untrusted.capsule(desc(2, 3, strides=None))))
        equal(f(unstrided, unstrided)[1]["strides"], (3, 1))
        with raises(BufferError, "f(): argument 'b' (2nd): it is read-only, but the parameter is writable"):
            f(Known(2), checked.give(New(2), READ_ONLY))
    equal(checked.described(checked.take(checked.give(New(2), COPIED), 1))["flags"], 0)
    with raises(BufferError, "f(): argument 'a' (1st): its library returned an invalid DLPack tensor"):
        read(checked.give(New(2**62, dtype=dtype(17, 4, 3)), PADDED))  # more than 2**63 bytes
    with raises(BufferError, "it is read-only"):
        checked.take(checked.give(New(2), READ_ONLY), 1)


def test_the_allocator():
    address = untrusted.allocate_by(OWN_TABLE, desc(2, 3, strides=None))
    equal(view_of(address)[:6], (1, 3, 0, 2, 2, 3))
    equal(view_of(address)[6] % 256, 0)
    untrusted.release(address)
    for changes, text in [
        (dict(device=CUDA), "BufferError: memory can be allocated only on the CPU"),
        (dict(shape=[2**62, 2]), "ValueError: cannot create a tensor of this shape and dtype"),
        (dict(shape=[-1]), "ValueError: "),
        (dict(ndim=65), "ValueError: "),
        (dict(dtype=dtype(2, 0)), "ValueError: "),
        (dict(dtype=dtype(6, 32)), "ValueError: "),
        (dict(dtype=dtype(2, 32, 0)), "ValueError: "),
        (dict(dtype=dtype(99, 8)), "ValueError: "),
        (dict(shape=[2**57]), "MemoryError: "),
    ]:
        with raises(RuntimeError, text):
            untrusted.allocate_by(OWN_TABLE, desc(2, **changes))
    equal(untrusted.allocate_by(OWN_TABLE, desc(2, device=CUDA, no_set_error=1)), -1)


def test_new_tensors_of_no_library():
    one = function(any_tensor())
    for x in New(2), Old(2):
        y = checked.like(one.which, FLOAT32, [2, 3], 0, x)
        equal(type(y), checked.Tensor)
        equal(read(y)[0]["shape"], (2, 3))
    equal(read(checked.like(one.which, FLOAT32, [], 0, x))[0]["shape"], ())
    equal(read(checked.like(one.which, FLOAT32, [0], 0, x))[0]["data"], 0)
    with raises(ValueError, "f(): argument 'a' (1st): the result has an invalid shape"):
        checked.like(one.which, FLOAT32, [2**62, 2], 0, x)
    with raises(ValueError, "the result has an invalid shape"):
        checked.like(one.which, FLOAT32, [-1], 0, x)
    with raises(MemoryError):
        checked.like(one.which, FLOAT32, [2**57], 0, x)
    with raises(MemoryError, "the untrusted has no memory"):
        checked.like(one.which, FLOAT32, [2], 0, Tabled(2))


def test_new_tensors_by_a_table():
    one = function(any_tensor())
    x = table_type(5)(2)
    try:
        with frees_all():
            for how, kind, text in [
                (0, RuntimeError, "f(): argument 'a' (1st): the untrusted wraps nothing"),
                (1, BufferError, "f(): argument 'a' (1st): its library allocated a different tensor than requested"),
                (2, BufferError, "its library allocated a different tensor than requested"),
                (3, RuntimeError, "f(): argument 'a' (1st): its library could not allocate a tensor"),
                *[
                    (how, BufferError, "its library allocated a different tensor than requested")
                    for how in (4, 5, 6, 7, 9)
                ],
                (8, RuntimeError, "f(): argument 'a' (1st): left behind"),
                (12, MemoryError, "the untrusted has no memory"),
                (13, KeyboardInterrupt, ""),
            ]:
                untrusted.allocate_wrongly(how)
                with raises(kind, text):
                    checked.like(one.which, FLOAT32, [2], 0, x)
    finally:
        untrusted.allocate_wrongly(0)
    streamed = function(any_tensor(), takes_stream=1)
    with raises(BufferError, "f(): argument 'a' (1st): its library cannot allocate on cuda:0"):
        checked.like_on(streamed.which, FLOAT32, [2], New(2, device=CUDA))


def test_new_tensors_of_a_library_that_has_no_allocator():
    """Like cuda.core's StridedMemoryView on the CPU: the memory is the module's, and the library
    creates the object."""
    one = function(any_tensor())
    x = table_type(5)(2)
    try:
        untrusted.wrap_as(1)
        for how in 10, 11:
            untrusted.allocate_wrongly(how)
            with frees_all(), calls(allocate=1, wrap=1, borrow=1):
                made = checked.like(one.which, FLOAT32, [2, 3], 7, x)
                address = untrusted.consume(made)
                equal(view_of(address)[:6], (1, 3, 0, 2, 2, 3))
                equal(ctypes.string_at(view_of(address)[6], 24), b"\7" * 24)
                untrusted.release(address)
        untrusted.wrap_as(2)
        with frees_all(), raises(RuntimeError, "f(): argument 'a' (1st): left behind"):
            checked.like(one.which, FLOAT32, [2], 0, x)
        untrusted.allocate_wrongly(10)
        streamed = function(any_tensor(), takes_stream=1)
        with raises(RuntimeError, "f(): argument 'a' (1st): the untrusted has no allocator"):
            checked.making(streamed.which, 0, table_type(5)(2, device=METAL))
    finally:
        untrusted.wrap_as(0)
        untrusted.allocate_wrongly(0)


def test_new_tensors_like_no_argument():
    two = function(any_tensor(), {"kind": INT, "optional": 1})
    for like in -1, 1, 2, 2**31 - 1:
        with raises(SystemError, f"f(): argument {like}, counted from 0, is not a tensor"):
            checked.making(two.which, like, New(2), 5)


def test_new_tensors_like_what_was_left_out():
    made = checked.like(function(any_tensor(optional=1)).which, FLOAT32, [2], 0, None)
    equal(type(made), checked.Tensor)
    equal(read(made)[0]["shape"], (2,))


def test_tensors_of_objects():
    for ndim in -1, 65, 2**31 - 1:
        with raises(ValueError, f"0 to 64 dimensions, not {ndim}"):
            checked.of_object(b"x", ndim)
    equal(read(checked.of_object(b"x", 64))[0]["shape"], (1,) * 64)


def test_new_tensors_by_a_namespace():
    one = function(any_tensor())

    class Space:
        fails = False

        @classmethod
        def from_dlpack(cls, x):
            if cls.fails:
                raise ValueError("wants nothing")
            return "made", x

    class Spaced(New):
        def __array_namespace__(self):
            return Space

    made, y = checked.like(one.which, UINT8, [3], 7, Spaced(2))
    equal((made, type(y), ctypes.string_at(read(y)[0]["data"], 3)), ("made", checked.Tensor, b"\7\7\7"))
    Space.fails = True
    with raises(ValueError, "f(): argument 'a' (1st): wants nothing"):
        checked.like(one.which, UINT8, [3], 7, Spaced(2))
    package = sys.modules["spaced"] = type(sys)("spaced")
    package.from_dlpack = lambda x: "by package"
    equal(checked.like(one.which, UINT8, [3], 7, type("T", (New,), {"__module__": "spaced.inner"})(2)), "by package")


def test_tensors_in_own_memory():
    for shape in [], [0], [2, 3], [1] * 64:
        t = checked.zeros(FLOAT64, shape)
        equal(read(t)[0]["shape"], tuple(shape))
        equal(read(t)[0]["data"] % 256, 0)
    equal(read(checked.zeros(FLOAT4, [3]))[0]["shape"], (3,))
    for shape in [-1], [2**40, 2**40], [1] * 65:
        with raises(ValueError, "cannot create the tensor: "):
            checked.zeros(FLOAT32, shape)
    with raises(MemoryError):
        checked.zeros(FLOAT32, [2**58])


def test_new_tensors_like_a_derived_type():
    """Through the nearest base that has a table or a package."""
    one = function(any_tensor())
    untrusted.allocate_wrongly(0)
    tabled = table_type(5)
    with frees_all(), raises(RuntimeError, "f(): argument 'a' (1st): the untrusted wraps nothing"):
        checked.like(one.which, FLOAT32, [2], 0, type("Derived", (tabled,), {})(2))
    package = sys.modules["based"] = type(sys)("based")
    package.from_dlpack = lambda x: ("by base", x)
    base = type("Base", (New,), {"__module__": "based.inner"})
    derived = type("Derived", (type("Between", (base,), {"__module__": "nowhere"}),), {"__module__": "__main__"})
    made, y = checked.like(one.which, UINT8, [3], 7, derived(2))
    equal((made, type(y), ctypes.string_at(read(y)[0]["data"], 3)), ("by base", checked.Tensor, b"\7\7\7"))
    own = sys.modules["own"] = type(sys)("own")
    own.from_dlpack = lambda x: "by its own"
    equal(checked.like(one.which, UINT8, [3], 7, type("Derived", (base,), {"__module__": "own"})(2)), "by its own")


main()
