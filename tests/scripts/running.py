"""The common functions of scripts in several packages: they run their functions test_*, and expect
exceptions."""

import sys
import traceback


def raises(kind, text, call, *args, **words):
    try:
        got = call(*args, **words)
    except Exception as e:
        assert type(e) is kind and text in str(e), f"{kind} {text!r} is not {type(e)} {str(e)!r}"
        return
    raise AssertionError(f"{kind} {text!r} did not come, but {got!r}")


def run(names, end=sys.exit):
    """Runs the functions test_*, or those that the arguments name, and exits with 1 if one
    failed."""
    wanted = sys.argv[1:] or [name for name in names if name.startswith("test_")]
    failed = 0
    for name in wanted:
        try:
            names[name]()
            print("ok", name, flush=True)
        except Exception:
            failed = 1
            print("FAILED", name, flush=True)
            traceback.print_exc()
    end(failed)
