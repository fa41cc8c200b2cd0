"""What a call of an empty kernel in Go takes beside one in C, in one library and one process."""

import statistics
import time

import numpy as np

import _kernels

A = [np.ones(8, "float32") for _ in range(4)]
CALLS, ROUNDS = 20_000, 31


def once(kernel):
    x, y, z, out = A
    begin = time.process_time_ns()
    for _ in range(CALLS):
        kernel(x, y, z, out=out)
    return (time.process_time_ns() - begin) / CALLS


rounds = [(once(_kernels.empty_go), once(_kernels.empty_c)) for _ in range(ROUNDS)]
go, c = (statistics.median(column) for column in zip(*rounds))
ratio = statistics.median(a / b for a, b in rounds)
print(f"Go {go:.0f} ns, C {c:.0f} ns, ratio {ratio:.2f}, {go - c:.0f} ns more")
