"""Holds what our module is given against the cases: each of its functions reads the
same elements, in the same memory, or refuses with the reason. Arguments: a library,
and the names of cases where not all are meant."""

import sys
import warnings

import cases
import clients

warnings.simplefilter("ignore")


def expect_refusal(case, pattern, f):
    try:
        got = case.run(f)
    except Exception as e:
        assert isinstance(e, (BufferError, TypeError, ValueError, RuntimeError)), f"{type(e).__name__}: {e}"
        assert cases.matches(pattern, e), f"the message says: {e}"
        assert "argument 'x' (1st): " in str(e), f"the message does not say where: {e}"
    else:
        raise AssertionError(f"not refused: {got}")


def expect_tensor(case, f):
    (address, shape, strides, dtype, device, flags), elements = case.run(f)
    assert dtype == cases.DTYPES[case.dtype], f"dtype {dtype}"
    assert len(shape) == len(strides) and device == (1, 0), f"{shape} {strides} {device}"
    assert elements == case.truth(), f"elements {elements} for {case.truth()}"
    assert bool(flags & 1) == case.read_only, f"flags {flags}"


def check(case, f, refused):
    if refused:
        expect_refusal(case, refused, f)
    else:
        expect_tensor(case, f)


def main(library, *names):
    failures = 0
    for case in cases.cases(library):
        if names and case.name not in names:
            continue
        for verb, refused in ("read", case.refused), ("write", case.written):
            for how in verb, verb + "_unlocked":
                try:
                    check(case, getattr(clients, how), refused)
                    print(f"ok {how} {case}", flush=True)
                except Exception as e:
                    failures += 1
                    print(f"FAIL {how} {case}: {type(e).__name__}: {e}", flush=True)
    sys.exit(failures != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
