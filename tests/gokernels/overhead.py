"""Compares a call of an empty kernel in Go with one in C, in one library and one process."""

import time

import numpy as np

import _kernels

A = [np.ones(8, "float32") for _ in range(4)]
CALLS, ROUNDS = 5_000, 151


def once(kernel):
    x, y, z, out = A
    begin = time.thread_time_ns()
    for _ in range(CALLS):
        kernel(x, y, z, out=out)
    return (time.thread_time_ns() - begin) / CALLS


rounds = [(once(_kernels.empty_go), once(_kernels.empty_c)) for _ in range(ROUNDS)]
go, c = (min(column) for column in zip(*rounds))  # the minimum, which other programs do not affect
print(f"Go {go:.0f} ns, C {c:.0f} ns, ratio {go / c:.2f}, {go - c:.0f} ns more")
