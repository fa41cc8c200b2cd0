# Static graphs. An error in infer_meta ends the process, and an error while a graph runs is a
# SystemError without a text. Therefore, everything that is known while a graph is traced is checked
# before an operator is registered.


class _Call:
    """The static part of a call: its kernel, its scalars, and whether saved results are returned
    too."""

    def __init__(self, kernel, statics, saving=False):
        self.kernel, self.statics, self.saving = kernel, statics, saving

    def join(self, tensors):
        """All arguments in their order."""
        return [t if s is None else s for t, s in zip(tensors, self.statics)]

    @property
    def returned(self):
        """The indices of the returned results."""
        return range(len(self.kernel.results)) if self.saving else self.kernel.returned

    def run(self, tensors):
        """Calls the function of the module. Returns a tuple of results."""
        kernel = self.kernel
        words = {"like": _like()} if kernel.like else {}
        function = kernel.saving if self.saving else kernel.function
        # Paddle 3.0 exports no tensor that requires a gradient.
        made = function(*self.join([None if t is None else t.detach() for t in tensors]), **words)
        return made if isinstance(made, tuple) else () if made is None else (made,)

    def insert(self, tensors):
        """Adds the call to the traced graph. Returns a tuple of results."""
        kernel, inferred = self.kernel, _infer(self, tensors)
        there = tuple(t is not None for t in tensors)
        metas = tuple(inferred[i] for i in self.returned)
        key = kernel.name, self.saving, _key(self.statics), there, metas
        if key not in _operators:
            _operators[key] = self.register(there, metas)
        made = _operators[key](*(t for t in tensors if t is not None))
        return tuple(made) if isinstance(made, (list, tuple)) else (made,)

    def register(self, there, metas):
        """Paddle caches operators by name. Its own suffix does not distinguish all scalars: 1 and
        True have the same suffix, and so do -1 and -2."""
        names = [p.name for p, is_there in zip(self.kernel.parameters, there) if is_there]

        def run(*tensors):
            tensors = iter(tensors)
            made = self.run([next(tensors) if is_there else None for is_there in there])
            return made[0] if len(made) == 1 else made

        def infer(*_):
            made = tuple(_meta(*meta) for meta in metas)
            return made[0] if len(made) == 1 else made

        return _paddle.static.register_op(
            name=f"dlpackgen_{_load}_{self.kernel.name}_{next(_numbers)}",
            infer_meta=_positional(infer, names),
            input_names=names,
            output_names=[self.kernel.results[i] for i in self.returned],
        )(_positional(run, names))


# Two packages may have kernels of the same name, and a package may be loaded again: the names of
# their operators must differ.
_load = _secrets.token_hex(8)
_numbers = _itertools.count()
_operators = {}


def _meta(shape, dtype):
    return _paddle.static.MetaTensor(shape=list(shape), dtype=getattr(_paddle, dtype))


def _positional(function, names):
    """A function with a parameter for each name: Paddle passes keywords, and reads the signature."""
    names = ", ".join(names)
    return eval(f"lambda {names}: function({names})", {"function": function})


@_functools.cache
def _like():
    """A Paddle tensor, so that Paddle creates the results of kernels without tensor arguments."""
    return _paddle.to_tensor([0], place=_paddle.CPUPlace())
