"""The access methods: their order, their possible mistakes, and the cache of types."""

import gc
import weakref

from check import *


class Wrong(New):
    """A producer whose __dlpack__ must not be called."""

    def __dlpack__(self, **asked):
        raise AssertionError("asked for a capsule")


def test_a_table_comes_before_the_capsule():
    with calls(borrow=1):
        equal(read(type("T", (Wrong,), {"__dlpack_c_exchange_api__": untrusted.table(0)})(2))[0]["owned"], False)
    both = type("T", (Wrong,), {"__dlpack_c_exchange_api__": untrusted.table(0), "__c_dlpack_exchange_api__": 1})
    with calls(borrow=1):
        read(both(2))
    capsule_as_older = type("T", (Wrong,), {"__c_dlpack_exchange_api__": untrusted.table(0)})
    with calls(borrow=1):
        read(capsule_as_older(2))


def test_a_table_is_for_one_type():
    class Derived(Tabled):
        pass

    read(Tabled(2))
    x = Derived(2)
    with calls():
        read(x)
    equal(len(x.asked), 1)


def test_a_registered_table_comes_first():
    kind = type("T", (Wrong,), {})
    x = kind(2)
    with raises(BufferError, "asked for a capsule"):
        read(x)
    checked.enroll(kind, untrusted.address(untrusted.table(0)))
    with calls(borrow=1):
        read(x)
    with raises(BufferError, "this exchange table cannot be used: the pointer is NULL"):
        checked.enroll(kind, 0)
    with raises(BufferError, "this exchange table cannot be used: a required function of the exchange table is NULL"):
        checked.enroll(kind, untrusted.address(untrusted.table(4)))
    with raises(TypeError, "expected a type for the exchange table, got an object of int"):
        checked.enroll(5, untrusted.address(untrusted.table(0)))


def test_a_table_that_is_registered_again():
    kind = type("T", (Wrong,), {})
    x = kind(2)
    for which, expected in (0, dict(borrow=1)), (1, dict(own=1)), (0, dict(borrow=1)):
        checked.enroll(kind, untrusted.address(untrusted.table(which)))
        with calls(**expected):
            read(x)
    with raises(BufferError):
        checked.enroll(kind, 0)
    with calls(borrow=1):
        read(x)


def test_a_registered_table_is_not_trusted():
    """The registration of other types has no effect: only the type's own table is used."""
    own = untrusted.table(0)
    for members, which, owned in (
        ({"__dlpack_c_exchange_api__": own}, 0, False),
        ({"__dlpack_c_exchange_api__": own}, 6, True),
        ({}, 0, True),
    ):
        kind = type("T", (New,), members)
        with trusted(kind):
            checked.enroll(kind, untrusted.address(untrusted.table(which)))
            equal(write(kind(2))[0]["owned"], owned)
            with contextlib.nullcontext() if not owned else raises(BufferError, "it is read-only"):
                write(kind(2, flags=READ_ONLY))
        checked.enroll(kind, untrusted.address(own))


def test_as_many_tables_as_there_is_room_for():
    kinds = []
    with raises(RuntimeError, "too many exchange tables: at most 16"):
        for i in range(17):
            kinds.append(type("T", (Wrong,), {}))
            checked.enroll(kinds[-1], untrusted.address(untrusted.table(0)))
    last = kinds[-2]
    for which, expected in (1, dict(own=1)), (0, dict(borrow=1)):
        checked.enroll(last, untrusted.address(untrusted.table(which)))  # a slot that it already has
        with calls(**expected):
            read(last(2))


def test_versions_of_tables():
    older_behind = table_type(3)
    with calls(borrow=1):
        read(older_behind(2))
    for which in 2, 4:
        x = table_type(which)(2)
        with calls():
            read(x)
        equal(len(x.asked), 1)


def test_attributes_that_are_no_tables():
    """An int is not used: it cannot be verified to be a table's address."""
    good = untrusted.address(untrusted.table(0))
    for value in (
        good,
        1 << 20,
        None,
        0,
        5.0,
        "text",
        untrusted.capsule(desc(2)),
        True,
        7,
        8,
        4088,
        -1,
        -8,
        2**64 + 8,
        good + 4,
    ):
        for name in "__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__":
            x = type("T", (New,), {name: value})(2)
            read(x)
            equal(len(x.asked), 1)


def test_what_is_owned():
    lends_nothing = table_type(1)
    with calls(own=1), frees_all():
        equal(read(lends_nothing(2, flags=READ_ONLY))[0]["flags"], READ_ONLY)
    with calls(own=1), frees_all():  # a lent tensor has no flags
        with raises(BufferError, "it is read-only"):
            write(Tabled(2, flags=READ_ONLY))
    with calls(borrow=1, own=1), frees_all():
        equal(read(Tabled(2, dtype=FLOAT4, flags=PADDED))[0]["flags"], PADDED)
    with calls(own=1), frees_all():
        equal(write(Tabled(2))[0]["owned"], True)


def test_tables_that_fail():
    for fault, text in [
        ("own silently", "its exchange table returned no tensor"),
        ("own nothing", "its exchange table returned no tensor"),
    ]:
        with frees_all(), raises(BufferError, "f(): argument 'a' (1st): " + text):
            write(Tabled(2, fault=fault))
    with frees_all(), raises(BufferError, "f(): argument 'a' (1st): Tabled was not exported: left behind"):
        write(Tabled(2, fault="own and raise"))
    unsupported = "its exchange table returned a tensor of an unsupported major version of DLPack"
    with frees_all(), raises(BufferError, unsupported):
        write(Tabled(2, major=2))
    for fault in "borrow silently", "borrow and raise":
        with calls(borrow=1, own=1), frees_all():
            equal(read(Tabled(2, fault=fault))[0]["owned"], True)


def test_calls_of_dlpack():
    x = New(2)
    read(x)
    equal(x.asked, [{"max_version": (1, 3)}])
    old = Old(2)
    read(old)
    equal(old.asked, [{}])


def test_keywords_are_fresh():
    """A producer in C receives the dictionary itself."""
    kind = type("T", (New,), {"__dlpack__": untrusted.pops})
    for count in 1, 2:
        with raises(BufferError, "its __dlpack__() did not return an unconsumed"):
            read(kind(2))
        equal(untrusted.popped(), count)


def test_what_dlpack_answers():
    class Gives(New):
        def __dlpack__(self, **asked):
            if isinstance(self.desc, BaseException):
                raise self.desc
            return self.desc

        def __init__(self, desc):
            self.desc = desc

    taken = untrusted.capsule(desc(2))
    untrusted.release(untrusted.consume(taken))
    for answer in None, 5, taken, untrusted.table(0):
        with raises(
            BufferError, "f(): argument 'a' (1st): its __dlpack__() did not return an unconsumed DLPack capsule"
        ):
            read(Gives(answer))
    with frees_all():
        with raises(BufferError, "its tensor has DLPack version 2.0, expected 1.3"):
            read(Gives(untrusted.capsule(desc(2, major=2, minor=0))))
    equal(read(Gives(untrusted.capsule(desc(2, minor=9))))[0]["shape"], (2,))
    once = Gives(untrusted.capsule(desc(2)))
    read(once)
    with raises(BufferError, "an unconsumed DLPack capsule"):
        read(once)


def test_what_a_producer_raises():
    """It is the cause of a BufferError, unless it is one, or does not concern the object."""

    class Gives(New):
        def __dlpack__(self, **asked):
            raise self.desc

        def __init__(self, error):
            self.desc = error

    class Own(ValueError):
        pass

    def taken(x):
        return checked.take(x, 0)

    class Foreign(Exception):
        """Like TensorFlow's InvalidArgumentError, which is not derived from a known Python
        class."""

    for error in (
        Own,
        ValueError,
        RuntimeError,
        NotImplementedError,
        TypeError,
        AttributeError,
        Foreign,
        StopIteration,
        AssertionError,
    ):
        for take, start in (read, "f(): argument 'a' (1st): "), (taken, ""):
            why = error("because")
            with raises(BufferError, f"{start}Gives was not exported: {why}") as caught:
                take(Gives(why))
            assert caught.exception.__cause__ is why, caught.exception.__cause__
            assert why.__traceback__
    why = BufferError("because")
    with raises(BufferError, "f(): argument 'a' (1st): because") as caught:
        read(Gives(why))
    assert caught.exception.__cause__ is why
    behind = ValueError("behind")
    why.__cause__ = behind  # a producer's own chain is kept
    with raises(BufferError, "because") as caught:
        read(Gives(why))
    assert caught.exception.__cause__ is why and why.__cause__ is behind
    for error in KeyboardInterrupt, MemoryError, SystemExit, RecursionError:
        for take in read, taken:
            with raises(error, "because"):
                take(Gives(error("because")))


def test_exceptions_that_cannot_be_told():
    """A failure remains one, even if its exception has no text and the types have no names."""

    class Nameless(type):
        __name__ = property(lambda cls: 5)

    class Mute(ValueError):
        def __str__(self):
            raise self.args[0]

    def fails(*asked, **also):
        raise Mute(ValueError("no text"))

    def members(where):
        return {
            "__dlpack__": New.__dlpack__,
            "__dlpack_device__": New.__dlpack_device__,
            "is_neg": lambda self: False,
            "is_conj": lambda self: False,
            "requires_grad": False,
            where: property(fails) if where == "requires_grad" else fails,
        }

    for where in "__dlpack__", "__dlpack_device__", "is_neg", "is_conj", "requires_grad":
        kind = Nameless("Kind", (New,), members(where))
        with raises(BufferError, "f(): argument 'a' (1st): Kind was not exported: Mute") as caught:
            read(kind(2))
        equal(type(caught.exception.__cause__), Mute)
        if where != "__dlpack_device__":
            with raises(BufferError, "Kind was not exported: Mute"):
                checked.take(kind(2), 0)
    with raises(TypeError, "f(): argument 'a' (1st): expected a tensor, got Bare, which has no __dlpack__"):
        read(Nameless("Bare", (), {})())
    for raised in KeyboardInterrupt, MemoryError:  # from the query for the text
        with raises(raised):
            read(type("T", (New,), {"__dlpack__": lambda self, **asked: (_ for _ in ()).throw(Mute(raised()))})(2))

    class Index:
        __index__ = __float__ = fails

    for of, text in (INT, "Mute"), (FLOAT, "Mute"):
        with raises(ValueError, f"f(): argument 'a' (1st): {text}"):
            function({"kind": of})(Index())


def test_a_message_is_printed_once():
    """The library's own exceptions are not chained to themselves; a producer's are."""
    numpy_like = table_type(1)
    for call in (
        lambda: read([1]),
        lambda: read(5),
        lambda: write(New(2, flags=READ_ONLY)),
        lambda: read(numpy_like(2, fault="own silently")),
        lambda: read(New(2, major=2)),
        lambda: read(New(2, data=0)),
        lambda: read(type("T", (New,), {"__dlpack_device__": lambda self: 5})(2)),
        lambda: function({"kind": INT})("x"),
    ):
        try:
            call()
        except (TypeError, BufferError) as e:
            equal((e.__cause__, e.__context__), (None, None))
        else:
            raise AssertionError("taken")
    with raises(OverflowError, "f(): argument 'a' (1st): ") as caught:
        function({"kind": INT})(2**63)
    equal(caught.exception.__cause__, None)
    try:
        raise KeyError("before")
    except KeyError as before:
        with raises(TypeError, "expected a tensor") as caught:
            read([1])
        assert caught.exception.__context__ is before


def test_what_is_no_tensor():
    for x, name in (5, "int"), ([1], "list"), (object(), "object"), (len, "builtin_function_or_method"):
        with raises(TypeError, f"f(): argument 'a' (1st): expected a tensor, got {name}, which has no __dlpack__"):
            read(x)
    with raises(TypeError, "f(): argument 'a' (1st): "):
        read(New)  # the type itself

    class Hidden:
        def __getattr__(self, name):
            raise ValueError("not " + name)

    with raises(BufferError, "f(): argument 'a' (1st): Hidden was not exported: not __dlpack"):
        read(Hidden())
    with raises(BufferError, "Hidden was not exported: not __dlpack__"):
        checked.take(Hidden(), 0)


def test_no_deleter():
    read(New(2, no_deleter=1))


def test_capsules_are_freed_on_every_way():
    two = function(any_tensor(), any_tensor(dtypes=[FLOAT32]))
    with frees_all():
        read(New(2))
        read(Old(2))
        for x in New(2, dtype=INT32), Old(2, dtype=INT32), 5, New(2, data=0), New(2, major=7):
            for first in New(2), Old(2), table_type(1)(2):
                try:
                    two(first, x)
                except (TypeError, BufferError):
                    continue
                raise AssertionError("taken")


def test_a_careless_deleter_keeps_the_error():
    untrusted.careless(1)
    try:
        with raises(TypeError, "(2nd): expected float32, got int32"):
            function(any_tensor(), any_tensor(dtypes=[FLOAT32]))(New(2), New(2, dtype=INT32))
        with raises(BufferError, "its tensor has DLPack version 2.3"):
            read(New(2, major=2))
        with raises(BufferError, "invalid DLPack tensor"):
            checked.take(New(-1), 0)
    finally:
        untrusted.careless(0)


def test_the_first_error_stays():
    """An older producer is called again without a version; if that fails too, the first error is
    kept."""

    class Fails(New):
        def __dlpack__(self, **asked):
            if "max_version" in asked:
                raise TypeError("the reason")
            raise BufferError("older ones are not served")

    try:
        read(Fails(2))
    except BufferError as e:
        equal(str(e), "f(): argument 'a' (1st): older ones are not served")
        equal(repr(e.__cause__.__context__), "TypeError('the reason')")
        assert e.__cause__.__context__.__traceback__
    else:
        raise AssertionError("taken")


def test_the_first_error_of_c_stays():
    """The same if only the second error's own text reveals it."""
    exported = bytearray(1)
    view = memoryview(exported)
    kind = type("T", (New,), {"__dlpack__": exported.clear})  # accepts no keywords, and fails without any
    with raises(BufferError, "f(): argument 'a' (1st): Existing exports of data") as caught:
        read(kind(2))
    equal(caught.exception.__cause__, None)
    equal(type(caught.exception.__context__), TypeError)
    view.release()


def test_types_are_kept_and_driven_out():
    kinds = [type("T", (New,), {}) for _ in range(2000)]
    for kind in kinds:
        read(kind(2))
        read(kind(2))
    gone = [weakref.ref(kind) for kind in kinds]
    del kinds, kind
    gc.collect()
    kept = sum(r() is not None for r in gone)
    # Without the GIL, a type that leaves the cache is never freed, because another thread may still
    # read it.
    assert kept == 2000 if free_threaded() else 20 < kept <= 64, kept


def test_an_address_may_get_another_type():
    for _ in range(500):
        read(type("T", (New,), {})(2))
        with calls(borrow=1):
            read(table_type(0)(2))


def test_a_type_that_is_looked_at_runs_code():
    """The lookup of a type runs its metaclass, which calls back."""
    depth = 0

    class Meta(type):
        def __getattr__(cls, name):
            nonlocal depth
            depth += 1
            if depth < 5:
                read(Meta("T", (New,), {})(2))
            raise AttributeError(name)

    read(Meta("T", (New,), {})(2))
    assert depth > 5

    class Raises(type):
        def __getattr__(cls, name):
            raise ValueError("not now")

    with raises(ValueError, "f(): argument 'a' (1st): not now"):
        read(Raises("T", (New,), {})(2))


def test_import_functions():
    with frees_all():
        for kind in New, Old, Tabled, table_type(1):
            held = checked.take(kind(2, 3), 0)
            equal(checked.described(held)["shape"], (2, 3))
            equal(checked.described(held)["flags"], READ_ONLY if kind is Old else 0)
            del held
        for x, text in [
            (Old(2), "cannot declare it writable"),
            (New(2, flags=READ_ONLY), "read-only"),
            (Tabled(2, flags=READ_ONLY), "read-only"),
        ]:
            with raises(BufferError, text):
                checked.take(x, 1)
        with raises(BufferError, "it has elements but no memory"):
            checked.take(New(2, data=0), 0)
        with raises(TypeError, "expected a tensor, got int"):
            checked.take(5, 0)


main()
