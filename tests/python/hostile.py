"""Hostile code for attackers.py: its actions, and the places where it runs."""

import torch

from check import *


class Left(New):
    """The possible new types of a hostile object."""


# Further actions of hostile code


def reenters():
    """Calls this function and others, with the same arguments."""
    if attack.depth < 2:
        attack.depth += 1
        try:
            attack.call(*attack.arguments)
        except (BufferError, TypeError, ValueError):
            pass
        for x in attack.arguments:
            with contextlib.suppress(BufferError, TypeError, ValueError):
                checked.take(x, 0)


def drives_out():
    """Evicts all types from the module's cache."""
    for kind in KINDS:
        read(kind(1))


KINDS = [type("T", (New,), {}) for _ in range(150)]


def takes_over():
    """Removes the attributes through which the hostile type was read."""
    for name in "__dlpack__", "__dlpack_device__", "__dlpack_c_exchange_api__", "is_neg":
        for kind in type(attack.hostile).__mro__[:-1]:
            if name in vars(kind) and issubclass(kind, Hostile):
                attack.taken.append((kind, name, vars(kind)[name]))
                delattr(kind, name)


def becomes():
    attack.hostile.__class__ = Left


def raises_anything(kind):
    def strike():
        raise kind("of hostile code")

    return strike


def nothing():
    pass


DEEDS = (
    nothing,
    reenters,
    drives_out,
    takes_over,
    becomes,
    gc.collect,
    *map(raises_anything, (BufferError, ValueError, KeyError, KeyboardInterrupt, MemoryError)),
)

# The places


class Attack:
    """The current attack. Code of the hostile object runs the action on the victims once, when
    armed."""

    def __init__(self):
        self.armed = False
        self.number = 0
        self.taken = []

    def __call__(self):
        if not self.armed or checked.is_at_work():
            return
        self.armed = False
        self.struck = True
        for x, strike in self.strikes:
            try:
                strike(x)
            except (ValueError, RuntimeError, TypeError, AttributeError, DeprecationWarning):
                pass  # the library does not permit it
        self.deed()


attack = Attack()


class Hostile(New):
    pass


class Lookup(type):
    def __getattribute__(cls, name):
        attack()
        return super().__getattribute__(name)


class BeingMet(Hostile, metaclass=Lookup):
    """Code of the type, when it is first looked up."""

    fresh = True


class Attribute(Hostile):
    def __getattribute__(self, name):
        if name in ("__dlpack__", "__dlpack_device__"):
            attack()
        return super().__getattribute__(name)


class Device(Hostile):
    def __dlpack_device__(self):
        attack()
        return super().__dlpack_device__()


class Capsule(Hostile):
    def __dlpack__(self, **asked):
        asked.clear()
        made = self.make(self.desc)
        attack()
        return made


class OldCapsule(Hostile):
    make = staticmethod(untrusted.legacy)

    def __dlpack__(self, stream=None):
        attack()
        return self.make(self.desc)


class Again(Hostile):
    def __dlpack__(self, **asked):
        if asked:
            raise TypeError("no version")
        attack()
        return self.make(self.desc)


class NoCapsule(Hostile):
    """A result whose finalizer runs code."""

    def __dlpack__(self, **asked):
        class Ends:
            def __del__(self):
                attack_unharmed()

        return Ends() if attack.armed else self.make(self.desc)


class Collected(Hostile):
    """Garbage whose finalizer runs during a collection, at an allocation in C."""

    def __dlpack_device__(self):
        class Ends:
            def __del__(self):
                if of == attack.number:
                    attack_unharmed()

        if attack.armed:
            of, garbage = attack.number, Ends()
            garbage.itself = garbage
            del garbage
            gc.set_threshold(1)
        return super().__dlpack_device__()


class Raises(Hostile):
    """An exception whose text runs code."""

    def __dlpack__(self, **asked):
        class Rejection(BufferError):
            def __str__(self):
                attack()
                return "of hostile code"

        if attack.armed:
            raise Rejection
        return self.make(self.desc)


class Asked(Hostile):
    requires_grad = False

    def is_neg(self):
        attack()
        return False

    def is_conj(self):
        return False


class AskedLater(Asked):
    def is_neg(self):
        return False

    def is_conj(self):
        attack()
        return False

    @property
    def requires_grad(self):
        attack()
        return False


class ByTable(Hostile):
    @property
    def desc(self):
        attack()
        return self.plain

    @desc.setter
    def desc(self, plain):
        self.plain = plain


class Lends(ByTable):
    __dlpack_c_exchange_api__ = untrusted.table(0)


class Gives(ByTable):
    __dlpack_c_exchange_api__ = untrusted.table(1)


class AskedAndLends(Asked):
    __dlpack_c_exchange_api__ = untrusted.table(0)


class BadTensor(Hostile):
    """A rejected tensor whose deleter runs code."""

    def __dlpack__(self, **asked):
        return deleting(self.make(desc(64, data=0) if attack.armed else self.desc))


class BadCapsule(Hostile):
    def __dlpack__(self, **asked):
        made = deleting(self.make({**self.desc, "major": 2} if attack.armed else self.desc))
        return made


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def deleting(capsule):
    """Makes the deleter of a capsule's tensor run hostile code first."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    place = ctypes.c_void_p.from_address(get(capsule, b"dltensor_versioned") + 16)
    former = Deleter(place.value)

    def delete(tensor):
        attack_unharmed()
        former(tensor)

    kept.append(Deleter(delete))
    place.value = ctypes.cast(kept[-1], ctypes.c_void_p).value
    return capsule


def attack_unharmed():
    """Finalizers and deleters cannot raise."""
    try:
        attack()
    except BaseException:
        pass


kept = []


class Index:
    def __index__(self):
        attack()
        return 3


class Mode(torch.overrides.TorchFunctionMode):
    """A torch mode, which would answer for each attribute and method of torch's tensors."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        attack()
        return function(*args, **(kwargs or {}))


class Derived(torch.Tensor):
    """A subclass of torch's type, queried through its methods."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        attack()
        return super().__torch_function__(function, types, args, kwargs or {})


def derived(n):
    return torch.arange(float(n)).as_subclass(Derived)


def fresh(kind):
    """A new type, unknown to the module."""
    return lambda n: type(kind)(kind.__name__, (kind,), {})(n)


PRODUCERS = [
    Attribute,
    Device,
    Capsule,
    OldCapsule,
    Again,
    NoCapsule,
    Collected,
    Raises,
    Asked,
    AskedLater,
    Lends,
    Gives,
    AskedAndLends,
    BadTensor,
    BadCapsule,
]
PLACES = {kind.__name__: kind for kind in PRODUCERS}
PLACES |= {"first " + kind.__name__: fresh(kind) for kind in [BeingMet, Attribute, Capsule, Asked, Lends]}
PLACES |= {"Derived": derived, "Index": lambda n: Index(), "Mode": lambda n: New(n)}
