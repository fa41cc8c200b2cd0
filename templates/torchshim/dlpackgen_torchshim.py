"""The Python part of PyTorch operators in plain C: registration when torch is imported, fake
kernels, gradients, and rules for torch.vmap. kernels_torch.py lists the operators."""

import ctypes
import dataclasses
import importlib
import importlib.util
import math
import sys
import warnings

REQUIRED = object()

#include "statuses.py"

NO_BACKWARD = (
    "an argument requires a gradient, but the kernel has no backward: call it under torch.no_grad(), pass detach(), "
    "or describe `backward:` in dlpackgen.yaml"
)
DROPPED = "it requires a gradient, which the backward does not compute: pass detach(), or name it under `of:`"
TANGENT = "an argument has a forward-mode derivative, which kernels do not support: use backward mode"
NO_BATCH = (
    "torch.vmap does not call kernels with `batch: none`: call it in a loop, or leave `batch:` out of the description"
)


@dataclasses.dataclass(frozen=True)
class Argument:
    name: str
    kind: str  # tensor, int, float, bool, str, ints, floats, or number: a Scalar
    writes: bool = False
    copied: bool = False
    cpu: bool = False  # always in host memory
    leading: bool = False  # it begins with `...`
    contiguous: bool = False  # it allows no strides
    default: object = REQUIRED


@dataclasses.dataclass(frozen=True, eq=False)
class Operator:
    namespace: str
    name: str
    kernel: str  # in messages
    arguments: list
    results: list
    received: list  # the indices of the results that callers receive
    keys: list  # the backends of PyTorch
    device: int  # a device type of the kernel
    shapes: object  # returns shape and dtype of each result
    numbers: str = ""  # the operator with the C function, in which a Scalar is three arguments
    saving: str = ""  # the operator that also returns the values that backward needs
    batching: str = "each"
    backward: str = ""
    returned: tuple = ()  # the indices of the results with gradients
    saves: tuple = ()
    of: tuple = ()

    @property
    def qualified(self):
        return f"{self.namespace}::{self.name}"

    @property
    def tensors(self):
        return [(i, p) for i, p in enumerate(self.arguments) if p.kind == "tensor"]

    def overload(self, name=""):
        return getattr(getattr(torch().ops, self.namespace), name or self.name).default

    def arrange(self, args, kwargs=None):
        """All arguments in their order: the dispatcher omits arguments with their default."""
        values = list(args)
        for p in self.arguments[len(values) :]:
            values.append((kwargs or {}).get(p.name, p.default))
        return values

    def about(self, i):
        """The beginning of a message about an argument."""
        return f"{self.kernel}(): {self.argument(i)}: "

    def argument(self, i):
        return f"argument '{self.arguments[i].name}' ({_ordinal(i + 1)})"

    def pick(self, results):
        """The results that a caller receives."""
        return pack([results[i] for i in self.received])


def torch():
    return sys.modules["torch"]


def pack(results):
    return results[0] if len(results) == 1 else tuple(results) if results else None


def unpack(results):
    return [results] if isinstance(results, torch().Tensor) else list(results or ())


# Registration


def when_torch_is_imported(module, operators):
    """Registers operators when torch is imported, or now if it is already imported. Failures are
    warnings, because they must not prevent the import of torch."""

    def try_to_register():
        try:
            register(module, operators)
        except ImportError as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)

    if "torch" in sys.modules:
        try_to_register()
    else:
        sys.meta_path.insert(0, _Finder(try_to_register))


class _Finder:
    """Finds torch through the other finders, and adds a call at the end of its import."""

    def __init__(self, then):
        self.then = then

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.then)
        return spec


class _Loader:
    def __init__(self, loader, then):
        self.loader, self.then = loader, then

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.then()


_registered = {}  # by module: its library, and the objects that must live as long as the operators
_missing = {}  # by module: the messages about operators that this torch cannot register


def register(module, operators):
    """Registers the operators of a module's library, once. Operators that this torch does not
    support are omitted; ImportError names all of them."""
    if module in _registered:
        return _require(module, _missing[module])
    importlib.import_module("torch")
    library = ctypes.CDLL(importlib.import_module(module).__file__)
    is_rocm = getattr(torch().version, "hip", None) is not None
    missing = _call(library.dlpackgen_torch_find, torch()._C.__file__.encode(), int(is_rocm))
    if missing:
        raise ImportError(f"{module}: no operators: {missing[1]}")
    kept = _registered[module] = [library]
    wrong = _missing[module] = []
    for i, op in enumerate(operators):
        failed = _call(library.dlpackgen_torch_define, i)
        if failed:
            wrong.append(failed[1])
        else:
            kept.append(_complete(op, i, library))
    _require(module, wrong)


def _require(module, missing):
    if missing:
        raise ImportError(f"{module}: operators are missing: {'; '.join(missing)}")


def _call(function, *arguments):
    """Calls a function of the library. Returns None, or a status and a message."""
    text = ctypes.create_string_buffer(4096)
    status = function(*arguments, text, ctypes.c_size_t(len(text)))
    return (status, text.value.decode(errors="replace")) if status else None


def _complete(op, i, library):
    """Registers features that the C shim lacks. Returns the objects that keep them registered."""
    made = _Watched(op)
    torch().library.register_fake(op.qualified, _fake(op, i, library), lib=made)
    if op.numbers:
        for key in op.keys:
            made.impl(op.name, _numbers(op), key)
    if any(p.writes for p in op.arguments):
        for key in ("Negative", "Conjugate"):
            made.impl(op.name, _bits(op), key)
    if op.saving:
        made.watch(_recorded(op), with_keyset=True)
    elif op.backward:
        torch().library.register_autograd(op.qualified, _gradients(op), setup_context=_save(op), lib=made)
    if op.batching != "each":
        torch().library.register_vmap(op.qualified, _batched(op), lib=made)
    return made


class _Watched:
    """A library whose operators detect tangents before the functions for autograd, which would drop
    them."""

    def __init__(self, op):
        self.op = op
        self.library = torch().library.Library(op.namespace, "FRAGMENT")

    def __getattr__(self, name):
        return getattr(self.library, name)

    def impl(self, name, function, key="", **options):
        if key == "Autograd":
            self.watch(function, **options)
        else:
            self.library.impl(name, function, key, **options)

    def watch(self, function, **options):
        forward_ad = torch().autograd.forward_ad

        def watched(keys, *args, **kwargs):
            if getattr(forward_ad, "_current_level", 0) >= 0:
                reject_tangents(self.op, args)
            return function(keys, *args, **kwargs)

        self.library.impl(self.op.name, watched, "Autograd", **options)


#include "ordinals.py"
#include "fakes.py"
#include "derivatives.py"
