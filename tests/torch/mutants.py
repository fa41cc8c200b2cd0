"""Runs tests of the scripts of this folder with a package that has mutants, in a process
of its own each, which may crash; torch is imported once. Arguments: the number of a mutant,
a script and the name of a test, for each."""

import os
import runpy
import sys

import torch  # noqa: F401

AT_ONCE = 2


def run(number, script, test):
    """Does not wait for Python's end, which takes longer than most tests."""
    failed = 1
    try:
        os.environ["DLPACKGEN_MUTANT"] = number
        sys.stdout = sys.stderr = open(os.devnull, "w")
        sys.argv = [script, test]
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        failed = end.code
    finally:
        os._exit(failed)


def tell(running):
    child, status = os.wait()
    print("missed" if status == 0 else "caught", *running.pop(child), flush=True)


def main(*tests):
    running = {}
    for test in zip(tests[::3], tests[1::3], tests[2::3]):
        if len(running) == AT_ONCE:
            tell(running)
        child = os.fork()
        if child == 0:
            run(*test)
        running[child] = test
    while running:
        tell(running)


if __name__ == "__main__":
    main(*sys.argv[1:])
