"""Runs tests of the scripts of this folder with a package that lacks guards, in a process
of its own each, which may crash; torch is imported once. Arguments: a script and the name
of a test, for each."""

import os
import runpy
import sys

import torch  # noqa: F401


def run(script, test):
    sys.stdout = sys.stderr = open(os.devnull, "w")
    sys.argv = [script, test]
    runpy.run_path(script, run_name="__main__")


def main(*tests):
    for script, test in zip(tests[::2], tests[1::2]):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            return run(script, test)
        _, status = os.waitpid(child, 0)
        print("missed" if status == 0 else "caught", script, test)


if __name__ == "__main__":
    main(*sys.argv[1:])
