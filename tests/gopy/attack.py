"""Hostile code at every place where Go's reading of arguments runs Python code, in every order of
the arguments. The function raises, or receives the current state of its arguments, and never reads
freed memory. docs/foreign-code.md lists the places."""

import contextlib
import gc
import itertools
import warnings

from check import equal, framework, main
from producers import New, Pythons

warnings.simplefilter("ignore")
(torch,) = framework("torch")
from torch.overrides import TorchFunctionMode

import gopy

LENGTH = 1 << 18  # large enough to be unmapped when freed


class Sub(torch.Tensor):
    pass


def fresh():
    return torch.arange(LENGTH, dtype=torch.float32)


def complex_tensor():
    return torch.zeros(4, dtype=torch.complex64)


# The action of hostile code on the victim, a torch tensor that others borrow.
def shrinks(victim):
    victim.untyped_storage().resize_(0)


def grows(victim):
    victim.resize_(4 * LENGTH)


def replaces(victim):
    victim.data = torch.ones(3)


def reshapes(victim):
    victim.resize_(2, 3)


def retypes(victim):
    victim.__class__ = Sub


def retypes_and_frees(victim):
    victim.__class__ = Sub
    victim.untyped_storage().resize_(0)


def raises_only(victim):
    raise ZeroDivisionError("as it likes")


def frees_and_raises(victim):
    shrinks(victim)
    raise ZeroDivisionError("as it likes")


DEEDS = [shrinks, grows, replaces, reshapes, retypes, retypes_and_frees, raises_only, frees_and_raises]


# The places at which code runs: each has an argument, the letters of the methods that read it, and
# the modes that must be active during the call.
class Number:
    def __init__(self, deed):
        self.deed = deed

    def __index__(self):
        self.deed()
        return 1

    def __float__(self):
        self.deed()
        return 1.0


class Producer(New):
    def __init__(self, deed):
        self.deed = deed
        super().__init__(gopy.counting(2, 3, 0))

    def __dlpack__(self, **asked):
        self.deed()
        return super().__dlpack__(**asked)


class Failing:
    """Its exception runs code when its text is requested."""

    def __init__(self, deed):
        self.deed = deed

    def __dlpack__(self, **asked):
        deed = self.deed

        class Error(Exception):
            def __str__(self):
                deed()
                return "no"

        raise Error


class Old(Producer):
    """The second call of __dlpack__, for old producers."""

    def __dlpack__(self, *, stream=None, **asked):
        if asked:
            raise TypeError("max_version")
        self.deed()
        return self.tensor.__dlpack__()


class Finalizer:
    def __init__(self, deed):
        self.deed = deed

    def __del__(self):
        with contextlib.suppress(ZeroDivisionError):
            self.deed()


class Collects(New):
    """The object that it drops is finalized between two steps of Go."""

    def __init__(self, deed):
        super().__init__(gopy.counting(2, 3, 0))
        self.deed = deed

    def __dlpack__(self, **asked):
        cycle = [Finalizer(self.deed)]
        cycle.append(cycle)
        del cycle
        gc.collect(0)
        return super().__dlpack__(**asked)


class Deletes(Pythons):
    """Its deleter runs code when the tensor is rejected."""

    def __init__(self, deed):
        super().__init__()
        self.tensor.ndim = 65
        self.deed = deed

    def delete(self, address):
        with contextlib.suppress(ZeroDivisionError):
            self.deed()


def asked_type(deed):
    """A type whose attributes run code when it is first looked up."""

    class Meta(type):
        def __getattribute__(cls, name):
            if name == "is_neg":
                deed()
            return type.__getattribute__(cls, name)

    return Meta("Asked", (New,), {})(gopy.counting(2, 3, 0))


def asked_object(name):
    def make(deed):
        def answer(self):
            deed()
            return False

        made = {"is_neg": answer, "is_conj": answer} if name != "requires_grad" else {name: property(answer)}
        kind = type("Asks", (New,), {name: made[name]})
        return kind(complex_tensor() if name == "is_conj" else gopy.counting(2, 3, 0))

    return make


class Mode(TorchFunctionMode):
    def __init__(self, deed, question, attacker):
        super().__init__()
        self.deed, self.question, self.attacker = deed, question, attacker

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function == self.question and args[0] is self.attacker:
            self.deed()
        return function(*args, **(kwargs or {}))


def of_mode(question, make):
    def attack(deed):
        attacker = make()
        return attacker, Mode(deed, question, attacker)

    return attack


def plain(make):
    return lambda deed: (make(deed), None)


PLACES = {
    "__index__": (plain(Number), "i"),
    "__float__": (plain(Number), "f"),
    "__dlpack__": (plain(Producer), "tm"),
    "the second __dlpack__": (plain(Old), "tm"),
    "the text of an exception": (plain(Failing), "tm"),
    "a collection of garbage": (plain(Collects), "tm"),
    "a deleter": (plain(Deletes), "x"),
    "attributes of a type": (plain(asked_type), "tm"),
    "is_neg": (plain(asked_object("is_neg")), "tm"),
    "requires_grad": (plain(asked_object("requires_grad")), "tm"),
    "is_conj of a capsule's tensor": (plain(asked_object("is_conj")), "tm"),
    "is_neg under a mode": (of_mode(torch.Tensor.is_neg, fresh), "tm"),
    "requires_grad under a mode": (of_mode(torch.Tensor.requires_grad.__get__, fresh), "tm"),
    "is_conj under a mode": (of_mode(torch.Tensor.is_conj, complex_tensor), "tm"),
}


def plans(letters):
    """Every order of the victim (0), the attacker (1) and another (2), one by one and in a batch,
    with the attacker once more at the end. After a skipped error (x), a function may rely on
    nothing until another method succeeds."""
    if letters == "x":
        yield from ("t0 x1 t2", "t0 t2 x1 s2", "t2 t0 x1 x1 m2", "x1 t0 t2")
        return
    for letter in letters:
        for order in itertools.permutations("012"):
            yield " ".join((letter if n == "1" else "t") + n for n in order)
        yield f"t0 {letter}1 t0 t2"
        yield f"t0 t2 {letter}1 {letter}1"
    if "t" in letters:
        yield from ("b0", "t0 b1", "b1 t0", "t2 b0")


def attack(place, deed, plan, order):
    make, _ = PLACES[place]
    victim, done = fresh(), []

    def once():
        if not done:
            done.append(1)
            deed(victim)

    attacker, mode = make(once)
    given = [victim, attacker, fresh()]
    if plan.startswith("b") or "b" in plan:  # a batch reads them in the given order
        given = [given[i] for i in order]
    try:
        with mode or contextlib.nullcontext():
            seen = gopy.probe(plan, *given)
    except Exception as e:
        return bool(done), str(e)
    now = victim.data_ptr(), tuple(victim.shape)
    same = [(tensor[0], tensor[2]) for tensor in seen].count(now)
    assert same >= max(1, plan.count("t0")), f"{place}, {plan}: {deed.__name__}: {seen} are not {now}"
    return bool(done), "read"


def every_order(place):
    results = []
    _, letters = PLACES[place]
    for deed in DEEDS:
        for plan in plans(letters):
            for order in itertools.permutations(range(3)) if "b" in plan else [(0, 1, 2)]:
                results.append((deed.__name__, plan, *attack(place, deed, plan, order)))
    return results


def test_every_place():
    """Hostile code runs in each call unless a rejection precedes it, and each action is detected: a
    place where nothing runs would prove nothing."""
    for place in PLACES:
        results = every_order(place)
        ran = [r for r in results if r[2]]
        found = {r[0] for r in ran if r[3] != "read"}
        missed = {deed.__name__ for deed in DEEDS} - found - {"raises_only"}  # deleters cannot raise
        assert not missed, f"{place}: never found out: {missed}"
        assert len(ran) > len(results) / 2, f"{place}: ran in {len(ran)} of {len(results)} calls"


def test_what_is_told():
    def told(place, deed, plan):
        ran, text = attack(place, deed, plan, (0, 1, 2))
        assert ran
        return text

    changed = "probe(): argument 2: its memory, shape or type changed while the arguments were read"
    for deed in shrinks, reshapes, retypes:
        equal(told("__index__", deed, "t0 i1"), changed)
    assert "NULL" in told("__index__", shrinks, "i1 t0")
    equal(told("__index__", grows, "i1 t0"), "read")
    equal(told("__dlpack__", grows, "b0"), "read")
    assert "argument 2: its type changed during the call" in told("__dlpack__", retypes, "b0")


def test_a_function_that_passes_over_errors():
    """The memory still exists, and would be read in its old shape."""
    for place in "__dlpack__", "the text of an exception", "a deleter":
        ran, text = attack(place, reshapes, "t0 x1", (0, 1, 2))
        assert ran and "changed while the arguments were read" in text, text


main()
