"""Times f(a, b, c) of several callables on the same fresh tensors, in turn, and
prints what one call took in each round, as JSON. Loop and unpacking are measured
too and taken off."""

import gc
import json
import sys
import time

TRIPLES = 500


def makers():
    """What makes a tensor, by library."""
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
    """Gives a list of nanoseconds for each function; every round has tensors of its
    own, and begins with another function."""
    took = {name: [] for name in functions}
    names = list(functions)
    for r in range(rounds + 1):
        triples = [(make(i), make(i + 1), make(i + 2)) for i in range(TRIPLES)]
        for f in functions.values():  # the tensors are warm for everybody, the functions too
            time_one(f, triples[:50])
        gc.collect()
        gc.disable()
        for name in names[r % len(names) :] + names[: r % len(names)]:
            loop = min(pass_over(triples) for _ in range(3))
            spent = min(time_one(functions[name], triples) for _ in range(3))
            if r:
                took[name].append((spent - loop) / TRIPLES)
        gc.enable()
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
    result = {}
    for library, make in makers().items():
        functions = {"empty": fast.empty, "held": fast.held, "released": fast.released, "owning": fast.owning, "tvm-ffi": tvm}
        if library in ("numpy", "torch"):
            functions["C++"] = fast_cpp.held
        if nop_nb and library in ("numpy", "torch"):
            functions["nanobind"] = nop_nb.nop
        functions["bare"] = {"numpy": fast.bare_numpy, "jax": fast.bare_buffer}.get(library, fast.bare)
        result[library] = rounds_of(functions, make, rounds)
    import torch

    fast.lend(torch.Tensor)
    result["torch by its own table"] = rounds_of(
        {"empty": fast.empty, "held": fast.held, "released": fast.released, "owning": fast.owning, "tvm-ffi": tvm, "bare": fast.bare},
        makers()["torch"],
        rounds,
    )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
