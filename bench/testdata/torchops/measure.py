"""Times operators with three new tensors through torch.ops, in turn, and prints the time of a call
in each round, as JSON.
"""

import json
import sys
from pathlib import Path

import torch

# The suite python contains the loop.
sys.path[:0] = [str(Path(__file__).parents[1] / "python")]
import measure

FORMS = ["function", "pointer", "lambda", "functor", "boxed_function", "boxed_functor"]


def main():
    library, rounds = sys.argv[1], int(sys.argv[2])
    torch.ops.load_library(library)
    ops = torch.ops
    works = {}
    for does in ("read", "write"):
        for form in FORMS:
            works[f"{does} {form}"] = getattr(ops.benched, f"{does}_{form}")
            works[f"{does} {form} by hand"] = getattr(ops.by_hand, f"{does}_{form}")
    print(json.dumps(measure.rounds_of(works, lambda i: torch.full((16,), float(i)), rounds)))


main()
