"""Prints which library reads what of which, as the table of docs/records/clients.md.

A cell is "ok" where the consumer has what the case says, "-" where it rejects in
words that are written down (with the class, where it is not what the rules want), and
else a word of judge.py. Cells of ours are never one of these, or the run fails;
--conforms=NAME wants the same of another consumer, as for one that is to read through a
table of ours which --install=MODULE puts in place (hook.py)."""

import sys
import warnings

import cases
import clients
import consumers
import hook
import judge
import layouts

warnings.simplefilter("ignore")


def take_ours(x):
    (address, shape, _, dtype, device, flags), elements = clients.read(x)
    return judge.Taken(address, shape, dtype, device, bool(flags & 1), lambda: elements)


def cells(case, takes):
    """The words of every consumer, by name."""
    mine = [case.rejected] if case.rejected else []
    words = {"ours": judge.outcome(case, take_ours, mine)}
    for name, take in takes.items():
        words[name] = judge.outcome(case, take, mine, consumers.EXPORTERS + consumers.REJECTIONS[name])
    for name, take in takes.items():
        # Tensors that must not be read are rejected by our module, for every caller.
        own = [] if case.rejected else consumers.EXPORTERS + consumers.REJECTIONS[name]
        words[f"ours to {name}"] = judge.outcome(case, lambda x, take=take: take(clients.export(x)), mine, own)
    return words


def rows(libraries, takes):
    """(library, tensor, rule, words, faults) of each row."""
    for library in libraries or cases.LIBRARIES:
        taken = {}
        for case in cases.cases(library):
            taken[case.name] = cells(case, takes)
            yield case, case.name, taken[case.name], [(case, taken[case.name])]
        for layout, each in layouts.cases(library):
            words = [(case, cells(case, takes)) for case in each]
            plain = [taken[case.name.rpartition(" ")[2]] for case in each]
            yield each[0], f"{layout}, every dtype", {name: summary(name, words, plain) for name in plain[0]}, words


def summary(name, words, plain):
    """The result of a consumer for all data types that it accepts."""
    output = {}
    takes_some = any(row[name] == judge.OK for row in plain)
    for (case, cell), row in zip(words, plain):
        if row[name] == judge.OK or not takes_some:
            output.setdefault(cell[name], []).append(case.name.rpartition(" ")[2])
    most = max(output, key=lambda word: len(output[word]))
    return ", ".join([most] + [f"{word} ({' '.join(output[word])})" for word in output if word != most])


def faults(case, words, strict):
    """The cells that differ from the listed ones."""
    for name, word in words.items():
        want = judge.REJECTED if case.rejected else judge.OK
        if (name == "ours" or name in strict or name.startswith("ours to") and case.rejected) and word != want:
            yield f"{case} to {name}: {word}, expected {want}"


def line(words):
    return "| " + " | ".join(words) + " |"


def main(libraries, which, strict):
    takes = {name: make() for name, make in consumers.CONSUMERS.items() if name in which or not which}
    names = ["ours", *takes, *(f"ours to {name}" for name in takes)]
    print(line(["producer", "tensor", "the rules", *names]))
    print("|---" * (3 + len(names)) + "|")
    bad = []
    for case, title, words, all_of_it in rows(libraries, takes):
        rule = "reject" if case.rejected else "read" if case.written else "read, write"
        print(line([case.library, title, rule, *(words[name] for name in names)]), flush=True)
        bad += [fault for case, cell in all_of_it for fault in faults(case, cell, strict)]
    if bad:
        sys.exit("not what was written down:\n" + "\n".join(bad))


if __name__ == "__main__":
    options = hook.options()
    options.add_argument(
        "--consumers", type=lambda names: names.split(","), default=[], help="those and ours; else all"
    )
    options.add_argument("--conforms", action="append", default=[], metavar="CONSUMER")
    options.add_argument("libraries", nargs="*")
    chosen = hook.parse(options)
    main(chosen.libraries, chosen.consumers, chosen.conforms)
