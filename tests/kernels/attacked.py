"""Arguments whose own code changes other arguments, and the order in which mistakes are
reported."""

import contextlib
import ctypes
import itertools
import sys
import types

import numpy as np
from tried import _kernels as k

LARGE = 1 << 18  # elements: resizing moves them


class Runs:
    """A number whose conversion first runs code."""

    def __init__(self, number, action):
        self.number, self.action = number, action

    def __index__(self):
        self.action()
        return self.number


class Real(Runs):
    __index__ = None

    def __float__(self):
        self.action()
        return float(self.number)


def grow(x):
    return lambda: x.resize((LARGE, 2), refcheck=False)


def message(f, *args, **keywords):
    try:
        f(*args, **keywords)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    raise AssertionError("no exception")


def test_a_scalar_that_resizes_a_tensor():
    """Its code runs before any tensor is read, so the kernel writes to the new memory."""
    for number in Runs, Real:
        x = np.ones((2, 3), np.float32)
        k.scale(x, number(2, grow(x)))
        assert x.shape == (LARGE, 2) and x.sum() == 12
        x = np.ones((LARGE, 3), np.float32)
        k.scale(x, number(2, lambda: x.resize((0, 0), refcheck=False)))
        assert x.size == 0
        x = np.ones((2, 3), np.float32)
        text = message(k.scale, x, number(2, lambda: x.resize((6,), refcheck=False)))
        assert text == "ValueError: scale(): argument 'x' (1st): expected 2 dimensions, got 1"
    x = np.ones(3, np.int16)
    text = message(k.numbers, x, Real(1.5, lambda: None))
    assert text == "TypeError: numbers(): argument 'a' (2nd): expected int16, got Real"
    assert k.numbers(np.ones(3, np.uint64), np.uint64(2**63 - 1)) == (2**64 - 2, 3)
    assert k.numbers(np.ones(3, bool), True) == (False, 3)
    for kind in ZeroDivisionError, KeyboardInterrupt:
        for number in Runs, Real:

            def fails():
                raise kind("no")

            text = message_of_all(k.scale, np.ones((2, 3), np.float32), number(1, fails))
            about = "RuntimeError: scale(): argument 'by' (2nd): no"
            assert text == (about if kind is ZeroDivisionError else "KeyboardInterrupt: no")


def message_of_all(f, *args):
    try:
        f(*args)
    except BaseException as e:
        return f"{type(e).__name__}: {e}"


def test_a_wrong_dtype_is_not_copied_first():
    """The copy would take 8 TiB."""
    x = np.broadcast_to(np.float64(1), (1 << 20, 1 << 20))
    assert message(k.copies, x) == "TypeError: copies(): argument 'x' (1st): expected float32, got float64"


def test_an_int_that_resizes_a_tensor():
    x, w = np.ones((2, 3, 4), np.float32), np.ones((4, 2, 3), np.float32)
    idx = np.zeros((2, 5), np.int64)
    y, rows = k.join(None, x, w, idx, Runs(1, lambda: x.resize((LARGE, 1, 4), refcheck=False)))
    assert y.shape == (LARGE, 1, 4, 10) and rows == 1


def test_lists_that_change_while_they_are_read():
    sizes = [1, 3, 3]
    sizes[1] = Runs(3, sizes.clear)
    assert k.scalars("mean", sizes)[0] == 1003 and not sizes

    class Lies(list):
        def __len__(self):
            return 9

        def __iter__(self):
            return iter((1, 3))

    text = message(k.scalars, "mean", Lies([1, 3, 3]))
    assert text == "ValueError: scalars(): argument 'sizes' (2nd): expected at least 3 items, got 2"


def test_a_producer_that_resizes_an_earlier_tensor():
    class Array:
        def __init__(self, array, action):
            self.array, self.action = array, action

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **asked):
            self.action()
            return self.array.__dlpack__(**asked)

    x, idx = np.ones((2, 3, 4), np.float32), np.zeros((2, 5), np.int64)
    w = Array(np.ones((4, 2, 3), np.float32), lambda: x.resize((LARGE, 1, 4), refcheck=False))
    assert k.join(None, x, w, idx)[0].shape == (LARGE, 1, 4, 10)


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("before", ctypes.c_void_p)] + [
        (name, ctypes.c_void_p) for name in ("allocate", "take", "wrap", "borrow", "stream")
    ]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def python(name, result, *parameters):
    f = getattr(ctypes.pythonapi, name)
    f.restype, f.argtypes = result, parameters
    return f


pointer = python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
rename = python("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
capsule = python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
USED = ctypes.create_string_buffer(b"used_dltensor_versioned")
NAME = ctypes.create_string_buffer(b"dltensor_versioned")
TABLE = ctypes.create_string_buffer(b"dlpack_exchange_api")


def managed(array):
    made = array.__dlpack__(max_version=(1, 0))
    at = pointer(made, NAME)
    rename(made, USED)
    return at


class Fours:
    """Five float4 elements."""

    def __init__(self, flags):
        self.flags = flags

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **asked):
        made = managed(np.zeros(5, np.uint8))
        ctypes.c_uint64.from_address(made + 24).value = self.flags
        ctypes.c_uint16.from_address(made + 52).value = 17 | 4 << 8  # kDLFloat4_e2m1fn, bits
        return capsule(made, NAME, None)


def test_padded_elements():
    assert k.packed(Fours(0)) == 5
    text = message(k.packed, Fours(4))
    assert text == (
        "BufferError: packed(): argument 'x' (1st): its elements are padded to bytes, but kernels read packed elements"
    )


class Allocates:
    """An array whose library runs code in each allocation."""

    action = staticmethod(lambda: None)

    def __init__(self, array):
        self.array = array


Function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def store(at, value):
    ctypes.c_void_p.from_address(at).value = value
    return 0


@Function
def allocate(prototype, out, context, fail):
    t = Tensor.from_address(prototype)
    made = managed(np.empty(t.shape[: t.ndim], np.float32))
    Allocates.action()
    return store(out, made)


@Function
def take(of, out, *_):
    return store(out, managed(ctypes.cast(of, ctypes.py_object).value.array))


@Function
def wrap(tensor, out, *_):
    class Capsule:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **asked):
            return capsule(tensor, NAME, None)

    made = Allocates(np.from_dlpack(Capsule()))
    python("Py_IncRef", None, ctypes.py_object)(made)
    return store(out, id(made))


@Function
def stream(*_):
    return -1


table = Table(1, 3, None, *(ctypes.cast(f, ctypes.c_void_p).value for f in (allocate, take, wrap)))
table.stream = ctypes.cast(stream, ctypes.c_void_p).value
Allocates.__dlpack_c_exchange_api__ = capsule(ctypes.addressof(table), TABLE, None)


def during(action, f, *args, **keywords):
    Allocates.action = staticmethod(action)
    try:
        return f(*args, **keywords)
    finally:
        Allocates.action = staticmethod(lambda: None)


def test_an_allocator_that_changes_an_argument():
    x, w = Allocates(np.ones((2, 3, 4), np.float32)), np.ones((4, 2, 3), np.float32)
    idx = np.zeros((2, 5), np.int64)
    assert type(k.join(None, x, w, idx)[0]) is Allocates
    for new in (LARGE, 2, 3), (0, 2, 3):
        w = np.ones((4, 2, 3), np.float32)
        text = message(during, lambda: w.resize(new, refcheck=False), k.join, None, x, w, idx)
        assert text == "BufferError: join(): argument 'w' (3rd): it changed while the result was allocated"


def test_an_allocator_that_changes_out():
    x = Allocates(np.ones(4, np.float32))
    given = np.empty(4, np.float32)
    first, second = k.pair(x, out=(given, None))
    assert first is given and (given == 1).all() and (second.array == 2).all()
    for new in LARGE, 0:
        given = np.empty(4, np.float32)
        text = message(during, lambda: given.resize(new, refcheck=False), k.pair, x, out=(given, None))
        assert text == "BufferError: pair(): argument 'out[0]' (2nd): it changed while the result was allocated"


def test_a_result_that_is_not_wrapped():
    """After one failure, nothing more is allocated, and no code runs."""
    made = []

    @Function
    def rejects(tensor, out, *_):
        made.append(tensor)
        return -1

    kept = table.wrap
    table.wrap = ctypes.cast(rejects, ctypes.c_void_p).value
    try:
        text = message(k.pair, Allocates(np.ones(4, np.float32)))
    finally:
        table.wrap = kept
    assert text.startswith("RuntimeError: pair(): argument 'x' (1st): ") and len(made) == 1, text


def tensor_of(array):
    t = Tensor(array.ctypes.data, 1, 0, array.ndim, {"i": 0, "f": 2}[array.dtype.kind], array.dtype.itemsize * 8, 1)
    t.kept = (
        (ctypes.c_int64 * array.ndim)(*array.shape),
        (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides)),
    )
    t.shape, t.strides = t.kept
    return t


class OnDevice:
    """A tensor on any device, lent by a table that reports a stream."""

    stream, asked = 0, 0

    def __init__(self, array, device_type=2, device_id=0):
        self.tensor = tensor_of(array)
        self.tensor.device_type, self.tensor.device_id = device_type, device_id


@Function
def borrow_on_device(of, out, *_):
    ctypes.memmove(out, ctypes.addressof(ctypes.cast(of, ctypes.py_object).value.tensor), ctypes.sizeof(Tensor))
    return 0


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)
def stream_on_device(device_type, device_id, out):
    OnDevice.asked += 1
    return -1 if OnDevice.stream is None else store(out, OnDevice.stream)


def test_tensors_on_a_gpu():
    """The stream and each message are the same for arguments that are read at once and, with a
    subclass, one by one."""

    class Host(np.ndarray):
        pass

    devices = Table(1, 3, None, table.allocate, table.take, table.wrap)
    devices.borrow = ctypes.cast(borrow_on_device, ctypes.c_void_p).value
    devices.stream = ctypes.cast(stream_on_device, ctypes.c_void_p).value
    OnDevice.__dlpack_c_exchange_api__ = capsule(ctypes.addressof(devices), TABLE, None)
    host, ones = np.ones(4, np.float32), np.ones(4, np.float32)
    x, y = OnDevice(ones), OnDevice(ones)
    there, third, lost = OnDevice(ones, 2, 1), OnDevice(np.ones(3, np.float32)), OnDevice(ones, 8)
    with trusted(OnDevice):
        for tensors, stream_told, says in (
            ((x, y, host), 0, "the kernel failed with status 42"),
            ((x, y, host), 64, "the kernel failed with status 41"),
            ((x, there, host), 64, "argument 'y' (2nd): expected a tensor on cuda:0, as argument 'x' (1st) is, got "
                                   "one on cuda:1"),
            ((x, ones, host), 64, "argument 'y' (2nd): expected a tensor on cuda:0, as argument 'x' (1st) is, got one "
                                  "on cpu:0"),
            ((x, y, x), 64, "argument 'host' (3rd): expected a tensor on cpu, got one on cuda:0"),
            ((lost, lost, host), 64, "argument 'x' (1st): expected a tensor on cpu or cuda, got one on metal:0"),
            ((x, third, host), 64, "argument 'y' (2nd): expected n = 4 in dimension 0, as in argument 'x' (1st), got "
                                   "3"),
            ((x, y, host), None, "argument 'x' (1st): its library does not report its current stream"),
        ):  # fmt: skip
            OnDevice.stream = stream_told
            at_once = message(k.devices, *tensors)
            one_by_one = [t.view(Host) if isinstance(t, np.ndarray) else t for t in tensors]
            assert at_once.endswith(f"Error: devices(): {says}") and at_once == message(k.devices, *one_by_one), at_once
        OnDevice.stream, OnDevice.asked = 64, 0
        message(k.devices, lost, lost, host)
        assert OnDevice.asked == 0, "no stream of a device that is not served"
        message(k.devices, x, y, host)
        assert OnDevice.asked == 1, "the library is asked once"


@contextlib.contextmanager
def trusted(kind):
    """A type whose table is known to run no code: it is named paddle.Tensor when it is looked
    up."""
    sys.modules["paddle"] = types.ModuleType("paddle")
    sys.modules["paddle"].Tensor = kind
    try:
        yield
    finally:
        del sys.modules["paddle"]


class Text(ctypes.Structure):
    """struct dlpackgen_message; omitted members are zero."""

    _fields_ = [
        ("text", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("length", ctypes.c_size_t),
        ("argument", ctypes.c_char_p),
        ("item", ctypes.c_int64),
    ]


def said_by_c(*arrays):
    tensors = [tensor_of(a) for a in arrays]
    made = tensor_of(np.empty((2, 3, 2), np.float32))
    room = ctypes.create_string_buffer(4096)
    text = Text(ctypes.cast(room, ctypes.c_char_p), 4096, 0)
    call = ctypes.CDLL(k.__file__).said_of_usual
    status = call(*(ctypes.byref(t) for t in [*tensors, made]), ctypes.byref(text))
    kinds = ["", "TypeError", "ValueError", "BufferError"]
    return f"{kinds[status]}: {room.value.decode()}"


MISTAKES = {
    "dtype": lambda a: a.astype(np.int32),
    "another dtype": lambda a: a.astype(np.float64),
    "rank": lambda a: a.reshape(-1)[0],
    "extent": lambda a: np.concatenate([a, a], -1),
    "layout": lambda a: a[..., ::-1],
}


def test_mistakes_are_reported_in_the_order_of_c():
    right = [np.ones(s, np.float32) for s in ((2, 3, 4), (4, 4), (2, 3, 4), (4,))]
    pairs = 0
    places = itertools.combinations_with_replacement(range(4), 2)
    for (i, j), first, second in itertools.product(places, MISTAKES, MISTAKES):
        arrays = list(right)
        arrays[i] = np.asarray(MISTAKES[first](arrays[i]))
        if arrays[j].ndim:
            arrays[j] = np.asarray(MISTAKES[second](arrays[j]))
        wanted = said_by_c(*arrays)
        if (i, first, second) == (j, "layout", "layout"):
            continue  # reversed twice
        got = message(k.usual, *arrays)
        assert wanted == got, f"{i} {first}, {j} {second}: {wanted} / {got}"
        pairs += 1
    assert pairs == 10 * len(MISTAKES) ** 2 - 4


if __name__ == "__main__":
    chosen = [f for n, f in list(globals().items()) if n.startswith("test_")]
    for test in chosen:
        test()
    print(len(chosen), "tests", *sys.argv[1:])
