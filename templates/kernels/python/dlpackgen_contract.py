"""Tests kernels against their descriptions, which the files test_NAME_contract.py hold.

Each test starts from a valid call: sizes that satisfy the conditions, and random data. `rejected`
lists the demands of a description; a test breaks one of them, and expects the exact exception and
tensors that are as before. `accepted` lists what a caller may vary. Values are compared with the
reference, a function that takes NumPy arrays as the kernel takes tensors: it returns the results,
and writes to the arguments that the kernel writes to.
"""

import ast
import dataclasses
import functools
import importlib
import math
import random
import re
import types

import numpy as np
import pytest

LIBRARIES = ["numpy", "torch", "jax", "paddle"]
SMALL = [3, 2, 4, 1, 5, 6, 8, 7, 12, 16, 32, 64, 128]
TOLERANCE = {"float64": 1e-12, "complex128": 1e-12, "float16": 4e-3, "bfloat16": 4e-2}
OTHER_DTYPES = ["int32", "uint8", "float64", "float32", "int64", "bool", "int8", "float16"]
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}


# The description.


@dataclasses.dataclass(frozen=True)
class Tensor:
    name: str
    line: str
    dtypes: tuple = ()
    variable: str = ""
    shape: tuple = ()
    solved: tuple = ()
    layout: str = "contiguous"
    access: str = "in"
    aligned: int = 1
    optional: bool = False
    required: bool = True


@dataclasses.dataclass(frozen=True)
class Scalar:
    name: str
    line: str
    kind: str
    dtypes: tuple = ()
    variable: str = ""
    count: int = 0
    least: int = 0
    optional: bool = False
    required: bool = True

    @property
    def expected(self):
        lists = {"ints": "a list of int", "floats": "a list of float", "number": self.line.split(" ")[0]}
        return lists.get(self.kind, self.kind)


@dataclasses.dataclass(frozen=True)
class Condition:
    text: str
    python: str
    names: tuple = ()
    raises: type = ValueError


@dataclasses.dataclass(frozen=True, eq=False)
class Kernel:
    module: str
    name: str
    args: tuple = ()
    results: tuple = ()
    types: dict = dataclasses.field(default_factory=dict)
    symbols: dict = dataclasses.field(default_factory=dict)
    apart: tuple = ()
    where: tuple = ()
    devices: tuple = ()
    errors: tuple = ()
    reference: str = ""
    sizes: dict = dataclasses.field(default_factory=dict)
    tolerance: dict = dataclasses.field(default_factory=dict)

    @property
    def function(self):
        return getattr(importlib.import_module(self.module), self.name)

    @property
    def tensors(self):
        return [p for p in self.args if isinstance(p, Tensor)]

    @property
    def made(self):
        return [p for p in self.results if isinstance(p, Tensor)]

    def arg(self, name):
        return next(p for p in self.args if p.name == name)

    def argument(self, name):
        """As messages name an argument, or memory for a result."""
        names = [p.name for p in self.args] + self.outs
        return f"argument '{name}' ({ordinal(names.index(name) + 1)})"

    @property
    def outs(self):
        return ["out"] if len(self.made) == 1 else [f"out[{i}]" for i in range(len(self.made))]


def ordinal(number):
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number // 10 % 10 == 1 else endings.get(number % 10, 'th')}"


def either(names):
    """Alternatives, as messages list them."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


# The libraries.


class Library:
    """The arrays of a library."""

    def __init__(self, name):
        self.name = name
        self.module = pytest.importorskip(name, reason=f"{name} is not installed")
        if name == "jax":
            self.module.config.update("jax_enable_x64", True)

    def supports(self, dtype):
        if self.name == "jax":
            return hasattr(self.module.numpy, dtype)
        return hasattr(self.module, dtype) and (self.name != "paddle" or dtype not in ("uint16", "uint32", "uint64"))

    def array(self, master):
        """Makes an array of this library; NumPy and torch share memory and strides with it."""
        if self.name == "numpy":
            return master
        if self.name == "jax":
            return self.module.numpy.array(master)
        if self.name == "paddle":
            wide = master.astype(np.float32) if master.dtype.name == "bfloat16" else master
            return self.module.to_tensor(wide).astype(master.dtype.name)
        if master.dtype.name == "bfloat16":
            return self.module.from_numpy(master.view(np.int16)).view(self.module.bfloat16)
        return self.module.from_numpy(master)

    def numpy(self, array):
        if self.name == "torch":
            array = array.detach()
            if array.dtype == self.module.bfloat16:
                return array.view(self.module.int16).numpy().view(numpy_type("bfloat16"))
            return array.numpy()
        if self.name == "paddle" and "bfloat16" in str(array.dtype):
            return array.astype("float32").numpy().astype(numpy_type("bfloat16"))
        return np.asarray(array)

    def needs_writable(self, kernel):
        if self.name == "jax" and any(p.access != "in" for p in kernel.tensors):
            pytest.skip("arrays of JAX are immutable, and the kernel writes to an argument")

    def needs_strides(self):
        if self.name not in ("numpy", "torch"):
            pytest.skip(f"{self.name} is given contiguous arrays alone")


def numpy_type(name):
    if hasattr(np, name):
        return np.dtype(name)
    return np.dtype(getattr(pytest.importorskip("ml_dtypes", reason=f"{name} needs ml_dtypes"), name))


def memory(shape, dtype, order="C", offset=0):
    """An array at so many bytes behind a multiple of 256."""
    count = math.prod(shape) * dtype.itemsize
    buffer = np.zeros(count + offset + 512, np.uint8)
    start = -buffer.ctypes.data % 256 + offset
    return np.ndarray(shape, dtype, buffer[start : start + count].data if count else None, order=order)


# Sizes: values of symbols, variables, and of the scalars that shapes and conditions may name.


def evaluate(text, values):
    return eval(text, {"__builtins__": {}, "min": min, "max": max}, values)


def constants(kernel, kind):
    trees = [ast.walk(ast.parse(c.python)) for c in kernel.where]
    return [n.value for tree in trees for n in tree if isinstance(n, ast.Constant) and type(n.value) is kind]


def candidates(kernel, library, broken):
    """The values that each name is tried with; `broken` adds those that conditions may exclude."""
    numbers = SMALL + [c + d for c in constants(kernel, int) for d in (0, 1, -1) if 0 <= c + d < 1024] + [0] * broken
    choices = {name: [d for d in all_ if library.supports(d)] for name, all_ in kernel.types.items()}
    for i, (name, binder) in enumerate(kernel.symbols.items()):
        if name not in kernel.types and not name.startswith("..."):
            choices[name] = numbers[i % 3 :] + numbers[: i % 3]
            if name in kernel.sizes:
                choices[name] = list(kernel.sizes[name]) + (numbers if broken else [])
    for p in kernel.args:
        if isinstance(p, Scalar) and p.kind == "int" and p.name not in choices:
            choices[p.name] = numbers
        elif isinstance(p, Scalar) and p.kind == "str":
            choices[p.name] = (constants(kernel, str) or ["text"]) + ["other"] * broken
        elif isinstance(p, Scalar) and p.kind == "ints":
            count = p.count or p.least or 2
            choices[p.name] = [[1 + i for i in range(count)], [2] * count, [0] * count, [3 - i for i in range(count)]]
    return choices


def attempts(kernel, library, broken=False):
    """Draws values for all names, the first candidates first; the same ones in every run."""
    choices, draw = candidates(kernel, library, broken), random.Random(0)
    for name, all_ in choices.items():
        if not all_:
            pytest.skip(f"{library.name} has no dtype of {name}: {', '.join(kernel.types[name])}")
    groups = {name: (2, 3) for name in kernel.symbols if name.startswith("...")}
    yield groups | {name: all_[0] for name, all_ in choices.items()}
    for _ in range(20_000):
        yield groups | {name: draw.choice(all_) for name, all_ in choices.items()}


def extents(p, values):
    """The shape of a tensor, and for each dimension the place of its extent in the description."""
    shape, places = [], []
    for i, e in enumerate(p.shape):
        if isinstance(e, str) and e.startswith("..."):
            these = values[e]
        else:
            these = [e if isinstance(e, int) else 3 if e == "_" else evaluate(e, values)]
        shape += these
        places += [i] * len(these)
    return tuple(shape), places


def shapes(kernel, values):
    """The shape of each tensor that is there, or None where an extent has no value."""
    known, waiting = dict(values), [p for p in kernel.tensors if p.name not in values] + kernel.made
    made = {}
    for _ in range(len(waiting)):
        for p in list(waiting):
            try:
                shape, _ = extents(p, known)
            except NameError:
                continue
            except (ZeroDivisionError, TypeError, IndexError):
                return None
            if min(shape, default=0) < 0:
                return None
            made[p.name] = shape
            known[p.name] = types.SimpleNamespace(shape=shape, size=math.prod(shape))
            waiting.remove(p)
    return None if waiting else made


def holds(kernel, condition, values, made):
    known = {n: types.SimpleNamespace(shape=s, size=math.prod(s)) for n, s in made.items()}
    try:
        return bool(evaluate(condition.python, known | values))
    except (ZeroDivisionError, IndexError):
        return False


def is_valid(kernel, values):
    made = shapes(kernel, values)
    return made is not None and all(holds(kernel, c, values, made) for c in kernel.where)


@functools.cache
def solutions(kernel, name):
    """Up to 50 choices of values for which a call is valid."""
    found = []
    for values in attempts(kernel, Library(name)):
        if values not in found and is_valid(kernel, values):
            found.append(values)
            if len(found) == 50:
                break
    if not found:
        pytest.fail(f"no small sizes satisfy the conditions of {kernel.name}: name some in test: {{sizes: ...}}")
    return found


# Calls.


class Call:
    """Arguments for a kernel, valid until a test changes them."""

    def __init__(self, kernel, library, values, seed=0):
        self.kernel, self.library, self.values = kernel, library, values
        self.random = np.random.default_rng(seed)
        self.shapes = shapes(kernel, values)
        self.masters, self.given, self.out = {}, {}, {}
        for p in kernel.args:
            if p.name in values and values[p.name] is None:
                self.given[p.name] = None
            elif isinstance(p, Tensor):
                self.put(p, self.fill(p, memory(self.shapes[p.name], self.dtype(p), self.order(p))))
            else:
                self.given[p.name] = values[p.name] if p.name in values else self.scalar(p)

    def order(self, p):
        if p.layout == "column_major":
            self.library.needs_strides()
        return "F" if p.layout == "column_major" else "C"

    def dtype(self, p):
        if p.variable:
            return numpy_type(self.values[p.variable])
        for name in p.dtypes or ("float32",):
            if self.library.supports(name):
                return numpy_type(name)
        pytest.skip(f"{self.library.name} has no {either(p.dtypes)}")

    def fill(self, p, array):
        kind = array.dtype.kind
        if kind == "b" or kind in "iu":
            array[...] = self.random.integers(0, 2 if kind == "b" else 4, array.shape)
        elif kind == "c":
            array[...] = self.random.uniform(-2, 2, array.shape) + 1j * self.random.uniform(-2, 2, array.shape)
        else:
            array[...] = self.random.uniform(-2, 2, array.shape).astype(array.dtype)
        return array

    def put(self, p, master):
        """Passes an array; `masters` keeps what shares its memory."""
        self.masters[p.name] = master
        self.given[p.name] = self.library.array(master)

    def scalar(self, p):
        number = float(self.random.integers(2, 8)) / 4
        dtype = self.values[p.variable] if p.variable else next(iter(p.dtypes), "")
        if p.kind == "number" and "float" not in dtype:
            return 1 if dtype != "bool" else True
        if p.kind == "floats":
            return [number] * (p.count or p.least or 2)
        return bool(self.random.integers(0, 2)) if p.kind == "bool" else number

    def contents(self):
        """The bytes of all tensors."""
        tensors = [p.name for p in self.kernel.tensors if type(self.given.get(p.name)) is type(self.an_array())]
        return {name: self.library.numpy(self.given[name]).tobytes() for name in tensors}

    def an_array(self):
        return self.library.array(np.zeros(1, np.float32))

    def run(self):
        outs = {}
        if self.out:
            outs = {"out": self.out[0] if len(self.kernel.made) == 1 else self.outs()}
        return self.kernel.function(**self.given, **outs)

    def outs(self):
        return tuple(self.out.get(i) for i in range(len(self.kernel.made)))


def start(kernel, name):
    """The library of a test, where it can call the kernel."""
    if "kDLCPU" not in kernel.devices:
        pytest.skip("the kernel takes no tensors on the CPU")
    library = Library(name)
    library.needs_writable(kernel)
    return library


def call_with(kernel, library, fits=lambda made: True):
    """A call whose shapes fit a test."""
    for values in solutions(kernel, library.name):
        if fits(shapes(kernel, values)):
            return Call(kernel, library, values)
    pytest.skip("no valid call has the shape that this test needs")


# What is rejected.


@dataclasses.dataclass(frozen=True)
class Case:
    """One demand of a description, by the function that breaks it."""

    breaks: object
    name: str = ""
    at: int = 0
    label: str = ""

    def __str__(self):
        return "-".join(filter(None, [self.breaks.__name__, self.label or self.name]))


def rejected(kernel):
    cases = []
    for p in kernel.args:
        cases += [Case(b, p.name) for b in (tensor_demands if isinstance(p, Tensor) else scalar_demands)(kernel, p)]
        if isinstance(p, Tensor):
            cases += [Case(extent, p.name, i, f"{p.name}-{i}") for i in compared(kernel, p)]
    cases += [Case(overlap, a, i, f"{a}-{b}") for i, (a, b) in enumerate(kernel.apart)]
    cases += [Case(condition, "", i, c.text) for i, c in enumerate(kernel.where)]
    for i, (name, p) in enumerate(zip(kernel.outs, kernel.made)):
        breaks = [out_dtype, out_rank, out_layout, out_read_only] + ([out_extent] if p.shape else [])
        cases += [Case(b, name, i) for b in breaks]
    return cases + [Case(too_many), Case(unknown_keyword)] + ([Case(twice)] if kernel.args else [])


def tensor_demands(kernel, p):
    breaks = [missing] if p.required else []
    breaks += [not_a_tensor] if p.optional else [none, not_a_tensor]
    breaks += [dtype] if p.dtypes or p.variable else []
    breaks += [other_dtype] if p.variable and kernel.symbols[p.variable] != p.name else []
    breaks += [rank] if p.shape != ("...",) and least_rank(p) + (not has_group(p)) else []
    breaks += [layout] if p.layout not in ("strided", "copied") and p.shape else []
    breaks += [alignment] if p.aligned > 1 else []
    breaks += [read_only] if p.access != "in" else []
    return breaks + [requires_grad]


def scalar_demands(kernel, p):
    breaks = ([missing] if p.required else []) + ([] if p.optional else [none]) + [kind]
    breaks += [too_large] if p.kind == "number" else []
    return breaks + ([count] if p.count or p.least else [])


def has_group(p):
    return any(isinstance(e, str) and e.startswith("...") for e in p.shape)


def least_rank(p):
    return len(p.shape) - has_group(p)


def compared(kernel, p):
    """The places of extents that are compared with something."""
    seen = set()
    for i, e in enumerate(p.shape):
        binds = i in p.solved or kernel.symbols.get(e) == p.name and e not in seen
        seen.add(e)
        if e != "_" and not (binds and factor_of(p, i) < 2):
            yield i


def factor_of(p, i):
    """The factor of an extent such as 2 * k that gives k, or 1."""
    found = re.match(r"(\d+) \*", str(p.shape[i])) if i in p.solved else None
    return int(found[1]) if found else 1


def check_rejected(kernel, library, case):
    call, raises, text = case.breaks(kernel, start(kernel, library), case)
    before = call.contents()
    try:
        call.run()
    except Exception as error:
        assert f"{type(error).__name__}: {error}" == f"{raises.__name__}: {text}"
    else:
        pytest.fail(f"{kernel.name}() accepted the call, and should raise {raises.__name__}: {text}")
    assert call.contents() == before, "a rejected call wrote to a tensor"


def say(kernel, name, text):
    return f"{kernel.name}(): {kernel.argument(name)}: {text}"


def missing(kernel, library, case):
    call = call_with(kernel, library)
    del call.given[case.name]
    return call, TypeError, say(kernel, case.name, "it is missing")


def none(kernel, library, case):
    call = call_with(kernel, library)
    call.given[case.name] = None
    expected = getattr(kernel.arg(case.name), "expected", "a tensor")
    return call, TypeError, say(kernel, case.name, f"expected {expected}, got None")


def not_a_tensor(kernel, library, case):
    call = call_with(kernel, library)
    call.given[case.name] = "text"
    return call, TypeError, say(kernel, case.name, "expected a tensor, got str, which has no __dlpack__")


def kind(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    call.given[p.name] = wrong = 3 if p.kind == "str" else "text"
    expected = p.expected
    if p.kind == "number":
        expected = call.values[p.variable] if p.variable else p.dtypes[0]
    return call, TypeError, say(kernel, p.name, f"expected {expected}, got {type(wrong).__name__}")


def too_large(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    name = call.values[p.variable] if p.variable else p.dtypes[0]
    if name == "float64":
        pytest.skip("float64 holds every float of Python")
    if name in ("int64", "uint64"):
        wrong, text = 2**64, f"{name} does not hold {2**64}" if name == "uint64" else "int too big to convert"
    else:
        wrong = LARGEST[name] * 1.5 if name in LARGEST else 2 if name == "bool" else np.iinfo(name).max + 1
        text = f"{name} does not hold {wrong!r}"
    call.given[p.name] = wrong
    return call, OverflowError, say(kernel, p.name, text)


def count(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    wanted, wrong = p.count or p.least, p.count + 1 if p.count else p.least - 1
    call.given[p.name] = call.given[p.name][:1] * wrong
    items = f"{'' if p.count else 'at least '}{wanted} item{'' if wanted == 1 else 's'}"
    return call, ValueError, say(kernel, p.name, f"expected {items}, got {wrong}")


def dtype(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    listed = p.dtypes or kernel.types[p.variable]
    wrong = next((d for d in OTHER_DTYPES if d not in listed and library.supports(d)), None)
    if not wrong:
        pytest.skip(f"{library.name} has no dtype that the kernel does not take")
    call.put(p, memory(call.shapes[p.name], numpy_type(wrong), call.order(p)))
    return call, TypeError, say(kernel, p.name, f"expected {either(listed)}, got {wrong}")


def other_dtype(kernel, library, case):
    """A dtype of the variable, but not that of the argument which decides it."""
    call, p = call_with(kernel, library), kernel.arg(case.name)
    chosen = call.values[p.variable]
    wrong = next((d for d in kernel.types[p.variable] if d != chosen and library.supports(d)), None)
    if not wrong:
        pytest.skip(f"{library.name} has no other dtype of {p.variable}")
    call.put(p, memory(call.shapes[p.name], numpy_type(wrong), call.order(p)))
    binder = kernel.argument(kernel.symbols[p.variable])
    return call, TypeError, say(kernel, p.name, f"expected {chosen}, the dtype of {binder}, got {wrong}")


def rank(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    least, got = least_rank(p), len(call.shapes[p.name]) + 1
    if has_group(p):
        got = least - 1
    call.put(p, memory((1,) * got, call.dtype(p), call.order(p)))
    dimensions = f"{'at least ' if has_group(p) else ''}{least} dimension{'' if least == 1 else 's'}"
    return call, ValueError, say(kernel, p.name, f"expected {dimensions}, got {got}")


def extent(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    shape, places = extents(p, call.values | known_shapes(call))
    at = places.index(case.at)
    wrong = shape[:at] + (shape[at] + 1,) + shape[at + 1 :]
    call.put(p, call.fill(p, memory(wrong, call.dtype(p), call.order(p))))
    return call, ValueError, say(kernel, p.name, mismatch(kernel, p, case.at, shape, wrong, at, places))


def known_shapes(call):
    return {n: types.SimpleNamespace(shape=s, size=math.prod(s)) for n, s in call.shapes.items()}


def mismatch(kernel, p, place, shape, wrong, at, places):
    """What is said of a wrong extent."""
    written, got = p.shape[place], wrong[at]
    if place in p.solved:
        return f"expected a multiple of {factor_of(p, place)} in dimension {at}, which is {written}, got {got}"
    if isinstance(written, int):
        return f"expected {written} in dimension {at}, got {got}"
    if written.startswith("..."):
        group = [d for d, i in enumerate(places) if i == place]
        want, have = (tuple(s[d] for d in group) for s in (shape, wrong))
        return f"expected {written} = {want}, as in {kernel.argument(kernel.symbols[written])}, got {have}"
    text = f"expected {written} = {shape[at]} in dimension {at}"
    if written in kernel.symbols:
        text += f", as in {kernel.argument(kernel.symbols[written])}"
    return f"{text}, got {got}"


LAYOUTS = {
    "contiguous": "expected a C-contiguous tensor",
    "inner": "expected a contiguous last dimension",
    "any_order": "expected a tensor that is contiguous in some order of its dimensions",
    "column_major": "expected a column-major tensor",
}


def spread(call, p, shape):
    """A tensor whose last dimension takes every second element."""
    return call.fill(p, memory(shape[:-1] + (2 * shape[-1],), call.dtype(p), call.order(p))[..., ::2])


def has_two(name):
    """Tells whether every second element of the last dimension is strided, and none is left out."""
    return lambda made: bool(made[name]) and made[name][-1] > 1 and math.prod(made[name]) > 0


def layout(kernel, library, case):
    library.needs_strides()
    call, p = call_with(kernel, library, has_two(case.name)), kernel.arg(case.name)
    call.put(p, spread(call, p, call.shapes[p.name]))
    return call, ValueError, say(kernel, p.name, f"{LAYOUTS[p.layout]}, got {strides(call.masters[p.name])}")


def strides(array):
    counted = tuple(s // array.itemsize for s in array.strides)
    return f"strides {counted} for shape {array.shape}"


def alignment(kernel, library, case):
    library.needs_strides()
    call, p = call_with(kernel, library, has_two(case.name)), kernel.arg(case.name)
    call.put(p, memory(call.shapes[p.name], call.dtype(p), call.order(p), offset=call.dtype(p).itemsize))
    address = call.masters[p.name].ctypes.data
    return call, BufferError, say(kernel, p.name, f"expected data aligned to {p.aligned} bytes, got {address:#x}")


def needs_numpy(library):
    if library.name != "numpy":
        pytest.skip("only arrays of NumPy can be made read-only")


def read_only(kernel, library, case):
    needs_numpy(library)
    call = call_with(kernel, library)
    call.given[case.name].flags.writeable = False
    return call, BufferError, say(kernel, case.name, "it is read-only, and this argument is written to")


def requires_grad(kernel, library, case):
    if library.name != "torch":
        pytest.skip("only tensors of torch require a gradient")
    call = call_with(kernel, library)
    tensor = call.given[case.name]
    if not (tensor.is_floating_point() or tensor.is_complex()):
        pytest.skip("only tensors of floats require a gradient")
    tensor.requires_grad_()
    why = "it requires grad, which would not see this call: pass detach(), or call this under torch.no_grad()"
    return call, BufferError, say(kernel, case.name, why)


def overlap(kernel, library, case):
    library.needs_strides()
    a, b = (kernel.arg(name) for name in kernel.apart[case.at])
    call = call_with(kernel, library, lambda made: math.prod(made[a.name]) and math.prod(made[b.name]))
    sizes = [math.prod(call.shapes[p.name]) * call.dtype(p).itemsize for p in (a, b)]
    common = memory((max(sizes),), np.dtype(np.uint8))
    for p in (a, b):
        view = np.ndarray(call.shapes[p.name], call.dtype(p), common.data, order=call.order(p))
        call.put(p, view)
    why = f"it is written, and it overlaps {kernel.argument(b.name)}"
    return call, BufferError, say(kernel, a.name, why)


def condition(kernel, library, case):
    broken = kernel.where[case.at]
    for values in attempts(kernel, library, broken=True):
        made = shapes(kernel, values)
        if made is None or holds(kernel, broken, values, made):
            continue
        if all(holds(kernel, c, values, made) for c in kernel.where[: case.at]):
            return Call(kernel, library, values), broken.raises, unmet(kernel, broken, values, made)
    pytest.skip("no small sizes break the condition")


def unmet(kernel, broken, values, made):
    known = values | {n: types.SimpleNamespace(shape=s, size=math.prod(s)) for n, s in made.items()}
    shown = []
    for name in broken.names:
        value = evaluate(name, known)
        shown.append(f"{name} = {value!r}" if name not in kernel.types else f"{name} = {value}")
    try:
        evaluate(broken.python, known)
    except ZeroDivisionError:
        return f"{kernel.name}(): {broken.text} divides by zero, where {', '.join(shown)}"
    return f"{kernel.name}(): expected {broken.text}, where {', '.join(shown)}"


def with_out(kernel, library, case, change, fits=lambda made: True):
    """A call with memory for one result, which `change` makes of a shape and a dtype."""
    call = call_with(kernel, library, fits)
    p = kernel.made[case.at]
    made = change(call.shapes[p.name], call.dtype(p))
    call.masters[case.name] = made
    call.out[case.at] = library.array(made)
    return call, p


def out_dtype(kernel, library, case):
    p = kernel.made[case.at]
    chosen = call_with(kernel, library).dtype(p).name
    wrong = next(d for d in OTHER_DTYPES if d not in kernel.types.get(p.variable, p.dtypes) and library.supports(d))
    call, p = with_out(kernel, library, case, lambda shape, _: memory(shape, numpy_type(wrong)))
    return call, TypeError, say(kernel, case.name, f"expected {chosen}, got {wrong}")


def out_rank(kernel, library, case):
    call, p = with_out(kernel, library, case, lambda shape, dtype: memory(shape + (1,), dtype))
    wanted = len(call.shapes[p.name])
    text = f"expected {wanted} dimension{'' if wanted == 1 else 's'}, got {wanted + 1}"
    return call, ValueError, say(kernel, case.name, text)


def out_extent(kernel, library, case):
    fits = has_rank(kernel.made[case.at].name)
    call, p = with_out(
        kernel, library, case, lambda shape, dtype: memory(shape[:-1] + (shape[-1] + 1,), dtype), fits
    )
    shape = call.shapes[p.name]
    text = f"expected {shape[-1]} in dimension {len(shape) - 1}, got {shape[-1] + 1}"
    return call, ValueError, say(kernel, case.name, text)


def has_rank(name):
    return lambda made: bool(made[name])


def out_layout(kernel, library, case):
    library.needs_strides()
    call, p = with_out(
        kernel,
        library,
        case,
        lambda shape, dtype: memory(shape[:-1] + (2 * shape[-1],), dtype)[..., ::2],
        has_two(kernel.made[case.at].name),
    )
    text = f"expected a C-contiguous tensor, got {strides(call.masters[case.name])}"
    return call, ValueError, say(kernel, case.name, text)


def out_read_only(kernel, library, case):
    needs_numpy(library)
    call, _ = with_out(kernel, library, case, memory)
    call.out[case.at].flags.writeable = False
    return call, BufferError, say(kernel, case.name, "it is read-only, and this argument is written to")


class Placed(Call):
    """A call by place, with one argument too many, or one that is named too."""

    def run(self):
        return self.kernel.function(*self.placed, **self.named)


def placed(kernel, library):
    call = call_with(kernel, library)
    call.__class__ = Placed
    call.placed, call.named = list(call.given.values()), {}
    return call


def too_many(kernel, library, case):
    call, takes = placed(kernel, library), len(kernel.args)
    call.placed.append(None)
    arguments = f"{takes} argument{'' if takes == 1 else 's'}"
    return call, TypeError, f"{kernel.name}() takes {arguments}, got {takes + 1}"


def unknown_keyword(kernel, library, case):
    call = placed(kernel, library)
    call.named = {"no_such_keyword": 1}
    return call, TypeError, f"{kernel.name}() got an unexpected keyword argument 'no_such_keyword'"


def twice(kernel, library, case):
    call, name = placed(kernel, library), kernel.args[0].name
    call.named = {name: call.placed[0]}
    return call, TypeError, f"{kernel.name}() got two values for argument '{name}'"


# What is accepted.


def accepted(kernel):
    cases = [Case(usual)]
    for p in kernel.args:
        cases += [Case(without, p.name)] if p.optional else []
        if isinstance(p, Tensor) and p.layout in ("strided", "copied", "inner", "any_order") and p.shape:
            cases.append(Case(strided, p.name))
    return cases + ([Case(into_out)] if kernel.made else [])


def usual(kernel, library, case):
    return call_with(kernel, library)


def without(kernel, library, case):
    """None for an argument; a symbol that it alone gives has no value then."""
    for values in solutions(kernel, library.name):
        values = values | {case.name: None}
        if is_valid(kernel, values):
            return Call(kernel, library, values)
    pytest.skip("no valid call goes without the argument")


def strided(kernel, library, case):
    library.needs_strides()
    call, p = call_with(kernel, library, has_two(case.name)), kernel.arg(case.name)
    shape = call.shapes[p.name]
    if p.layout == "any_order":
        array = memory(shape, call.dtype(p), "F")
    elif p.layout == "inner":
        array = memory(shape[:-1] + (shape[-1] + 1,), call.dtype(p))[..., :-1]
    else:
        array = spread(call, p, shape)
    call.put(p, call.fill(p, array))
    return call


def into_out(kernel, library, case):
    if library.name == "jax":
        pytest.skip("arrays of JAX are immutable, and out= is written to")
    call = call_with(kernel, library)
    for i, p in enumerate(kernel.made):
        call.out[i] = library.array(memory(call.shapes[p.name], call.dtype(p)))
    return call


def check_accepted(kernel, library, case):
    call = case.breaks(kernel, start(kernel, library), case)
    try:
        check_results(call)
    except kernel.errors as error:
        pytest.skip(f"the description lists this error for such data: {error}")


# Values.


def check_results(call):
    """Calls the kernel, and compares what it returns and writes with shapes, dtypes and reference."""
    kernel, library = call.kernel, call.library
    inputs = {n: v if isinstance(kernel.arg(n), Scalar) or v is None else library.numpy(v).copy()
              for n, v in call.given.items()}  # fmt: skip
    returned = call.run()
    results = () if not kernel.results else (returned,) if len(kernel.results) == 1 else returned
    assert len(results) == len(kernel.results), f"{kernel.name}() returned {len(results)} results"
    for p, value in zip(kernel.results, results):
        if isinstance(p, Tensor):
            check_tensor(call, p, value)
    for i, out in call.out.items():
        assert results[kernel.results.index(kernel.made[i])] is out, "the result is not the object of out="
    check_unwritten(call, inputs)
    if kernel.reference:
        check_reference(call, inputs, results)


def check_tensor(call, p, value):
    if not call.kernel.tensors:
        value = call.library.array(np.from_dlpack(value)) if not call.out else value
    array = call.library.numpy(value)
    assert array.shape == call.shapes[p.name], f"result {p.name} has shape {array.shape}"
    assert array.dtype == call.dtype(p), f"result {p.name} has dtype {array.dtype}"


def check_unwritten(call, inputs):
    for p in call.kernel.tensors:
        if p.access == "in" and call.given[p.name] is not None:
            now = call.library.numpy(call.given[p.name])
            assert now.tobytes() == inputs[p.name].tobytes(), f"the kernel wrote to {p.name}, which is only read"


def check_reference(call, inputs, results):
    kernel = call.kernel
    module, _, name = kernel.reference.partition(":")
    function = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    expected = function(*inputs.values())
    expected = () if not kernel.results else (expected,) if len(kernel.results) == 1 else expected
    for p, got, want in zip(kernel.results, results, expected):
        compare(call, p, call.library.numpy(got) if isinstance(p, Tensor) and call.kernel.tensors else got, want)
    for p in kernel.tensors:
        if p.access != "in" and inputs[p.name] is not None:
            compare(call, p, call.library.numpy(call.given[p.name]), inputs[p.name])


def compare(call, p, got, want):
    dtype = call.dtype(p).name if isinstance(p, Tensor) else "float64"
    if dtype.startswith(("int", "uint", "bool")):
        np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"{p.name} differs from the reference")
        return
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    off = call.kernel.tolerance.get(dtype, TOLERANCE.get(dtype, 1e-5))
    got, want = np.asarray(got).astype(wide), np.asarray(want).astype(wide)
    message = f"{p.name} differs from the reference, in {dtype}"
    np.testing.assert_allclose(got, want, rtol=off, atol=off, err_msg=message)


def check_values(kernel, name):
    """Compares random calls: sizes, dtypes, groups of dimensions, arguments that are None."""
    hypothesis = pytest.importorskip("hypothesis", reason="random calls need hypothesis")
    library = start(kernel, name)
    draw, found = hypothesis.strategies, solutions(kernel, name)
    extents_ = draw.lists(draw.integers(0, 3), max_size=3).map(tuple)
    optional = [p.name for p in kernel.args if p.optional]

    @hypothesis.settings(max_examples=50 if name == "numpy" else 10, deadline=None, database=None, derandomize=True)
    @hypothesis.given(data=draw.data())
    def random_calls(data):
        values = dict(data.draw(draw.sampled_from(found)))
        values |= {group: data.draw(extents_) for group in values if group.startswith("...")}
        values |= {absent: None for absent in optional if data.draw(draw.booleans())}
        hypothesis.assume(is_valid(kernel, values))
        try:
            check_results(Call(kernel, library, values, data.draw(draw.integers(0, 2**32 - 1))))
        except kernel.errors:
            hypothesis.reject()

    random_calls()
