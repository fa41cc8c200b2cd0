"""One table of mistakes for both hosts of the checker: a module over dlpackgen_python, in the folder that MODULES
names, and the operators of torch raise the same class with the same sentence."""

import importlib.util
import os

import torch
from check import ops, run

spec = importlib.util.spec_from_file_location("checked", os.path.join(os.environ["MODULES"], "checked.abi3.so"))
checked = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checked)

ANY = {"leading_dims": 1, "devices": [-1]}
ROW_MAJOR = 1
FLOAT = 2


def parameters(*names, **changes):
    return [{"name": name, **ANY, **changes.get(name, {})} for name in names]


FILL = [*parameters("out", out={"writable": 1}), {"name": "value", "kind": FLOAT}]
SAME = parameters("x", "out", out={"writable": 1, "layout": ROW_MAJOR})


def gone():
    tensor = torch.ones(3)
    tensor.untyped_storage().resize_(0)
    return tensor


# The operator, how a module describes it, and what is passed.
MISTAKES = {
    "one element for all": ("fill", FILL, (torch.ones(1).expand(3), 1.0)),
    "windows that overlap": ("fill", FILL, (torch.ones(5).unfold(0, 3, 1), 1.0)),
    "equal steps": ("fill", FILL, (torch.ones(9).as_strided((3, 3), (1, 1)), 1.0)),
    "columns for rows": ("same", SAME, (torch.ones(3, 2), torch.ones(2, 3).t())),
    "gaps": ("same", SAME, (torch.ones(3), torch.ones(6)[::2])),
    "elements that lie between": (
        "fill",
        FILL,
        (torch.frombuffer(bytearray(9), dtype=torch.float32, offset=1), 1.0),
    ),
    "no memory": ("fill", FILL, (gone(), 1.0)),
}


def told(call, *args):
    try:
        call(*args)
    except Exception as e:
        return type(e), str(e).split("\n")[0]
    raise AssertionError("nothing was refused")


def test_the_same_mistake_gets_the_same_sentence():
    for name, (op, described, args) in MISTAKES.items():
        checked.define(2, "ops::" + op, described, 0, 0, [])
        module, operator = told(checked.run, 2, *args), told(getattr(ops, op), *args)
        assert module == operator, f"{name}: {module} and {operator}"


def test_a_sentence_that_differs_is_seen():
    checked.define(2, "ops::fill", FILL, 0, 0, [])
    overlaps, gaps = torch.ones(1).expand(3), torch.ones(1).expand(4)
    assert told(checked.run, 2, overlaps, 1.0) != told(ops.fill, gaps, 1.0)


run(globals())
