"""Makes each mistake of a table through every host, and compares the errors.

Usage: mistaken.py TABLE [HOST,...]

through.py has the hosts, and what they need in the environment.
"""

import importlib.metadata
import mmap
import pathlib
import re
import sys
import sysconfig

import numpy as np
import yaml
from compiled import PARAMETERS, Elsewhere, Graded, Reported, Skipped
from through import HOSTS

# Values of the table's calls


def array(*shape, dtype="float32", shift=0):
    """The numbers from 1 on, `shift` bytes after a multiple of 64."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    block = np.zeros(size + 128 + shift, np.uint8)
    first = -block.ctypes.data % 64 + shift
    made = block[first : first + size].view(dtype).reshape(shape)
    made[...] = np.arange(1, made.size + 1).reshape(shape)
    return made


def frozen(array):
    array.flags.writeable = False
    return array


class Lost:
    """A number whose conversions fail."""

    def __index__(self):
        raise KeyError("lost")

    __float__ = __index__


class Kept:
    """A tensor that is not exported."""

    def __dlpack__(self, **keywords):
        raise KeyError("kept")

    def __dlpack_device__(self):
        return 1, 0


def overlapping(kernel):
    y = array(12)
    return kernel(3, y[:8], y[4:])


def call_of(text):
    """The kernel, arguments and keywords of a call, with new arrays."""
    names = {"array": array, "frozen": frozen, "Elsewhere": Elsewhere, "Graded": Graded, "overlapping": overlapping}
    names.update(np=np, Lost=Lost, Kept=Kept, INFINITY=float("inf"))
    names.update(X=array(3, 8), W=array(8), P=array(2, 4, dtype="int32"))
    for kernel in PARAMETERS:
        names[kernel] = lambda *args, kernel=kernel, **keywords: (kernel, args, keywords)
    return eval(text, names)


# It defines the same operators as torch, so a process has only one of both.
ALONE = "compiled torch"

# The forms of an error in each host

CODES = {
    "TypeError": "INVALID_ARGUMENT", "ValueError": "INVALID_ARGUMENT", "BufferError": "INVALID_ARGUMENT",
    "IndexError": "OUT_OF_RANGE", "NotImplementedError": "UNIMPLEMENTED", "RuntimeError": "INTERNAL",
    "OverflowError": "INVALID_ARGUMENT",
}  # fmt: skip
ORT = "[ONNXRuntimeError] : "
INVALID, FAILED = f"InvalidArgument: {ORT}2 : INVALID_ARGUMENT", f"Fail: {ORT}1 : FAIL"


def spelled(host, error, runs):
    """The classes and prefixes that a host adds to an error; `runs` is an error of the kernel
    itself, which runs after JAX has traced."""
    kind, _, sentence = error.partition(": ")
    if host == "xla" or (host == "jax" and runs):
        return [f"JaxRuntimeError: {CODES[kind]}: {sentence}"]
    if host == "paddle graph" and runs:
        return [f"SystemError, printed: {error}"]
    if host in ("torch", "compiled torch") and kind == "OverflowError":  # for which c10 has no class
        return [f"ValueError: {sentence}"]
    if host == "onnxruntime":
        ran = FAILED if kind == "RuntimeError" else INVALID
        running = f"{ran} : Non-zero status code returned while running mix node. Name:'' Status Message: "
        creating = f"RuntimeException: {ORT}6 : RUNTIME_EXCEPTION : Exception during initialization: "
        return [running + sentence, creating + sentence]
    return [error]


def mixed(x, weight, places, by, times, also=False, bias=None, sizes=None, mode="sum"):
    """The result of mix() in author.c."""
    dtype = np.result_type(x, weight, np.float32)
    made = x.astype(dtype) * weight * (by * times) + places.flat[0] + places.flat[-1]
    made = made + (0 if bias is None else bias) + (1000 if also else 0)
    made = made + (0 if sizes is None else 10 * sizes[0] + 100 * sizes[1])
    return (made / 2 if mode == "mean" else made).astype(dtype)


def computed(kernel, args, keywords, kept):
    """The result of a call, computed with NumPy, which writes the kernel's written argument unless
    it is kept."""
    args = [value.array if isinstance(value, Graded) else value for value in args]
    if kernel == "mix":
        return mixed(*args, **{k: v for k, v in keywords.items() if k in PARAMETERS["mix"][len(args) :]})
    tiny, x, y = args
    made = x * np.float32(tiny)
    if not kept:
        y.flags.writeable = True
        y[...] = made
    return made


def plain(value):
    """Converts a host's array to a NumPy array."""
    return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)


def alike(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)


def differs(text, args, made, kept):
    """Returns the mistake after a successful call: in its result, or in an argument that it must
    not write."""
    kernel, fresh, keywords = call_of(text)
    want, made = computed(kernel, fresh, keywords, kept), plain(made)
    if not alike(made, want):
        return f"a result of {made.dtype}{list(made.shape)}: {made.ravel()[:8]}, not {want.dtype}: {want.ravel()[:8]}"
    for name, ours, theirs in zip(PARAMETERS[kernel], args, fresh):
        if isinstance(ours, np.ndarray) and not alike(ours, theirs):
            return f"argument {name!r} is then {ours.ravel()[:8]}, not {theirs.ravel()[:8]}"
    return ""


def outcome(call, text, kept):
    kernel, args, keywords = call_of(text)
    try:
        made = call(kernel, args, keywords)
    except Skipped:
        return "cannot"
    except Exception as error:
        output = str(error) if isinstance(error, Reported) else f"{type(error).__name__}: {error}"
        return re.sub("0x[0-9a-f]+", "ADDRESS", output.split("\n")[0])
    return differs(text, args, made, kept) or "works"


# Keys of the table for hosts with equal cells.
ALIKE = {
    "C++": "C++, Go", "Go": "C++, Go", "compiled torch": "torch", "paddle graph": "paddle", "tvm-ffi in C++": "tvmffi",
    "kernels in Go": "python",
}  # fmt: skip


def cell_of(host, row):
    cells = row.get("but", {})
    return cells.get(host, cells.get(ALIKE.get(host)))


def wanted(host, row):
    cell, runs = cell_of(host, row), row.get("runs", False)
    if cell is None:
        return ["works"] if row["error"] == "works" else spelled(host, row["error"], runs)
    if "own" in cell:
        return [cell["error"]]
    if "ours" in cell:
        return spelled(host, cell["ours"], runs) if host == "xla" else [cell["ours"]]
    return list(cell)[:1]


def compare(host, table):
    """Lists the mistakes whose errors differ from the table."""
    call = HOSTS[host]()
    differ = []
    for row in table["mistakes"]:
        kept = "kept" in (cell_of(host, row) or {})
        got, want = outcome(call, row["call"], kept), wanted(host, row)
        if got not in want:
            differ.append(f"{host}, {row['mistake']}\n  want {want[0]}\n  got  {got}")
    return differ


def check_table(table):
    """The table contains only existing hosts, and its citations are valid."""
    used = set()
    for row in table["mistakes"]:
        for host, cell in row.get("but", {}).items():
            assert host in {*HOSTS, *ALIKE.values()} and list(cell) in FORMS, (row["mistake"], host, cell)
            used.add(cell.get("own"))
    assert used - {None} == set(table["rejections"]), used ^ set(table["rejections"])
    for name, rejection in table["rejections"].items():
        assert (":" in rejection["in"]) != rejection.get("compiled", False), f"{name}: neither a line nor compiled"
        assert cited(rejection), f"{name}: {rejection['in']} does not have {rejection['text']!r}"
        host = re.match(r"(\w+) v([\d.]+),", rejection["at"])
        assert not host or importlib.metadata.version(host[1]) == host[2], f"{name}: another {host[1]} is installed"


FORMS = ["own", "error"], ["ours", "why"], ["works"], ["works", "kept"], ["cannot"]


def installed(pattern):
    """A file of a host, or the library that contains Python itself."""
    if pattern != "python":
        (file,) = pathlib.Path(sysconfig.get_paths()["purelib"]).glob(pattern)
        return file
    library = pathlib.Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("LDLIBRARY") or "")
    return library if library.suffix == ".so" and library.exists() else pathlib.Path(sys.executable).resolve()


def cited(rejection):
    pattern, _, line = rejection["in"].partition(":")
    file = installed(pattern)
    if line:
        return rejection["text"] in file.read_text().splitlines()[int(line) - 1]
    with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(rejection["text"].encode()) >= 0


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        table = yaml.safe_load(re.sub(r"\{(\w)\*(\d+)\}", lambda m: m[1] * int(m[2]), file.read()))
    hosts = sys.argv[2].split(",") if len(sys.argv) > 2 else [host for host in HOSTS if host != ALONE]
    if len(sys.argv) == 2:
        check_table(table)
    differ = [text for host in hosts for text in compare(host, table)]
    print("\n".join(differ) or f"{len(table['mistakes'])} mistakes through {len(hosts)} hosts")
    sys.exit(bool(differ))
