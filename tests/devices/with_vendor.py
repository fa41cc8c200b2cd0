"""A module over dlpackgen_python that uses a vendor's backend on kDLExtDev, with the driver's
stand-in. The headers define no streams for it: the backend's table does."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "python"))

from check import *
from driver import capsule, Table

EXTERNAL = 12
driver = ctypes.CDLL("libacme.so.1")
driver.standin_stream.restype = ctypes.c_void_p
entry = ctypes.CDLL(os.environ["BACKEND"]).dlpackgen_acme
entry.restype = ctypes.POINTER(Table)
both = function(any_tensor(), any_tensor(), takes_stream=1)
checked.use_device(capsule(entry()), None)


def memory(ordinal):
    address = ctypes.c_void_p()
    equal(driver.acmeAlloc(ctypes.byref(address), ctypes.c_size_t(64), ordinal, 0), 0)
    return address.value


def given(ordinal=0):
    return New(16, data=memory(ordinal), device=EXTERNAL, device_id=ordinal)


def test_producers_export_for_the_stream():
    stream = driver.standin_stream(0, 0)
    first, second = given(), given()
    equal(both(first, second, stream=stream)[3], stream)
    for producer in first, second:
        equal(producer.asked[-1]["stream"], stream)
    first = given()
    equal(both(first, given(), stream=1)[3], 0)
    equal(first.asked[-1].get("stream"), None)


def test_numbers_of_streams():
    with raises(
        ValueError, "f(): argument 'stream': acme: stream_from_dlpack: the number 0 is not a stream of Acme"
    ):
        both(given(), given(), stream=0)
    other = driver.standin_stream(1, 0)
    with raises(ValueError, "f(): argument 'stream': acme: ", f"the stream {other:#x} is of device 1, not of device 0"):
        both(given(), given(), stream=other)
    equal(both(given(1), given(1), stream=other)[3], other)


def test_passed_tensors():
    import numpy

    tensor = checked.give(given(1), 0)
    equal(tensor.__dlpack_device__(), (EXTERNAL, 1))
    equal(numpy.from_dlpack(tensor, device="cpu").shape, (16,))
    tensor.__dlpack__(dl_device=(CPU, 0), copy=True)
    tensor.__dlpack__(stream=driver.standin_stream(1, 0))
    with raises(RuntimeError, "acme: stream_from_dlpack: the number 0 is not a stream of Acme"):
        tensor.__dlpack__(stream=0)


main()
