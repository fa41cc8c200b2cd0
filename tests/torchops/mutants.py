"""Runs tests of the scripts of this folder, each with one mutant of a library that holds them all, in a process of
its own; torch is imported once. Arguments: the number of a mutant, a script and the name of a test, for each."""

import os
import runpy
import sys
import tempfile
import traceback

import torch  # noqa: F401


def run(number, script, test):
    """Does not wait for Python's end, which takes longer than most tests."""
    try:
        start(number, script, test)
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def start(number, script, test):
    os.environ["DLPACKGEN_MUTANT"] = number
    sys.path.insert(
        0, os.path.join(os.environ.get("MUTANTS", "mutants"), number)
    )  # what is Python of the mutant, if it is
    sys.argv = [script, test]
    runpy.run_path(script, run_name="__main__")


def main(*each):
    for number, script, test in zip(each[::3], each[1::3], each[2::3]):
        with tempfile.TemporaryFile("w+") as out:
            child = os.fork()
            if child == 0:
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
                run(number, script, test)
            os.waitpid(child, 0)
            out.seek(0)
            text = out.read()
        said = "caught" if f"FAILED {test}\n" in text else "passed" if f"ok {test}\n" in text else "crashed"
        print(said, number, script, test, text if said == "crashed" else "", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
