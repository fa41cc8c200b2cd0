"""The common functions of the scripts in tests/python and tests/gopy, each used through its
folder's check.py. A script runs its own functions named test_..., or those that its arguments name,
prints a line for each, and exits with 1 if one failed."""

import gc
import os
import sys
import traceback


def equal(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def resident():
    """Bytes of anonymous memory of this process: pages of mapped libraries are loaded on use."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("RssAnon:"))


def grows_less(step, rounds, warm, each):
    """Repeats a step so often that the leak of one small object per step is detected: fewer than
    `each` bytes per round. A heap also grows by itself, but less each time, so a leak must appear
    five times."""
    for _ in range(warm):
        step()
    grown = []
    while len(grown) < 5:
        gc.collect()
        before = resident()
        for _ in range(rounds):
            step()
        gc.collect()
        grown.append(resident() - before)
        if grown[-1] < each * rounds:
            return
    raise AssertionError(f"{grown} bytes more after {rounds} rounds each")


def main():
    failed = 0
    script = sys.modules["__main__"]
    gc.freeze()  # so that collections are fast
    for name in sys.argv[1:] or [n for n in vars(script) if n.startswith("test_")]:
        try:
            getattr(script, name)()
            print("ok", name)
        except Exception:
            failed += 1
            print("FAIL", name)
            traceback.print_exc(file=sys.stdout)
    sys.exit(failed > 0)
