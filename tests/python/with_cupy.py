"""CuPy's own arrays, over host memory that CuPy treats as a GPU's: CuPy is real, and stand-ins
replace its queries of the driver: the location of an array, the current stream, and its own export.
tests/gpu tests the same on a GPU."""

import importlib.util
import os
import weakref

import cupy
import numpy

from check import *

where = [CUDA, 0]
current = {0: 0x40, 1: 0x80, -1: 0xC0}
exported = []


class StandInForStream:
    def __init__(self, ptr):
        self.ptr = ptr


def stand_in_for_dlpack(array, **asked):
    exported.append((array, asked))
    shape, size = list(array.shape), array.dtype.itemsize
    return untrusted.capsule(
        desc(
            *shape, data=array.data.ptr, strides=[s // size for s in array.strides], device=where[0], device_id=where[1]
        )
    )


cupy.ndarray.__dlpack_device__ = lambda array: tuple(where)
cupy.ndarray.__dlpack__ = stand_in_for_dlpack
cupy.cuda.get_current_stream = lambda ordinal=-1: StandInForStream(current[ordinal])


@contextlib.contextmanager
def on(kind, ordinal):
    where[:] = kind, ordinal
    try:
        yield
    finally:
        where[:] = CUDA, 0


def pointer(host, offset=0):
    memory = cupy.cuda.UnownedMemory(host.ctypes.data, host.nbytes, host, device_id=0)
    return cupy.cuda.MemoryPointer(memory, offset)


def array(*shape, dtype="float32", strides=None, kind=cupy.ndarray):
    size = numpy.dtype(dtype).itemsize
    return kind(shape, dtype, pointer(numpy.zeros(64 * size + 64, "u1")), strides=strides)


x = array(4, 6)
three = function(any_tensor(), any_tensor(), any_tensor(optional=1))


def take(a, write=0):
    return checked.described(checked.take(a, write))


def told(a):
    """The tensors during a call and for longer, which must be equal, also for writing."""
    ways = [read(a)[0], take(a)]
    if a.size == 0 or 0 not in a.strides:
        ways += [write(a)[0], take(a, 1)]
    ways = [{**t, "data": t["data"] + t["offset"], "offset": 0, "owned": 1} for t in ways]
    for other in ways[1:]:
        equal(other, ways[0])
    return ways[0]


def rejected(a, kind, text):
    with raises(kind, "f(): argument 'a' (1st): ", text):
        read(a)
    with raises(kind, text):
        checked.take(a, 0)


def test_shapes_and_strides():
    for a in (
        x,
        x[1:, ::2],
        x.T,
        x[::-1, ::-1],
        x[:0],
        x[:, None, :],
        x[2, 3],
        array(2, 3, strides=(0, 4)),
        array(*[1] * 60),
        array(1, 2, strides=(3, 4)),
        array(0, 2, strides=(3, 4)),
    ):
        t = told(a)
        equal(t["shape"], a.shape)
        if a.size and 3 not in a.strides:
            equal(t["strides"], tuple(s // a.dtype.itemsize for s in a.strides))
        equal((t["data"], t["device"], t["flags"]), (a.data.ptr, (CUDA, 0), 0))
    equal(exported, [])


def test_more_elements_than_can_be_counted():
    """CuPy counts them in 64 bits that wrap around, and has an array without elements."""
    a = array(2**32, 2**32, strides=(0, 0))
    equal(a.size, 0)
    rejected(a, BufferError, "invalid DLPack tensor")
    with raises(BufferError, "invalid DLPack tensor"):
        function(
            {"dtypes": [FLOAT32], "ndim": 2, "shape": [ANY, ANY], "layout": ROW_MAJOR, "devices": [CUDA]},
            takes_stream=1,
        )(a, stream=3)


def test_dtypes():
    kinds = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
    for letter in "?bBhHiIlLqQefdFD":
        a = array(3, dtype=letter)
        equal(told(a)["dtype"], dtype(kinds[a.dtype.kind], a.dtype.itemsize * 8))


def test_what_cupys_own_export_gets_wrong():
    """It exports the bytes of the other byte order as values, and truncated strides."""
    rejected(array(3, dtype=">f4"), BufferError, "its dtype >f4 is not in native byte order")
    rejected(
        array(2, 3, strides=(14, 4)),
        BufferError,
        "stride 14 of dimension 0 is not a multiple of the 4 bytes of an element",
    )
    rejected(array(3, dtype="g"), BufferError, "is a long double")
    rejected(array(3, dtype="M8[s]"), BufferError, "is a date or time")
    equal(exported, [])


def test_types_of_other_packages_are_left_to_cupy():
    import ml_dtypes

    read(array(3, dtype=ml_dtypes.bfloat16))
    equal(exported.pop()[1].get("stream"), 0x40)


def test_addresses():
    with raises(BufferError, "is not aligned to 4 bytes"):
        read(cupy.ndarray((2,), "f4", pointer(numpy.zeros(64, "u1"), 1)))
    null = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(0, 64, None, device_id=0), 0)
    rejected(cupy.ndarray((2,), "f4", null), BufferError, "it has elements but no memory: its data is NULL")
    equal(told(cupy.ndarray((0, 2), "f4", null))["data"], 0)


def test_devices():
    with on(CUDA, 1):
        equal(read(x)[1:], ((CUDA, 1), 0x80))
    with on(ROCM, 0):
        equal(read(x)[1:], ((ROCM, 0), 0x40))
    with on(MANAGED, 1):
        equal(read(x)[1:], ((MANAGED, 0), 0xC0))
    no_pair = "its __dlpack_device__() did not return a device type and an id"
    for pair, why in (None, no_pair), ((2,), no_pair), ((2, "x"), "int"), ((2**40, 0), "int"):
        original = cupy.ndarray.__dlpack_device__
        cupy.ndarray.__dlpack_device__ = lambda array: pair
        try:
            with raises(BufferError, "f(): argument 'a' (1st): ", why):
                read(x)
        finally:
            cupy.ndarray.__dlpack_device__ = original
    with raises(ValueError, "f(): argument 'a' (1st): expected a tensor on cpu, got one on cuda:0"):
        function(any_tensor(devices=[CPU]))(x)


def test_cupys_stream_is_that_of_the_call():
    equal(read(x)[1:], ((CUDA, 0), 0x40))
    for given in [x, New(2, device=CUDA)], [New(2, device=CUDA), x]:
        equal(three(*given)[4], 0x40)
        equal([g.asked[0].get("stream") for g in given if g is not x], [0x40])
    equal(function(any_tensor(devices=[CPU]), any_tensor())(Tabled(2), x)[3], 0x40)
    equal(exported, [])


def test_two_streams():
    """CuPy makes its array wait for the call's stream if that is a different one."""
    untrusted.set_stream(0x50)
    try:
        equal(three(Tabled(2, device=CUDA), x, x)[4], 0x50)
        equal([(a is x, asked["stream"]) for a, asked in exported], [(True, 0x50)] * 2)
        other = Tabled(2, device=CUDA)
        equal(three(x, other, x)[4], 0x40)
        equal(other.asked[0]["stream"], 0x40)
        untrusted.set_stream(0x40)
        del exported[:]
        equal(three(Tabled(2, device=CUDA), x, x)[4], 0x40)
        equal(three(x, Tabled(2, device=CUDA), x)[4], 0x40)
    finally:
        untrusted.set_stream(0)
    equal(exported, [])
    with raises(ValueError, "f(): argument 'a' (1st): its stream 0x40 on cuda:0 differs from stream=80"):
        function(any_tensor(), takes_stream=1)(x, stream=0x50)
    equal(function(any_tensor(), takes_stream=1)(x, stream=0x40)[2], 0x40)


def test_managed_memory_on_two_streams():
    untrusted.set_stream(0x50)
    try:
        with on(MANAGED, 1):
            equal(three(Tabled(2, device=MANAGED), x)[3:], ((MANAGED, 0), 0x50))
            equal(exported.pop()[1]["stream"], 0x50)
    finally:
        untrusted.set_stream(0)


def test_a_stream_that_is_not_reported():
    original = cupy.cuda.get_current_stream

    def fails(ordinal):
        raise RuntimeError("no stream")

    for stand_in, kind in (
        (fails, RuntimeError),
        (lambda ordinal: None, AttributeError),
        (lambda ordinal: StandInForStream("x"), TypeError),
    ):
        cupy.cuda.get_current_stream = stand_in
        try:
            with raises(kind, "f(): argument 'a' (1st): "):
                read(x)
        finally:
            cupy.cuda.get_current_stream = original


def test_what_keeps_the_memory():
    class Memory(cupy.cuda.UnownedMemory):
        pass

    host = numpy.zeros(64, "u1")
    memory = Memory(host.ctypes.data, 64, host, device_id=0)
    ends = weakref.ref(memory)
    a = cupy.ndarray((16,), "f4", cupy.cuda.MemoryPointer(memory, 0))
    held = checked.take(a, 0)
    before = checked.described(held)
    a.shape = 4, 4
    equal(checked.described(held), before)
    with raises(AttributeError, "data"):
        a.data = x.data
    del a, memory
    gc.collect()
    assert ends() is not None
    del held
    gc.collect()
    assert ends() is None


def test_a_type_that_derives():
    """It exports itself, unless CuPy's export would be wrong."""

    class Derived(cupy.ndarray):
        pass

    equal(three(x, array(2, kind=Derived))[4], 0x40)
    equal(exported.pop()[1]["stream"], 0x40)
    for bad in array(3, dtype=">f4", kind=Derived), array(2, 3, strides=(14, 4), kind=Derived):
        with raises(BufferError, "f(): argument 'b' (2nd): "):
            three(x, bad)
    equal(exported, [])


def test_without_native_readers():
    """Arrays are read through their capsule, unless CuPy's export would be wrong."""
    os.environ["DLPACKGEN_NO_NATIVE_READERS"] = "1"
    try:
        spec = importlib.util.spec_from_file_location("checked", checked.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        equal(module.run(read.which, x)[2], current[0])  # it still reports its stream
        equal(exported.pop()[1]["stream"], current[0])
        for bad in array(3, dtype=">f4"), array(2, 3, strides=(14, 4)):
            with raises(BufferError, "f(): argument 'a' (1st): "):
                module.run(read.which, bad)
    finally:
        del os.environ["DLPACKGEN_NO_NATIVE_READERS"]
    equal(exported, [])


class StandInForDevice:
    """The current device, for which CuPy itself queries the driver."""

    entered = []

    def __init__(self, ordinal):
        self.ordinal = ordinal

    def __enter__(self):
        self.entered.append(self.ordinal)
        return self

    def __exit__(self, *failure):
        self.entered.pop()


class OutOfMemory(MemoryError):
    """The exception of CuPy's allocator."""


def stand_in_for_alloc(size):
    assert StandInForDevice.entered == [where[1]], StandInForDevice.entered
    if size > 1 << 40:
        raise OutOfMemory("no memory on the device")
    return pointer(numpy.zeros(size, "u1"))


def stand_in_for_from_dlpack(tensor):
    t = checked.described(checked.take(tensor, 1))
    memory = cupy.cuda.UnownedMemory(t["data"], 1 << 20, tensor, device_id=0)
    return cupy.ndarray(t["shape"], "f4", cupy.cuda.MemoryPointer(memory, t["offset"]))


cupy.cuda.Device, cupy.cuda.alloc, cupy.from_dlpack = StandInForDevice, stand_in_for_alloc, stand_in_for_from_dlpack


def like(shape, a):
    return checked.like(read.which, FLOAT32, shape, 0, a)


def test_results():
    """The program's allocator allocates them, on the argument's device; also for a derived type."""

    class Derived(cupy.ndarray):
        pass

    for given in x, array(3, kind=Derived):
        made = like([5, 7], given)
        assert type(made) is cupy.ndarray and made.shape == (5, 7), made
        equal(like([0, 7], given).shape, (0, 7))
    exported.clear()
    with on(CUDA, 1):
        equal(like([2], x).shape, (2,))
    equal(StandInForDevice.entered, [])


def test_results_on_another_stream():
    """CuPy would read the result on its own stream, which has changed by the time of the
    allocation."""
    original, asked = cupy.cuda.get_current_stream, []

    def tells(ordinal):
        asked.append(ordinal)
        return StandInForStream(0x50 if len(asked) == changes_at else current[ordinal])

    cupy.cuda.get_current_stream, changes_at = tells, 0
    try:
        equal(like([3], x).shape, (3,))
        changes_at = len(asked)
        asked.clear()
        with raises(BufferError, "f(): argument 'a' (1st): its library's stream differs from the call's"):
            like([3], x)
    finally:
        cupy.cuda.get_current_stream = original


def test_results_in_managed_memory():
    asked, original = [], getattr(cupy.cuda, "malloc_managed")
    cupy.cuda.malloc_managed = lambda size: asked.append(size) or pointer(numpy.zeros(size, "u1"))
    try:
        with on(MANAGED, 1):
            equal(like([3], x).shape, (3,))
    finally:
        cupy.cuda.malloc_managed = original
    equal(asked, [12])


def test_what_keeps_the_memory_of_results():
    class Memory(cupy.cuda.MemoryPointer):
        pass

    made, original = [], cupy.cuda.alloc

    def alloc(size):
        host = numpy.zeros(size, "u1")
        memory = Memory(cupy.cuda.UnownedMemory(host.ctypes.data, size, host, device_id=0), 0)
        made.append(weakref.ref(memory))
        return memory

    cupy.cuda.alloc = alloc
    try:
        result = like([4], x)
    finally:
        cupy.cuda.alloc = original
    gc.collect()
    assert made[0]() is not None
    del result
    gc.collect()
    assert made[0]() is None


def test_results_that_cannot_be_made():
    with raises(OutOfMemory, "no memory on the device"):
        like([1 << 40], x)
    equal(StandInForDevice.entered, [])
    original = cupy.cuda.alloc
    for stand_in, kind in (lambda size: None, AttributeError), (lambda size: StandInForStream("x"), TypeError):
        cupy.cuda.alloc = stand_in
        try:
            with raises(kind, "f(): argument 'a' (1st): "):
                like([2], x)
        finally:
            cupy.cuda.alloc = original


def test_nothing_is_lost():
    def step():
        read(x)
        like([3], x)
        with raises(OutOfMemory):
            like([1 << 40], x)
        three(x, x)
        for bad in swapped, odd:
            with raises(BufferError):
                read(bad)

    swapped, odd = array(3, dtype=">f4"), array(2, 3, strides=(14, 4))
    no_leak(step, 8000)


main()
