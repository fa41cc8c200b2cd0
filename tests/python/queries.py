"""The queries before objects are read: about values that differ from memory, gradients, and memory
itself."""

from check import *


def test_queries():
    class Asked(New):
        is_negated = is_conjugated = requires_grad = False

        def is_neg(self):
            return self.is_negated

        def is_conj(self):
            if self.is_conjugated is None:
                raise RuntimeError("no answer")
            return self.is_conjugated

    class AskedTabled(Asked):
        __dlpack_c_exchange_api__ = untrusted.table(0)

    for kind in Asked, AskedTabled:
        for function_of in read, lambda x: checked.take(x, 0):
            function_of(kind(2))
            for name, text in [
                ("is_negated", "its memory holds the negated values: pass resolve_neg()"),
                ("is_conjugated", "its memory holds the conjugated values: pass resolve_conj()"),
                (
                    "requires_grad",
                    "it requires grad, but this function records no gradients: pass detach(), or call this under "
                    "no_grad()",
                ),
            ]:
                x = kind(2)
                setattr(x, name, True)
                with raises(BufferError, text):
                    function_of(x)
            x = kind(2)
            x.is_conjugated = None
            with raises(BufferError, f"{kind.__name__} was not exported: no answer"):
                function_of(x)

    class Masked(New):
        mask = filled = None

    with raises(BufferError, "some of its elements may be masked, but DLPack has no masks"):
        read(Masked(2))


def test_gradients_of_paddle():
    """All objects with stop_gradient are queried, unless paddle.is_grad_enabled() returns False."""

    class Stops(New):
        stop_gradient = True

    class StopsTabled(Stops):
        __dlpack_c_exchange_api__ = untrusted.table(0)

    def rejects(f, x):
        with raises(
            BufferError,
            "its stop_gradient is False, but this function records no gradients: pass detach(), or call this under "
            "paddle.no_grad()",
        ):
            f(x)

    for kind in Stops, StopsTabled:
        for f in read, lambda x: checked.take(x, 0):
            x, paddle = kind(2), types.ModuleType("paddle")
            f(x)
            x.stop_gradient = False
            rejects(f, x)
            sys.modules["paddle"] = paddle
            try:
                for recorded in True, False:
                    paddle.is_grad_enabled = lambda: recorded
                    rejects(f, x) if recorded else f(x)
                paddle.is_grad_enabled = lambda: 1 / 0
                with raises(BufferError, "was not exported: division by zero"):
                    f(x)
            finally:
                del sys.modules["paddle"]


def test_a_table_is_not_used_without_memory():
    """A foreign table does not distinguish dense tensors. A producer's own __dlpack__ does."""

    class Classified(New):
        dense = True

        def is_dense(self):
            return self.dense

    class Table(Classified):
        __dlpack_c_exchange_api__ = untrusted.table(0)

    sparse, unknown, typed = Table(2), Table(2), Table(2)
    sparse.dense = False
    typed.is_dense = lambda: setattr(typed, "__class__", Classified) or True
    unknown.is_dense = lambda: 1 / 0
    for f in read, lambda x: checked.take(x, 0):
        f(Table(2))
        with calls():
            for x, text in (
                (sparse, "it has no dense memory: pass to_dense()"),
                (unknown, "Table was not exported: division by zero"),
                (typed, "its type changed during the call"),
            ):
                with raises(BufferError, text):
                    f(x)
                typed.__class__ = Table
    without = Classified(2)
    without.dense = False
    read(without)


def test_a_look_queries_memory_too():
    """To find a producer's stream, the tables of other arguments are queried for their devices."""

    class Table(New):
        __dlpack_c_exchange_api__ = untrusted.table(0)
        is_dense = staticmethod(lambda: 0)

    f = function(any_tensor(), any_tensor())
    for answer in lambda: 0, lambda: 1 / 0, lambda: setattr(x, "__class__", New) or 1:
        x = Table(2, device=CUDA)
        x.is_dense = answer
        with calls(), raises(ValueError, "f(): argument 'a' (1st): no current stream is known for cuda:0"):
            f(New(2, device=CUDA), x)


main()
