"""Prints which library reads what of which, as the table of docs/clients.md.

A cell is "ok" where the consumer has the same elements, "-" where it refuses, and
"no data", "wrong" or "takes" where it does not do what the rules say: it got a tensor
without memory, other elements, or something that was to be refused. Cells of ours
are never one of these, or the run fails."""

import sys
import warnings

import cases
import clients
import consumers

warnings.simplefilter("ignore")


def outcome(case, take):
    """What becomes of a case with a consumer, in one word."""
    try:
        taken = case.run(take)
    except Exception:
        return "-"
    if taken is None or not taken.has_data:
        return "no data"
    if not case.truth or taken.bytes != case.truth():
        return "wrong"
    return "takes" if case.refused else "ok"


def take_ours(x):
    (address, shape, *_), elements = clients.read(x)
    return consumers.Taken(address, shape, lambda: elements)


def take_from_ours(take):
    """Another library takes what we hand on."""
    return lambda x: take(clients.export(x))


def rows(libraries):
    takes = {name: make() for name, make in consumers.CONSUMERS.items()}
    for case in cases.cases(*libraries):
        rule = "refuse" if case.refused else "read" if case.written else "read, write"
        ours = outcome(case, take_ours)
        others = [outcome(case, take) for take in takes.values()]
        through = [outcome(case, take_from_ours(take)) for take in takes.values()]
        yield [case.library, case.name, rule, ours] + others + through, case


def main(libraries):
    names = list(consumers.CONSUMERS)
    print("| producer | tensor | the rules | ours | " + " | ".join(names + ["ours to " + n for n in names]) + " |")
    print("|---" * (4 + 2 * len(names)) + "|")
    bad = []
    for row, case in rows(libraries):
        print("| " + " | ".join(row) + " |", flush=True)
        if row[3] != ("-" if case.refused else "ok"):
            bad.append(str(case))
    if bad:
        sys.exit("ours is not what the rules say: " + ", ".join(bad))


if __name__ == "__main__":
    main(sys.argv[1:])
