"""Makes each allocation of a module fail in turn, alone and together with all following ones. The
result must be a MemoryError or a valid result, without a crash or a leak, and cached properties of
types must be right."""

import gc
import importlib.util
import os
import shutil
import sys
import tempfile
import traceback

sys.path.insert(0, os.environ["MODULES"])

import failing

LENDS, GIVES, VERSIONED, LEGACY = range(4)
KINDS = LENDS, GIVES, VERSIONED, LEGACY


def attempt(step, after, rest):
    failed, kind = failing.attempt(step, after, rest)
    assert kind in (None, MemoryError), f"{kind} when allocation {after} failed"
    assert kind is None or failed, "MemoryError though all were had"
    return failed, kind


def sweep(step):
    """Returns how often an allocation failed, and how often that was reported."""
    times = told = 0
    for rest in (0, 1):
        for after in range(5000):
            failed, kind = attempt(step, after, rest)
            if not failed:
                break
            times += 1
            told += kind is MemoryError
        else:
            raise AssertionError("no end of allocations")
    return times, told


def objects_after(sweeps, step):
    """Returns the growth of the heap, in objects, in each sweep until one in which it does not grow.
    Caches of Python and NumPy grow in some sweeps; a leak grows in every one."""
    grown = []
    while len(grown) < sweeps and min(grown, default=1) > 0:
        before = sys.getallocatedblocks()
        sweep(step)
        gc.collect()
        grown.append(sys.getallocatedblocks() - before)
    return grown


def hold(step):
    """Sweeps leave nothing behind."""
    step()
    times, told = sweep(step)
    assert times and told, "nothing failed"
    gc.collect()
    gc.freeze()  # so that collections are fast
    before = failing.counts()
    grown = objects_after(100, step)
    assert failing.counts() == before, f"blocks and tensors leak: {failing.counts()}, before {before}"
    assert min(grown) <= 0, f"objects leak: {grown}"


def quietly(function, x):
    try:
        function(x)
    except (TypeError, ValueError, BufferError):
        pass


def test_tensors_are_imported():
    for strides in (True, False):
        failing.hand_out(strides)
        for kind in KINDS:
            x = failing.untrusted(kind)
            for function in (failing.borrow, failing.copy, failing.take):
                function(x)
                if kind != LENDS or function is failing.take:
                    hold(lambda: function(x))


def test_types_are_learnt():
    """Each attempt uses a new type."""
    failing.hand_out(True)
    before = failing.counts()[0]
    for kind in KINDS:
        for rest in (0, 1):
            for after in range(1000):
                x = failing.untrusted(kind)
                failed, _ = attempt(lambda: failing.borrow(x), after, rest)
                try:
                    failing.borrow(x)
                except TypeError as e:
                    raise AssertionError(f"what was learnt when allocation {after} failed is wrong: {e}") from None
                if not failed:
                    break
    kept = failing.counts()[0] - before
    assert kept <= 64, f"{kept} blocks are kept for types, and there are 64 places"


def test_tensors_are_exported():
    failing.hand_out(True)
    x = failing.untrusted(VERSIONED)
    hold(lambda: failing.give(x))
    t = failing.give(x)
    hold(t.__dlpack__)
    hold(lambda: t.__dlpack__(max_version=(1, 0)))
    hold(lambda: t.__dlpack__(copy=True, max_version=(1, 0)))
    hold(lambda: failing.like(x))


def test_errors_are_reported():
    failing.hand_out(True)
    for x in (failing.untrusted(VERSIONED), failing.untrusted(LENDS), 5, "text"):
        hold(lambda: quietly(failing.reject, x))


def test_numpy():
    try:
        import numpy
    except ImportError:
        print("SKIP needs numpy")
        return
    x, s = numpy.ones((2, 3), "float32"), numpy.ones((4, 5), ">f8")
    for function in (failing.take, failing.give):
        hold(lambda: function(x))
    hold(lambda: quietly(failing.borrow, s))


def again(folder):
    """The same module again, from another file: it has no cached types and no verified fields."""
    spec = importlib.util.spec_from_file_location("failing", shutil.copy(failing.__file__, folder))
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_numpy_is_learnt():
    """The verification of an array's fields is permanent, so exhausted memory must not count as a
    failure; through the buffer protocol, the message would differ."""
    try:
        import numpy
    except ImportError:
        print("SKIP needs numpy")
        return
    x, time = numpy.ones((2, 3), "float32"), numpy.zeros(3, "datetime64[s]")
    for after in range(24):  # later, NumPy itself would get no memory, and crash (2.4.6)
        with tempfile.TemporaryDirectory() as folder:
            module = again(folder)
        attempt(lambda: module.borrow(x), after, 0)
        try:
            module.borrow(time)
        except (BufferError, ValueError) as e:
            assert "is a date or time" in str(e), f"unproven when allocation {after} failed: {e}"


if __name__ == "__main__":
    bad = 0
    for name in sys.argv[1:] or [n for n in list(globals()) if n.startswith("test_")]:
        try:
            globals()[name]()
            print("ok", name, flush=True)
        except Exception:
            bad += 1
            print("FAIL", name)
            traceback.print_exc(file=sys.stdout)
    sys.exit(bad > 0)
