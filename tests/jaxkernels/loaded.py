"""Loads the functions of JAX that BUILD has, or those with the mutant DLPACKGEN_MUTANT, and runs tests."""

import os
import sys
import traceback

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
BUILD = os.environ["BUILD"]
MUTANT = os.path.join(BUILD, "mutants", os.environ.get("DLPACKGEN_MUTANT", "0"))
sys.path[:0] = [MUTANT if os.path.isdir(MUTANT) else os.path.join(BUILD, "jax"), BUILD]

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)


def raises(kind, text, call, *args, **words):
    try:
        got = call(*args, **words)
    except Exception as e:
        assert type(e) is kind and text in str(e), f"{kind} {text!r} is not {type(e)} {str(e)!r}"
        return
    raise AssertionError(f"{kind} {text!r} did not come, but {got!r}")


def run(names):
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
    sys.exit(failed)
