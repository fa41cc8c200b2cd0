# The rules of a function for each transformation of JAX.

_TRACED, _TRACED_HINT = _jax.core.Tracer, "a traced value: add the argument to static_argnames of jax.jit"
_ARRAYS = "an array of JAX or NumPy", ": convert it with jax.numpy.from_dlpack()"


def _array(value):
    """Returns the array of a value, or None."""
    if isinstance(value, _jax.Array):
        return value
    if isinstance(value, (_np.ndarray, _np.generic)) or hasattr(value, "__jax_array__"):
        return _jnp.asarray(value)
    return None


def _dtype_name(array):
    return str(array.dtype)


def _extents(kernel, i, array):
    shape = tuple(array.shape)
    if not all(isinstance(extent, int) for extent in shape):
        _fail(kernel, i, NotImplementedError, f"expected a shape of numbers, got {shape}: export each shape separately")
    return shape


class _Float(float):
    """An attribute that is compared by its bits: JAX caches compiled code by equality."""

    def __eq__(self, other):
        return isinstance(other, _Float) and _bits(self) == _bits(other)

    def __hash__(self):
        return hash(_bits(self))


@_jax.tree_util.register_static
class _Call:
    """The static part of a call: its kernel, its scalars, and whether saved results are returned
    too."""

    def __init__(self, kernel, statics, saving=False):
        self.kernel, self.statics, self.saving = kernel, statics, saving
        self.key = kernel.name, saving, _key(statics)

    def __eq__(self, other):
        return isinstance(other, _Call) and self.kernel is other.kernel and self.key == other.key

    def __hash__(self):
        return hash(self.key)


# The call itself


def _launch(call, arrays):
    """Checks the arguments and calls the handler. Returns all results, then the written
    arguments."""
    kernel, present = call.kernel, [a for a in arrays if a is not None]
    arguments = [a if s is None else s for a, s in zip(arrays, call.statics)]
    made = _check(kernel, arguments)
    written = [i for i, p in enumerate(kernel.parameters) if p.written and arrays[i] is not None]
    types = [_typed(present, shape, _jnp.dtype(dtype)) for shape, dtype in made]
    types += [_typed(present, arrays[i].shape, arrays[i].dtype) for i in written]
    places = {i: n for n, i in enumerate(i for i, a in enumerate(arrays) if a is not None)}
    function = _jax.ffi.ffi_call(
        kernel.target,
        types,
        has_side_effect=not types,
        vmap_method="sequential",
        input_layouts=[_layout(kernel, i, a) for i, a in enumerate(arrays) if a is not None],
        output_layouts=[None] * len(made) + [_layout(kernel, i, arrays[i]) for i in written],
        input_output_aliases={places[i]: len(made) + n for n, i in enumerate(written)},
    )
    return tuple(function(*present, **_attributes(kernel, arguments, call.statics)))


def _typed(present, shape, dtype):
    """The type of a result, which varies over the same mesh axes as the arguments."""
    if not present:
        return _jax.ShapeDtypeStruct(shape, dtype)
    return _jax.typeof(present[0]).update(shape=shape, dtype=dtype, weak_type=False)


def _layout(kernel, i, array):
    return tuple(reversed(range(array.ndim))) if kernel.parameters[i].column_major else None


def _attributes(kernel, arguments, statics):
    """The attributes of an absent argument have any value: the mask marks it as absent."""
    made = {}
    for i, p in enumerate(kernel.parameters):
        if p.form != "tensor":
            made[p.name] = _ATTRIBUTES[p.form](statics[i])
    if any(p.optional for p in kernel.parameters):
        made["?"] = _np.int64(sum(1 << i for i, a in enumerate(arguments) if a is not None))
    return made


_ATTRIBUTES = {
    "integer": lambda value: _np.int64(_signed(value or 0)),
    "real": lambda value: _Float(0.0 if value is None else value),
    "truth": bool,
    "number": lambda value: _Float(value) if isinstance(value, float) else _np.int64(_signed(value)),
    "text": lambda value: (value or "") + "\0",
    "integers": lambda value: _np.array(value or (), _np.int64),
    "reals": lambda value: _np.array(value or (), _np.float64),
}


# vmap


@_custom_batching.custom_vmap
def _batched(call, arrays):
    return _launch(call, arrays)


@_batched.def_vmap
def _batch(size, batched, call, arrays):
    kernel, batched = call.kernel, batched[1]
    if kernel.batch == "none":
        text = "jax.vmap does not call kernels with `batch: none`: call it in a loop, or leave `batch:` out of the"
        raise NotImplementedError(f"{kernel.name}(): {text} description")
    joins = all(p.leads or not b for p, b in zip(kernel.parameters, batched))
    if kernel.batch == "joined" and joins:
        made = _batched(call, [_in_front(*of, size) for of in zip(kernel.parameters, arrays, batched)])
    else:
        made = _batched_by_each(call, arrays, batched)
    return made, tuple(True for _ in made)


def _in_front(p, array, is_batched, size):
    """Arguments without the batch get it too, because `...` must be equal in all arguments."""
    if array is None or is_batched or not p.leads:
        return array
    return _jnp.broadcast_to(array, (size, *array.shape))


def _batched_by_each(call, arrays, batched):
    def one(members):
        members = iter(members)
        return _batched(call, [next(members) if b else a for a, b in zip(arrays, batched)])

    return _jax.lax.map(one, [a for a, b in zip(arrays, batched) if b])


# Gradients


@_jax.custom_vjp
def _differentiable(call, arrays):
    made = _batched(call, arrays)
    return made if call.saving else tuple(made[i] for i in call.kernel.visible(arrays))


def _forward(call, arrays):
    kernel = call.kernel
    for i, p in enumerate(kernel.parameters):
        if arrays[i] is not None and arrays[i].perturbed:
            _reject_dropped(kernel, i, call.saving, f"pass jax.lax.stop_gradient({p.name})")
    values = [None if a is None else a.value for a in arrays]
    saving = bool(kernel.backward) and len(kernel.returned) < len(kernel.results)
    made = _differentiable(_Call(kernel, call.statics, saving), values)
    kept = [_saved(kernel, name, values, made) for name in kernel.backward.saves]
    shown = tuple(made[i] for i in kernel.returned) if saving else made
    absent = tuple(a is None for a in values)
    return shown, (_Call(kernel, call.statics), _Absent(absent), kept, [_Like(a) for a in shown])


@_jax.tree_util.register_static
class _Absent(tuple):
    pass


@_jax.tree_util.register_static
class _Like:
    """The type of a result without a gradient."""

    def __init__(self, array):
        self.type = _jax.typeof(array)

    def __eq__(self, other):
        return isinstance(other, _Like) and self.type == other.type

    def __hash__(self):
        return hash(self.type)

    def zeros(self):
        return _jnp.zeros(self.type.shape, self.type.dtype)


def _saved(kernel, name, values, made):
    """An array; None for a static value."""
    if name in kernel.results:
        return made[kernel.results.index(name)]
    return values[kernel.place(name)]


def _backwards(kept, cotangents):
    call, absent, saved, likes = kept
    kernel, backward = call.kernel, call.kernel.backward
    arguments = [
        like.zeros() if isinstance(c, _jax.custom_derivatives.SymbolicZero) or c.dtype == _jax.dtypes.float0 else c
        for c, like in zip(cotangents, likes)
    ]
    for name, value in zip(backward.saves, saved):
        is_static = name not in kernel.results and kernel.parameters[kernel.place(name)].form != "tensor"
        arguments.append(call.statics[kernel.place(name)] if is_static else value)
    made = _kernels[backward.kernel](*arguments)
    made = dict(zip(backward.of, made if isinstance(made, tuple) else (made,)))
    gradients = [None if absent[i] else made.get(p.name) for i, p in enumerate(kernel.parameters)]
    return call, gradients


_differentiable.defvjp(_forward, _backwards, symbolic_zeros=True)


# shard_map


def _axes(kind):
    """The axes of a mesh over which arrays of a type vary; versions of JAX differ in the name."""
    manual = getattr(kind, "manual_axis_type", None)
    return getattr(kind, "vma", frozenset()) if manual is None else manual.varying


def _varying(array, names):
    """Makes an array vary over more axes; on the way back, that adds up gradients."""
    missing = tuple(sorted(names - _axes(_jax.typeof(array))))
    if not missing:
        return array
    if hasattr(_jax.lax, "pcast"):
        return _jax.lax.pcast(array, missing, to="varying")
    return _jax.lax.pvary(array, missing)


def _alike(arrays):
    """All arguments of a call vary over the same axes."""
    names = frozenset().union(*(_axes(_jax.typeof(a)) for a in arrays if a is not None))
    return [None if a is None else _varying(a, names) for a in arrays]


# Functions


def _register(target, handler, platform):
    try:
        _jax.ffi.register_ffi_target(target, _jax.ffi.pycapsule(handler), platform=platform)
    except Exception as error:  # the class differs between versions
        text = f"{target}: JAX did not register its handler; another library in this process may have the same name"
        raise ImportError(f"{text}: choose another `namespace:` for one of them ({error})") from error


class _Kernel:
    def __init__(self, name, target, handlers, check, device, parameters, results, returned, batch, backward=None):
        self.name, self.target, self.device = name, target, device
        self.parameters, self.results, self.returned = parameters, results, returned
        self.batch, self.backward = batch, backward
        self.check = _library[check]
        for platform, symbol in handlers.items():
            _register(target, _library[symbol], platform)

    def place(self, name):
        return next(i for i, p in enumerate(self.parameters) if p.name == name)

    def visible(self, arrays):
        """The indices of the values for callers, among all results and written arguments."""
        written = sum(p.written and a is not None for p, a in zip(self.parameters, arrays))
        return (*self.returned, *range(len(self.results), len(self.results) + written))

    def call(self, call, arrays):
        arrays = _alike(arrays)
        if not self.returned and not any(p.written for p in self.parameters):
            return _launch(call, arrays)  # for its side effects
        return _differentiable(call, arrays)

    def pack(self, made, arrays):
        """One array, or a tuple, with None for a written argument that is None."""
        made, shown = iter(made), []
        shown += [next(made) for _ in self.returned]
        shown += [None if a is None else next(made) for p, a in zip(self.parameters, arrays) if p.written]
        return tuple(shown) if len(shown) > 1 else shown[0] if shown else None


_kernels = {}


def _kernel(**described):
    """Creates a kernel from a function with its name, its signature and its docstring."""

    def made(function):
        kernel = _Kernel(function.__name__, **described)

        def traced(call, arrays):
            return kernel.call(call, arrays)

        traced.__name__ = function.__name__
        compiled = _jax.jit(traced, inline=True)

        @_functools.wraps(function)
        def called(*arguments, **words):
            statics, arrays = _read(kernel, _arrange(kernel, arguments, words))
            return kernel.pack(compiled(_Call(kernel, statics), arrays), arrays)

        _kernels[function.__name__] = called
        return called

    return made
