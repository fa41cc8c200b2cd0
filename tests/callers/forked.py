"""Children of fork call the kernels of a package.

Usage: forked.py FOLDER
"""

import multiprocessing
import os
import pathlib
import sys
import threading
import time

import numpy as np

import children
import hosts

FOLDER = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(FOLDER / "first"))
X = np.arange(1, 7, dtype="float32").reshape(2, 3)
# JAX does not work in a child of fork, and ONNX Runtime only with some sessions:
# docs/callers/index.md.
WORK_IN_CHILDREN = ["python", "torch", "tvmffi", "onnxruntime", "ufunc", "paddle"]


def in_child(work):
    """Runs a function in a child of fork; a deadlocked child is ended."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr)
        finally:
            sys.stderr.flush()
            os._exit(status)
    status = children.status_of(child)
    assert status == 0, f"the child ended with status {status}"


def check(kernels):
    np.testing.assert_array_equal(kernels.mix(X, 3), X * 3)
    output = hosts.error_of(lambda: kernels.mix(X, -5))
    assert "expected times > 0, where times = -5" in output, output


def test_children_call_by_what_the_parent_called_by():
    for name in WORK_IN_CHILDREN:
        kernels = hosts.ALL[name]("first")
        check(kernels)
        in_child(lambda: check(kernels))


def test_a_child_is_the_first_to_call():
    import importlib

    importlib.import_module("first._kernels")
    for name in WORK_IN_CHILDREN:
        in_child(lambda: check(hosts.ALL[name]("first")))


def test_a_child_runs_the_session_of_its_parent():
    """A session with one thread needs no thread that the child lacks."""
    session = hosts.session("first", "mix", 3, X.ndim)

    def run():
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], X * 3)

    run()
    in_child(run)


def test_another_thread_holds_the_lock_of_a_serial_kernel():
    kernels = hosts.python("first")
    ran = np.zeros(3, "float32")

    def hold():
        kernels.kernels.turn(ran, 1000)

    thread = threading.Thread(target=hold)
    thread.start()
    while ran[0] == 0:  # set by the kernel at its beginning
        time.sleep(0.001)
    in_child(lambda: kernels.turn(X[0].copy(), 0))
    assert thread.is_alive()
    ran[0] = 1  # which ends the call
    assert (kernels.turn(X[0].copy(), 0) == 1).all()  # the parent still has its lock
    thread.join()


def test_processes_of_multiprocessing():
    for method in ("fork", "forkserver", "spawn"):
        context = multiprocessing.get_context(method)
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=hosts.send_mixed, args=(str(FOLDER / "first"), X, sender))
        process.start()
        sender.close()
        np.testing.assert_array_equal(receiver.recv(), X * 3, err_msg=method)
        process.join()
        assert process.exitcode == 0, (method, process.exitcode)


if __name__ == "__main__":
    hosts.main()
