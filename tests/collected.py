"""Collects tests of pytest once, and runs some of them for each mutant of a library
(internal/mutant) in a process of its own, which imports the library.

usage: python collected.py MODULES FOLDER NUMBER PATTERN ...

MODULES are those to import first, with commas between them. A pair of NUMBER and PATTERN runs
the tests whose names have the regular expression, with that mutant; 0 is none. For each pair it
prints "passed NUMBER PATTERN" or "failed NUMBER PATTERN", and then, each after a tab, the lines
of pytest."""

import gc
import importlib
import os
import re
import sys
import tempfile

import mutants
import pytest

MOST = 600  # seconds of CPU time


class Runs:
    def __init__(self, modules, pairs):
        self.modules = modules
        self.left = pairs
        self.running = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """A child returns to pytest, which runs the tests; the parent has nothing left to run."""
        for name in self.modules:
            importlib.import_module(name)
        gc.freeze()  # so that collections are fast in all processes
        for number, pattern in self.left:
            if len(self.running) == mutants.AT_ONCE:
                self.wait()
            output = tempfile.TemporaryFile()
            child = os.fork()
            if child == 0:
                begin(number, output)
                session.items[:] = [item for item in session.items if re.search(pattern, item.nodeid)]
                return None
            self.running[child] = number, pattern, output
        while self.running:
            self.wait()
        return True

    def wait(self):
        child, status = os.waitpid(-1, 0)
        number, pattern, output = self.running.pop(child)
        print("failed" if status else "passed", number, pattern)
        mutants.show(output, status)
        output.close()


def begin(number, output):
    mutants.limit(MOST)
    mutants.renew_pool()
    os.environ["DLPACKGEN_MUTANT"] = number
    for stream in 1, 2:
        os.dup2(output.fileno(), stream)


def main(modules, folder, *pairs):
    parent = os.getpid()
    # Capturing of file descriptors would pass the parent's to the children.
    options = ["-q", "--tb=short", "-p", "no:cacheprovider", "-rN", "--capture=sys"]
    runs = Runs(modules.split(","), list(zip(pairs[::2], pairs[1::2])))
    status = pytest.main([*options, folder], plugins=[runs])
    sys.stdout.flush()
    if os.getpid() != parent:  # Python's own shutdown takes longer than most tests
        os._exit(int(status))


if __name__ == "__main__":
    main(*sys.argv[1:])
