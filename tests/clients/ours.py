"""Compares the arguments that our module receives with the cases: each of its functions reads the
same elements, in the same memory, or rejects them with the reason. Arguments: a library, and names
of cases to select; --install as in hook.py."""

import sys
import warnings

import cases
import clients
import hook
import judge
import layouts

warnings.simplefilter("ignore")


def read(f):
    """f as a consumer of judge.py."""

    def take(x):
        (address, shape, strides, dtype, device, flags), elements = f(x)
        assert len(shape) == len(strides), f"{shape} {strides}"
        return judge.Taken(address, shape, dtype, device, bool(flags & 1), lambda: elements)

    return take


def check(case, f, rejected):
    """The only expected exception, which names the argument or the tensor."""
    written = [(rejected[0], r"\(\): argument 'x' \(1st\): .*(" + rejected[1] + ")")] if rejected else []
    word = judge.outcome(case, read(f), written)
    assert word == (judge.REJECTED if rejected else judge.OK), f"{word}, expected {rejected or case.shape}"


def everything(library):
    yield from cases.cases(library)
    for _, each in layouts.cases(library):
        yield from each


def main(library, *names):
    failures, unknown = 0, set(names)
    for case in everything(library):
        if names and case.name not in names:
            continue
        unknown.discard(case.name)
        for verb, rejected in ("read", case.rejected), ("write", case.written):
            for how in verb, verb + "_unlocked":
                try:
                    check(case, getattr(clients, how), rejected)
                    print(f"ok {how} {case}", flush=True)
                except Exception as e:
                    failures += 1
                    print(f"FAIL {how} {case}: {type(e).__name__}: {e}", flush=True)
    for name in unknown:
        print(f"FAIL {name}: there is no such case")
    sys.exit(failures != 0 or bool(unknown))


if __name__ == "__main__":
    chosen = hook.options()
    chosen.add_argument("library")
    chosen.add_argument("names", nargs="*")
    chosen = hook.parse(chosen)
    main(chosen.library, *chosen.names)
