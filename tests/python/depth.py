"""Chains of tensors that each own the previous one, and calls that are nested without end."""

import threading

from check import *


def view(x):
    return checked.of_object(x, 1)


LINKS = {
    "views": view,
    "views of capsules": lambda x: view(view(x).__dlpack__()),
    "views of what was taken": lambda x: checked.give(view(x), 0),
    "views in lists": lambda x: [view(x)],
}


def chain(link, length, last):
    for _ in range(length):
        last = link(last)
    return last


def falling(gone):
    """Reports its own end."""
    return type("Last", (), {"__del__": lambda self: gone.append(1)})()


def test_long_chains_end():
    """A chain is freed completely with its head, on a stack of any size."""
    for link in LINKS.values():
        for length in 1, 49, 50, 51, 99, 100, 101, 50_000:
            gone = []
            x = chain(link, length, falling(gone))
            equal(gone, [])
            del x
            equal(gone, [1])


def test_long_chains_end_on_any_thread():
    """Also on a thread that Python does not know."""
    gone = []
    chains = [chain(view, 50_000, falling(gone))]
    thread = threading.Thread(target=chains.clear)
    thread.start()
    thread.join()
    equal(gone, [1])
    untrusted.release_in_thread(untrusted.consume(chain(view, 50_000, falling(gone)).__dlpack__(max_version=(1, 0))))
    equal(gone, [1, 1])


def test_a_chain_does_not_wait_for_another_thread():
    ends, goes_on = threading.Event(), threading.Event()

    class Slow:
        def __del__(self):
            ends.set()
            goes_on.wait()

    chains = [chain(view, 50, Slow())]
    thread = threading.Thread(target=chains.clear)
    thread.start()
    try:
        while not ends.wait(0.01):
            assert thread.is_alive()
        gone = []
        x = view(falling(gone))
        del x
        equal(gone, [1])
    finally:
        goes_on.set()
        thread.join()


@contextlib.contextmanager
def recursion_without_limit():
    """Like programs with deep recursion only in Python, for which 3.11 uses no C stack."""
    former = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        yield
    finally:
        sys.setrecursionlimit(former)


class Producer(New):
    """A producer whose reading, or whose result, calls the reader again."""

    again = None

    def __dlpack__(self, **asked):
        return self.again(self)


class Indexed(Producer):
    def __index__(self):
        return self.again(self)


class Questioned(Producer):
    def __dlpack__(self, **asked):
        return New.__dlpack__(self, **asked)

    def is_neg(self):
        return self.again(self)

    is_conj = is_neg


class Library(Producer):
    """A producer whose results come from a function that calls it again."""

    def __dlpack__(self, **asked):
        return New.__dlpack__(self, **asked)

    def __array_namespace__(self):
        return types.SimpleNamespace(from_dlpack=lambda ours: self.again(self))


def by_table():
    """A producer whose exchange table is in C, and calls back without Python's knowledge."""
    members = ctypes.c_void_p * 7  # the version, the previous table, and five functions
    api = members.from_buffer_copy(members.from_address(untrusted.address(untrusted.table(5))))
    functions = {
        2: [ctypes.c_void_p] * 4,
        3: [ctypes.py_object, ctypes.c_void_p],
        5: [ctypes.py_object, ctypes.c_void_p],
    }

    def calling(place):
        original = ctypes.PYFUNCTYPE(ctypes.c_int, *functions[place])(api[place])

        def run(*arguments):
            if Tabled.again and place in Tabled.places:
                try:
                    Tabled.again(Tabled.it)
                except BaseException as e:
                    Tabled.raised.append(type(e))
                    return -1
            return original(*arguments)

        return ctypes.PYFUNCTYPE(ctypes.c_int, *functions[place])(run)

    class Tabled(New):
        again, places, raised = None, (), []

    Tabled.kept = [calling(place) for place in functions]
    for place, function_of in zip(functions, Tabled.kept):
        api[place] = ctypes.cast(function_of, ctypes.c_void_p).value
    Tabled.kept.append(api)
    checked.enroll(Tabled, ctypes.addressof(api))
    Tabled.it = Tabled(2)
    return Tabled


def ends(call, x):
    """A recursive call ends in a RecursionError, without a leak."""
    type(x).again = staticmethod(call)
    with recursion_without_limit(), frees_all():
        for _ in range(3):
            with raises(RecursionError, "maximum recursion depth exceeded while reading or creating tensors"):
                call(x)


def deep(f, levels):
    """This many nested calls are allowed."""

    class Deep(New):
        def __dlpack__(self, **asked):
            if levels > 1:
                deep(f, levels - 1)
            return super().__dlpack__(**asked)

    f(Deep(2))


def test_calls_without_end():
    one, number = function(any_tensor()), function({"kind": INT})
    ends(one, Producer(2))
    ends(one, Questioned(2))
    ends(number, Indexed(2))
    ends(lambda x: checked.take(x, 0), Producer(2))
    ends(lambda x: checked.like(one.which, FLOAT32, [2], 0, x), Library(2))
    for _ in range(3):
        deep(one, 60)


def test_calls_without_end_by_tables():
    one = function(any_tensor())
    for places, call in (
        ((5,), one),
        ((3,), lambda x: checked.take(x, 0)),
        ((2,), lambda x: checked.like(one.which, FLOAT32, [2], 0, x)),
    ):
        kind = by_table()
        kind.again, kind.places = staticmethod(call), places
        with recursion_without_limit():
            try:
                call(kind.it)
            except (BufferError, RuntimeError, MemoryError):
                pass
        assert RecursionError in kind.raised and len(kind.raised) < 100, kind.raised


main()
