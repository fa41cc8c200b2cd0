"""Hostile code at every place where code of others can run while a call reads its
arguments, in every order of the arguments, beside tensors that are read in place. What the
function gets is what the tensors are when it begins, or the call fails; nothing is lost.

hostile.py has the places and the deeds; docs/foreign-code.md lists the same places."""

import itertools
import random

import numpy
import torch

from check import *
from hostile import *

# The tensors beside


class OfNumpy:
    def make(self):
        return numpy.arange(64, dtype="f4")

    def state(self, x):
        return x.ctypes.data, x.shape, tuple(s // x.itemsize for s in x.strides)

    strikes = {
        "shrink": lambda x: x.resize(2, refcheck=False),
        "grow": lambda x: x.resize(1 << 20, refcheck=False),
        "reshape": lambda x: setattr(x, "shape", (8, 8)),
        "retype": lambda x: setattr(x, "dtype", "i4"),
        "forbid": lambda x: setattr(x.flags, "writeable", False),
    }


class OfTorch:
    def make(self):
        return torch.arange(64, dtype=torch.float32)

    def state(self, x):
        assert x.untyped_storage().nbytes() >= (x.storage_offset() + x.numel()) * x.element_size(), (
            "its storage is too small"
        )
        return x.data_ptr(), tuple(x.shape), x.stride()

    strikes = {
        "shrink": lambda x: x.resize_(2),
        "free": lambda x: x.untyped_storage().resize_(4),
        "empty": lambda x: x.untyped_storage().resize_(0),
        "grow": lambda x: x.resize_(1 << 20),
        "replace": lambda x: setattr(x, "data", torch.zeros(3)),
        "reshape": lambda x: x.unsqueeze_(0),
        "retype": lambda x: setattr(x, "data", x.data.to(torch.int32)),
        "gradients": lambda x: x.requires_grad_(True),
        "subclass": lambda x: setattr(x, "__class__", torch.nn.Parameter),
    }


class OfParameter(OfTorch):
    def make(self):
        return torch.nn.Parameter(super().make(), requires_grad=False)

    strikes = {name: strike for name, strike in OfTorch.strikes.items() if name != "subclass"}


class OfKnown:
    """A type with a trusted table."""

    def make(self):
        return Known(64)

    def state(self, x):
        return x.desc["data"], tuple(x.desc["shape"]), tuple(x.desc["strides"])

    strikes = {
        "shrink": lambda x: setattr(x, "desc", desc(2)),
        "move": lambda x: setattr(x, "desc", desc(64, data=DATA + 64)),
        "nothing": lambda x: setattr(x, "desc", desc(64, data=0)),
        "lie": lambda x: setattr(x, "desc", desc(64, ndim=65)),
        "retype": lambda x: setattr(x, "__class__", Left),
    }


class OfOurs:
    def make(self):
        return checked.give(New(64), 0)

    def state(self, x):
        return DATA, (64,), (1,)

    strikes = {}


VICTIMS = OfNumpy(), OfTorch(), OfParameter(), OfKnown(), OfOurs()

# The attacks


def functions(hostile):
    """The possible calls: checked fast or in full, on the CPU or any device."""
    for form in {"dtypes": [FLOAT32]}, {"devices": [-1]}:
        beside = {"ndim": 1, "shape": [symbol(0)], **form}
        for position in range(3):
            parameters = [beside, beside]
            parameters.insert(position, hostile)
            yield position, function(*parameters)


if "DESCRIBED" in os.environ:
    import described

    FUNCTIONS, OF_SCALARS = described.functions("tensor"), described.functions("scalar")
else:
    FUNCTIONS = list(functions({"ndim": 1, "shape": [ANY], "devices": [-1]}))
    OF_SCALARS = list(functions({"kind": INT}))


def strikes(victims, pair):
    """The actions on one or both of the other tensors."""
    first, second = [list(v.strikes.values()) for v in victims]
    yield []
    for strike in first:
        yield [(pair[0], strike)]
    for strike in second:
        yield [(pair[1], strike)]


def outcome(call, arguments, mode):
    threshold = gc.get_threshold()
    try:
        with mode:
            return call(*arguments)
    except (BufferError, TypeError, ValueError, KeyError, KeyboardInterrupt, MemoryError, RuntimeError, AttributeError):
        return None
    finally:
        attack.armed = False
        gc.set_threshold(*threshold)
        while attack.taken:
            setattr(*attack.taken.pop())


def judge(got, position, pair, victims):
    """The received tensors are the current ones, because no hostile code runs after the function
    has begun."""
    seen = [got[i] for i in range(3) if i != position]
    for entry, x, victim in zip(seen, pair, victims):
        described = entry["data"], entry["shape"], entry["strides"]
        assert described == victim.state(x), f"{described} came in, and it is {victim.state(x)}"
        equal(len(entry["shape"]), 1)
    assert seen[0]["shape"] == seen[1]["shape"], "the shapes differ"


def run(place, victims, position, call, which_strike, deed):
    pair = [v.make() for v in victims]
    hostile = PLACES[place](3)
    arguments = list(pair)
    arguments.insert(position, hostile)
    mode = Mode() if place == "Mode" else contextlib.nullcontext()
    if not place.startswith("first"):
        outcome(call, arguments, mode)  # all types are known from here on
    chosen = list(strikes(victims, pair))
    attack.strikes, attack.deed = chosen[which_strike % len(chosen)], deed
    attack.call, attack.arguments, attack.hostile = call, arguments, hostile
    attack.depth, attack.struck, attack.armed = 0, False, True
    attack.number += 1
    got = outcome(call, arguments, mode)
    try:
        if got is not None:
            judge(got, position, pair, victims)
    except AssertionError as e:
        raise AssertionError(f"{place}, position {position}, strike {which_strike}, {deed}: {e}") from None
    return attack.struck


def at_each_place(victims, rounds):
    """Every place, order and victim with an action that changes from one to the next; and random
    combinations."""
    chance = random.Random(1)
    for place in PLACES:
        struck, deeds = 0, itertools.cycle(DEEDS)
        count = 1 + sum(len(v.strikes) for v in victims)
        calls = OF_SCALARS if place == "Index" else FUNCTIONS
        for which in range(count):
            for position, call in chance.sample(calls, 3):
                struck += run(place, victims, position, call, which, next(deeds))
        for position, call in calls * rounds:
            struck += run(place, victims, position, call, chance.randrange(count), chance.choice(DEEDS))
        assert struck or place == "Mode", f"no code ran at {place}"
    gc.collect()


def attacked(*victims):
    gc.collect()
    gc.freeze()  # so that collections are fast
    with trusted(Known):
        at_each_place(victims, 0)  # permanent allocations have been made by now
        kept.clear()
        with frees_all():
            at_each_place(victims, 1)
            attack.strikes, attack.arguments, attack.hostile, attack.call = (), (), None, None
            kept.clear()


def test_read_only_memory_is_not_imported():
    x = numpy.arange(4, dtype="f4")
    x.flags.writeable = False
    with raises(BufferError, "it is read-only"):
        checked.take(x, 1)
    assert checked.described(checked.take(x, 0))["flags"] == READ_ONLY


def test_numpy_and_torch():
    attacked(VICTIMS[0], VICTIMS[1])


def test_torch_and_numpy():
    attacked(VICTIMS[1], VICTIMS[0])


def test_parameters_and_a_trusted_table():
    attacked(VICTIMS[2], VICTIMS[3])


def test_a_trusted_table_and_ours():
    attacked(VICTIMS[3], VICTIMS[4])


def test_torch_twice():
    attacked(VICTIMS[1], VICTIMS[1])


def test_allocators():
    """A library that creates a result runs any code while the tensors are borrowed."""
    members = ctypes.c_void_p * 7  # the version, the previous table, and five functions
    api = members.from_buffer_copy(members.from_address(untrusted.address(untrusted.table(5))))
    allocates = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)

    @allocates
    def allocate(prototype, out, context, set_error):
        attack_unharmed()
        return original(prototype, out, context, set_error)

    original = allocates(api[2])
    api[2] = ctypes.cast(allocate, ctypes.c_void_p).value
    maker = type("Maker", (New,), {})
    checked.enroll(maker, ctypes.addressof(api))
    with trusted(Known), frees_all():
        for victim in VICTIMS:
            for name, strike in {"nothing": nothing, **victim.strikes}.items():
                for position, call in FUNCTIONS:
                    pair = victim.make(), victim.make()
                    arguments = list(pair)
                    arguments.insert(position, maker(3))
                    attack.strikes, attack.deed = (
                        [] if name == "nothing" else [(pair[1], strike)],
                        drives_out if position else nothing,
                    )
                    attack.armed, attack.taken = True, []
                    try:
                        got = checked.making(call.which, position, *arguments)
                    except BufferError as e:
                        assert name != "nothing", e
                    else:
                        judge(got, position, pair, (victim, victim))
                    assert not attack.armed, "the allocator was not asked"
            pair = arguments = got = None


main()
