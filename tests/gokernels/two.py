"""Two libraries of kernels in Go in one process: each has a separate Go runtime."""

import gc
import threading

import numpy as np

import _args
import _kernels

X = np.ones((3, 8), "float32")


def both():
    for _ in range(300):
        np.testing.assert_allclose(_kernels.norm(X, X[0], eps=3.0), X / 2, rtol=1e-6)
        assert _args.count(np.arange(10)) == 45
        try:
            _kernels.failing(X[0], 6)
        except RuntimeError as error:
            assert "nil pointer" in str(error)
        try:
            _args.pick(np.ones((2, 2)), 9, 9)
        except RuntimeError as error:
            assert "panic" in str(error)


threads = [threading.Thread(target=both) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
both()
gc.collect()
print("done")
