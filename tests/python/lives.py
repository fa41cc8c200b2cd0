"""Lifetimes: modules, their cached types, and exceptions."""

import gc
import importlib.util
import os
import shutil
import weakref

from check import *

OWN_TABLE = checked.Tensor.__dlpack_c_exchange_api__


def load(path=checked.__file__):
    """Imports the module again, like a program with two names for it."""
    spec = importlib.util.spec_from_file_location("checked", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wraps(table=OWN_TABLE):
    """The object that a table creates for a tensor."""
    address = untrusted.consume(untrusted.capsule(desc(2)))
    try:
        return untrusted.by_table("wrap", table, address)
    except RuntimeError:
        untrusted.release(address)  # a failing function does not take ownership
        raise


def test_modules_come_and_go():
    """Several modules in one process have separate types. In each order of release, the other
    modules' table still works, and the tensors remain valid."""
    for first, second in (0, 1), (1, 0):
        with frees_all():
            loaded = [load(), load()]
            assert loaded[0].Tensor is not loaded[1].Tensor
            equal(type(wraps()), loaded[1].Tensor)
            gone = [weakref.ref(x) for x in loaded] + [weakref.ref(x.Tensor) for x in loaded]
            t = loaded[first].give(New(2), 0)
            loaded[first] = None
            gc.collect()
            assert gone[first]() is not None, "its tensor lives"
            equal(t.__dlpack_device__(), (CPU, 0))
            equal(untrusted.by_table("borrow", OWN_TABLE, t), DATA)
            del t
            gc.collect()
            equal(gone[first](), None)
            equal(gone[2 + first](), None)
            equal(type(wraps()), loaded[second].Tensor)
            loaded[second] = None
            gc.collect()
            equal([x() for x in gone], [None] * 4)
            equal(type(wraps()), checked.Tensor)


def test_a_table_without_a_module():
    """A separate file shares nothing with the module of the other tests."""
    path = os.path.join(os.environ["SCRATCH"], os.path.basename(checked.__file__))
    shutil.copy(checked.__file__, path)
    other = load(path)
    table = other.Tensor.__dlpack_c_exchange_api__
    equal(type(wraps(table)), other.Tensor)
    del other
    gc.collect()
    with frees_all(), raises(RuntimeError, "the module of this exchange table was unloaded"):
        wraps(table)


def test_modules_that_come_and_go_leave_nothing():
    def step():
        other = load()
        other.take(New(2), 0)
        other.give(New(2), 0)
        gc.collect()

    step()
    before = len(gc.get_objects())
    for _ in range(20):
        step()
    assert len(gc.get_objects()) < before + 20


def test_types_that_are_known_are_visited():
    """The garbage collector visits a module's cached types, so that a type that refers to the
    module does not keep both alive."""
    tabled, registered = type("T", (New,), {}), type("T", (New,), {})
    other = load()
    other.enroll(registered, untrusted.address(untrusted.table(0)))
    other.take(tabled(2), 0)
    other.take(registered(2), 0)
    known = gc.get_referents(other)
    equal([known.count(kind) for kind in (tabled, registered)], [1, 2])
    for kind in tabled, registered:
        kind.module = other
    gone = [weakref.ref(x) for x in (other, tabled, registered)]
    del other, tabled, registered, known, kind
    gc.collect()
    equal([x() for x in gone], [None] * 3)


def test_a_careless_deleter_keeps_the_error():
    """With the GIL and without it, for both structs, and inside one of our tensors."""
    for how in 0, 1, 2:  # careful; clears the exception; sets another one
        untrusted.careless(how)
        try:
            for x in New(2), Old(2), Tabled(2), New(2, strides=None):
                for unlocked in 0, 1:
                    with frees_all(), raises(KeyError, "on its way"):
                        checked.delete_during(x, unlocked, 1)
                    with frees_all():
                        equal(checked.delete_during(x, unlocked, 0), None)
        finally:
            untrusted.careless(0)


main()
