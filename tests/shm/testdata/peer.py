"""Sends or receives a shared tensor over standard input, and reads it with numpy or torch."""

import os
import socket
import sys

import dlpackgen_shm as shm

FLOAT32 = (2, 32, 1)


def send(conn, read_only):
    import numpy

    tensor = shm.empty((3, 4), FLOAT32)
    array = numpy.from_dlpack(tensor)
    array[...] = numpy.arange(12).reshape(3, 4)
    shm.send(conn, array if read_only else tensor, read_only=read_only)
    print("sent")


def receive(conn, library):
    tensor = shm.receive(conn)
    array = __import__(library).from_dlpack(tensor)
    del tensor
    writable = array.flags.writeable if library == "numpy" else True
    print("received", tuple(array.shape), float(array.sum()), "writable" if writable else "read-only")


def raises(kind, call, *arguments):
    try:
        call(*arguments)
    except kind as e:
        return type(e).__name__, str(e)
    raise AssertionError(f"{call} raised nothing")


def mistakes():
    import numpy

    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    tensor = shm.empty((3, 4), FLOAT32)
    before = len(os.listdir("/proc/self/fd"))
    print(raises(ValueError, shm.send, a, numpy.zeros(3)))
    print(raises(TypeError, shm.send, a, tensor, True)[0])
    print(raises(ValueError, shm.empty, (-1,), FLOAT32))
    print(raises(ValueError, shm.empty, (1,) * 65, FLOAT32))
    print(raises(TypeError, shm.empty, ("x",), FLOAT32)[0])
    print(raises(OSError, shm.receive, sys.__stderr__.fileno())[0])
    b.setblocking(False)
    print(raises(BlockingIOError, shm.receive, b)[0])
    with open("/dev/null", "rb") as file:
        socket.send_fds(a, [b"T"], [file.fileno()])
    print(raises(BufferError, shm.receive, b))
    a.close()
    print(raises(BrokenPipeError, shm.receive, b)[0])
    print("left", len(os.listdir("/proc/self/fd")) - before + 1)


def interrupted():
    import signal

    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("rang")))

    def wait():  # includes the setup, because a slow machine may time out before the call
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        shm.receive(b)

    print(raises(TimeoutError, wait), a.fileno() > 0)


def main():
    what = sys.argv[1]
    if what in ("mistakes", "interrupted"):
        return globals()[what]()
    conn = socket.socket(fileno=os.dup(0))
    if what == "receive":
        receive(conn, sys.argv[2])
    else:
        send(conn, len(sys.argv) > 2)


main()
