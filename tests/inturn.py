"""Runs scripts in turn in this process, at whose end a sanitizer looks for leaks: what takes
long to import, which takes longest under a sanitizer, is imported once.

usage: python inturn.py SCRIPT ...

Before what a script prints it prints "in SCRIPT"; it exits with 1 if one of them failed."""

import gc
import os
import runpy
import sys


def run(script):
    """Leaves no references of a script to the next one, so that leaks are detected."""
    print("in", script, flush=True)
    sys.argv = [script]
    try:
        runpy.run_path(script, run_name="__main__")
        return 0
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        gc.collect()


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    sys.exit(max([run(script) for script in sys.argv[1:]]))
