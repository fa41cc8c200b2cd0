"""Ends Python in several ways, each in a fork of a process that has imported slow libraries. Unlike
in tests/mutants.py, these processes run Python's own shutdown."""

import os
import sys
import tempfile

import mutants


def each(ways):
    """Returns a way to end: the only one, or each of several in a child of this process. The parent
    then prints "ended", the status and the way, and after a tab each line of the child."""
    if len(ways) == 1:
        return ways[0]
    for way in ways:
        output = tempfile.TemporaryFile()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            for stream in 1, 2:
                os.dup2(output.fileno(), stream)
            return way
        _, status = os.waitpid(child, 0)
        print("ended", status, way)
        mutants.show(output, 0)
        output.close()
    sys.stdout.flush()
    os._exit(0)
