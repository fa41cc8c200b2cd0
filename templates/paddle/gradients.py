# Gradients


def _needs_gradient(tensor):
    return tensor is not None and not tensor.stop_gradient


def _reject_all(kernel, tensors):
    for i, tensor in enumerate(tensors):
        if _needs_gradient(tensor):
            _reject_dropped(kernel, i, False, f"pass {kernel.parameters[i].name}.detach()")


def _kept(call, tensors, results):
    """The values of a call that its backward needs."""
    names = [p.name for p in call.kernel.parameters]
    named = {**dict(zip(names, tensors)), **dict(zip(call.kernel.results, results))}
    return [named[name] for name in call.kernel.backward.saves]


def _differentiate(call, kept, cotangents, needs):
    """The backward of a call: returns a gradient or None for each present argument."""
    kernel, backward = call.kernel, call.kernel.backward
    names = [p.name for p in kernel.parameters]
    statics = dict(zip(names, call.statics))
    values = [*cotangents]
    for name, tensor in zip(backward.saves, kept):
        values.append(statics[name] if statics.get(name) is not None else tensor)
    inner = _kernels[backward.kernel]
    numbers, tensors = _read(inner, values)
    inner = _Call(inner, numbers)
    made = inner.run(tensors) if _paddle.in_dynamic_mode() else inner.insert(tensors)
    made = dict(zip(backward.of, made))
    return [made.get(name) if need else None for name, need in zip(names, needs) if need is not None]


class _Recorded(_paddle.autograd.PyLayer):
    """A call whose results have gradients, outside of graphs."""

    @staticmethod
    def forward(ctx, call, there, *present):
        present = iter(present)
        tensors = [next(present) if is_there else None for is_there in there]
        results = call.run(tensors)
        ctx.call, ctx.needs = call, [None if t is None else not t.stop_gradient for t in tensors]
        kept = _kept(call, tensors, results) if call.saving else _kept(call, tensors, ())
        ctx.kept = [t is not None for t in kept]
        ctx.save_for_backward(*(t for t in kept if t is not None))
        shown = [results[i] for i in call.kernel.returned] if call.saving else results
        ctx.mark_non_differentiable(*(t for t in shown if not _is_real(t)))
        return shown[0] if len(shown) == 1 else tuple(shown)

    @staticmethod
    def backward(ctx, *cotangents):
        call = ctx.call
        if _paddle.is_grad_enabled():
            at = next(i for i, need in enumerate(ctx.needs) if need)
            way = f"pass {call.kernel.parameters[at].name}.detach()"
            _reject_dropped(call.kernel, at, True, way)
        saved = iter(ctx.saved_tensor())
        kept = [next(saved) if is_there else None for is_there in ctx.kept]
        made = _differentiate(call, kept, [c if c.is_contiguous() else c.contiguous() for c in cotangents], ctx.needs)
        return made[0] if len(made) == 1 else tuple(made)


def _is_real(tensor):
    return _dtype_name(tensor).startswith(("float", "bfloat", "complex"))


def _record_in_graph(call, tensors):
    """A call whose results have gradients, in a graph."""
    context = _static_context()
    needs = [None if t is None else not t.stop_gradient for t in tensors]
    kept_there = []

    def forward(*present):
        present = iter(present)
        arguments = [None if t is None else next(present) for t in tensors]
        results = call.insert(arguments)
        kept = _kept(call, arguments, results if call.saving else ())
        kept_there[:] = [t is not None for t in kept]
        shown = [results[i] for i in call.kernel.returned] if call.saving else results
        context.save_for_backward(*(t for t in kept if t is not None))
        return shown[0] if len(shown) == 1 else tuple(shown)

    def backward(*cotangents):
        saved = iter(context.saved_tensor())
        kept = [next(saved) if is_there else None for is_there in kept_there]
        made = _differentiate(call, kept, cotangents, needs)
        return made[0] if len(made) == 1 else tuple(made)

    made = _paddle.static.nn.static_pylayer(forward, [t for t in tensors if t is not None], backward)
    return tuple(made) if isinstance(made, (list, tuple)) else (made,)


def _static_context():
    from paddle.jit.dy2static.py_layer import StaticPyLayerContext

    return StaticPyLayerContext()
