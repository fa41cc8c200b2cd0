"""Every allocation of a table or the consumer fails in turn: the result is a Python error about
memory, or a valid result, without leaks."""

import ctypes
import gc
import os

import numpy as np
import torch

import check
from check import OBJECT, READ, TABLES, WRITE, UntrustedProducer, delete, from_dlpack
from consume import Object, Tabled, table_for

path = os.environ["LD_PRELOAD"].split()[0]
python, allocator = ctypes.PyDLL(path), ctypes.CDLL(path)
allocator.blocks.restype = ctypes.c_long
python.call_failing.restype = ctypes.c_ssize_t
python.call_failing.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
ERRORS = (MemoryError, BufferError)
CALL = ctypes.cast(ctypes.pythonapi.PyObject_CallOneArg, ctypes.c_void_p).value


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def untrusted_of(**changes):
    """A tensor whose deleter is in C."""
    made = UntrustedProducer((2, 3), **changes)
    made.managed.deleter = ctypes.cast(allocator.count_deleter, check.Deleter)
    check._kept.clear()
    allocator.deleters()
    return made


def each_failure(try_it, least=1):
    """try_it(n) makes the n-th allocation fail, and returns whether it was reached. It is repeated,
    because cached memory is not a leak."""
    for _ in range(3):
        try_it(0)
    n = 0
    while True:
        n += 1
        levels = (ctypes.c_long * 6)()  # Python ints would be allocations themselves
        for i in range(6):
            came_to_that = try_it(n)
            gc.collect()
            levels[i] = allocator.blocks()
        if not came_to_that:
            break
        grown = [after - before for before, after in zip(levels[1:], levels[2:])]
        assert min(grown) <= 0, f"request {n} leaves {grown}"
    assert n > least, f"only {n} requests"


def of_slot(slot, a, out, give_back):
    """Tests a function that fills out."""

    def try_it(n):
        out.value = None
        try:
            result = python.call_failing(address(slot), a, ctypes.addressof(out), n)
        except ERRORS:
            assert allocator.has_failed() and not out.value
            return True
        assert result == 0 and out.value
        give_back(out.value)
        return bool(allocator.has_failed())

    return try_it


def managed_at(at):
    delete(ctypes.cast(at, check.ManagedPointer))


def without_pool(table, x, try_it):
    """A thread caches 256 blocks, which are removed meanwhile."""

    def instead(n):
        held = [check.own(table, x) for _ in range(256)]
        came_to_that = try_it(n)
        for managed in held:
            delete(managed)
        return came_to_that

    return instead


def test_exports():
    x, many = torch.ones(3), torch.ones([1] * 12)
    for table in TABLES.values():
        each_failure(without_pool(table, x, of_slot(table.own, id(x), ctypes.c_void_p(), managed_at)), 1)
        each_failure(without_pool(table, x, of_slot(table.own, id(many), ctypes.c_void_p(), managed_at)), 2)


def test_lazy_exports():
    a = torch.ones(3)
    b = torch._lazy_clone(a)
    each_failure(without_pool(READ, torch.ones(3), of_slot(READ.own, id(b), ctypes.c_void_p(), managed_at)), 2)
    del a


def test_objects():
    for flags in (0, check.READ_ONLY):
        for table in (WRITE, OBJECT):

            def give_back(at):
                assert allocator.deleters() == (1 if flags else 0)
                ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(at))
                assert allocator.deleters() == (0 if flags else 1)

            def try_it(n):
                untrusted = untrusted_of(flags=flags)
                came_to_that = of_slot(table.give, ctypes.addressof(untrusted.managed), out, give_back)(n)
                assert allocator.deleters() == 0, "it is the caller's when it fails"
                return came_to_that

            out = ctypes.c_void_p()
            each_failure(try_it, 3)


def test_new_tensors():
    extents = (ctypes.c_int64 * 2)(4, 5)
    prototype = check.Tensor(None, check.Device(check.CPU, 0), 2, check.DType(2, 32, 1), extents, None, 0)
    out, output = check.ManagedPointer(), []
    tell = check.SetError(lambda context, kind, message: output.append(kind.decode()))
    for table in TABLES.values():
        slot = ctypes.cast(table.allocate, ctypes.c_void_p)

        def try_it(n):
            output.clear()
            failed = allocator.allocate_failing(slot, ctypes.byref(prototype), ctypes.byref(out), tell, n)
            if failed:
                assert output and output[0] in ("MemoryError", "BufferError") and not out, output
                return True
            delete(out)
            return bool(allocator.has_failed())

        each_failure(try_it, 3)


def of_consumer(source, after):
    """Tests from_dlpack() with the result of source(); after(tensor or None) inspects the
    result."""

    def try_it(n):
        x, made = source(), None
        try:
            result = python.call_failing(CALL, id(from_dlpack), id(x), n)
            made = ctypes.cast(ctypes.c_void_p(result), ctypes.py_object).value
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))
        except ERRORS:
            assert allocator.has_failed()
        came_to_that = bool(allocator.has_failed())
        after(made)
        return came_to_that

    return try_it


def test_capsules():
    """After the capsule is renamed, the tensor is deleted in every kind of failure."""
    state = {}

    def source():
        state["untrusted"] = untrusted_of()
        state["capsule"] = state["untrusted"].capsule()
        return state["capsule"]

    def after(made):
        taken = not ctypes.pythonapi.PyCapsule_IsValid(ctypes.py_object(state["capsule"]), b"dltensor_versioned")
        assert allocator.deleters() == int(taken and made is None)
        del made

    each_failure(of_consumer(source, after), 3)


def test_objects_with_a_capsule():
    state = {}

    def source():
        state["untrusted"] = untrusted_of()
        return Object(state["untrusted"].capsule())

    each_failure(of_consumer(source, lambda made: None), 3)


def test_objects_with_a_table():
    """The exporting function is ours, so it needs no Python memory."""
    x = torch.ones(3)
    table = check.Table.from_buffer_copy(WRITE)
    table.own = ctypes.cast(allocator.give_what_is_there, dict(check.Table._fields_)["own"])
    Tabled.__dlpack_c_exchange_api__ = check.capsule_of(ctypes.addressof(table), b"dlpack_exchange_api")
    there = ctypes.c_void_p.in_dll(allocator, "what_is_there")

    def source():
        there.value = ctypes.cast(check.own(WRITE, x), ctypes.c_void_p).value
        return Tabled()

    def after(made):
        del made
        if there.value:
            managed_at(there.value)

    each_failure(of_consumer(source, after), 3)


def test_numpy():
    x = np.arange(6.0)
    each_failure(of_consumer(lambda: x, lambda made: None), 5)


def test_tensors():
    x = torch.ones(3)
    each_failure(of_consumer(lambda: x, lambda made: None), 1)


if __name__ == "__main__":
    gc.collect()
    gc.freeze()  # allocations inside torch are not tested each time
    check.run(globals())
