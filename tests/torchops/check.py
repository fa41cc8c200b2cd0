"""Runs the functions test_* of the calling script, or those that the arguments name, with the
library in LIBRARY. With STABLE set, the script loads it by itself."""

import os
import sys

import torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
from running import run  # noqa: E402, F401

if not os.environ.get("STABLE"):
    torch.ops.load_library(os.environ["LIBRARY"])
ops = torch.ops.ops

# The mutants have fewer kernels, to build faster.
ALL = ["function", "pointer", "lambda", "functor", "boxed_function", "boxed_functor"]
FORMS = [form for form in ALL if hasattr(ops, "mix_" + form)]


def raises(kind, text, call, *args):
    try:
        got = call(*args)
    except kind as e:
        assert text in str(e), f"{text!r} is not in {str(e)!r}"
        return
    raise AssertionError(f"{kind} {text!r} did not come, but {got!r}")
