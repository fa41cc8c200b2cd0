"""The order in which arguments are read: those that may run Python code first, and borrowed ones
afterwards; resources that such code could remove are retained."""

from check import *


@trusted(Known)
def test_what_runs_comes_first():
    """Reading one argument runs Python code that changes another one, whose shape is read later."""
    f = function(any_tensor(shape=[ANY]), any_tensor())

    class Changes(New):
        def __dlpack__(self, **asked):
            lent.desc = desc(5)
            return super().__dlpack__(**asked)

    lent = Known(2)
    f(lent, New(1))  # both types are cached from here on
    equal(f(lent, Changes(1))[0]["shape"], (5,))
    lent = Tabled(2)
    got = f(lent, Changes(1))[0]
    equal((got["shape"], got["owned"]), ((2,), True))


class Runs(New):
    """A tensor whose table runs Python code."""

    __dlpack_c_exchange_api__ = untrusted.table(0)
    run = staticmethod(lambda: None)

    @property
    def desc(self):
        self.run()
        return self.plain

    @desc.setter
    def desc(self, plain):
        self.plain = plain


@trusted(Known)
def test_what_a_table_runs_comes_first():
    """Foreign tables may run any code, such as a garbage collection."""
    for changes in {}, {"dtypes": [FLOAT32]}:
        f = function({"ndim": 1, "shape": [2], **changes}, any_tensor(**changes))
        lent, runs = Known(2), Runs(3)
        f(lent, runs)
        runs.run = lambda: setattr(lent, "desc", desc(5))
        with raises(ValueError, "f(): argument 'a' (1st): expected 2 in dimension 0, got 5"):
            f(lent, runs)


def test_what_may_be_freed_is_owned():
    f = function(any_tensor(), any_tensor(), any_tensor(optional=1))
    with frees_all():
        for other in Tabled, New:
            equal([x["owned"] for x in f(Tabled(2), other(2))[:2]], [True, other is New])
        equal([x["owned"] for x in f(Tabled(2), Tabled(2), Tabled(2))[:3]], [True, True, False])


@trusted(Known)
def test_what_a_stream_runs_comes_first():
    """The same for the function that reports a stream."""
    members = ctypes.c_void_p * 7  # the version, the previous table, and five functions
    api = members.from_buffer_copy(members.from_address(untrusted.address(untrusted.table(0))))

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
    def current_stream(device, device_id, out):
        lent.desc = desc(5)
        out[0] = 0x40
        return 0

    api[6] = ctypes.cast(current_stream, ctypes.c_void_p).value
    kind = type("T", (New,), {})
    checked.enroll(kind, ctypes.addressof(api))
    f = function({"ndim": 1, "shape": [2]}, any_tensor(), any_tensor(optional=1))
    lent = Known(2)
    f(lent, New(2))
    for given in [kind(2, device=CUDA)], [New(2, device=CUDA), kind(2, device=CUDA)]:
        lent.desc = desc(2)
        with raises(ValueError, "f(): argument 'a' (1st): expected 2 in dimension 0, got 5"):
            f(lent, *given)
    got = read(kind(2, device=CUDA))[0]
    equal(got["owned"], True)  # because its library is queried for its stream afterwards


def test_metadata_is_copied_where_others_run():
    """The untrusted lends all tensors from one location, which is valid until the next call: for the
    next argument, for its stream or for a result."""

    class Tabled2(Tabled):
        __dlpack_c_exchange_api__ = untrusted.table(0)

    for changes in {}, {"dtypes": [FLOAT32]}:
        f = function(any_tensor(**changes), any_tensor(**changes))
        for kind in Tabled, Tabled2:
            a, b = f(Tabled(2), kind(3))[:2]
            equal((a["shape"], b["shape"]), ((2,), (3,)))
            a, b = f(Tabled(2, 3), kind(3, 2, strides=[1, 3]))[:2]
            equal((a["strides"], b["strides"]), ((3, 1), (1, 3)))
        got = checked.meanwhile(function(any_tensor(**changes)).which, lambda: read(Tabled2(7)), Tabled(2))
        equal(got["shape"], (2,))
    got = checked.meanwhile(function(any_tensor()).which, lambda: read(Tabled2(7)), New(2))
    equal(got["shape"], (2,))


@trusted(Known)
def test_metadata_of_trusted_tables_is_copied():
    """Simulates threads of its library, which may change it at any time."""
    for changes in {}, {"dtypes": [FLOAT32]}:
        f = function(any_tensor(**changes))
        got = checked.meanwhile(f.which, lambda: [read(Known(7)) for _ in range(40)], Known(2))
        equal(got["shape"], (2,))


@trusted(Known)
def test_a_tensor_that_becomes_another():
    """Reading one argument changes the type of another one to a type that needs queries, or has no
    table."""

    class Asked(Tabled):
        __dlpack_c_exchange_api__ = untrusted.table(0)
        filled = mask = None

    f = function(any_tensor(), any_tensor(), any_tensor(optional=1))
    for kind in Asked, New, table_type(0):
        for order in (0, 1), (1, 0):
            lent = Known(2)

            class Changes(New):
                def __dlpack__(self, **asked):
                    lent.__class__ = kind
                    return super().__dlpack__(**asked)

            given = [lent, Changes(1)]
            with (
                frees_all(),
                raises(
                    BufferError, f"argument '{'ab'[order[0]]}'", "its type changed during the call"
                ),
            ):
                f(*[given[i] for i in order], New(2))
    lent = Known(2, device=CUDA)
    kind = New
    with calls(borrow=1), raises(ValueError, "(2nd): no current stream is known for cuda:0"):
        f(Changes(2), New(2, device=CUDA), lent)  # which is not queried for its stream

    class ChangesItself(table_type(0)):
        __dlpack_c_exchange_api__ = untrusted.table(0)

        def is_neg(self):
            return False

        def is_conj(self):
            self.__class__ = New
            return False

    for call in read, lambda x: checked.take(x, 0):
        with frees_all(), raises(BufferError, "its type changed during the call"):
            call(ChangesItself(2))


main()
