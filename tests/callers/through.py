"""The hosts of the table of mistakes: each gives a function of a kernel, its arguments and keywords.

The environment has the libraries of compiled languages: CPP, GO, TVM_FFI_CPP and COMPILED_TORCH; INGO
is the folder of kernels in Go.
"""

import contextlib
import importlib
import io
import os
import sys

import numpy as np
from compiled import PARAMETERS, Elsewhere, Graded, Reported, Skipped, compiled, tvm_ffi_in_cpp


def arrays(convert, values):
    """Values with converted arrays; equal arrays stay one array."""
    kept = {}

    def one(value):
        if isinstance(value, (np.ndarray, Elsewhere, Graded)):
            if id(value) not in kept:
                kept[id(value)] = convert(value)
            return kept[id(value)]
        return value

    return {k: one(v) for k, v in values.items()} if isinstance(values, dict) else [one(v) for v in values]


def called(function, args, keywords):
    """Returns the result; a kernel without one writes its last argument."""
    made = function(*args, **keywords)
    return args[-1] if made is None else made


def over(convert, mix, fill):
    """A host whose functions accept the results of convert."""
    functions = {"mix": mix, "fill": fill}
    return lambda kernel, args, keywords: called(functions[kernel], arrays(convert, args), arrays(convert, keywords))


def library_of(package):
    return importlib.import_module(package + "._kernels").__file__


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
    return over(torch_of, torch.ops.mixed.mix, torch.ops.written.fill)


def compiled_torch():
    import torch

    torch.ops.load_library(os.environ["COMPILED_TORCH"])
    return over(torch_of, torch.ops.mixed.mix, torch.ops.written.fill)


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

    return over(paddle_of, mixed.mix, written.fill)


def ran(paddle, program, fed, made):
    """The result of a program. If a kernel fails, Paddle prints the error, and raises one without
    it."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed):
            return paddle.static.Executor(paddle.CPUPlace()).run(program, feed=fed, fetch_list=[made])[0]
    except SystemError as error:
        raise Reported("SystemError, printed: " + printed.getvalue().strip().split("\n")[-1]) from error


def paddle_graph():
    """A Paddle static graph program for each call."""
    import paddle
    from mixed import kernels_paddle as mixed
    from written import kernels_paddle as written

    functions = {"mix": mixed.mix, "fill": written.fill}

    def call(kernel, args, keywords):
        fed = {}

        def placed(value):
            if isinstance(value, Elsewhere):
                raise Skipped
            graded = isinstance(value, Graded)
            array, name = value.array if graded else value, f"fed{len(fed)}"
            fed[name] = array
            made = paddle.static.data(name, array.shape, str(array.dtype))
            made.stop_gradient = not graded
            return made

        paddle.enable_static()
        try:
            program = paddle.static.Program()
            with paddle.static.program_guard(program):
                made = functions[kernel](*arrays(placed, args), **arrays(placed, keywords))
                return ran(paddle, program, fed, made)
        finally:
            paddle.disable_static()

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


def tvmffi_cpp():
    import tvm_ffi  # noqa: F401  the program that calls finds its library

    return tvm_ffi_in_cpp(os.environ["TVM_FFI_CPP"], {"mix": library_of("mixed"), "fill": library_of("written")})


def is_attribute(value):
    """Returns whether an ONNX node can have it."""
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

    return over(numpy_of, mixed.mix, written.fill)


def cpp():
    return compiled(os.environ["CPP"])


def go():
    return compiled(os.environ["GO"])


def go_kernels():
    """The module of a library with kernels in Go."""
    sys.path.insert(0, os.environ["INGO"])
    from ingo import _kernels

    return over(numpy_of, _kernels.mix, _kernels.fill)


HOSTS = {
    "python": python, "python over torch": python_torch, "python over tvm_ffi": python_tvm, "torch": torch,
    "jax": jax, "xla": xla, "tvmffi": tvmffi, "onnxruntime": onnxruntime, "ufunc": ufunc,
    "paddle": paddle, "paddle graph": paddle_graph, "C++": cpp, "Go": go,
    "tvm-ffi in C++": tvmffi_cpp, "kernels in Go": go_kernels, "compiled torch": compiled_torch,
}  # fmt: skip
