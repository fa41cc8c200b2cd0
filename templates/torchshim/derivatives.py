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
    """Registered in front of an operator whose backward needs results that callers do not receive.
    If a gradient is required, the operator that returns them is called instead."""

    def recorded(keys, *args):
        wanted = torch().is_grad_enabled() and any(
            isinstance(value, torch().Tensor) and value.requires_grad for value in args
        )
        if wanted:
            return op.pick(unpack(op.overload(op.saving)(*args)))
        return op.overload().redispatch(keys & torch()._C._after_autograd_keyset, *args)

    return recorded


def _bits(op):
    """PyTorch's own fallback assumes that the first result of an operator is the written argument,
    and fails for a kernel without results."""

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
    """Arguments without the batch get it too, because `...` must be equal in all arguments."""
    joined = []
    for p, dim, value in zip(op.arguments, dims, values):
        if p.leading and value is not None:
            value = value.unsqueeze(0).expand(size, *value.shape) if dim is None else value.movedim(dim, 0)
            value = value.contiguous() if p.contiguous else value
        joined.append(value)
    return joined


def _each(op, size, dims, values):
    """Calls it for each element, if an argument without `...` is batched."""
    if size == 0:
        raise ValueError(f"{op.kernel}(): torch.vmap cannot determine the results for a batch of 0 elements")
    made = []
    for i in range(size):
        one = [v if dim is None else v.select(dim, i) for dim, v in zip(dims, values)]
        one = [v.contiguous() if p.contiguous and v is not None else v for p, v in zip(op.arguments, one)]
        made.append(unpack(op.overload()(*one)))
    return [torch().stack(each) for each in zip(*made)]
