"""Summarizes the outcome of a case in a word: all expected properties are compared, and an
exception is a rejection only if it was expected."""

import re

# The outcomes, in the order in which they are detected.
REJECTED, NO_DATA, WRONG, SHAPE, DTYPE, DEVICE, WRITABLE, READ_ONLY, TAKES, OK = (
    "-",
    "no data",
    "wrong",
    "shape",
    "dtype",
    "device",
    "writable",
    "read-only",
    "takes",
    "ok",
)


class Taken:
    """A tensor as its consumer sees it: an address, what it is, and its bytes where the address is one.

    dtype is (code, bits, lanes); device (type, number). read_only is None of a library
    that has no such tensors: by the rules it ignores the flag.
    """

    def __init__(self, address, shape, dtype, device, read_only, read):
        self.shape, self.dtype, self.device = tuple(int(n) for n in shape), dtype, device
        self.read_only = read_only
        self.has_data = address != 0 or 0 in self.shape
        self.bytes = read() if self.has_data else None


def taken(case, got):
    """The word for an imported tensor."""
    if got is None or not got.has_data:
        return NO_DATA
    if case.truth is None or got.bytes != case.truth():
        return WRONG
    if case.rejected:
        return TAKES
    return difference(case, got) or OK


def difference(case, got):
    """The properties that differ from the case, besides the elements."""
    if got.shape != case.shape:
        return SHAPE
    if got.dtype != case.dtype:
        return DTYPE
    if got.device != (1, 0):
        return DEVICE
    if got.read_only is not None and got.read_only != case.read_only:
        return WRITABLE if case.read_only else READ_ONLY
    return ""


def says(error, written):
    """Returns whether an exception matches one of the pairs of a class name and a pattern of its
    text."""
    return any(re.fullmatch(kind, type(error).__name__) and re.search(text, str(error)) for kind, text in written)


def rejection(error, mine, own=()):
    """The word for an exception; mine are the rejections by the rules, own are the consumer's
    own."""
    name = type(error).__name__
    if says(error, mine):
        return REJECTED
    if says(error, own):
        return REJECTED if name == "BufferError" else f"{REJECTED} {name}"
    return f"raises {name}"


def outcome(case, take, mine, own=()):
    """The word for a case with a consumer whose rejections are listed."""
    try:
        got = case.run(take)
    except Exception as error:
        return rejection(error, mine, own)
    return taken(case, got)
