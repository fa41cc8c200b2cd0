"""Times one empty kernel in C and in C++ on the same new tensors, in turn, and prints the time of a
call in each round, as JSON."""

import importlib.util
import json
import pathlib
import sys

MODULES, ROUNDS = sys.argv[1], int(sys.argv[2])


def timing():
    """The timing functions of the suite python, in the neighbouring folder."""
    path = pathlib.Path(__file__).parent.parent / "python" / "measure.py"
    spec = importlib.util.spec_from_file_location("timing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path[:0] = [MODULES]
import fast
import views

rounds_of = timing().rounds_of
functions = {"empty": fast.empty, "C": fast.held, "C++": views.held, "C++, arrays": views.arrays}
import numpy
import torch

makers = {"numpy": lambda i: numpy.full(16, i, "float32"), "torch": lambda i: torch.full((16,), float(i))}
print(json.dumps({library: rounds_of(functions, make, ROUNDS) for library, make in makers.items()}))
