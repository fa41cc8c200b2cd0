"""Runs the functions test_* of the calling script, or those that the arguments name, against the library that
LIBRARY names. Where STABLE is set the script loads it by itself."""

import os
import sys
import traceback

import torch

if not os.environ.get("STABLE"):
    torch.ops.load_library(os.environ["LIBRARY"])
ops = torch.ops.ops

# The mutants have fewer, to be built faster.
ALL = ["function", "pointer", "lambda", "functor", "boxed_function", "boxed_functor"]
FORMS = [form for form in ALL if hasattr(ops, "mix_" + form)]


def raises(kind, text, call, *args):
    try:
        got = call(*args)
    except kind as e:
        assert text in str(e), f"{text!r} is not in {str(e)!r}"
        return
    raise AssertionError(f"{kind} {text!r} did not come, but {got!r}")


def run(names):
    wanted = sys.argv[1:] or [name for name in names if name.startswith("test_")]
    failed = 0
    for name in wanted:
        try:
            names[name]()
            print("ok", name, flush=True)
        except Exception:
            failed = 1
            print("FAILED", name, flush=True)
            traceback.print_exc()
    sys.exit(failed)
