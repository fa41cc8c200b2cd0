"""Times described kernels, hand-written ones, tvm-ffi, JAX and torch; prints nanoseconds by group,
name and round, as JSON."""

import ctypes
import gc
import json
import math
import random
import sys
import time
from pathlib import Path

# The suite python contains the loop.
sys.path[:0] = [str(Path(__file__).parents[1] / "python")]
import measure

STEPS, CALLS, PASSES = 20_000, 500, 9


def by_tvm(folder, rounds):
    import tvm_ffi

    functions = {
        "described": tvm_ffi.load_module(folder + "/_kernels.abi3.so").nop,
        "by hand": tvm_ffi.load_module(folder + "/by_hand_tvm.so").nop,
    }
    makers = measure.makers()
    makers["tvm_ffi.Tensor"] = lambda i: tvm_ffi.from_dlpack(makers["numpy"](i))
    return {
        "tvm-ffi, " + name: measure.rounds_of(functions, makers[name], rounds)
        for name in ("numpy", "torch", "tvm_ffi.Tensor")
    }


def spent(f, count):
    start = time.perf_counter_ns()
    f()
    return (time.perf_counter_ns() - start) / count


def in_turn(functions, count, rounds):
    """Returns the best of several passes for each function and round; a pass has `count` calls."""
    shuffled, took = random.Random(0), {name: [] for name in functions}
    for _ in range(rounds):
        best = {name: math.inf for name in functions}
        gc.collect()
        for _ in range(PASSES):
            for name in shuffled.sample(list(best), len(best)):
                best[name] = min(best[name], spent(functions[name], count))
        for name, times in took.items():
            times.append(best[name])
    return took


def by_jax(folder, rounds):
    import jax
    import jax.numpy as jnp
    import kernels_jax

    a, b = jnp.arange(16, dtype="float32"), jnp.ones(16, "float32")

    def by_library(name, file):
        handler = getattr(ctypes.CDLL(folder + "/" + file), name)
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(handler), platform="cpu")
        return lambda a, b: jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(a.shape, a.dtype))(a, b)

    import jax_tvm_ffi
    import tvm_ffi

    function = tvm_ffi.load_module(folder + "/by_hand_tvm.so").add
    jax_tvm_ffi.register_ffi_target("add_by_tvm", function, ["args", "rets"], platform="cpu")

    def by_tvm(a, b):
        return jax.ffi.ffi_call("add_by_tvm", jax.ShapeDtypeStruct(a.shape, a.dtype))(a, b)

    adders = {"described": kernels_jax.add, "by hand": by_library("add_by_hand", "by_hand_xla.so"),
              "jax-tvm-ffi": by_tvm, "empty": by_library("empty", "empty_xla.so")}  # fmt: skip
    loops, calls = {}, {}
    for name, add in adders.items():
        loop = jax.jit(lambda a, b, add=add: jax.lax.fori_loop(0, STEPS, lambda _, x: add(x, b), a))
        once = jax.jit(add)
        if name != "empty":  # which leaves the result as it is
            assert (once(a, b) == a + 1).all() and (loop(a, b) == a + STEPS).all(), name
        loops[name] = lambda loop=loop: loop(a, b).block_until_ready()
        calls[name] = lambda once=once: [once(a, b) for _ in range(CALLS)][-1].block_until_ready()
    return {"jax, fori_loop": in_turn(loops, STEPS, rounds), "jax, jit": in_turn(calls, CALLS, rounds)}


def by_torch(folder, rounds):
    import kernels_torch
    import torch

    kernels_torch.register()
    for library in ("by_hand_torch.so", "compiled.so"):
        torch.ops.load_library(folder + "/" + library)
    a, b, ops = torch.arange(16, dtype=torch.float32), torch.ones(16), torch.ops
    adders = {"described": ops.described.add, "by hand": ops.by_hand.add, "compiled": ops.compiled.add,
              "torch.add": torch.add}  # fmt: skip
    for name, add in adders.items():
        assert torch.equal(add(a, b), a + 1), name
    calls = {name: lambda add=add: [add(a, b) for _ in range(CALLS)] for name, add in adders.items()}
    return {"torch.ops": in_turn(calls, CALLS, rounds)}


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2])
    sys.path[:0] = [folder, folder + "/generated/jax", folder + "/generated/torchshim"]
    print(json.dumps(by_tvm(folder, rounds) | by_jax(folder, rounds) | by_torch(folder, rounds)))


main()
