"""from_dlpack()'s rejections for properties that memory does not show, and its handling of types
and exceptions."""

import numpy as np
import torch

import check
from check import UntrustedProducer, from_dlpack, rejected


class Offers:
    """Returns a tensor of two numbers; derived types define the rest."""

    def __dlpack__(self, **keywords):
        return UntrustedProducer((2,)).capsule()


def offering(**members):
    return type("Derived", (Offers,), members)()


def rejects(x, *texts):
    with rejected(BufferError, *texts):
        from_dlpack(x)


def test_values_that_memory_does_not_tell():
    def like_torch(neg=False, conj=False, grad=False):
        return offering(is_neg=lambda self: neg, is_conj=lambda self: conj, requires_grad=grad)

    rejects(offering(mask=None, filled=None), "masked")
    rejects(np.ma.array([1.0, 2.0], mask=[0, 1]), "masked")
    rejects(like_torch(neg=True), "negated")
    rejects(like_torch(conj=True), "conjugated")
    rejects(like_torch(grad=True), "requires grad")
    with torch.no_grad():
        assert from_dlpack(like_torch(grad=True)).tolist() == [0, 1]
    for x in offering(mask=None), offering(filled=None), offering(is_neg=lambda self: True), like_torch(), offering():
        assert from_dlpack(x).tolist() == [0, 1]


def test_what_is_like_paddle():
    rejects(offering(stop_gradient=False), "stop_gradient is False")
    rejects(offering(stop_gradient=True, is_dense=lambda self: False), "no dense memory")
    for x in (
        offering(stop_gradient=True),
        offering(stop_gradient=True, is_dense=lambda self: True),
        offering(is_dense=lambda self: False),
    ):
        assert from_dlpack(x).tolist() == [0, 1]


def test_attributes_that_are_no_tables():
    """An int may be any number: it cannot be verified to be a table's address."""
    for value in 1 << 20, 0, 8, -1, 2**70, None, "text", UntrustedProducer((2,)).capsule():
        for name in "__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__":
            assert from_dlpack(offering(**{name: value})).tolist() == [0, 1]


def test_exceptions_of_producers():
    """Exceptions about an export that is not possible become a BufferError; all others are
    propagated."""

    class Mute(ValueError):
        def __str__(self):
            raise KeyError("no text")

    def of(error):
        def raises(self, *args, **keywords):
            raise error

        return [
            offering(**members)
            for members in (
                dict(__dlpack__=raises),
                dict(__dlpack_device__=raises),
                dict(is_neg=raises, is_conj=raises),
                dict(stop_gradient=property(raises)),
            )
        ]

    for error in (
        TypeError("mine"),
        ValueError("mine"),
        RuntimeError("mine"),
        KeyError("mine"),
        Exception("mine"),
        Mute(),
    ):
        for x in of(error):
            try:
                from_dlpack(x)
                raise AssertionError(f"{error!r} was lost")
            except BufferError as e:
                assert e.__cause__ is error and "Derived was not exported: " in str(e), e
    for error in BufferError("mine"), RecursionError("mine"), MemoryError("mine"), KeyboardInterrupt("mine"):
        for x in of(error):
            try:
                from_dlpack(x)
            except BaseException as e:
                assert e is error
            else:
                raise AssertionError(f"{error!r} was lost")
    with rejected(TypeError, ""):
        from_dlpack(Offers)


def test_objects_that_change_their_type():
    class Other(Offers):
        pass

    def retypes(self):
        self.__class__ = Other
        return False

    rejects(offering(is_neg=lambda self: False, is_conj=retypes), "its type changed during the call")


def test_what_only_says_that_it_is_a_tensor():
    class Liar:
        __class__ = property(lambda self: torch.Tensor)

    with rejected(TypeError, "no __dlpack__"):
        from_dlpack(Liar())
    for table in check.TABLES.values():
        with rejected(TypeError, "expected a torch.Tensor"):
            check.borrow(table, Liar())


class Plain(torch.Tensor):
    pass


def shrunk(kind):
    x = torch.ones(4).as_subclass(kind)
    x.untyped_storage().resize_(4)
    return x


def test_tensors_of_torch_that_are_rejected():
    class Own(torch.Tensor):
        def __torch_dispatch__(self, *args, **keywords):
            raise KeyError("mine")

    rejects(torch.eye(3).to_sparse())
    rejects(torch.ones(3, device="meta"))
    rejects(torch.ones(0, device="meta"))
    rejects(torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8))
    bits, resized = "no DLPack equivalent", "resized"
    if check.TORCH < (2, 10):  # its reasons are not read
        bits, resized = "of a common type", "within their storage"
    rejects(torch.empty(2, dtype=torch.int4), bits)
    rejects(torch._efficientzerotensor(3))
    rejects(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]))
    rejects(shrunk(torch.Tensor), resized)
    rejects(shrunk(Plain), resized)
    rejects(torch._neg_view(torch.ones(2)).as_subclass(Plain), "negated")
    rejects(torch.ones(2, dtype=torch.complex64).conj().as_subclass(Plain), "conjugated")
    rejects(torch.ones(2, requires_grad=True).as_subclass(Plain), "requires grad")
    rejects(torch.ones(2).as_subclass(Own), "Own", "torch.ops")


def test_derived_types_are_queried_by_their_own_method():
    class Own(torch.Tensor):
        def __dlpack__(self, **keywords):
            return UntrustedProducer((2,)).capsule()

    class Shrinks(torch.Tensor):
        def __dlpack__(self, **keywords):
            self.untyped_storage().resize_(4)
            return super().__dlpack__(**keywords)

    class Retypes(torch.Tensor):
        def __dlpack__(self, **keywords):
            self.__class__ = Own
            return torch.Tensor.__dlpack__(self, **keywords)

    x = torch.ones(3).as_subclass(Plain)
    y = from_dlpack(x)
    assert type(y) is torch.Tensor and y.data_ptr() == x.data_ptr()
    assert from_dlpack(torch.ones(3).as_subclass(Own)).tolist() == [0, 1]
    rejects(torch.ones(3).as_subclass(Shrinks))
    rejects(torch.ones(3).as_subclass(Retypes), "its type changed during the call")


if __name__ == "__main__":
    check.run(globals())
