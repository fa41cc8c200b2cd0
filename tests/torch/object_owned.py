"""The exports of the table that retains objects instead of their memory."""

import ctypes
import gc
import os
import sys
import threading
import time
import weakref

import torch

import check
from check import OBJECT, delete, own

path = os.path.join(os.path.dirname(check.dlpackgen_torch.__file__), "..", "helper.so")
helper, helper_with_the_gil = ctypes.CDLL(path), ctypes.PyDLL(path)


def delete_with_the_gil(managed):
    """Like C code, whereas ctypes would release the GIL."""
    deleter = ctypes.cast(managed.contents.deleter, ctypes.c_void_p)
    ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(deleter.value)(ctypes.addressof(managed.contents))


def test_objects_are_retained_once():
    x = torch.ones(5)
    before, storage = sys.getrefcount(x), torch._C._storage_Use_Count(x.untyped_storage()._cdata)
    held = [own(OBJECT, x) for _ in range(1000)]
    assert sys.getrefcount(x) == before + 1000
    assert torch._C._storage_Use_Count(x.untyped_storage()._cdata) == storage
    for managed in held[:500]:
        delete(managed)
    for managed in held[500:]:
        delete_with_the_gil(managed)
    assert sys.getrefcount(x) == before


def test_the_last_reference():
    x = torch.arange(4096.0)
    gone, managed = weakref.ref(x), own(OBJECT, x)
    del x
    gc.collect()
    assert ctypes.c_float.from_address(managed.contents.tensor.data + 4).value == 1.0
    assert gone() is not None
    delete(managed)
    assert gone() is None


def test_deleters_without_the_gil():
    """On Python threads, for which ctypes releases the GIL, and on others."""
    x = torch.ones(5)
    before = sys.getrefcount(x)
    held = [own(OBJECT, x) for _ in range(900)]
    threads = [threading.Thread(target=lambda part: [delete(m) for m in part], args=(held[i:600:4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for managed in held[600:]:
        helper.on_a_thread(managed.contents.deleter, managed)
    for thread in threads:
        thread.join()
    assert sys.getrefcount(x) == before


def test_the_last_reference_on_another_thread():
    for _ in range(20):
        x = torch.ones(5)
        gone, managed = weakref.ref(x), own(OBJECT, x)
        del x
        helper.on_a_thread(managed.contents.deleter, managed)
        assert gone() is None


def test_deleters_wait_for_the_gil():
    x = torch.ones(5)
    before, managed = sys.getrefcount(x), own(OBJECT, x)
    assert helper_with_the_gil.comes_back_meanwhile(managed.contents.deleter, managed) == 0
    end = time.process_time() + 5
    while sys.getrefcount(x) > before and time.process_time() < end:
        time.sleep(0)
    assert sys.getrefcount(x) == before


def test_its_shape_does_not_change():
    x = torch.arange(64.0).reshape(8, 8)
    managed = own(OBJECT, x)
    x.resize_(4, 4)
    assert check.shape_of(managed.contents.tensor) == (8, 8) and check.strides_of(managed.contents.tensor) == (8, 1)
    delete(managed)
    many = torch.ones([1] * 11 + [5])
    managed = own(OBJECT, many)
    assert check.shape_of(managed.contents.tensor) == (1,) * 11 + (5,)
    delete(managed)


def test_the_object_is_not_its_memory():
    """This is why this table is used only on request."""
    x = torch.ones(5)
    gone, managed = weakref.ref(x.untyped_storage()), own(OBJECT, x)
    x.data = torch.zeros(3)
    gc.collect()
    assert gone() is None
    delete(managed)
    check.dlpackgen_torch.install()
    assert check._pointer(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api") != ctypes.addressof(OBJECT)
    check.dlpackgen_torch.uninstall()


def test_what_aten_exports_retains_memory():
    x = torch.empty(4, dtype=torch.uint8).view(torch.bits8)
    before = sys.getrefcount(x)
    try:
        managed = own(OBJECT, x)
    except BufferError:
        return
    assert sys.getrefcount(x) == before
    delete(managed)


if __name__ == "__main__":
    check.run(globals())
