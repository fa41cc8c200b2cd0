"""Work that a queue holds until the test releases it: a wait for a user event of OpenCL."""

import contextlib
import ctypes
import threading

import clusm

cl = ctypes.CDLL("libOpenCL.so.1")
cl.clCreateUserEvent.restype = ctypes.c_void_p


@contextlib.contextmanager
def held(queue, seconds=0.5):
    """Holds a queue while the block runs, and then until the work on it may end."""
    event = ctypes.c_void_p(cl.clCreateUserEvent(ctypes.c_void_p(clusm.context()), None))
    assert cl.clEnqueueBarrierWithWaitList(ctypes.c_void_p(queue), 1, ctypes.byref(event), None) == 0
    assert cl.clFlush(ctypes.c_void_p(queue)) == 0
    try:
        yield
    finally:
        threading.Timer(seconds, cl.clSetUserEventStatus, (event, 0)).start()
