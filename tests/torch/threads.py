"""Many threads concurrently: exports through every table, imports, installation and removal of the
table. Each thread releases all its tensors, or passes them to another."""

import queue
import threading

import numpy as np
import torch

import check
from check import TABLES, borrow, delete, from_dlpack, own

ROUNDS = 400


def together(*works):
    """Runs all concurrently, and raises the exception of any of them."""
    raised, start = [], threading.Barrier(len(works))

    def run(work):
        start.wait()
        try:
            work()
        except Exception as e:
            raised.append(e)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def owners(x):
    return torch._C._storage_Use_Count(x.untyped_storage()._cdata)


def test_exports_of_one_tensor():
    x = torch.arange(8.0)
    before = owners(x)

    def work(table):
        for _ in range(ROUNDS):
            managed = own(table, x)
            assert managed.contents.tensor.data == x.data_ptr() == borrow(table, x).data
            delete(managed)

    together(*(lambda table=table: work(table) for table in TABLES.values() for _ in range(2)))
    assert owners(x) == before


def test_exports_are_deleted_by_others():
    x, handed = torch.arange(8.0), queue.Queue()
    before = owners(x)

    def give(table):
        for _ in range(ROUNDS):
            handed.put(own(table, x))

    def take():
        for _ in range(ROUNDS):
            delete(handed.get())

    together(*(work for table in TABLES.values() for work in (lambda table=table: give(table), take)))
    assert owners(x) == before and handed.empty()


def test_imports():
    """Tensors that one thread receives are released by others."""
    source, handed = np.arange(8.0), queue.Queue()

    def take():
        for _ in range(ROUNDS):
            x = from_dlpack(source)
            assert x[7] == 7
            handed.put(x)

    def let_go():
        for _ in range(ROUNDS):
            handed.get()

    together(take, let_go, take, let_go)
    import gc
    import sys

    gc.collect()
    assert sys.getrefcount(source) == 2


def test_new_tensors():
    prototype = check.Tensor(
        None, check.Device(check.CPU, 0), 1, check.DType(2, 32, 1), (check.ctypes.c_int64 * 1)(4), None, 0
    )

    def work(table):
        for _ in range(ROUNDS):
            out = check.ManagedPointer()
            assert table.allocate(prototype, out, None, check.SetError()) == 0
            x = check.give(table, out.contents)
            x.fill_(1)

    together(*(lambda table=table: work(table) for table in TABLES.values()))


def test_the_table_comes_and_goes():
    import tvm_ffi

    before = torch.Tensor.__dict__["__dlpack_c_exchange_api__"]
    echo, x = tvm_ffi.get_global_func("testing.echo"), torch.arange(3.0)

    def change():
        for _ in range(ROUNDS):
            check.dlpackgen_torch.install()
            check.dlpackgen_torch.uninstall()

    def use():
        for _ in range(ROUNDS):
            assert echo(x).data_ptr() == x.data_ptr()
            table = check.table_in(torch.Tensor.__dlpack_c_exchange_api__)
            delete(own(table, x))

    together(change, change, use, use)
    check.dlpackgen_torch.uninstall()
    assert torch.Tensor.__dict__["__dlpack_c_exchange_api__"] is before
    assert "__dlpackgen_read__" not in torch.Tensor.__dict__


if __name__ == "__main__":
    check.run(globals())
