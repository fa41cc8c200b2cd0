"""The common functions of this folder's scripts. tests/scripts.py describes how they run."""

import contextlib
import gc
import importlib
import os
import sys

# Not the package's folder: a script named like a framework would shadow it.
sys.path[:0] = [os.environ["GOPY"], os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)]

from scripts import *


def framework(*names):
    """Imports frameworks; ends the script with a reason if one is missing."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as e:
        print(f"SKIP needs {e.name}: pip install -r tests/requirements-frameworks.txt")
        sys.exit(0)


@contextlib.contextmanager
def raises(kind, *texts):
    try:
        yield
    except kind as e:
        for text in texts:
            assert text in str(e), f"{text!r} is not in {e!r}"
    else:
        raise AssertionError(f"no {kind.__name__}")


def outstanding():
    """The number of Go tensors with owners."""
    gc.collect()
    return importlib.import_module("gopy").outstanding()


def no_leak(step, rounds=50_000):
    """Repeats a step; the heaps of Go and Python themselves grow by more than one object."""
    grows_less(step, rounds, rounds // 5, 32)
