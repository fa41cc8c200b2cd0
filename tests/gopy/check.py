"""What the scripts of this folder share. Each runs its own functions named
test_..., or those that its arguments name, prints a line for each, and exits
with 1 if one failed."""

import contextlib
import gc
import importlib
import os
import sys
import traceback

# Not a package's folder: a script named like a framework would shadow it.
sys.path.insert(0, os.environ["GOPY"])


def framework(*names):
    """Imports frameworks; ends the script with a reason where one is missing."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as e:
        print(f"SKIP needs {e.name}: pip install -r tests/requirements-frameworks.txt")
        sys.exit(0)


def equal(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


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
    """Tensors of Go that somebody still has."""
    gc.collect()
    return importlib.import_module("gopy").outstanding()


def resident():
    """Bytes of memory that this process has."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def no_leak(step, rounds=100_000):
    """Runs a step so often that the leak of one small object each time shows, above
    what the heaps of Go and Python grow and shrink by on their own."""
    for _ in range(rounds // 5):
        step()
    gc.collect()
    before = resident()
    for _ in range(rounds):
        step()
    gc.collect()
    grown = resident() - before
    assert grown < 32 * rounds, f"{grown} bytes more after {rounds} rounds"


def main():
    failed = 0
    script = sys.modules["__main__"]
    for name in sys.argv[1:] or [n for n in vars(script) if n.startswith("test_")]:
        try:
            getattr(script, name)()
            print("ok", name)
        except Exception:
            failed += 1
            print("FAIL", name)
            traceback.print_exc(file=sys.stdout)
    sys.exit(failed > 0)
