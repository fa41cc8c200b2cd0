"""Cases without a framework: the protocol itself, values, errors, threads. Go tensors are on both
sides, behind classes with fewer features."""

import contextlib
import gc
import inspect
import pickle
import sysconfig
import threading
import weakref

from check import equal, main, no_leak, outstanding, raises
from producers import Gives, New, Old, Pythons

import gopy


def test_values_go_through():
    equal(gopy.echo(-(2**63), "int"), -(2**63))
    equal(gopy.echo(1.5, "float"), 1.5)
    equal(gopy.echo(2, "float"), 2.0)
    equal(gopy.echo(-1.0, "float"), -1.0)
    equal(gopy.echo("hé\0!", "text"), "hé\0!")
    equal((gopy.echo(1, "bool"), gopy.echo(0, "bool")), (True, False))
    x = object()
    assert gopy.echo(x, "object") is x
    equal(gopy.echo(x, "pair"), (x, None))


def test_values_that_do_not():
    with raises(TypeError, "echo(): argument 1"):
        gopy.echo("x", "int")
    with raises(OverflowError, "echo(): argument 1"):
        gopy.echo(2**63, "int")
    with raises(TypeError, "echo(): argument 1"):
        gopy.echo(1, "text")
    with raises(TypeError, "argument 1"):
        gopy.echo([], "float")
    with raises(TypeError, "struct {}"):
        gopy.echo(1, "struct")
    with raises(TypeError, "echo() takes 2 arguments, got 1"):
        gopy.echo(1)
    with raises(TypeError, "33 arguments"):
        gopy.echo(*range(33))
    with raises(TypeError):
        gopy.echo(x=1, kind="int")


def test_functions_look_like_those_of_python():
    signature = lambda function: str(inspect.signature(function))
    equal(signature(gopy.add), "(a, b, out, /)")
    equal(signature(gopy.tell), "(text='nothing', /)")
    equal((signature(gopy.outstanding), signature(gopy.echo)), ("()", "(*args)"))
    keywords = "stream=None, max_version=None, dl_device=None, copy=None"
    equal(signature(gopy.Tensor.__dlpack__), f"(self, /, *, {keywords})")
    equal(signature(gopy.Tensor.__dlpack_device__), "(self, /)")
    equal(gopy.Tensor.__dlpack__.__doc__, "Returns the tensor in a capsule.")
    equal((gopy.counting(1, 1, 1).__dlpack_device__(), gopy.counting(1, 1, 0).__dlpack_device__()), ((1, 0), (1, 0)))
    equal((gopy.add.__doc__, gopy.add.__name__, gopy.add.__qualname__), ("Adds float32 elements.", "add", "add"))
    equal((repr(gopy.add), gopy.add.__module__), ("<built-in function add>", "gopy"))
    assert pickle.loads(pickle.dumps(gopy.add)) is gopy.add
    with raises(TypeError, "gopy.add() takes no keyword arguments"):
        gopy.add(a=1)


def test_the_number_of_arguments():
    gopy.tell()
    for function, given, text in [
        (gopy.add, [1, 2], "add() takes 3 arguments (2 given)"),
        (gopy.add, [1, 2, 3, 4], "add() takes 3 arguments (4 given)"),
        (gopy.tell, ["a", "b"], "tell() takes 0 to 1 arguments (2 given)"),
        (gopy.outstanding, [1], "outstanding() takes 0 arguments (1 given)"),
    ]:
        with raises(TypeError, text):
            function(*given)
    with raises(TypeError, "add(): argument 'b' (2nd): it is not a tensor"):
        gopy.add(gopy.counting(1, 1, 0), 1, 2)


def test_the_place_of_an_argument():
    for place in "1st", "2nd", "3rd", "4th", "10th", "11th", "12th", "13th", "20th", "21st", "22nd", "23rd", "24th":
        number = int(place[:-2])
        with raises(TypeError, f"count(): argument 'n{number}' ({place}): "):
            gopy.count(*[0] * (number - 1), "x")


def test_as_many_arguments_as_there_may_be():
    t = gopy.counting(2, 3, 0)
    equal(len(gopy.probe("b0", *[t] * 31)), 31)
    equal(len(gopy.probe("b0 b0", *[New(t), t] * 15, t)), 62)


def test_a_producer_that_calls_back_for_ever():
    class Recursive:
        def __dlpack__(self, **asked):
            return gopy.sum(self)

    with raises(RecursionError):
        gopy.sum(Recursive())


def test_an_exception_without_a_name():
    """Neither its type nor its text can be queried."""

    class Meta(type):
        __name__ = 1

    class Error(Exception, metaclass=Meta):
        def __str__(self):
            raise Error

    with raises(Error):
        gopy.sum(Gives(Error()))


def test_errors_become_exceptions():
    for kind in ValueError, IndexError, KeyboardInterrupt, NotImplementedError:
        try:
            gopy.fail(kind.__name__)
        except kind as e:
            equal(str(e), "as asked")
    with raises(RuntimeError, "as asked"):
        gopy.fail("NoSuchError")
    with raises(RuntimeError, "a plain error"):
        gopy.fail("plain")
    with raises(KeyError, "while working: it"):
        gopy.fail("wrapped")
    with raises(BufferError, "released"):
        gopy.fail("dlpack")
    with raises(ValueError, "while working: dlpack: invalid argument"):
        gopy.fail("argument")


def test_panics_become_exceptions():
    with raises(RuntimeError, "fail() panicked: runtime error: index out of range"):
        gopy.fail("index")
    with raises(RuntimeError, "panicked", "nil pointer"):
        gopy.fail("nil pointer")
    equal(gopy.echo(1, "int"), 1)


def test_errors_that_cannot_speak_become_exceptions():
    with raises(RuntimeError, "the Error method of *dlpackpy.Exception panicked"):
        gopy.fail("nil exception")


def test_results_that_nobody_gets():
    before = outstanding()
    with raises(TypeError, "struct {}"):
        gopy.mishap("tuple")
    with raises(RuntimeError, "as well as a result"):
        gopy.mishap("both")
    equal(outstanding(), before)


def test_the_gil_is_released_once():
    equal(gopy.mishap("nested")[0], "RuntimeError: a Call was used inside of WithoutGIL")
    equal(gopy.echo(1, "int"), 1)


def test_a_call_ends_with_its_function():
    t = gopy.counting(1, 1, 0)
    gopy.stale(t)
    with raises(RuntimeError, "has ended"):
        gopy.stale(t)


def test_the_ways_to_import_a_tensor():
    t = gopy.counting(2, 3, 0)
    direct = gopy.describe(t)
    equal(direct[1:], ("float32", (2, 3), (3, 1), "CPU:0", False))
    equal(gopy.describe(New(t)), direct)
    equal(gopy.describe(Old(t)), direct[:5] + (True,))  # it cannot declare that Go may write
    equal(gopy.describe_owned(Old(t)), direct[:5] + (True,))
    gopy.fill(New(t), 4)
    gopy.add(t, New(t), t)
    equal(gopy.sum(Old(t)), 48.0)
    with raises(BufferError, "read-only"):
        gopy.fill(Old(t), 1)


def test_who_knows_better_writes():
    """Go may declare an old producer's tensor writable, unless its object forbids it."""
    t = gopy.counting(2, 3, 0)
    gopy.overwrite(Old(t), 4)
    equal(gopy.sum(t), 24.0)
    gradient = type("Kind", (Old,), {"requires_grad": True})
    for x in gradient(t), gopy.counting(2, 3, 1):
        with raises(BufferError, "read-only"):
            gopy.overwrite(x, 1)


def test_read_only_goes_all_ways():
    t = gopy.counting(2, 3, 1)
    for x in t, New(t):
        equal(gopy.describe(x)[5], True)
        equal(gopy.describe_owned(x)[5], True)
        equal(gopy.sum(x), 15.0)
        equal(gopy.describe(gopy.forward(x))[5], True)
        with raises(BufferError, "fill(): argument 1", "read-only"):
            gopy.fill(x, 1)
    with raises(BufferError, "read-only"):
        gopy.sum(Old(t))


def test_what_is_no_tensor():
    with raises(TypeError, "sum(): argument 1", "no __dlpack__"):
        gopy.sum(1)
    with raises(BufferError, "sum(): argument 1: its __dlpack__() did not return an unconsumed DLPack capsule"):
        gopy.sum(Gives(1))
    capsule = gopy.counting(1, 1, 0).__dlpack__(max_version=(1, 0))
    equal(gopy.sum(Gives(capsule)), 0.0)
    with raises(BufferError, "unconsumed"):
        gopy.sum(Gives(capsule))
    with raises(BufferError, "unconsumed"):
        gopy.sum(Gives(gopy.Tensor.__dlpack_c_exchange_api__))


def test_what_a_producer_raises():
    try:
        gopy.sum(Gives(KeyError("it")))
    except KeyError as e:
        equal((str(e), type(e.__cause__)), ("\"sum(): argument 1: 'it'\"", KeyError))
        assert e.__cause__.__traceback__
    else:
        raise AssertionError("no error")
    with raises(TypeError, "twice"):
        gopy.sum(Gives(TypeError("twice")))


def test_attributes_that_are_no_table():
    t = gopy.counting(2, 3, 0)
    for name, values in [
        ("__dlpack_c_exchange_api__", [None, "x", 8, t.__dlpack__()]),
        ("__c_dlpack_exchange_api__", [None, "x", 0, 9, 1 << 20, -1, 2**70, gopy.Tensor.__c_dlpack_exchange_api__]),
    ]:
        for value in values:
            kind = type("Kind", (New,), {name: value})
            equal(gopy.sum(kind(t)), 15.0)


def test_a_table_is_for_one_type():
    t = gopy.counting(2, 3, 0)
    name = "__dlpack_c_exchange_api__"
    stolen = type("Stolen", (New,), {name: getattr(gopy.Tensor, name)})
    with raises(TypeError, "not of the exchange table's type"):
        gopy.sum(stolen(t))
    equal(gopy.sum(type("Heir", (stolen,), {})(t)), 15.0)


def test_values_that_are_not_in_memory():
    t = gopy.counting(2, 3, 0)

    class Kind(New):
        neg = False

        def is_neg(self):
            if self.neg is None:
                raise OSError("cannot tell")
            return self.neg

        def is_conj(self):
            raise AssertionError("only complex tensors are asked")

    x = Kind(t)
    equal(gopy.sum(x), 15.0)
    x.neg = True
    with raises(BufferError, "resolve_neg"):
        gopy.sum(x)
    x.neg = None
    with raises(OSError, "cannot tell"):
        gopy.sum(x)


def test_gradients():
    class Kind(New):
        @property
        def requires_grad(self):
            if self.grad is None:
                raise OSError("cannot tell")
            return self.grad

    x = Kind(gopy.counting(2, 3, 0))
    for x.grad in True, False:
        equal(gopy.describe(x)[5], x.grad)
        equal(gopy.describe_owned(x)[5], x.grad)
    x.grad = None
    with raises(OSError, "cannot tell"):
        gopy.sum(x)


def test_types_are_remembered_for_a_while():
    t = gopy.counting(2, 3, 0)
    alive = weakref.WeakSet()
    for i in range(2000):
        kind = type("Kind", (New,), {"is_neg": lambda self, i=i: i % 2})
        alive.add(kind)
        if i % 2:
            with raises(BufferError, "resolve_neg"):
                gopy.sum(kind(t))
        else:
            equal(gopy.sum(kind(t)), 15.0)
    del kind
    gc.collect()
    assert len(alive) <= 64, len(alive)


def test_an_address_may_get_another_type():
    t = gopy.counting(2, 3, 0)
    for i in range(2000):
        kind = type("Kind", (New,), {"is_neg": lambda self: True} if i % 2 else {})
        with raises(BufferError) if i % 2 else contextlib.nullcontext():
            gopy.sum(kind(t))
        del kind
        gc.collect(0)


def test_learning_a_type_may_come_back():
    t = gopy.counting(2, 3, 0)

    class Meta(type):
        def __getattribute__(cls, name):
            if name == "is_neg" and len(made) < 100:
                gopy.sum(kind()(t))
            return type.__getattribute__(cls, name)

    made = []

    def kind():
        made.append(Meta("Kind", (New,), {}))
        return made[-1]

    equal(gopy.sum(kind()(t)), 15.0)
    equal(len(made), 100)


def test_the_type_of_go():
    with raises(TypeError, "cannot create"):
        gopy.Tensor()
    with raises(TypeError):
        type("Sub", (gopy.Tensor,), {})
    equal(gopy.Tensor.__module__, "gopy")
    t = gopy.counting(1, 1, 0)
    equal(t.__dlpack_device__(), (1, 0))
    equal(repr(gopy.Tensor.__dlpack_c_exchange_api__).split()[2], '"dlpack_exchange_api"')
    equal(type(gopy.Tensor.__c_dlpack_exchange_api__), int)


def test_pinned_memory_has_no_streams():
    for device in 1, 3, 11:
        producer = Pythons()
        producer.tensor.device[0] = device
        t = gopy.forward(producer)
        equal(t.__dlpack_device__(), (device, 0))
        with raises(BufferError, "no streams"):
            t.__dlpack__(max_version=(1, 0), stream=2)
        del t, producer


def test_arguments_of_dlpack():
    before = outstanding()
    t = gopy.counting(2, 3, 0)
    names = lambda **arguments: repr(t.__dlpack__(**arguments)).split()[2]
    for arguments in (
        {},
        {"max_version": None},
        {"max_version": (0, 8)},
        {"stream": None},
        {"dl_device": (1, 0)},
        {"copy": False},
    ):
        equal(names(**arguments), '"dltensor"')
    for version in (1, 0), (1, 3), (2, 0):
        equal(names(max_version=version, stream=-1, copy=True, dl_device=(1, 0)), '"dltensor_versioned"')
    for kind, text, arguments in [
        (TypeError, "max_version", {"max_version": 1}),
        (TypeError, "max_version", {"max_version": [1, 0]}),
        (TypeError, "max_version", {"max_version": (1,)}),
        (TypeError, "str", {"max_version": ("1", 0)}),
        (TypeError, "dl_device", {"dl_device": 1}),
        (TypeError, "", {"stream": "x"}),
        (BufferError, "no streams", {"stream": 2}),
        (BufferError, "(1, 0)", {"dl_device": (2, 1)}),
        (TypeError, "", {"unknown": 1}),
    ]:
        with raises(kind, text):
            t.__dlpack__(**arguments)
    with raises(TypeError):
        t.__dlpack__(None)
    equal(outstanding(), before + 1)
    del t
    gc.collect()
    equal(outstanding(), before)


def test_a_capsule_without_a_consumer():
    before = outstanding()
    for arguments in {}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}, {"copy": True}:
        gopy.counting(2, 3, 0).__dlpack__(**arguments)
        try:
            capsule = gopy.counting(2, 3, 0).__dlpack__(**arguments)
            raise KeyError
        except KeyError:
            del capsule
    equal(outstanding(), before)


def test_a_capsule_that_dies_of_an_exception():
    before = outstanding()

    def capsules(**arguments):
        yield gopy.counting(2, 3, 0).__dlpack__(**arguments)
        raise KeyError("it")

    for arguments in {}, {"max_version": (1, 0)}:
        with raises(KeyError, "it"):
            list(capsules(**arguments))  # drops its contents while the exception is set
    equal(outstanding(), before)


def test_capsules_outlive_their_objects():
    before = outstanding()
    capsules = [gopy.counting(2, 3, 0).__dlpack__(max_version=(1, 0)) for _ in range(100)]
    gc.collect()
    equal(outstanding(), before + 100)
    equal([gopy.sum(Gives(c)) for c in capsules], [15.0] * 100)
    equal(outstanding(), before)


def test_threads_run_while_go_works():
    """Eight calls wait for each other."""
    ran = []
    threads = [threading.Thread(target=lambda: ran.append(gopy.meet(8))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal(ran, [None] * 8)


def test_many_threads():
    t = gopy.counting(10, 10, 0)
    wrong = []

    def work():
        for _ in range(300):
            number = gopy.hold(New(t))
            if gopy.sum(t) != 4950.0 or gopy.held_sum(number) != 4950.0:
                wrong.append(number)
            gopy.release(number, 1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(wrong, [])


def test_many_rounds_without_a_leak():
    t = gopy.counting(2, 3, 0)
    no_leak(lambda: gopy.sum(t))
    no_leak(lambda: gopy.sum(New(t)))
    no_leak(lambda: gopy.sum(Old(t)))
    no_leak(lambda: t.__dlpack__(copy=True))
    no_leak(lambda: gopy.forward(New(t)))
    no_leak(lambda: gopy.echo("text", "pair"))

    def rejected():
        with raises(ValueError):
            gopy.sum(Gives(ValueError()))

    if not sysconfig.get_config_var("Py_GIL_DISABLED"):  # whose own exceptions make its heap grow
        no_leak(rejected)


def test_a_leak_would_show():
    kept = []
    with raises(AssertionError, "bytes more"):
        no_leak(lambda: kept.append(bytes(15)))


main()
