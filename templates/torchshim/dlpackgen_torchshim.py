"""What operators of PyTorch in plain C need of Python: registration when torch is imported, fake
kernels, gradients, and rules for torch.vmap. kernels_torch.py lists the operators."""

import ctypes
import dataclasses
import importlib
import importlib.util
import math
import sys
import warnings

REQUIRED = object()

# By the status of <dlpackgen/message.h>.
CLASSES = [None, TypeError, ValueError, BufferError, SystemError, RuntimeError, IndexError, MemoryError,
           NotImplementedError]  # fmt: skip

NO_BACKWARD = (
    "an argument requires a gradient, and the kernel names no backward: call it under torch.no_grad(), pass detach(), "
    "or name the kernel of its gradients in dlpackgen.yaml, as `backward:`"
)
DROPPED = "it requires a gradient, which the backward does not compute: pass detach(), or name it under `of:`"
TANGENT = "an argument has a derivative of forward mode, which kernels do not pass on: use backward mode"
NO_BATCH = (
    "torch.vmap does not call kernels with `batch: none`: call it in a loop, or leave `batch:` out of the description"
)


@dataclasses.dataclass(frozen=True)
class Argument:
    name: str
    kind: str  # tensor, int, float, bool, str, ints, floats, or number: a Scalar
    writes: bool = False
    copied: bool = False
    cpu: bool = False  # in the host's memory always
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
    given: list  # the results that callers get, by their places
    keys: list  # the backends of PyTorch
    device: int  # a device type of the kernel
    shapes: object  # gives shape and dtype of each result
    numbers: str = ""  # the operator that has the C function, where a Scalar is three arguments
    saving: str = ""  # the operator that returns what backward needs, too
    batching: str = "each"
    backward: str = ""
    returned: tuple = ()  # the results that have gradients, by their places
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
        """All arguments in their order: the dispatcher leaves out those that have their default."""
        values = list(args)
        for p in self.arguments[len(values) :]:
            values.append((kwargs or {}).get(p.name, p.default))
        return values

    def about(self, i):
        """What a sentence about an argument begins with."""
        return f"{self.kernel}(): {self.argument(i)}: "

    def argument(self, i):
        ending = "th" if (i + 1) // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get((i + 1) % 10, "th")
        return f"argument '{self.arguments[i].name}' ({i + 1}{ending})"

    def pick(self, results):
        """What a caller gets of all results."""
        return pack([results[i] for i in self.given])


def torch():
    return sys.modules["torch"]


def pack(results):
    return results[0] if len(results) == 1 else tuple(results) if results else None


def unpack(results):
    return [results] if isinstance(results, torch().Tensor) else list(results or ())


# Registration


def when_torch_is_imported(module, operators):
    """Registers operators when torch is imported, or now, where it is already. What goes wrong is a
    warning: it must not keep anybody from importing torch."""

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
    """Finds torch as the other finders do, and adds a call at the end of its import."""

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


_registered = {}  # by module: its library, and what must live as long as the operators


def register(module, operators):
    """Registers the operators of a module's library, once. An operator that this torch cannot have
    is left out; ImportError names all of them."""
    if module in _registered:
        return
    importlib.import_module("torch")
    library = ctypes.CDLL(importlib.import_module(module).__file__)
    is_rocm = getattr(torch().version, "hip", None) is not None
    missing = _call(library.dlpackgen_torch_find, torch()._C.__file__.encode(), int(is_rocm))
    if missing:
        raise ImportError(f"{module}: no operators: {missing[1]}")
    kept = _registered[module] = [library]
    wrong = []
    for i, op in enumerate(operators):
        failed = _call(library.dlpackgen_torch_define, i)
        if failed:
            wrong.append(failed[1])
        else:
            kept.append(_complete(op, i, library))
    if wrong:
        raise ImportError(f"{module}: operators are missing: {'; '.join(wrong)}")


def _call(function, *arguments):
    """Calls a function of the library: None, or a status and a sentence."""
    text = ctypes.create_string_buffer(4096)
    status = function(*arguments, text, ctypes.c_size_t(len(text)))
    return (status, text.value.decode(errors="replace")) if status else None


def _complete(op, i, library):
    """Registers what the C shim has no words for. Gives what keeps it registered."""
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
    """A library that looks for tangents in front of what is registered for autograd, which drops
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
                refuse_tangents(self.op, args)
            return function(keys, *args, **kwargs)

        self.library.impl(self.op.name, watched, "Autograd", **options)


# Fake kernels


def _fake(op, i, library):
    def fake(*args, **kwargs):
        values = op.arrange(args, kwargs)
        first = refuse_other_devices(op, values)
        if not op.backward:
            refuse_gradients(op, values)
        if not has_symbols(values):
            check(op, i, library, values)
        shapes = op.shapes({p.name: value for p, value in zip(op.arguments, values)})
        made = [torch().empty(s, dtype=dtype_named(d), device=first.device) for s, d in shapes]
        return op.pick(made)

    return fake


def dtype_named(dtype):
    return getattr(torch(), dtype) if isinstance(dtype, str) else dtype


def has_symbols(values):
    """Whether the checks of numbers would make a graph for each size."""
    kinds = (torch().SymInt, torch().SymFloat, torch().SymBool)
    for value in values:
        if isinstance(value, torch().Tensor):
            value = (*value.shape, *value.stride(), value.storage_offset())
        if any(isinstance(v, kinds) for v in (value if isinstance(value, (list, tuple)) else (value,))):
            return True
    return False


def refuse_other_devices(op, values):
    """One tensor on the device meta is enough to come here, and results like the others would be
    memory that nobody has written to. Gives the first tensor."""
    there = [(i, p) for i, p in op.tensors if values[i] is not None]
    if not there:
        raise ValueError("expected a tensor among the arguments, which tells the device")
    first = there[0][0]
    for i, _ in there:
        expected, got = values[first].device, values[i].device
        if expected.type != got.type:
            raise ValueError(
                f"{op.about(i)}expected a tensor on {_device(expected)}, as {op.argument(first)} is, got one on "
                f"{_device(got)}"
            )
    return values[first]


def _device(device):
    """As messages of all callers name it, or as PyTorch does, where DLPack has no such device."""
    return str(device) if device.type == "meta" else f"{device.type}:{device.index or 0}"


def refuse_gradients(op, values):
    if torch().is_grad_enabled() and any(values[i] is not None and values[i].requires_grad for i, _ in op.tensors):
        raise NotImplementedError(f"{op.qualified}(): {NO_BACKWARD}")


def refuse_tangents(op, values):
    for value in values:
        if not isinstance(value, torch().Tensor):
            continue
        if torch().autograd.forward_ad.unpack_dual(value).tangent is not None:
            raise NotImplementedError(f"{op.qualified}(): {TANGENT}")


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Value(ctypes.Structure):
    """As values.h has it."""

    _fields_ = [
        ("present", ctypes.c_int32),
        ("is_", ctypes.c_int32),
        ("tensor", _Tensor),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("text", ctypes.c_char_p),
        ("items", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("dtype", ctypes.c_char_p),
        ("room", ctypes.c_uint64),
    ]


def check(op, i, library, values):
    """Compares arguments with the description, by the checks that a call has, less those of
    overlaps: tensors without data are at addresses that are far apart."""
    outlined = (_Value * len(values))()
    kept = [_outline(op, at, outlined[at], value) for at, value in enumerate(values)]
    failed = _call(library.dlpackgen_torch_check, i, outlined)
    del kept
    if failed:
        raise CLASSES[failed[0]](failed[1])


def _outline(op, i, to, value):
    """Fills a value of C. Gives what must live as long as it."""
    p = op.arguments[i]
    if value is None:
        return None
    to.present = 1
    if p.kind == "tensor":
        return _outline_tensor(op, i, to, value)
    if p.kind == "str":
        if "\0" in value:
            raise ValueError(f"{op.about(i)}expected a text without NUL")
        to.text = value.encode()
    elif p.kind in ("ints", "floats"):
        items = ((ctypes.c_int64 if p.kind == "ints" else ctypes.c_double) * max(len(value), 1))(*value)
        to.items, to.count = ctypes.addressof(items), len(value)
        return items
    elif p.kind == "number":
        to.integer, to.real, to.is_ = split(op, i, value)
    elif p.kind == "float":
        to.real = value
    else:
        to.integer = int(value)
    return None


def _outline_tensor(op, i, to, value):
    p, tensor = op.arguments[i], to.tensor
    shape, strides, offset = list(value.shape), list(value.stride()), value.storage_offset()
    if p.copied:
        strides, offset = [math.prod(max(n, 1) for n in shape[j + 1 :]) for j in range(len(shape))], 0
    kept = [(ctypes.c_int64 * max(len(numbers), 1))(*numbers) for numbers in (shape, strides)]
    tensor.data = ((i + 1) << 56) + offset * value.dtype.itemsize
    tensor.device_type = 1 if p.cpu else op.device
    tensor.ndim = len(shape)
    tensor.shape, tensor.strides = kept
    to.dtype = str(value.dtype).removeprefix("torch.").encode()
    return kept


# What expressions of shapes use. Their numbers may be symbols.


def extent(tensor, rank, place):
    if tensor.dim() < rank:
        raise ValueError(f"expected a tensor of {rank} dimensions, got {tensor.dim()}")
    return tensor.shape[place]


def leading(tensor, place, rank):
    """The dimensions that an ellipsis stands for: all but rank, from a place on."""
    return list(tensor.shape[place : place + tensor.dim() - rank])


def floor_divide(a, b):
    if isinstance(b, int) and b == 0:
        raise ValueError("a shape of a result divides by 0")
    return a // b


def floor_remainder(a, b):
    return a - floor_divide(a, b) * b


def least(a, b):
    return torch().sym_min(a, b)


def greatest(a, b):
    return torch().sym_max(a, b)


# Scalars, for which the shim has no type.


def split(op, i, value):
    """A number as an integer, a float, and what it is."""
    if isinstance(value, complex):
        raise TypeError(f"{op.about(i)}expected a real number, got complex")
    if isinstance(value, float):
        return 0, value, 1
    return int(value), 0.0, 2 if isinstance(value, bool) else 0


def _numbers(op):
    def numbers(*args, **kwargs):
        spread = []
        for i, value in enumerate(op.arrange(args, kwargs)):
            spread += split(op, i, value) if op.arguments[i].kind == "number" else [value]
        return op.overload(op.numbers)(*spread)

    return numbers


# Gradients


def _save(op):
    def save(ctx, inputs, output):
        values = op.arrange(inputs)
        for i, _ in op.tensors:
            if i not in op.of and values[i] is not None and values[i].requires_grad:
                raise NotImplementedError(op.about(i) + DROPPED)
        results = unpack(output)
        named = {p.name: value for p, value in zip(op.arguments, values)} | dict(zip(op.results, results))
        ctx.mark_non_differentiable(*(made for i, made in enumerate(results) if i not in op.returned))
        ctx.there = [values[i] is not None for i in op.of]
        kept = [named[name] for name in op.saves]
        ctx.others = [None if isinstance(value, torch().Tensor) else value for value in kept]
        ctx.save_for_backward(*(value if isinstance(value, torch().Tensor) else None for value in kept))

    return save


def _gradients(op):
    def gradients(ctx, *grads):
        backward = op.overload(op.backward)
        saved = [other if tensor is None else tensor for tensor, other in zip(ctx.saved_tensors, ctx.others)]
        back = unpack(backward(*(grads[i].contiguous() for i in op.returned), *saved))
        made = [None] * len(op.arguments)
        for place, (i, there) in enumerate(zip(op.of, ctx.there)):
            made[i] = back[place] if there else None
        return tuple(made[: len(ctx.needs_input_grad)])

    return gradients


def _recorded(op):
    """What stands in front of an operator whose backward needs results that its callers do not get:
    where a gradient is wanted, the operator is called that returns them."""

    def recorded(keys, *args):
        wanted = torch().is_grad_enabled() and any(
            isinstance(value, torch().Tensor) and value.requires_grad for value in args
        )
        if wanted:
            return op.pick(unpack(op.overload(op.saving)(*args)))
        return op.overload().redispatch(keys & torch()._C._after_autograd_keyset, *args)

    return recorded


def _bits(op):
    """PyTorch's own way takes the first result of an operator for what was written to, and looks for
    it where a kernel without results leaves nothing."""

    def bits(*args, **kwargs):
        values = op.arrange(args, kwargs)
        plain = [v.resolve_conj().resolve_neg() if isinstance(v, torch().Tensor) else v for v in values]
        made = op.overload()(*plain)
        for p, value, resolved in zip(op.arguments, values, plain):
            if p.writes and resolved is not value:
                value.copy_(resolved)
        return made

    return bits


# torch.vmap


def _batched(op):
    def batched(info, in_dims, *args, **kwargs):
        if op.batching == "none":
            raise NotImplementedError(f"{op.kernel}(): {NO_BATCH}")
        values = op.arrange(args, kwargs)
        dims = list(in_dims) + [None] * (len(values) - len(in_dims))
        if all(dim is None or p.leading for p, dim in zip(op.arguments, dims)):
            made = unpack(op.overload()(*_joined(op, info.batch_size, dims, values)))
        else:
            made = _each(op, info.batch_size, dims, values)
        return pack(made), pack([0] * len(made))

    return batched


def _joined(op, size, dims, values):
    """Arguments without the batch get it too, since equal `...` are equal in the whole call."""
    joined = []
    for p, dim, value in zip(op.arguments, dims, values):
        if p.leading and value is not None:
            value = value.unsqueeze(0).expand(size, *value.shape) if dim is None else value.movedim(dim, 0)
            value = value.contiguous() if p.contiguous else value
        joined.append(value)
    return joined


def _each(op, size, dims, values):
    """Calls it for each element, where an argument without `...` is batched."""
    if size == 0:
        raise ValueError(f"{op.kernel}(): torch.vmap over a batch of 0 elements does not tell the results")
    made = []
    for i in range(size):
        one = [v if dim is None else v.select(dim, i) for dim, v in zip(dims, values)]
        one = [v.contiguous() if p.contiguous and v is not None else v for p, v in zip(op.arguments, one)]
        made.append(unpack(op.overload()(*one)))
    return [torch().stack(each) for each in zip(*made)]
