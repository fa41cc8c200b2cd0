# Functions


class _Kernel:
    def __init__(self, name, check, device, parameters, results, returned, **rest):
        self.name, self.device, self.parameters = name, device, parameters
        self.results, self.returned, self.backward = results, returned, rest.get("backward")
        self.shapes, self.outside = rest.get("shapes"), rest.get("outside")  # one of them
        self.like = rest.get("like", False)
        self.function = getattr(_module, name)
        self.saving = getattr(_module, rest["saving"]) if "saving" in rest else None
        self.check = _library[check]
        self.tensors = [(i, p) for i, p in enumerate(parameters) if p.form == "tensor"]
        self.written = [(i, p) for i, p in self.tensors if p.written]
        self.keywords = {"out", "like", "stream"} - {p.name for p in parameters}  # of the module

    def call(self, arguments, words):
        """A call outside of graphs. The module checks it."""
        needs = strange = False
        for i, p in self.tensors:
            value = arguments[i] if i < len(arguments) else words.get(p.name)
            if isinstance(value, _paddle.Tensor):
                needs = needs or not value.stop_gradient
            elif value is not None:
                strange = True
        if strange:
            self.arrange(arguments, words, self.keywords)
        if needs and _paddle.is_grad_enabled():
            return self.record(arguments, words)
        if self.like:
            words.setdefault("like", _like())
        made = self.function(*arguments, **words)
        written = [arguments[i] if i < len(arguments) else words.get(p.name) for i, p in self.written]
        out = self.out(words)
        _bump(written + list(out if isinstance(out, (tuple, list)) else (out,)))
        return made

    def out(self, words):
        """The memory for results. An argument may have that name, too."""
        return words.get("out") if "out" in self.optional else None

    def arrange(self, arguments, words, dropped=()):
        """Static values and tensors, each with None at the indices of the others. The module checks
        the keywords that are dropped."""
        words = {name: value for name, value in words.items() if name not in dropped}
        return _read(self, _arrange(self, arguments, words))

    def record(self, arguments, words):
        statics, tensors = self.arrange(arguments, words, self.optional)
        _reject_all(self, tensors)
        if self.out(words) is not None:
            text = "out= is not supported if an argument requires a gradient: pass detach(), or omit out="
            raise NotImplementedError(f"{self.name}(): {text}")
        call = _Call(self, statics, saving=self.saving is not None)
        there = [t is not None for t in tensors]
        made = _Recorded.apply(call, there, *(t for t in tensors if t is not None))
        return tuple(made) if isinstance(made, list) else made

    def trace(self, arguments, words):
        """A call in a graph."""
        if self.out(words) is not None or self.outside:
            reason = self.outside or "it has out="
            raise NotImplementedError(
                f"{self.name}(): {reason}, which static graphs of Paddle do not support: call it outside of them"
            )
        if not hasattr(_paddle.static, "register_op"):
            text = "static graphs need Paddle 3.3 or newer"
            raise NotImplementedError(f"{self.name}(): {text}, and this is {_paddle.__version__}")
        statics, tensors = self.arrange(arguments, words, self.optional)
        tensors = [t if t is None or isinstance(t, _TRACED) else _paddle.assign(t) for t in tensors]
        if not _paddle.is_grad_enabled():
            tensors = [t.detach() if _needs_gradient(t) else t for t in tensors]
        if any(map(_needs_gradient, tensors)):
            _reject_all(self, tensors)
            made = _record_in_graph(_Call(self, statics, saving=self.saving is not None), tensors)
        else:
            made = _Call(self, statics).insert(tensors)
        return made[0] if len(made) == 1 else made or None


def _bump(tensors):
    """Notifies Paddle's autograd that tensors were written to."""
    for tensor in tensors:
        if isinstance(tensor, _paddle.Tensor):
            tensor._bump_inplace_version()


_kernels = {}


def _unchanged(function):
    """Marks a function that graphs call without tracing it."""
    marker = getattr(_paddle.jit, "marker", None)
    return marker.unified(function) if hasattr(marker, "unified") else _paddle.jit.not_to_static(function)


def _kernel(**described):
    """Creates a kernel from a function with its name, its signature and its docstring."""

    def made(function):
        kernel = _kernels[function.__name__] = _Kernel(function.__name__, **described)
        kernel.optional = kernel.keywords & set(_inspect.signature(function).parameters)  # out=, if it has results

        @_functools.wraps(function)
        def called(*arguments, **words):
            if _paddle.in_dynamic_mode():
                return kernel.call(arguments, words)
            return kernel.trace(arguments, words)

        return _unchanged(called)

    return made
