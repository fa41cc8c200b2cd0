"""Waits for children of fork, which may be deadlocked."""

import contextlib
import glob
import os
import signal
import time

POLLS = 1000  # in ten seconds


def use_of(child):
    """Returns the states of a process's threads, and the CPU time that each of them used."""
    use = []
    for name in glob.glob(f"/proc/{child}/task/*/stat"):
        with contextlib.suppress(OSError), open(name) as stat:  # a thread may have ended
            fields = stat.read().rpartition(")")[2].split()
            use.append((fields[0], *fields[11:13]))
    return use


def status_of(child):
    """Returns the status of a child, and kills a deadlocked child. Load does not make a child look
    deadlocked: a thread that waits for a core is ready to run (state R)."""
    sleeping, before = 0, None
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        use = use_of(child)
        sleeping = sleeping + 1 if use == before and all(thread[0] == "S" for thread in use) else 0
        before = use
        if sleeping == POLLS:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
