"""What an operator of the stable ABI of LibTorch lacks, for kernels of a config."""

import dataclasses

import torch

# A library object unregisters what it registered when it ends.
_libraries = {}


@dataclasses.dataclass
class Kernel:
    """A kernel of the config; arguments are given by their places."""

    namespace: str
    name: str
    likes: list  # of each result, the argument that it has the shape, the type and the device of
    tensors: list  # the arguments that are tensors
    written: list  # those that the kernel writes to
    backward: str  # the name of the kernel of its gradients, or ""


def register(kernel):
    """Registers what stands between a kernel and PyTorch, and gives its operator."""
    op = getattr(getattr(torch.ops, kernel.namespace), kernel.name).default
    library = _libraries.setdefault(kernel.namespace, torch.library.Library(kernel.namespace, "FRAGMENT"))
    torch.library.register_fake(op, _shapes(kernel), lib=library)
    if kernel.written:
        library.impl(kernel.name, _versions(kernel, op), "ADInplaceOrView", with_keyset=True)
    if kernel.backward:
        watched = _libraries[f"{kernel.namespace}.{kernel.name}"] = _Watched(kernel)
        torch.library.register_autograd(op, _gradients(kernel), setup_context=_save, lib=watched)
    else:
        library.impl(kernel.name, _refusal(kernel, op), "Autograd", with_keyset=True)
    return op


def _shapes(kernel):
    def shapes(*arguments):
        _refuse_other_devices(kernel, arguments)
        made = [torch.empty_like(arguments[like], memory_format=torch.contiguous_format) for like in kernel.likes]
        return made[0] if len(made) == 1 else tuple(made) if made else None

    return shapes


def _refuse_other_devices(kernel, arguments):
    """One tensor on the device meta is enough to come here, and results like the others would be memory that nobody
    has written to."""
    there = [place for place in kernel.tensors if arguments[place] is not None]
    for place in there:
        if arguments[place].device.type != arguments[there[0]].device.type:
            expected, got = _device(arguments[there[0]]), _device(arguments[place])
            raise ValueError(
                f"{kernel.namespace}::{kernel.name}(): {_argument(kernel, place)}: expected a tensor on {expected}, "
                f"as {_argument(kernel, there[0])} is, got one on {got}"
            )


def _argument(kernel, place):
    """The words of the checker for an argument: "argument 'b' (2nd)"."""
    op = getattr(getattr(torch.ops, kernel.namespace), kernel.name).default
    number = place + 1
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"argument '{op._schema.arguments[place].name}' ({number}{ending})"


def _device(tensor):
    """The words of the checker for a device, "cuda:0", and PyTorch's own where DLPack has none."""
    device = tensor.device
    return str(device) if device.type == "meta" else f"{device.type}:{device.index or 0}"


def _versions(kernel, op):
    def versions(keys, *arguments):
        for place in kernel.written:
            if not arguments[place].is_inference():
                torch.autograd.graph.increment_version(arguments[place])
            elif not torch.is_inference_mode_enabled():
                raise RuntimeError(f"{kernel.namespace}::{kernel.name}(): {NO_UPDATE}")
        return op.redispatch(keys & torch._C._after_ADInplaceOrView_keyset, *arguments)

    return versions


def _save(ctx, inputs, output):
    ctx.scalars = [None if isinstance(x, torch.Tensor) else x for x in inputs]
    ctx.save_for_backward(*(x for x in inputs if isinstance(x, torch.Tensor)))


def _gradients(kernel):
    def gradients(ctx, *gradients):
        saved = iter(ctx.saved_tensors)
        inputs = [next(saved) if place in kernel.tensors else x for place, x in enumerate(ctx.scalars)]
        made = getattr(getattr(torch.ops, kernel.namespace), kernel.backward)(*gradients, *inputs)
        made = iter([made] if isinstance(made, torch.Tensor) else made)
        return tuple(next(made) if place in kernel.tensors else None for place in range(len(inputs)))

    return gradients


NO_UPDATE = "Inplace update to inference tensor outside InferenceMode is not allowed: write to a clone() of it"
NO_BACKWARD = (
    "an argument requires a gradient, and the kernel names no backward: call it under torch.no_grad(), pass detach(), "
    "or name the kernel of its gradients in dlpackgen.yaml, as `backward:`"
)


def _refusal(kernel, op):
    name = f"{kernel.namespace}::{kernel.name}"

    def refuse(keys, *arguments):
        for place in kernel.tensors:
            tensor = arguments[place]
            if tensor is not None and tensor.requires_grad and torch.is_grad_enabled():
                raise NotImplementedError(f"{name}(): {NO_BACKWARD}")
        _refuse_tangents(kernel, arguments)
        return op.redispatch(keys & torch._C._after_autograd_keyset, *arguments)

    return refuse


class _Watched(torch.library.Library):
    """Looks for tangents in front of what register_autograd registers, which drops them."""

    def __init__(self, kernel):
        super().__init__(kernel.namespace, "FRAGMENT")
        self.kernel = kernel

    def impl(self, name, function, *more, **options):
        def watch(keys, *arguments):
            _refuse_tangents(self.kernel, arguments)
            return function(keys, *arguments)

        super().impl(name, watch, *more, **options)


def _refuse_tangents(kernel, arguments):
    for place in kernel.tensors:
        tensor = arguments[place]
        if tensor is not None and torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None:
            name = f"{kernel.namespace}::{kernel.name}"
            raise NotImplementedError(
                f"{name}(): an argument has a derivative of forward mode, which kernels do not pass on: use backward mode"
            )
