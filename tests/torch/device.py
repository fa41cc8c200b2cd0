"""The package with the CUDA backend and its driver's stand-in: the memory is the host's, and so is
torch's simulated device, from faults.so."""

import ctypes
import gc
import os
import sys

import torch

folder = os.environ["DEVICES"]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "devices"))
os.environ["BACKEND"] = os.path.join(folder, "libdlpackgen_cuda.so")
ctypes.CDLL(os.path.join(folder, "libcuda.so.1"))  # by its soname, the library that the backend opens

import check
from check import CUDA, UntrustedProducer, dlpackgen_torch, from_dlpack, rejected
from driver import Table, capsule, driver, table

faults = ctypes.CDLL(os.path.join(folder, "faults.so"))
faults.work_on.argtypes = [ctypes.c_int64]
faults.put_the_back_end()
dlpackgen_torch.use_backend(capsule(table()))


def offered(address, shape=(16,), device=CUDA, number=0, **changes):
    """A capsule with a tensor at an address, and its untrusted, which counts."""
    untrusted = UntrustedProducer(shape, data=address, device=(device, number), **changes)
    return untrusted, untrusted.capsule()


def taken(address, *arguments, **changes):
    untrusted, given = offered(address, *arguments, **changes)
    x = from_dlpack(given)
    assert x.data_ptr() == address
    del x
    assert untrusted.deleted == 1


def turned_down(text, *arguments, **changes):
    untrusted, given = offered(*arguments, **changes)
    with rejected(BufferError, text):
        from_dlpack(given)
    assert untrusted.deleted == 1


def test_whose_memory_it_is():
    for number in (0, 1):
        taken(driver.memory("plain", number), number=number)
    other = driver.memory("plain", 1)
    turned_down(
        "its declared device (2, 0) does not match the driver's (2, 1) for its memory; it may have been freed", other
    )
    turned_down("does not match the driver's (1, 0)", driver.memory("unknown"))
    turned_down("belongs to a context that the program created", driver.memory("foreign"))


def test_pinned_memory():
    taken(driver.memory("pinned"), device=3)
    turned_down("device (3, 0) does not match the driver's (2, 0)", driver.memory("plain"), device=3)


def test_byte_ranges_of_elements():
    plain = driver.memory("plain")
    taken(plain + 32, (8,))
    turned_down("does not match the driver's (1, 0) for its memory", plain + 4)
    turned_down("does not match the driver's (1, 0) for its memory", plain, (2, 2), strides=(16, 1))
    taken(driver.memory("split"), (32,))
    turned_down("does not match the driver's (1, 0) for its memory", driver.memory("split"), (33,))


def test_what_is_not_asked_about():
    for _ in range(2):  # the first use loads the driver
        driver.log()
        assert from_dlpack(UntrustedProducer((2,)).capsule()).tolist() == [0, 1]
        untrusted, given = offered(0, (0,))
        from_dlpack(given)
        output = driver.log()
    assert output == []
    dlpackgen_torch.use_backend(None)
    try:
        taken(driver.memory("unknown"))
    finally:
        dlpackgen_torch.use_backend(capsule(table()))
    assert "cuPointerGetAttributes(7" not in driver.log()


def test_tables_that_are_rejected():
    for name, value, text in (
        ("abi_version", 2, "have different versions"),
        ("size", 8, "have different versions"),
        ("device_type", 10, "does not support the devices"),
    ):
        other = Table.from_buffer_copy(table().contents)
        setattr(other, name, value)
        with rejected(BufferError, text):
            dlpackgen_torch.use_backend(capsule(ctypes.pointer(other)))
    with rejected(ValueError, "PyCapsule_GetPointer"):
        dlpackgen_torch.use_backend(dlpackgen_torch.exchange_api)


class Request(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("device", check.Device),
        ("dtype", check.DType),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    ]


def allocated():
    """A tensor of the backend, for the default stream, in a capsule."""
    alloc = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)(
        ctypes.cast(table(), ctypes.POINTER(ctypes.c_void_p))[6]
    )
    shape, out = (ctypes.c_int64 * 1)(16), ctypes.c_void_p()
    size, where = ctypes.sizeof(Request), ctypes.addressof(shape)
    request = Request(size, check.Device(CUDA, 0), check.DType(2, 32, 1), 1, where, None, 0)
    assert alloc(ctypes.byref(request), ctypes.byref(out), None) == 0
    return check.capsule_of(out.value, b"dltensor_versioned")


def test_memory_is_kept_until_the_work_is_done():
    """The work of torch's stream when the tensor is freed: stream 2, different from the one at the
    beginning."""
    faults.work_on(1)
    x = from_dlpack(allocated())
    y = x.detach()
    del x
    driver.log()
    faults.work_on(2)
    del y
    gc.collect()
    log = driver.log()
    assert log[:2] == ["cuEventCreate(2", "cuEventRecord(2"] and "cuMemFreeAsync(s@0" in log, log
    assert log.count("cuStreamWaitEvent(s@0,0") == 2, log
    assert driver.alive() == 0


def test_the_table_keeps_memory_as_well():
    faults.work_on(1)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    x = check.give(check.WRITE, check.Managed.from_address(get(allocated(), b"dltensor_versioned")))
    faults.work_on(2)
    driver.log()
    del x
    log = driver.log()
    assert log[:2] == ["cuEventCreate(2", "cuEventRecord(2"] and "cuMemFreeAsync(s@0" in log and driver.alive() == 0, (
        log
    )


def test_memory_of_others_is_theirs_to_keep():
    faults.work_on(2)
    driver.log()
    taken(driver.memory("plain"))
    assert driver.log() == ["cuPointerGetAttributes(7"]


def test_a_stream_that_is_not_reported():
    x = from_dlpack(allocated())
    faults.fail_with(4)
    driver.log()
    del x
    faults.fail_with(0)
    assert "cuMemFreeAsync(s@0" in driver.log() and driver.alive() == 0


def current_stream(source, number):
    """The handle and the device from the table's current_stream for a source."""
    ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, check.Device, ctypes.c_void_p, ctypes.c_void_p)(
        ctypes.cast(table(), ctypes.POINTER(ctypes.c_void_p))[8]
    )
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    out = (ctypes.c_void_p * 3)()
    code = ask(get(source, b"dlpackgen_stream_source"), check.Device(CUDA, number), out, None)
    return code, out[0], out[1]


def test_the_streams_of_torch():
    faults.work_on(2)
    assert current_stream(dlpackgen_torch.stream_source, 1) == (0, 2, CUDA | 1 << 32)
    faults.fail_with(4)
    assert current_stream(dlpackgen_torch.stream_source, 1)[0] == 10
    faults.fail_with(0)
    faults.work_on(0)


if __name__ == "__main__":
    check.run(globals())
