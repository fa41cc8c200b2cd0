"""Hostile code at every place where from_dlpack() can run foreign code: it frees the memory,
changes types, raises and calls back. The result is the tensor or an exception, and every deleter
runs once. docs/foreign-code.md lists the places. Also run under the sanitizers, which detect reads
of freed memory."""

import ctypes
import gc

import torch
from torch._subclasses import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import check
from check import UntrustedProducer, from_dlpack, rejected
from consume import table_for


class Hostile:
    """Runs at a place, once: the action of the current case."""

    def __init__(self):
        self.place, self.act, self.made, self.ran = None, None, [], False

    def at(self, place, x):
        if place == self.place and not self.ran:
            self.ran = True
            self.act(x)

    def untrusted(self):
        self.made.append(UntrustedProducer((2,)))
        return self.made[-1]


hostile = Hostile()


class Truth:
    def __init__(self, place, x):
        self.place, self.x = place, x

    def __bool__(self):
        hostile.at(self.place, self.x)
        return False


class Number:
    def __init__(self, place, x, number):
        self.place, self.x, self.number = place, x, number

    def __index__(self):
        hostile.at(self.place, self.x)
        return self.number


class Member:
    """Has no __index__, like a member of an enumeration."""

    def __init__(self, place, x, number):
        self.place, self.x, self.number = place, x, number

    @property
    def value(self):
        hostile.at(self.place, self.x)
        return self.number


class Meta(type):
    def __getattribute__(cls, name):
        if name == "__dlpack_c_exchange_api__":
            hostile.at("the table is looked up", hostile.x)
        return type.__getattribute__(cls, name)


class Exports(metaclass=Meta):
    def __getattribute__(self, name):
        hostile.at(f"{name} is looked up", self)
        return object.__getattribute__(self, name)

    def is_neg(self):
        hostile.at("is_neg is called", self)
        return Truth("the answer of is_neg is read", self)

    def is_conj(self):
        hostile.at("is_conj is called", self)
        return False

    stop_gradient = True

    def is_dense(self):
        hostile.at("is_dense is called", self)
        return True

    def __dlpack_device__(self):
        hostile.at("__dlpack_device__ is called", self)
        return Member("the type of the device is read", self, 1), Number("the id of the device is read", self, 0)

    def __dlpack__(self, **keywords):
        hostile.at("__dlpack__ is called", self)
        if hostile.place == "__dlpack__ is called again" and "max_version" in keywords:
            raise TypeError("max_version")
        hostile.at("__dlpack__ is called again", self)
        return hostile.untrusted().capsule()


class Other:
    """The new type of an object; it has none of the first type's attributes."""


class HasTable(Exports):
    pass


def own(x, out):
    try:
        hostile.at("the table exports", hostile.x)
    except Exception:  # ctypes propagates none of them: the table fails without a reason
        return -1
    out[0] = ctypes.pointer(hostile.untrusted().managed)
    return 0


HasTable.__dlpack_c_exchange_api__, _ = table_for(own)

ASKED = [f"{name} is looked up" for name in ("is_neg", "is_conj", "requires_grad", "stop_gradient", "is_dense")]
ASKED += ["is_neg is called", "is_conj is called", "is_dense is called", "the answer of is_neg is read"]
BY_METHOD = [
    "__dlpack__ is looked up",
    "__dlpack_device__ is looked up",
    "__dlpack_device__ is called",
    "the type of the device is read",
    "the id of the device is read",
    "__dlpack__ is called",
    "__dlpack__ is called again",
]
PLACES = [(Exports, place) for place in ASKED + BY_METHOD]
PLACES += [(HasTable, place) for place in ASKED + ["the table is looked up", "the table exports"]]


def retype(x):
    object.__setattr__(x, "__class__", Other)


def raising(kind):
    def act(x):
        raise kind("mine")

    return act


def call_back(x):
    from_dlpack(x)


def take_the_table_away(x):
    if "__dlpack_c_exchange_api__" in HasTable.__dict__:
        del HasTable.__dlpack_c_exchange_api__


ACTS = {
    "retype": retype,
    "call back": call_back,
    "collect": lambda x: gc.collect(),
    "take the table away": take_the_table_away,
} | {
    f"raise {kind.__name__}": raising(kind)
    for kind in (TypeError, AttributeError, BufferError, KeyError, MemoryError, StopIteration)
}
SAID = (BufferError, TypeError, KeyError, MemoryError, StopIteration)


def attack(kind, place, act):
    """Returns the tensor, or the exception."""
    table = HasTable.__dict__["__dlpack_c_exchange_api__"]
    hostile.__init__()
    hostile.place, hostile.act = place, act
    x = hostile.x = kind()
    try:
        return from_dlpack(x)
    except SAID as error:
        return error
    finally:
        HasTable.__dlpack_c_exchange_api__ = table


def test_hostile_producers():
    for name, act in ACTS.items():
        for kind, place in PLACES:
            got = attack(kind, place, act)
            assert hostile.ran, f"nothing ran where {place}"
            if isinstance(got, torch.Tensor):
                assert got.tolist() == [0, 1], (name, place)
            del got
            gc.collect()
            assert [each.deleted for each in hostile.made] == [1] * len(hostile.made), (name, place)


def test_a_type_that_was_looked_at_is_kept():
    """A table that was found on a type is not used for an object whose type has changed."""
    for place in ASKED + ["the table is looked up"]:
        got = attack(HasTable, place, retype)
        assert isinstance(got, (BufferError, TypeError)), (place, got)
        assert hostile.made == [], place


class Seen(TorchFunctionMode):
    count = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        Seen.count += 1
        for x in args:
            if isinstance(x, torch.Tensor):
                with torch._C.DisableTorchFunction():
                    x.untyped_storage().resize_(0)
        return function(*args, **(kwargs or {}))


class SeenBelow(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        Seen.count += 1
        raise KeyError("mine")


def modes():
    return Seen(), SeenBelow(), FakeTensorMode(allow_non_fake_inputs=True)


def test_modes_are_not_run():
    """Neither through an alias of a tensor nor through a tensor over foreign memory."""
    for mode in modes():
        x, parameter = torch.arange(3.0), torch.nn.Parameter(torch.ones(2), requires_grad=False)
        untrusted = UntrustedProducer((2,))
        Seen.count = 0
        with mode:
            aliases = from_dlpack(x), from_dlpack(parameter)
            other = from_dlpack(untrusted.capsule())
        assert Seen.count == 0 and [type(y) for y in (*aliases, other)] == [torch.Tensor] * 3
        assert aliases[0].data_ptr() == x.data_ptr() and aliases[0].tolist() == [0, 1, 2] and other.tolist() == [0, 1]


def test_transforms_are_not_run():
    seen = []

    def f(x):
        seen.append(from_dlpack(plain))
        return x.sum()

    plain = torch.arange(3.0)
    torch.func.grad(f)(torch.ones(2))
    torch.vmap(f)(torch.ones(2, 2))
    assert [y.tolist() for y in seen] == [[0, 1, 2]] * 2 and all(type(y) is torch.Tensor for y in seen)


def test_derived_types_that_free_their_memory():
    """Their method may run any code, and a mode may run in torch's own methods."""

    class Frees(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            with torch._C.DisableTorchFunction():
                args[0].untyped_storage().resize_(0)
            return super().__torch_function__(function, types, args, kwargs)

    x = torch.arange(1000.0).as_subclass(Frees)
    with rejected(BufferError, ""):
        from_dlpack(x)
    y = torch.arange(1000.0).as_subclass(type("Plain", (torch.Tensor,), {}))
    with Seen(), rejected(BufferError, ""):
        from_dlpack(y)


def test_deleters_that_call_back():
    """A rejected tensor is deleted while its exception is set."""
    calls = []

    def delete(managed):
        calls.append(from_dlpack(UntrustedProducer((2,)).capsule()).tolist())

    for changes in dict(flags=check.READ_ONLY), dict(version=(9, 0)), dict(strides=(-1,), offset=8), dict(data=None):
        untrusted = UntrustedProducer((2,), **changes)
        untrusted.managed.deleter = check.Deleter(delete)
        with rejected(BufferError, ""):
            from_dlpack(untrusted.capsule())
    assert calls == [[0, 1]] * 4


def test_an_export_that_is_consumed_before():
    class Greedy:
        def __dlpack__(self, **keywords):
            untrusted = UntrustedProducer((2,))
            capsule = untrusted.capsule()
            self.kept = from_dlpack(capsule)
            return capsule

    x = Greedy()
    with rejected(BufferError, "did not return an unconsumed DLPack capsule"):
        from_dlpack(x)
    assert x.kept.tolist() == [0, 1]


def test_recursion_ends():
    class Calls:
        def __dlpack__(self, **keywords):
            return from_dlpack(self)

    try:
        from_dlpack(Calls())
    except (BufferError, RecursionError):
        return
    raise AssertionError("it came back")


if __name__ == "__main__":
    check.run(globals())
