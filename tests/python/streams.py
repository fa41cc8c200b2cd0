"""The device and stream of a call: which argument determines them, and which libraries receive
them."""

import enum
import itertools

from check import *

OTHER = 0x1000  # the second table's offset from the untrusted's stream
Tabled2 = table_type(6)


@contextlib.contextmanager
def stream_is(handle):
    untrusted.set_stream(handle)
    try:
        yield
    finally:
        untrusted.set_stream(0)


def asked(x):
    """The streams that a producer received."""
    return [a.get("stream") for a in x.asked]


class Says(New):
    """A producer that declares another device than its tensor's."""

    declared = CPU, 0

    def __dlpack_device__(self):
        return self.declared


def test_the_first_table_decides():
    """Before a producer is called, and without one, in every order."""
    three = function(*[any_tensor()] * 3, takes_stream=1)
    two = function(*[any_tensor()] * 2)
    with stream_is(0x40):
        for kinds in itertools.permutations([New, Tabled, Tabled2]):
            given = [kind(2, device=CUDA) for kind in kinds]
            decides = 0x40 + (OTHER if kinds.index(Tabled2) < kinds.index(Tabled) else 0)
            equal(three(*given)[4], decides)
            equal(asked(given[kinds.index(New)]), [decides])
        equal(two(Tabled2(2, device=CUDA), Tabled(2, device=CUDA))[3], 0x40 + OTHER)
        equal(two(Tabled(2, device=CUDA), Tabled2(2, device=CUDA))[3], 0x40)


def test_libraries_on_two_streams():
    """The first one's stream is the call's; others export their tensors for it."""
    f = function(any_tensor(), any_tensor(), any_tensor(optional=1))
    kinds = [table_type(6), Known]
    with trusted(Known, kinds[0]), stream_is(0x40), frees_all():
        for first, second in [Tabled2, Tabled], kinds:
            for _ in range(2):
                x, y = second(2, device=CUDA), second(3, device=CUDA)
                equal(f(first(2, device=CUDA), x, y)[4], 0x40 + OTHER)
                equal((asked(x), asked(y)), ([0x40 + OTHER],) * 2)
            x = second(2, device=CUDA, flags=READ_ONLY)
            with raises(BufferError, "f(): argument 'b' (2nd): it is read-only"):
                function(any_tensor(), any_tensor(writable=1))(first(2, device=CUDA), x)
        for first, second in [Tabled, Tabled], kinds[1:] * 2:
            x = second(2, device=CUDA)
            equal(f(first(2, device=CUDA), x)[3:], ((CUDA, 0), 0x40))
            equal(asked(x), [])
        silent = type("T", (), {"__dlpack_c_exchange_api__": untrusted.table(0)})()
        silent.desc = desc(2, device=CUDA)
        with raises(
            BufferError,
            "f(): argument 'b' (2nd): its stream 0x40 on cuda:0 differs from the call's stream 0x1040, and without "
            "__dlpack__ it cannot synchronize",
        ):
            f(Tabled2(2, device=CUDA), silent)
        with raises(BufferError, "(2nd): its stream 0x40 on metal:0"):
            f(Tabled2(2, device=METAL), Tabled(2, device=METAL))
        with raises(TypeError, "f(): argument 'b' (2nd): expected int32, got float32"):
            function(any_tensor(), any_tensor(dtypes=[INT32]), any_tensor())(
                Tabled2(2, device=CUDA), Tabled(2, device=CUDA), silent
            )


@trusted(Known)
def test_a_tensor_that_moves_after_its_stream_was_asked_for():
    class Moves(New):
        def __dlpack__(self, **asked):
            lent.desc = desc(2, device=CUDA, device_id=1)
            other.desc = desc(2, device=CUDA, device_id=1)
            return super().__dlpack__(**asked)

    f = function(any_tensor(), any_tensor(), any_tensor(devices=[CPU]))
    lent, other = Known(2, device=CUDA), Known(2, device=CUDA)
    f(lent, other, New(2))
    with raises(
        BufferError, "f(): argument 'a' (1st): its device or current stream changed while the arguments were read"
    ):
        f(lent, other, Moves(2))
    lent.desc = other.desc = desc(2, device=CUDA)
    with raises(ValueError, "expected a tensor on cuda:1, as argument 'a' (1st) is, got one on cuda:0"):
        f(lent, Moves(2, device=CUDA), New(2))


def test_a_tensor_on_the_cpu_does_not_decide():
    f = function(any_tensor(devices=[CPU]), any_tensor(), any_tensor(optional=1))
    with stream_is(0x40):
        x = New(2, device=CUDA)
        equal(f(Tabled2(2), x, Tabled(2, device=CUDA))[4], 0x40)
        equal(asked(x), [0x40])
        equal(f(Tabled2(2), Tabled(2, device=CUDA))[4], 0x40)


def test_all_producers_get_the_same_stream():
    f = function(*[any_tensor()] * 4)
    with stream_is(0x40):
        x, y, old = New(2, device=CUDA), New(3, device=CUDA), Old(2, device=CUDA)
        f(x, y, Tabled(2, device=CUDA), old)
        equal(asked(x) + asked(y) + asked(old), [0x40] * 3)


def test_what_is_owned_by_a_look_is_freed():
    owns = table_type(1)
    f = function(any_tensor(), any_tensor(), any_tensor(optional=1))
    with stream_is(0x40), frees_all():
        equal(f(New(2, device=CUDA), owns(2, device=CUDA))[4], 0x40)
        equal(f(New(2, device=CUDA), owns(2, device=CUDA), owns(2, device=CUDA))[4], 0x40)


def test_a_producer_on_another_device_is_not_called():
    f = function(any_tensor(), any_tensor(), takes_stream=1)
    with stream_is(0x40):
        x = New(2, device=CUDA, device_id=1)
        with raises(
            ValueError,
            "f(): argument 'a' (1st): expected a tensor on cuda:0, as argument 'b' (2nd) is, got one on cuda:1",
        ):
            f(x, Tabled(2, device=CUDA))
        with raises(
            ValueError,
            "f(): argument 'b' (2nd): expected a tensor on rocm:0, as argument 'a' (1st) is, got one on cuda:1",
        ):
            f(Tabled(2, device=ROCM), x)
        first = New(2, device=CUDA)
        with raises(
            ValueError,
            "f(): argument 'b' (2nd): expected a tensor on cuda:0, as argument 'a' (1st) is, got one on cuda:1",
        ):
            f(first, x, stream=5)
        equal((x.asked, asked(first)), ([], [5]))


def test_a_lie_about_the_device_is_rejected():
    """The declared device determines the stream that a producer receives, so a tensor on another
    device is not safe on any stream."""
    f = function(any_tensor(), any_tensor(optional=1), takes_stream=1)
    for declared, device, device_id in (
        ((CPU, 0), CUDA, 0),
        ((ROCM, 0), CUDA, 0),
        ((CUDA, 1), CUDA, 0),
        ((CUDA, 0), CUDA, 1),
        ((CUDA, 0), METAL, 0),
    ):
        x = Says(2, device=device, device_id=device_id)
        x.declared = declared
        stream = {} if declared[0] == CPU else {"stream": 5}
        names = {CPU: "cpu", CUDA: "cuda", ROCM: "rocm", METAL: "metal"}
        text = (
            f"its __dlpack_device__() declared {names[declared[0]]}:{declared[1]}, "
            f"but its __dlpack__() returned a tensor on {names[device]}:{device_id}"
        )
        with frees_all(), raises(BufferError, "f(): argument 'a' (1st): " + text):
            f(x, **stream)
    x.declared = ROCM, 0
    x.desc["device"] = CUDA
    with raises(BufferError, "declared rocm:0, but its __dlpack__() returned a tensor on cuda:0"):
        f(x, stream=0)
    for declared in (CUDA + 2**32, 0), (CUDA, 2**32), (CUDA, -(2**32)):
        x.declared = declared
        with raises(
            BufferError,
            f"f(): argument 'a' (1st): its __dlpack_device__() returned ({declared[0]}, {declared[1]}), which is not a device",
        ):
            f(x, stream=5)


def test_a_stream_that_nobody_needs_in_the_end():
    """Pinned memory: its producer declares it, but returns a CPU tensor."""
    x = Says(2)
    x.declared = CUDA, 0
    f = function(any_tensor(), any_tensor(optional=1), takes_stream=1)
    with raises(ValueError, "f(): argument 'stream': all tensors are on the CPU"):
        f(x, stream=5)

    class Moves(Says):
        declared = CUDA, 0

        def __dlpack__(self, **asked):
            other.desc = desc(2, device=then[0], device_id=then[1])
            return super().__dlpack__(**asked)

    with stream_is(0x40):
        other, then = Tabled(2, device=CUDA), (CPU, 0)
        equal(f(Moves(2), other)[2:], ((CPU, 0), 0))


def test_streams():
    f = function(any_tensor(), any_tensor(optional=1), any_tensor(optional=1), takes_stream=1)
    on_cuda = dict(device=CUDA, device_id=1)
    untrusted.set_stream(0x1234)
    try:
        x, y = New(2, **on_cuda), New(2)
        equal(f(Tabled(2, **on_cuda))[3:], ((CUDA, 1), 0x1234))
        equal(f(Tabled(2))[3:], ((CPU, 0), 0))
        f(x, Tabled(2, **on_cuda))
        equal(x.asked, [{"max_version": (1, 3), "stream": 0x1234}])
        old = Old(2, **on_cuda)
        f(old, Tabled(2, **on_cuda))
        equal(old.asked, [{"stream": 0x1234}])
        with raises(ValueError, "f(): argument 'a' (1st): no current stream is known for cuda:1: pass stream="):
            f(New(2, **on_cuda))
        x = New(2, **on_cuda)
        with raises(ValueError, "f(): argument 'a' (1st): no current stream is known for cuda:1"):
            read(x)
        equal(x.asked, [])
        with raises(ValueError, "f(): argument 'a' (1st): expected a tensor on cpu, got one on cuda:1"):
            function({"ndim": 1, "shape": [ANY]})(New(2, **on_cuda))
        untrusted.set_stream(0)
        for device, number in (CUDA, 1), (ROCM, 0):
            x = New(2, device=device)
            equal(f(x, Tabled(2, device=device))[4], 0)
            equal(x.asked[0]["stream"], number)
        x = New(2, device=METAL)
        f(x, Tabled(2, device=METAL))
        equal(x.asked, [{"max_version": (1, 3)}])
        silent = type("T", (New,), {"__dlpack_device__": property()})
        for g in f, read:
            with raises(
                BufferError,
                "f(): argument 'a' (1st): it has no __dlpack_device__(), but its __dlpack__() returned a tensor on "
                "cuda:0 without a stream",
            ):
                g(silent(2, device=CUDA))
        read(silent(2))
        untrusted.set_stream(2**64 - 1)
        with raises(RuntimeError, "f(): argument 'a' (1st): its library does not report its current stream"):
            f(Tabled(2, **on_cuda))
    finally:
        untrusted.set_stream(0)


def test_a_stream_that_is_passed():
    f = function(any_tensor(), any_tensor(optional=1), takes_stream=1)
    untrusted.set_stream(0x1234)
    try:
        for number, handle in (77, 77), (1, 0), (2, 2):
            x = New(2, device=CUDA)
            equal(f(x, stream=number)[3], handle)
            equal(x.asked[0]["stream"], number)
        equal(f(New(2, device=ROCM), stream=0)[3], 0)
        equal(f(Tabled(2, device=CUDA), stream=None)[3], 0x1234)
        for device, where in (CUDA, "cuda:0"), (ROCM, "rocm:0"), (METAL, "metal:0"):
            equal(f(Tabled(2, device=device), stream=0x1234)[3], 0x1234)
            text = f"its stream 0x1234 on {where} differs from stream=77: pass its stream, or omit stream="
            with raises(ValueError, "f(): argument 'a' (1st): " + text):
                f(Tabled(2, device=device), stream=77)
            with raises(ValueError, "f(): argument 'b' (2nd): " + text):
                f(New(2, device=device), Tabled(2, device=device), stream=77)
        for handle in 0, 1:
            untrusted.set_stream(handle)
            equal(f(Tabled(2, device=CUDA), stream=1)[3], 0)
        untrusted.set_stream(0)
        equal(f(Tabled(2, device=ROCM), stream=0)[3], 0)
        untrusted.set_stream(0x1234)
        for device, number, where in (CUDA, 0, "cuda:0"), (ROCM, 1, "rocm:0"), (ROCM, 2, "rocm:0"):
            for kind in New, Tabled:
                with raises(
                    ValueError,
                    f"f(): argument 'stream': {number} is invalid on {where}, where {int(device == CUDA)} is the "
                    f"default stream",
                ):
                    f(kind(2, device=device), stream=number)
        with raises(ValueError, "f(): argument 'stream': expected a non-negative number, got -1"):
            f(New(2, device=CUDA), stream=-1)
        with raises(ValueError, "f(): argument 'stream': all tensors are on the CPU, which has no streams"):
            f(New(2), stream=5)
        for value, name in ("x", "str"), (True, "bool"), (False, "bool"), (1.0, "float"):
            with raises(TypeError, f"f(): argument 'stream': expected int or None, got {name}"):
                f(New(2, device=CUDA), stream=value)
        with raises(OverflowError, f"f(): argument 'stream': {2**63} does not fit in 63 bits"):
            f(New(2, device=CUDA), stream=2**63)
    finally:
        untrusted.set_stream(0)


def test_devices_are_not_mixed():
    f = function(any_tensor(), any_tensor(), {"ndim": 1, "shape": [ANY], "optional": 1})
    cuda = dict(device=CUDA)
    f(Tabled(2, **cuda), Tabled(2, **cuda), New(2))
    equal(f(Tabled(2, **cuda), Tabled(2, **cuda), New(2))[3], (CUDA, 0))
    with raises(
        ValueError, "f(): argument 'b' (2nd): expected a tensor on cuda:0, as argument 'a' (1st) is, got one on cuda:1"
    ):
        f(Tabled(2, **cuda), Tabled(2, device=CUDA, device_id=1))
    with raises(
        ValueError, "f(): argument 'b' (2nd): expected a tensor on cuda:0, as argument 'a' (1st) is, got one on cpu:0"
    ):
        f(Tabled(2, **cuda), Tabled(2))
    with raises(
        ValueError, "f(): argument 'a' (1st): expected a tensor on cuda:0, as argument 'b' (2nd) is, got one on cpu:0"
    ):
        f(Tabled(2), Tabled(2, **cuda))
    with raises(
        ValueError,
        "f(): argument 'a' (1st): expected a tensor on cuda:0, as argument 'b' (2nd) is, got one on cudahost:0",
    ):
        f(Tabled(2, device=PINNED), Tabled(2, **cuda))


def test_pinned_memory_is_the_hosts():
    """It has no stream, can be combined with CPU tensors, and determines nothing; the parameter's
    devices decide whether it is accepted."""
    f = function(any_tensor(), any_tensor(optional=1), takes_stream=1)
    for device in PINNED, ROCM_HOST:
        before = untrusted.counted()[4]
        for kind in New, Tabled:
            x = kind(2, device=device)
            equal(f(x)[2:], f(New(2))[2:])
            f(x, New(2))
            f(New(2), x)
            f(x, kind(2, device=PINNED))
            f(Old(2), x)
        asked = New(2, device=device)
        f(asked)
        equal(asked.asked, [{"max_version": (1, 3)}])
        f(type("Silent", (), {"__dlpack__": lambda self, **k: untrusted.capsule(desc(2, device=device))})())
        equal(untrusted.counted()[4], before)
        with raises(ValueError, "f(): argument 'stream': all tensors are on the CPU"):
            f(New(2, device=device), stream=5)
        with stream_is(0x40):
            f2 = function({"ndim": 1, "shape": [ANY], "devices": [CUDA]}, any_tensor())
            with raises(
                ValueError,
                "f(): argument 'b' (2nd): expected a tensor on cuda:0, as argument 'a' (1st) is, got one on ",
            ):
                f2(Tabled(2, device=CUDA), Tabled(2, device=device))
        with raises(ValueError, "f(): argument 'a' (1st): expected a tensor on cpu, got one on "):
            function({"ndim": 1, "shape": [ANY]})(New(2, device=device))
    with raises(ValueError, "no current stream is known for cudamanaged:0: pass stream="):
        f(New(2, device=MANAGED))


def test_device_answers():
    class Answers(New):
        answer = None

        def __dlpack_device__(self):
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    class Named(enum.Enum):
        """Without __index__, like Open3D's."""

        CPU = 1
        TEXT = "x"

    class Numbered(enum.IntEnum):
        CPU = 1

    def on(answer):
        x = Answers(2)
        x.answer = answer
        return x

    for answer in (1, 0), [1, 0], (Named.CPU, 0), (Numbered.CPU, 0), (1, None), [Named.CPU, None], (True, False):
        read(on(answer))
    for answer, text in [
        (5, "its __dlpack_device__() did not return a device type and an id"),
        ((1,), "its __dlpack_device__() did not return a device type and an id"),
        ((1, 0, 0), "its __dlpack_device__() did not return a device type and an id"),
        ({1: 0, 2: 0}, "its __dlpack_device__() did not return a device type and an id"),
        (("x", 0), "Answers was not exported: 'str' object cannot be interpreted as an integer"),
        ((Named.TEXT, 0), "Answers was not exported: 'str' object cannot be interpreted as an integer"),
        ((1.0, 0), "Answers was not exported: 'float' object cannot be interpreted as an integer"),
        ((None, 0), "Answers was not exported: 'NoneType' object cannot be interpreted as an integer"),
        ((2, None), "Answers was not exported: 'NoneType' object cannot be interpreted as an integer"),
        ((2**63, 0), "Answers was not exported: int too big to convert"),
    ]:
        with raises(BufferError, "f(): argument 'a' (1st): " + text):
            read(on(answer))
    x = Answers(2)
    x.answer = ValueError("nowhere")
    with raises(BufferError, "Answers was not exported: nowhere"):
        read(x)
    x.answer = AttributeError("as if there were none")
    read(x)


def vectorcall(call, given, names):
    """Calls that Python itself cannot make: with a repeated name."""
    array = (ctypes.py_object * len(given))(*given)
    of = ctypes.pythonapi.PyObject_Vectorcall
    of.restype, of.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p, ctypes.c_size_t, ctypes.py_object]
    return of(call, ctypes.addressof(array), len(given) - len(names), names)


def test_a_stream_that_is_passed_twice():
    f = function(any_tensor(), takes_stream=1)
    for first in None, 5:
        with raises(TypeError, "f() got multiple values for argument 'stream'"):
            vectorcall(checked.run, [f.which, New(2, device=CUDA), first, 7], ("stream", "stream"))
    equal(vectorcall(checked.run, [f.which, New(2, device=CUDA), 7], ("stream",))[2], 7)


main()
