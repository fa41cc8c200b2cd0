"""Compares the compiled table with PyTorch's own, and f(a, b, c) with tvm-ffi, on the same new
tensors in turn; prints nanoseconds by group, name and round, as JSON."""

import gc
import importlib.machinery
import importlib.util
import json
import sys
import time

COUNT = 60
TIMES = 10


def fresh(torch):
    """Tensors whose only owner in C++ is their Python object."""
    return [torch.full((16,), float(i)) for i in range(COUNT)] * TIMES


def rounds_of(rounds, torch, works):
    """Returns the times of each function. Every round has new tensors and begins with a different
    function, and the best of three passes counts."""
    took = {name: [] for name in works}
    names = list(works)
    for r in range(rounds + 1):
        tensors = fresh(torch)
        for work in works.values():
            work(tensors)
        gc.collect()
        gc.disable()
        for name in names[r % len(names) :] + names[: r % len(names)]:
            spent = min(works[name](tensors) for _ in range(3))
            if r:
                took[name].append(spent)
        gc.enable()
    return took


def call(f):
    """Calls f(a, b, c) from Python, without the time of the loop."""

    def work(tensors):
        triples = list(zip(tensors[0::3], tensors[1::3], tensors[2::3]))
        start = time.perf_counter_ns()
        for a, b, c in triples:
            pass
        loop = time.perf_counter_ns() - start
        start = time.perf_counter_ns()
        for a, b, c in triples:
            f(a, b, c)
        return (time.perf_counter_ns() - start - loop) / len(triples)

    return work


def load_fast(modules, folder):
    """Returns a copy of the module fast with a separate cache of types."""
    loader = importlib.machinery.ExtensionFileLoader("fast", f"{modules}/{folder}/fast.abi3.so")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fast", loader))
    loader.exec_module(module)
    return module


def measure_tables(rounds, torch, tables, ours, by_object, theirs):
    """Returns the times of each function of both tables."""
    result = {}
    for name in ("borrow", "own", "hold", "import_"):
        function = getattr(tables, name)
        all_of_them = {"ours": ours, "torch": theirs} | (
            {"ours, by object": by_object} if name in ("own", "hold") else {}
        )
        works = {name: lambda ts, f=function, table=table: f(table, ts) for name, table in all_of_them.items()}
        works["floor"] = lambda ts: tables.nothing(ours, ts)
        result[name] = rounds_of(rounds, torch, works)
    return result


def measure_consumers(rounds, torch, consumers):
    """Compares from_dlpack() of NumPy arrays with torch's own."""
    import numpy as np

    arrays = [np.full(16, i, "f4") for i in range(COUNT)]

    def work(f):
        def run(ignored):
            start = time.perf_counter_ns()
            for x in arrays:
                f(x)
            return (time.perf_counter_ns() - start) / len(arrays)

        return run

    return rounds_of(rounds, torch, {name: work(f) for name, f in consumers.items()})


def measure_tvm(rounds, torch, nop, before, after):
    """Times tvm-ffi with a type that it cached before the table was installed, and with a type that
    it cached afterwards. The caller swaps them, so the types themselves have no influence."""
    types = {"torch.Tensor": lambda t: t, "Parameter": lambda t: torch.nn.Parameter(t, False)}

    def work(name):
        timed = call(nop)
        return lambda ts: timed([types[name](t) for t in ts])

    return rounds_of(rounds, torch, {"torch's table": work(before), "our table": work(after)})


def main():
    modules, rounds, order = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sys.path[:0] = [modules]
    import dlpackgen_torch
    import dlpackgen_torch_stable
    import tables
    import torch
    import tvm_ffi

    theirs = torch.Tensor.__dlpack_c_exchange_api__
    nop = tvm_ffi.load_module(modules + "/nop_ffi.so").nop
    shim, compiled, registered = (load_fast(modules, folder) for folder in ("shim", "compiled", "registered"))
    some = fresh(torch)[:3]
    types = {"torch.Tensor": some, "Parameter": [torch.nn.Parameter(t, False) for t in some]}
    before, after = list(types) if order == "tensor first" else list(types)[::-1]
    # Consumers cache types, and do not look them up again.
    nop(*types[before])
    shim.held(*some)
    dlpackgen_torch.install()
    nop(*types[after])
    compiled.held(*some)
    registered.lend(torch.Tensor)
    tables.know(dlpackgen_torch.exchange_api, torch.Tensor)
    works = {
        "inlined": compiled.inlined,
        "compiled": compiled.held,
        "registered": registered.held,
        "shim": shim.held,
        "by hand": tables.by_hand,
        "empty": shim.empty,
    }
    works["tvm-ffi"] = nop
    result = {"with tvm-ffi": measure_tvm(rounds, torch, nop, before, after)}
    if order == "tensor first":
        result["call"] = rounds_of(rounds, torch, {name: call(f) for name, f in works.items()})
        result |= measure_tables(
            rounds, torch, tables, dlpackgen_torch.exchange_api, dlpackgen_torch.exchange_api_object_owned, theirs
        )
        consumers = {
            "ours": dlpackgen_torch.from_dlpack,
            "ours, stable ABI": dlpackgen_torch_stable.from_dlpack,
            "torch": torch.from_dlpack,
        }
        result["from_dlpack"] = measure_consumers(rounds, torch, consumers)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
