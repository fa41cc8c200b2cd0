"""Times operators of three fresh tensors through torch.ops, in turn, and prints the time of a call
in each round, as JSON.
"""

import gc
import json
import sys
import time

import torch

# As many as the other tables of this suite take, again and again: with more of them
# their memory is no longer near, and its distance is measured.
COUNT = 60
TIMES = 20
FORMS = ["function", "pointer", "lambda", "functor", "boxed_function", "boxed_functor"]


def time_one(f, triples):
    start = time.perf_counter_ns()
    for a, b, c in triples:
        f(a, b, c)
    return (time.perf_counter_ns() - start) / len(triples)


def main():
    library, rounds = sys.argv[1], int(sys.argv[2])
    torch.ops.load_library(library)
    ops = torch.ops
    works = {}
    for does in ("read", "write"):
        for form in FORMS:
            works[f"{does} {form}"] = getattr(ops.benched, f"{does}_{form}")
            works[f"{does} {form} by hand"] = getattr(ops.by_hand, f"{does}_{form}")
    took = {name: [] for name in works}
    names = list(works)
    for r in range(rounds + 1):
        tensors = [torch.full((16,), float(i)) for i in range(COUNT)]
        triples = list(zip(tensors[0::3], tensors[1::3], tensors[2::3])) * TIMES
        for f in works.values():
            time_one(f, triples[:50])
        gc.collect()
        gc.disable()
        for name in names[r % len(names) :] + names[: r % len(names)]:
            spent = min(time_one(works[name], triples) for _ in range(3))
            if r:
                took[name].append(spent)
        gc.enable()
    print(json.dumps(took))


main()
