"""Valid calls of described kernels: the description as values, arrays of each library, sizes that
satisfy the conditions, and random data. dlpackgen_contract.py uses them."""

import ast
import dataclasses
import functools
import importlib
import itertools
import math
import random
import types

import numpy as np
import pytest

LIBRARIES = ["numpy", "torch", "jax", "paddle"]
SMALL = [3, 2, 4, 1, 5, 6, 8, 7, 12, 16, 32, 64, 128]
MOST = 1 << 20  # elements of all tensors of a call, unless no valid call has so few
DRAWN = 1000  # values that are drawn from all candidates with equal probability
LIMIT = 1 << 32  # the maximum of any call, because memory is finite


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
    namespace: str = "dlpackgen"
    gradients: tuple = ()
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
        """The name of an argument, or of memory for a result, in messages."""
        names = [p.name for p in self.args] + self.outs
        return f"argument '{name}' ({_ordinal(names.index(name) + 1)})"

    @property
    def outs(self):
        return ["out"] if len(self.made) == 1 else [f"out[{i}]" for i in range(len(self.made))]


#include "ordinals.py"


def either(names):
    """Alternatives, in the form of messages."""
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
        """Creates an array of this library; NumPy and torch share memory and strides with it."""
        if self.name == "numpy":
            return master
        if self.name == "jax":
            return self.module.numpy.array(master)
        if self.name == "paddle":
            wide = master.astype(np.float32) if is_foreign(master.dtype) else master
            return self.module.to_tensor(wide).astype(master.dtype.name)
        if is_foreign(master.dtype):
            return self.module.from_numpy(master.view(bits_of(master))).view(getattr(self.module, master.dtype.name))
        return self.module.from_numpy(master)

    def numpy(self, array):
        name = str(array.dtype).split(".")[-1]
        if self.name == "torch":
            array = array.detach()
            if hasattr(np, name):
                return array.numpy()
            return array.view(getattr(self.module, bits_of(array).__name__)).numpy().view(numpy_type(name))
        if self.name == "paddle" and not hasattr(np, name):
            return array.astype("float32").numpy().astype(numpy_type(name))
        return np.asarray(array)

    def needs_writable(self, kernel):
        if self.name == "jax" and any(p.access != "in" for p in kernel.tensors):
            pytest.skip("arrays of JAX are immutable, and the kernel writes to an argument")

    def needs_writable_out(self):
        if self.name == "jax":
            pytest.skip("arrays of JAX are immutable, and out= is written to")

    def needs_strides(self):
        if self.name not in ("numpy", "torch"):
            pytest.skip(f"{self.name} is given contiguous arrays alone")


def numpy_type(name):
    if hasattr(np, name):
        return np.dtype(name)
    return np.dtype(getattr(pytest.importorskip("ml_dtypes", reason=f"{name} needs ml_dtypes"), name))


def is_foreign(dtype):
    """Returns whether a dtype belongs to ml_dtypes, not to NumPy."""
    return not hasattr(np, dtype.name)


def bits_of(array):
    """The integers as wide as its elements."""
    return {1: np.uint8, 2: np.int16}[array.itemsize]


def memory(shape, dtype, order="C", offset=0):
    """An array at an address with the given offset from a multiple of 256."""
    count = math.prod(shape) * dtype.itemsize
    buffer = np.zeros(count + offset + 512, np.uint8)
    start = -buffer.ctypes.data % 256 + offset
    return np.ndarray(shape, dtype, buffer[start : start + count].data if count else None, order=order)


# Sizes: values of symbols, variables, and of the scalars that shapes and conditions may name.


FUNCTIONS = {"min": min, "max": max}
GLOBALS = {"__builtins__": {}} | FUNCTIONS


@functools.cache
def compiled(text):
    return compile(text, "<description>", "eval")


def evaluate(text, values):
    return eval(compiled(text), GLOBALS, values)


def constants(kernel, kind):
    trees = [ast.walk(ast.parse(c.python)) for c in kernel.where]
    return [n.value for tree in trees for n in tree if isinstance(n, ast.Constant) and type(n.value) is kind]


def candidates(kernel, library, broken):
    """The candidate values of each name; `broken` adds values that conditions may exclude."""
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
    """Draws values for all names, the first candidates first, and the same values in every run.
    After DRAWN values, every second one comes from the smallest candidates, so many dimensions are
    small."""
    choices, draw = candidates(kernel, library, broken), random.Random(0)
    for name, all_ in choices.items():
        if not all_:
            pytest.skip(f"{library.name} has no dtype of {name}: {', '.join(kernel.types[name])}")
    groups = {name: (2, 3) for name in kernel.symbols if name.startswith("...")}
    tried, most = set(), math.prod(len(all_) for all_ in choices.values())
    at = dict.fromkeys(choices, 0)
    least = {name: least_of(all_) for name, all_ in choices.items()}
    for number in range(20_000):
        key = tuple(at.values())
        if key not in tried:
            tried.add(key)
            yield groups | {name: choices[name][i] for name, i in at.items()}
        if len(tried) == most:
            return
        if number > DRAWN and number % 2:
            at = {name: draw.choice(all_) for name, all_ in least.items()}
        else:
            at = {name: draw.randrange(len(all_)) for name, all_ in choices.items()}


def least_of(candidates):
    """The indices of the three smallest sizes from 1 on. Other values keep their order."""
    first = [i for i, value in enumerate(candidates) if candidates.index(value) == i]
    return sorted(first, key=lambda i: (candidates[i] or math.inf) if type(candidates[i]) is int else 0)[:3]


def is_possible(condition, choices):
    """Returns whether any candidates meet a condition; true if there are too many to try."""
    names = [name for name in compiled(condition.python).co_names if name not in FUNCTIONS]
    if not choices.keys() >= set(names) or not 0 < math.prod(len(choices[name]) for name in names) <= 20_000:
        return True
    every = itertools.product(*(choices[name] for name in names))
    return any(holds(None, condition, dict(zip(names, values)), {}) for values in every)


def extents(p, values):
    """The shape of a tensor, and for each dimension the index of its extent in the description."""
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
    """The shape of each present tensor, or None if an extent has no value."""
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


def valid_shapes(kernel, values):
    """The shapes of a valid call, or None. Conditions that need no shapes are tried first."""
    plain = [c for c in kernel.where if values.keys() >= set(compiled(c.python).co_names) - FUNCTIONS.keys()]
    if not all(holds(kernel, c, values, {}) for c in plain):
        return None
    made = shapes(kernel, values)
    return made if made is not None and all(holds(kernel, c, values, made) for c in kernel.where) else None


def is_valid(kernel, values):
    return valid_shapes(kernel, values) is not None


def elements(made):
    return sum(map(math.prod, made.values()))


@functools.cache
def solutions(kernel, name):
    """Up to 50 choices of values for which a call is valid and small, else one."""
    found, large, library = [], [], Library(name)
    choices = candidates(kernel, library, broken=False)
    possible = all(is_possible(condition, choices) for condition in kernel.where)
    for values in attempts(kernel, library) if possible else []:
        made = None if values in found else valid_shapes(kernel, values)
        if made is None:
            continue
        count = elements(made)
        if count > MOST:
            large += [values] if count <= LIMIT else []
            continue
        found.append(values)
        if len(found) == 50:
            break
    if not found and not large:
        pytest.fail(f"no small sizes satisfy the conditions of {kernel.name}: name some in test: {{sizes: ...}}")
    return found or [min(large, key=lambda values: elements(shapes(kernel, values)))]


def is_small(kernel, name, values):
    """Returns whether a call has at most MOST elements, or those of the first solution."""
    return elements(shapes(kernel, values)) <= max(MOST, elements(shapes(kernel, solutions(kernel, name)[0])))


# Calls.


class Call:
    """Arguments for a kernel, valid until a test changes them."""

    def __init__(self, kernel, library, values, seed=0):
        self.kernel, self.library, self.values = kernel, library, values
        self.random = np.random.default_rng(seed)
        self.shapes = shapes(kernel, values)
        self.masters, self.arguments, self.out, self.foreign = {}, {}, {}, set()
        for p in kernel.args:
            if p.name in values and values[p.name] is None:
                self.arguments[p.name] = None
            elif isinstance(p, Tensor):
                self.put(p, self.fill(p, memory(self.shapes[p.name], self.dtype(p), self.order(p))))
            else:
                self.arguments[p.name] = values[p.name] if p.name in values else self.scalar(p)

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
        """Passes an array; `masters` keeps the arrays that share its memory."""
        self.masters[p.name] = master
        self.arguments[p.name] = self.library.array(master)

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
        ours, names = type(self.an_array()), [p.name for p in self.kernel.tensors]
        tensors = [name for name in names if name in self.foreign or type(self.arguments.get(name)) is ours]
        return {name: self.library.numpy(self.arguments[name]).tobytes() for name in tensors}

    def an_array(self):
        return self.library.array(np.zeros(1, np.float32))

    def run(self):
        outs = {}
        if self.out:
            outs = {"out": self.out[0] if len(self.kernel.made) == 1 else self.outs()}
        return self.kernel.function(**self.arguments, **outs)

    def outs(self):
        return tuple(self.out.get(i) for i in range(len(self.kernel.made)))


def start(kernel, name, rejects=False):
    """The library of a test, if it can call the kernel. `rejects`: for arrays that it rejects."""
    if "kDLCPU" not in kernel.devices:
        pytest.skip("the kernel takes no tensors on the CPU")
    library = Library(name)
    if not rejects:
        library.needs_writable(kernel)
    return library


def returning(kernel, name):
    """The same for a call that returns: results without a variable may have a dtype that the library
    lacks."""
    library = start(kernel, name)
    for p in kernel.made:
        if not p.variable and not library.supports(p.dtypes[0]):
            pytest.skip(f"{name} has no {p.dtypes[0]}, the dtype of result {p.name}")
    return library


def call_with(kernel, library, fits=lambda made: True):
    """A call with suitable shapes for a test."""
    for values in solutions(kernel, library.name):
        if fits(shapes(kernel, values)):
            return Call(kernel, library, values)
    pytest.skip("no valid call has the shape that this test needs")


# Tests.


@dataclasses.dataclass(frozen=True)
class Case:
    """One requirement of a description, as the function that violates it."""

    breaks: object
    name: str = ""
    at: int = 0
    label: str = ""

    def __str__(self):
        return "-".join(filter(None, [self.breaks.__name__, self.label or self.name]))


def spread(call, p, shape):
    """A tensor whose last dimension contains every second element."""
    return call.fill(p, memory(shape[:-1] + (2 * shape[-1],), call.dtype(p), call.order(p))[..., ::2])


def has_two(name):
    """Returns whether taking every second element of the last dimension results in a strided
    tensor."""
    return lambda made: bool(made[name]) and made[name][-1] > 1 and math.prod(made[name]) > 0
