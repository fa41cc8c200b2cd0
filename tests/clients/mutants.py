"""Runs cases with modules that each lack a guard, in a process of its own each, which
may crash. Arguments: the libraries to import first, with commas; then the folder of
a module, a library of cases.py or "special", and the name of a case, for each."""

import importlib
import os
import sys


def run(folder, library, name):
    """Ends the process: with 0 when the case passes though a guard is gone."""
    sys.path.insert(0, folder)
    if library == "special":
        importlib.import_module("special").main([name])
    importlib.import_module("ours").main(library, name)


def main(libraries, *runs):
    for library in libraries.split(","):
        importlib.import_module(library)
    for folder, library, name in zip(runs[::3], runs[1::3], runs[2::3]):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            sys.stdout = open(os.devnull, "w")
            run(folder, library, name)
        _, status = os.waitpid(child, 0)
        print("missed" if status == 0 else "caught", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
