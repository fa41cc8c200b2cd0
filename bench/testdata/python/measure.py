"""Times f(a, b, c) of several callables on the same new tensors, in turn, and prints the time of a
call in each round, as JSON. The loop and the unpacking are measured too, and subtracted."""

import gc
import json
import math
import random
import sys
import time

# This number fits in the caches of a core; with five times as many, other processes' memory traffic
# affects the times.
TRIPLES = 100
PASSES = 25


def makers():
    """Creates a tensor, by library."""
    import jax.numpy as jnp
    import numpy as np
    import paddle
    import torch

    return {
        "torch": lambda i: torch.full((16,), float(i)),
        "numpy": lambda i: np.full(16, i, "float32"),
        "paddle": lambda i: paddle.full([16], float(i)),
        "jax": lambda i: jnp.full(16, float(i), "float32").block_until_ready(),
    }


def pass_over(triples):
    start = time.perf_counter_ns()
    for a, b, c in triples:
        pass
    return time.perf_counter_ns() - start


def time_one(f, triples):
    start = time.perf_counter_ns()
    for a, b, c in triples:
        f(a, b, c)
    return time.perf_counter_ns() - start


def rounds_of(functions, make, rounds):
    """Returns a list of nanoseconds for each function: the best of several passes in each round.
    Every round has new tensors, and every pass a different order: functions that use much memory
    slow the next one down, and interruptions affect one pass instead of all."""
    took = {name: [] for name in functions}
    shuffled = random.Random(0)
    for _ in range(rounds):
        triples = [(make(i), make(i + 1), make(i + 2)) for i in range(TRIPLES)]
        best = {name: math.inf for name in [None, *functions]}
        gc.collect()
        gc.disable()
        for _ in range(PASSES):
            for name in shuffled.sample(list(best), len(best)):
                spent = time_one(functions[name], triples) if name else pass_over(triples)
                best[name] = min(best[name], spent)
        gc.enable()
        for name, times in took.items():
            times.append((best[name] - best[None]) / TRIPLES)
    return took


def main():
    modules, rounds = sys.argv[1], int(sys.argv[2])
    sys.path[:0] = [modules]
    import tvm_ffi

    import fast
    import fast_cpp

    tvm = tvm_ffi.load_module(modules + "/nop_ffi.so").nop
    try:
        import nop_nb
    except ImportError:
        nop_nb = None
    ours = {name: getattr(fast, name) for name in ("empty", "held", "inlined", "released", "owning")}
    result = {}
    for library, make in makers().items():
        functions = {**ours, "tvm-ffi": tvm}
        if library in ("numpy", "torch"):
            functions["C++"] = fast_cpp.held
        if nop_nb and library in ("numpy", "torch"):
            functions["nanobind"] = nop_nb.nop
        functions["bare"] = {"numpy": fast.bare_numpy, "jax": fast.bare_buffer}.get(library, fast.bare)
        if library == "paddle":
            functions["asking"] = fast.asking
        result[library] = rounds_of(functions, make, rounds)
    import torch

    fast.lend(torch.Tensor)
    result["torch by its own table"] = rounds_of({**ours, "tvm-ffi": tvm, "bare": fast.bare}, makers()["torch"], rounds)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
