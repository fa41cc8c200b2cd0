"""Many threads call the kernels of a package by each host at once.

Usage: threads.py FOLDER
"""

import pathlib
import sys
import threading

import numpy as np

import hosts

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "first"))
X = np.arange(1, 7, dtype="float32").reshape(2, 3)
ROW = X[0].copy()
CALLS = {"onnxruntime": 3, "jax": 10}  # a call creates a session, or compiles


def together(works):
    """Runs each function in a thread, and raises the exception of any of them."""
    wrong, ready = [], threading.Barrier(len(works))

    def run(work):
        try:
            ready.wait()
            work()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def test_calls_run_at_once():
    """Two calls wait for each other in the kernel. A JAX device runs one program at a time."""
    for name, host in hosts.ALL.items():
        if name == "jax":
            continue
        kernels = host("first")
        # The loop of a ufunc runs without the GIL if it has many elements.
        x = np.ones((600, 3), "float32") if name == "ufunc" else ROW
        together([lambda: np.testing.assert_array_equal(kernels.meet(x, 2), x)] * 2)


def own_values(kernels, i, count):
    def work():
        for n in range(count):
            np.testing.assert_array_equal(kernels.mix(X + n, 1 + i), (X + n) * (1 + i))

    return work


def own_errors(kernels, i, count):
    def work():
        for n in range(count):
            output = hosts.error_of(lambda: kernels.mix(X, -1 - i))
            assert f"expected times > 0, where times = {-1 - i}" in output, output

    return work


def test_calls_do_not_meet():
    """Each thread receives its own values and error messages."""
    for name, host in hosts.ALL.items():
        kernels, count = host("first"), CALLS.get(name, 100)
        together([work(kernels, i, count) for i in range(4) for work in (own_values, own_errors)])


def test_serial_kernels_take_turns():
    """For calls from any hosts."""
    callers = [hosts.ALL[name]("first") for name in ("python", "torch", "tvmffi", "paddle")] * 2

    def work(kernels):
        for _ in range(5):
            assert (kernels.turn(ROW, 1) == 1).all()

    together([lambda kernels=kernels: work(kernels) for kernels in callers])


def test_errors_of_serial_kernels_are_their_own():
    """The author's text of an error is read before the next call changes it."""
    callers = [hosts.ALL[name]("first") for name in ("python", "torch", "tvmffi", "paddle") if name in hosts.ALL] * 2

    def work(i, kernels):
        for _ in range(3):
            said = hosts.error_of(lambda: kernels.turn(ROW, -1 - i))
            assert said.split("\n")[0] == f"turn(): turn {1 + i}", said

    together([lambda i=i, kernels=kernels: work(i, kernels) for i, kernels in enumerate(callers)])


if __name__ == "__main__":
    hosts.main()
