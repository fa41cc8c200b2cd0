"""Makes each mistake of a table through every host, and compares the errors.

Usage: mistaken.py TABLE [HOST,...]

The environment has the libraries of compiled languages: CPP, GO and COMPILED_TORCH.
"""

import importlib.metadata
import mmap
import os
import pathlib
import re
import sys
import sysconfig

import numpy as np
import yaml
from compiled import PARAMETERS, Elsewhere, Graded, Reported, Skipped, compiled

# Values of the table's calls


def array(*shape, dtype="float32", shift=0):
    """The numbers from 1 on, `shift` bytes behind a multiple of 64."""
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


def overlapping(kernel):
    y = array(12)
    return kernel(3, y[:8], y[4:])


def call_of(text):
    """The kernel, arguments and keywords of a call, with arrays of its own."""
    names = {"array": array, "frozen": frozen, "Elsewhere": Elsewhere, "Graded": Graded, "overlapping": overlapping}
    names.update(X=array(3, 8), W=array(8), P=array(2, 4, dtype="int32"))
    for kernel in PARAMETERS:
        names[kernel] = lambda *args, kernel=kernel, **keywords: (kernel, args, keywords)
    return eval(text, names)


def arrays(convert, values):
    """Values with their arrays converted; one array stays one."""
    kept = {}

    def one(value):
        if isinstance(value, (np.ndarray, Elsewhere, Graded)):
            if id(value) not in kept:
                kept[id(value)] = convert(value)
            return kept[id(value)]
        return value

    return {k: one(v) for k, v in values.items()} if isinstance(values, dict) else [one(v) for v in values]


def called(function, args, keywords):
    """The result; a kernel without one writes its last argument."""
    made = function(*args, **keywords)
    return args[-1] if made is None else made


def library_of(package):
    return importlib.import_module(package + "._kernels").__file__


# Hosts: each gives a function of (kernel, args, keywords)


def numpy_of(value):
    if isinstance(value, Graded):
        raise Skipped
    return value


def module(convert):
    from mixed import _kernels as mixed
    from written import _kernels as written

    functions = {"mix": mixed.mix, "fill": written.fill}

    def call(kernel, args, keywords):
        given = [*args, *keywords.values()]
        made = dict(zip(map(id, given), arrays(convert, given)))
        return called(functions[kernel], [made[id(a)] for a in args], {k: made[id(v)] for k, v in keywords.items()})

    return call


def python():
    return module(numpy_of)


def torch_of(value):
    import torch

    if isinstance(value, Elsewhere):
        raise Skipped
    if isinstance(value, Graded):
        return torch.from_numpy(value.array).requires_grad_()
    return torch.from_numpy(value)


def python_torch():
    return module(torch_of)


def tensor_of(value):
    import tvm_ffi

    return tvm_ffi.from_dlpack(numpy_of(value))


def python_tvm():
    return module(tensor_of)


def torch():
    import torch
    from mixed import kernels_torch as mixed
    from written import kernels_torch as written

    mixed.register(), written.register()
    functions = {"mix": torch.ops.mixed.mix, "fill": torch.ops.written.fill}

    def call(kernel, args, keywords):
        return called(functions[kernel], arrays(torch_of, args), arrays(torch_of, keywords))

    return call


def compiled_torch():
    import torch

    torch.ops.load_library(os.environ["COMPILED_TORCH"])
    functions = {"mix": torch.ops.mixed.mix, "fill": torch.ops.written.fill}

    def call(kernel, args, keywords):
        return called(functions[kernel], arrays(torch_of, args), arrays(torch_of, keywords))

    return call


def paddle_of(value):
    import paddle

    if isinstance(value, Elsewhere):
        raise Skipped
    if isinstance(value, Graded):
        made = paddle.to_tensor(value.array)
        made.stop_gradient = False
        return made
    if not value.flags.writeable:  # NumPy exports none
        return paddle.to_tensor(value)
    return paddle.from_dlpack(value)


def paddle():
    from mixed import kernels_paddle as mixed
    from written import kernels_paddle as written

    functions = {"mix": mixed.mix, "fill": written.fill}

    def call(kernel, args, keywords):
        return called(functions[kernel], arrays(paddle_of, args), arrays(paddle_of, keywords))

    return call


def jax_of(value):
    import jax

    jax.config.update("jax_enable_x64", True)
    if isinstance(value, (Elsewhere, Graded)):
        raise Skipped
    return jax.numpy.asarray(value)


def jax():
    import jax
    from mixed import kernels_jax as mixed
    from written import kernels_jax as written

    functions = {"mix": mixed.mix, "fill": written.fill}

    def call(kernel, args, keywords):
        if isinstance(args[0], Graded):
            x, *rest = args
            one = lambda x: functions[kernel](x, *arrays(jax_of, rest)).sum()
            return jax.grad(one)(jax_of(x.array))
        return functions[kernel](*arrays(jax_of, args), **arrays(jax_of, keywords))

    return call


def attribute(value):
    if isinstance(value, bool) or not isinstance(value, (int, float, str, list)):
        if not isinstance(value, bool):
            raise Skipped
        return value
    if isinstance(value, int):
        if value >= 1 << 63:
            raise Skipped
        return np.int64(value)
    if isinstance(value, list):
        if not all(isinstance(item, int) for item in value):
            raise Skipped
        return np.array(value, np.int64)
    return np.float64(value) if isinstance(value, float) else value + "\0"


def xla():
    """The handler itself, as an exported program of another version may call it."""
    import jax
    from mixed import kernels_jax as mixed  # registers the handlers
    from written import kernels_jax as written

    assert {*mixed.__targets__, *written.__targets__} == {"mixed.mix", "written.fill"}

    def call(kernel, args, keywords):
        names = PARAMETERS[kernel]
        values = {**dict(zip(names, args)), **keywords}
        if len(args) > len(names) or set(keywords) - set(names[len(args) :]):
            raise Skipped
        given = {k: jax_of(v) for k, v in values.items() if isinstance(v, (np.ndarray, Elsewhere, Graded))}
        attributes = {k: attribute(v) for k, v in values.items() if k not in given}
        if kernel == "mix":
            full = {"also": False, "mode": "sum\0", **attributes}
            attributes = {"?": np.int64(sum(1 << i for i, p in enumerate(names) if p in given or p in full)), **full}
            attributes.setdefault("sizes", np.zeros(0, np.int64))
        made = given["x" if kernel == "mix" else "y"]
        target = {"mix": "mixed.mix", "fill": "written.fill"}[kernel]
        out = jax.ShapeDtypeStruct(made.shape, made.dtype)
        alias = {} if kernel == "mix" else {"input_output_aliases": {list(given).index("y"): 0}}
        return jax.ffi.ffi_call(target, out, **alias)(*given.values(), **attributes).block_until_ready()

    return call


def tvmffi():
    import tvm_ffi
    from mixed import kernels_tvmffi as mixed
    from written import kernels_tvmffi as written

    plain, named = {}, {}
    for name, folder, loader in (("mix", "mixed", mixed), ("fill", "written", written)):
        library = library_of(folder)
        plain[name], named[name] = tvm_ffi.load_module(library)[name], getattr(loader.load(library), name)

    def convert(value):
        import torch

        return tvm_ffi.from_dlpack(value) if isinstance(value, Elsewhere) else torch_of(value)

    def call(kernel, args, keywords):
        function = (named if keywords else plain)[kernel]
        return called(function, arrays(convert, args), arrays(convert, keywords))

    return call


def is_attribute(value):
    """Whether a node of ONNX can have it."""
    if isinstance(value, list):
        return all(is_attribute(item) and type(item) is type(value[0]) for item in value)
    return isinstance(value, (str, float)) or (isinstance(value, int) and abs(value) < 1 << 63)


def onnxruntime():
    import onnxruntime as ort
    from model import DOUBLE, FLOAT, INT64, model, node

    types = {"float32": FLOAT, "float64": DOUBLE, "int64": INT64, "int32": 6, "int16": 5}
    ort.set_default_logger_severity(4)
    library = library_of("mixed")

    def call(kernel, args, keywords):
        names = PARAMETERS["mix"]
        if kernel != "mix" or len(args) > len(names) or set(keywords) & set(names[: len(args)]):
            raise Skipped
        values = {**dict(zip(names, args)), **keywords}
        inputs = ("x", "weight", "places", "bias")
        given = {k: numpy_of(v) for k, v in values.items() if k in inputs and v is not None}
        if not all(isinstance(v, np.ndarray) for v in given.values()):
            raise Skipped
        wired = [k if k in given else "" for k in inputs]
        while not wired[-1]:
            wired.pop()
        attributes = {k: v for k, v in values.items() if k not in inputs}
        if not all(is_attribute(v) for v in attributes.values()):
            raise Skipped
        options = ort.SessionOptions()
        options.register_custom_ops_library(library)
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        data = model(
            [node("mix", "mixed", wired, ["made"], **attributes)],
            [(k, types[str(v.dtype)], v.ndim) for k, v in given.items()],
            [("made", types[str(given["x"].dtype)] if "x" in given else FLOAT, given["x"].ndim if "x" in given else 1)],
        )
        return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"]).run(None, given)[0]

    return call


def ufunc():
    from mixed import kernels_ufunc as mixed
    from written import kernels_ufunc as written

    functions = {"mix": mixed.mix, "fill": written.fill}

    def call(kernel, args, keywords):
        return called(functions[kernel], list(map(numpy_of, args)), {k: numpy_of(v) for k, v in keywords.items()})

    return call


def cpp():
    return compiled(os.environ["CPP"])


def go():
    return compiled(os.environ["GO"])


HOSTS = {
    "python": python, "python over torch": python_torch, "python over tvm_ffi": python_tvm, "torch": torch,
    "jax": jax, "xla": xla, "tvmffi": tvmffi, "onnxruntime": onnxruntime, "ufunc": ufunc,
    "paddle": paddle, "C++": cpp, "Go": go, "compiled torch": compiled_torch,
}  # fmt: skip

# It defines the operators that torch defines, so that a process has one of both.
ALONE = "compiled torch"

# What hosts make of an error

CODES = {
    "TypeError": "INVALID_ARGUMENT", "ValueError": "INVALID_ARGUMENT", "BufferError": "INVALID_ARGUMENT",
    "IndexError": "OUT_OF_RANGE", "NotImplementedError": "UNIMPLEMENTED", "RuntimeError": "INTERNAL",
    "OverflowError": "INVALID_ARGUMENT",
}  # fmt: skip
ORT = "[ONNXRuntimeError] : "
INVALID, FAILED = f"InvalidArgument: {ORT}2 : INVALID_ARGUMENT", f"Fail: {ORT}1 : FAIL"


def spelled(host, error, runs):
    """The ways in which a host spells an error of our code; `runs` is one of the kernel itself, which runs after JAX
    has traced."""
    kind, _, sentence = error.partition(": ")
    if host == "xla" or (host == "jax" and runs):
        return [f"JaxRuntimeError: {CODES[kind]}: {sentence}"]
    if host in ("torch", "compiled torch") and kind == "OverflowError":  # which c10 has no class for
        return [f"ValueError: {sentence}"]
    if host == "onnxruntime":
        ran = FAILED if kind == "RuntimeError" else INVALID
        running = f"{ran} : Non-zero status code returned while running mix node. Name:'' Status Message: "
        creating = f"RuntimeException: {ORT}6 : RUNTIME_EXCEPTION : Exception during initialization: "
        return [running + sentence, creating + sentence]
    return [error]


def mixed(x, weight, places, by, times, also=False, bias=None, sizes=None, mode="sum"):
    """What mix() of author.c returns."""
    dtype = np.result_type(x, weight, np.float32)
    made = x.astype(dtype) * weight * (by * times) + places.flat[0] + places.flat[-1]
    made = made + (0 if bias is None else bias) + (1000 if also else 0)
    made = made + (0 if sizes is None else 10 * sizes[0] + 100 * sizes[1])
    return (made / 2 if mode == "mean" else made).astype(dtype)


def computed(kernel, args, keywords, kept):
    """The result of a call by NumPy, which writes the argument that the kernel writes, unless that is kept."""
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
    """An array of a host as one of NumPy."""
    return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)


def alike(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)


def differs(text, args, made, kept):
    """What is wrong after a call that works: with its result, or with an argument, which it may not write."""
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
        said = str(error) if isinstance(error, Reported) else f"{type(error).__name__}: {error}"
        return re.sub("0x[0-9a-f]+", "ADDRESS", said.split("\n")[0])
    return differs(text, args, made, kept) or "works"


# Keys of the table for hosts whose cells are alike.
ALIKE = {"C++": "C++, Go", "Go": "C++, Go", "compiled torch": "torch"}


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
    """The mistakes whose errors differ from those of the table."""
    call = HOSTS[host]()
    differ = []
    for row in table["mistakes"]:
        kept = "kept" in (cell_of(host, row) or {})
        got, want = outcome(call, row["call"], kept), wanted(host, row)
        if got not in want:
            differ.append(f"{host}, {row['mistake']}\n  want {want[0]}\n  got  {got}")
    return differ


def check_table(table):
    """The table names hosts that there are, and what it cites is there."""
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
    """A file of a host, or the library that Python itself lies in."""
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
        table = yaml.safe_load(file)
    hosts = sys.argv[2].split(",") if len(sys.argv) > 2 else [host for host in HOSTS if host != ALONE]
    if len(sys.argv) == 2:
        check_table(table)
    differ = [text for host in hosts for text in compare(host, table)]
    print("\n".join(differ) or f"{len(table['mistakes'])} mistakes through {len(hosts)} hosts")
    sys.exit(bool(differ))
