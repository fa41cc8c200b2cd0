"""Checks judge.py itself with one difference at a time: it compares all properties of a case, and
accepts only listed exceptions as rejections."""

import cases
import judge


def case(rejected=None, read_only=False, truth=lambda: b"ab", run=lambda take: take(None)):
    return cases.Case("nobody", "case", run, (2, 1), "int8", rejected=rejected, truth=truth, read_only=read_only)


def got(address=1, shape=(2, 1), dtype=(0, 8, 1), device=(1, 0), read_only=False, elements=b"ab"):
    return judge.Taken(address, shape, dtype, device, read_only, lambda: elements)


def outcome(what, error=None, mine=(), own=()):
    """The word for a consumer with that result or exception."""

    def take(_):
        if error:
            raise error
        return what

    return judge.outcome(case(), take, mine, own)


REJECTS = case(rejected="not that")
EXPECTED = [
    (judge.taken(case(), got()), "ok"),
    (judge.taken(case(), None), "no data"),
    (judge.taken(case(), got(address=0)), "no data"),
    (judge.taken(case(truth=lambda: b""), got(address=0, shape=(2, 0), elements=b"")), "shape"),
    (judge.taken(case(), got(elements=b"ac")), "wrong"),
    (judge.taken(case(truth=None), got()), "wrong"),
    (judge.taken(case(), got(shape=(1, 2))), "shape"),
    (judge.taken(case(), got(shape=(2,))), "shape"),
    (judge.taken(case(), got(dtype=(1, 8, 1))), "dtype"),
    (judge.taken(case(), got(dtype=(0, 16, 1))), "dtype"),
    (judge.taken(case(), got(dtype=(0, 8, 2))), "dtype"),
    (judge.taken(case(), got(dtype=None)), "dtype"),
    (judge.taken(case(), got(device=(2, 0))), "device"),
    (judge.taken(case(), got(device=(1, 1))), "device"),
    (judge.taken(case(), got(read_only=True)), "read-only"),
    (judge.taken(case(read_only=True), got()), "writable"),
    (judge.taken(case(read_only=True), got(read_only=True)), "ok"),
    (judge.taken(case(read_only=True), got(read_only=None)), "ok"),
    (judge.taken(REJECTS, got()), "takes"),
    (judge.taken(REJECTS, got(elements=b"ac")), "wrong"),
    (outcome(got()), "ok"),
    (outcome(None, BufferError("no, not that"), [("BufferError", "not that")]), "-"),
    (outcome(None, BufferError("no, not this"), [("BufferError", "not that")]), "raises BufferError"),
    (outcome(None, TypeError("no, not that"), [("BufferError", "not that")]), "raises TypeError"),
    (outcome(None, UnicodeError("not that"), [("ValueError", "not that")]), "raises UnicodeError"),
    (outcome(None, TypeError("not that"), [("TypeError", "not that")]), "-"),
    (outcome(None, TypeError("not that"), own=[("TypeError", "not that")]), "- TypeError"),
    (outcome(None, BufferError("not that"), own=[("BufferError", "not that")]), "-"),
    (outcome(None, TypeError("other"), own=[("TypeError", "not that")]), "raises TypeError"),
    (outcome(None, BufferError("any")), "raises BufferError"),
    (REJECTS.rejected, ("BufferError", "not that")),
    (REJECTS.written, ("BufferError", "not that")),
    (case().rejected, None),
]

for number, (word, wanted) in enumerate(EXPECTED):
    assert word == wanted, f"expectation {number}: {word}, not {wanted}"
    print("ok", number)
