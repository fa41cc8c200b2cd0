"""SiLU in C, as an operator of PyTorch: torchop.silu, torch.ops.torchop.silu."""

import os
import pathlib

import torch


def _library():
    """The library for this torch: C++ of one minor version does not fit another."""
    named = os.environ.get("TORCHOP_LIBRARY")
    if named:
        return named
    here = pathlib.Path(__file__).parent
    version = "_".join(torch.__version__.split(".")[:2])
    found = sorted(here.glob(f"_kernels_{version}.*"))
    if not found:
        built = [p.name.removeprefix("_kernels_").split(".")[0].replace("_", ".") for p in here.glob("_kernels_*")]
        raise ImportError(
            f"torchop is built for torch {', '.join(built) or '(none)'}, and this is torch {torch.__version__}"
        )
    return found[0]


torch.ops.load_library(_library())

silu = torch.ops.torchop.silu
