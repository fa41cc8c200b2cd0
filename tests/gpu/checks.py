"""What the checks of this folder share: their list, and what a check needs.

A rehearsal, with REHEARSAL in the environment, is for machines without a GPU: checks of
libraries take tensors of the CPU, and those that need a GPU are skipped with that reason."""

import os
import subprocess
import sys
import traceback

from table import Rejected

BIN = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
REHEARSAL = bool(os.environ.get("REHEARSAL"))
CHECKS = []


class Missing(Exception):
    """A dependency of a check that the machine lacks."""


def check(function):
    CHECKS.append(function)
    return function


def module(name):
    """Imports a library, or reports that it is missing."""
    try:
        found = __import__(name)
    except Exception as why:  # loading a library may fail in many ways
        raise Missing(f"no {name}: {why}") from why
    if found.__file__ is None:  # a folder of that name, such as tests/torch
        raise Missing(f"no {name}")
    return found


def need(name):
    """Imports a library that must use a GPU."""
    found = module(name)
    if REHEARSAL and name in ("torch", "cupy", "jax"):
        raise Missing("a rehearsal, and this needs a GPU")
    if name == "torch" and not found.cuda.is_available():
        raise Missing("torch sees no GPU")
    return found


def somewhere():
    """torch, and the device for it."""
    return (module("torch"), "cpu") if REHEARSAL else (need("torch"), "cuda:0")


def rejected(code, call, *arguments):
    try:
        call(*arguments)
    except Rejected as why:
        assert why.code == code, (code, why.code, str(why))
        return str(why)
    raise AssertionError(f"not rejected with {code}")


def program(name, *words, statuses=(0,)):
    """The output lines of a program of BIN."""
    path = os.path.join(BIN, name)
    if not os.path.exists(path):
        raise Missing(f"no {name} among the programs")
    done = subprocess.run([path, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode in statuses, done.stdout + done.stderr
    return done.stdout.splitlines()


def main(backend, names):
    """Runs checks, and returns the exit code: 2 without a GPU, 1 if one failed."""
    try:
        backend.probe()
    except Rejected as why:
        print(f"no GPU to check on: {why}")
        return 2
    failed = skipped = 0
    chosen = [f for f in CHECKS if not names or f.__name__ in names]
    for function in chosen:
        try:
            print(f"ok {function.__name__} {function(backend) or ''}".strip())
        except Missing as why:
            skipped += 1
            print(f"skip {function.__name__}: {why}")
        except Exception:  # every kind of failure is one more line
            failed += 1
            print(f"FAIL {function.__name__}")
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
    print(f"{len(chosen)} checks, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
