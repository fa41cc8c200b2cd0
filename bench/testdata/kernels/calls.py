"""Times calls of a described kernel, tvm-ffi and a hand-written operator, on the same new tensors
in turn; prints nanoseconds by group, name and round, as JSON."""

import importlib.machinery
import importlib.util
import json
import sys
from pathlib import Path

# The suite python contains the loop.
sys.path[:0] = [str(Path(__file__).parents[1] / "python")]
import measure


def load(folder):
    """Returns a copy of the module with a separate cache of types."""
    loader = importlib.machinery.ExtensionFileLoader("_described", f"{folder}/_described.abi3.so")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("_described", loader))
    loader.exec_module(module)
    return module


def main():
    modules, rounds = sys.argv[1], int(sys.argv[2])
    sys.path[:0] = [modules]
    import dlpackgen_torch
    import torch
    import tvm_ffi

    tvm = tvm_ffi.load_module(modules + "/nop_ffi.so").nop
    torch.ops.load_library(modules + "/operators.so")
    plain, compiled = load(modules), load(modules + "/compiled")
    makers = measure.makers()
    result = {}
    for library in ("numpy", "torch"):
        functions = {"described": plain.nop, "held": plain.nop_held, "tvm-ffi": tvm}
        result[library] = measure.rounds_of(functions, makers[library], rounds)
    operators = {"described": torch.ops.described.nop, "by hand": torch.ops.undescrib.nop}
    result["torch.ops"] = measure.rounds_of(operators, makers["torch"], rounds)
    # Consumers cache types: tvm-ffi has cached PyTorch's own table, and the copy caches the
    # compiled one.
    dlpackgen_torch.install()
    functions = {"described": compiled.nop, "held": compiled.nop_held, "tvm-ffi": tvm}
    result["torch by the compiled table"] = measure.rounds_of(functions, makers["torch"], rounds)
    print(json.dumps(result))


main()
