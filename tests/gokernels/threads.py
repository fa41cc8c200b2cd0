"""Concurrent calls of many threads, and the resources that many calls leave behind."""

import gc
import threading

import numpy as np

import _kernels

X = np.random.default_rng(0).standard_normal((3, 8)).astype("float32")
WEIGHT = np.ones(8, "float32")


def together(count, work):
    wrong = []

    def run(i):
        try:
            work(i)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]


def meet(_):
    """All calls are in Go concurrently, or none of them returns."""
    np.testing.assert_array_equal(_kernels.meet(WEIGHT, 8), WEIGHT)


def own_errors(i):
    """Each thread receives the text of its own error."""
    for n in range(500):
        how = 1 + (i + n) % 2
        try:
            _kernels.failing(WEIGHT, how)
        except (RuntimeError, IndexError) as error:
            assert str(error).endswith(("no luck", "no row 2")[how - 1]), str(error)
        else:
            raise AssertionError("nothing was raised")


def own_values(i):
    x = X * (i + 1)
    for _ in range(500):
        got = _kernels.norm(x, WEIGHT, eps=float(i))
        np.testing.assert_allclose(got, x / np.sqrt((x**2).mean(-1, keepdims=True) + i), rtol=1e-4)


def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def calls(count):
    out = np.empty_like(X)
    for _ in range(count):
        _kernels.norm(X, WEIGHT)
        _kernels.norm(X, WEIGHT, out=out)
    for _ in range(count // 10):
        for how in (1, 5):
            try:
                _kernels.failing(WEIGHT, how)
            except RuntimeError:
                pass


together(8, meet)
together(8, own_errors)
together(8, own_values)
calls(5_000)
before = memory()
calls(50_000)
grown = memory() - before
assert grown < 8 << 20, f"{grown} bytes more after 100,000 calls"
print("done")
