"""Every allocation fails once: the module's own, and Python's if its test module exists. The result
is a MemoryError, without leaks and double frees."""

from check import *

try:
    import _testcapi
except ImportError:
    _testcapi = None

two = function(any_tensor(), any_tensor(dtypes=[FLOAT32]), {"kind": INT}, symbols=["n"])
one = function(any_tensor())


def fresh(kind):
    return type("T", (kind,), {})(2)


STEPS = {
    "a new type": lambda: read(fresh(New)),
    "a capsule": lambda: two(New(2), Old(2), c=1),
    "a table that lends nothing": lambda: two(table_type(1)(2), Tabled(2), 1),
    "taking": lambda: (checked.take(Old(2), 0), checked.take(New(2), 0)),
    "giving": lambda: checked.give(New(2), 0).__dlpack__(),
    "giving with a version": lambda: checked.give(New(2), 0).__dlpack__(max_version=(1, 0)),
    "a copy": lambda: checked.give(New(2), 0).__dlpack__(copy=True),
    "a new tensor": lambda: checked.like(one.which, FLOAT32, [2], 0, New(2)),
    "what does not fit": lambda: rejected(two, New(2), New(2, dtype=INT32), 1),
    "what is no tensor": lambda: rejected(two, New(2), 5, 1),
    "a registered table": lambda: rejected(checked.enroll, type("T", (), {}), untrusted.address(untrusted.table(4))),
}


def rejected(call, *args):
    try:
        call(*args)
    except (TypeError, ValueError, BufferError):
        return
    raise AssertionError("taken")


def failures(step, begin, end):
    """Makes one allocation after the other fail, until the step needs no more."""
    failed = 0
    for n in range(1, 400):
        with frees_all():
            begin(n)
            try:
                step()
            except MemoryError:
                failed += 1
            finally:
                enough = end()
        if enough:
            return failed
    raise AssertionError("it never ends")


def test_its_own_allocations():
    failed = {name: failures(step, checked.fail, lambda: checked.fail(0) > 0) for name, step in STEPS.items()}
    for name in "a new type", "taking", "giving", "giving with a version", "a copy", "a new tensor":
        assert failed[name], failed


def test_those_of_python():
    if not _testcapi:
        return print("there is no _testcapi")
    for name, step in STEPS.items():
        step()
        failed = 0
        for n in range(60):
            with frees_all():
                _testcapi.set_nomemory(n, n + 1)
                try:
                    step()
                except (MemoryError, BufferError, TypeError):  # the untrusted ignores failures
                    failed += 1
                finally:
                    _testcapi.remove_mem_hooks()
        assert failed, name


def test_a_failure_never_passes_for_a_success():
    """From one allocation on, all fail, including those for reporting the failure."""

    class Raises(New):
        def __dlpack__(self, **asked):
            raise self.desc

        def __init__(self, error):
            self.desc = error

    class Device(Raises):
        def __dlpack_device__(self):
            raise self.desc

    if not _testcapi:
        return print("there is no _testcapi")
    errors = MemoryError, BufferError, TypeError, ValueError, RuntimeError
    fail_from, restore, quiet = _testcapi.set_nomemory, _testcapi.remove_mem_hooks, checked.quiet
    for make in (
        lambda: Raises(ValueError("because")),
        lambda: Raises(BufferError("because")),
        lambda: Device(RuntimeError("because")),
        lambda: Raises(KeyError("because")),
        lambda: [1],
    ):
        which = function({"ndim": 1, "shape": [ANY], "dtypes": [FLOAT32], "devices": [CPU, METAL]}).which
        passed = None
        for n in range(60):
            x = make()
            fail_from(n)
            try:
                quiet(which, x)
                passed = n
            except errors:
                pass
            finally:
                restore()
        equal(passed, None)


def borrowed():
    """Tensors that a call borrows, by the installed libraries."""
    for name, make in ("numpy", lambda m: m.ones((2, 3))), ("torch", lambda m: m.ones(2, 3)):
        try:
            yield make(__import__(name))
        except (ImportError, AttributeError):  # a neighbouring folder has the name of a library
            print("there is no", name)


def test_what_is_borrowed_allocates_nothing():
    """Neither the module's own memory nor Python objects: no tuple, no dictionary."""
    shaped = {"ndim": 2, "shape": [symbol(0), symbol(1)]}
    which = function(any_tensor(), {**shaped, "writable": 1}, shaped, {"kind": INT, "optional": 1}).which
    for x in borrowed():
        checked.quiet(which, x, x, x)
        checked.quiet(which, x, c=x, b=x, d=5)
        checked.fail(1)
        checked.quiet(which, x, x, x)
        checked.quiet(which, x, c=x, b=x, d=5)
        equal(checked.fail(0), 1)
        if not _testcapi:
            print("there is no _testcapi")
            continue
        _testcapi.set_nomemory(0)
        checked.quiet(which, x, x, x)
        checked.quiet(which, x, c=x, b=x, d=5)
        _testcapi.remove_mem_hooks()


main()
