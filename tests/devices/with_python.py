"""A module over dlpackgen_python that uses the CUDA backend, with the driver's stand-in: the owner
of a tensor's memory, stream order, results on the device."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "python"))

from check import *
from driver import *

both = function(any_tensor(), any_tensor(), takes_stream=1)
one = function(any_tensor())
PER_THREAD = 2
checked.use_device(capsule(table()), None)


def at(address, *shape, kind=Tabled, **changes):
    return kind(*shape or (16,), data=address, **{"device": CUDA, **changes})


def test_nothing_is_loaded_before_it_is_asked():
    read(Tabled(2))
    read(New(2))
    read(Tabled(2, device=METAL))
    assert not is_loaded()
    read(at(0, 0))
    assert not is_loaded(), "a tensor without elements is nowhere"
    with raises(
        BufferError,
        "its declared device cuda:0 does not match the driver's cpu:0 for memory 0x",
        "; it may have been freed",
    ):
        read(at(DATA))
    assert is_loaded()


def test_whose_memory_it_is():
    plain, other = driver.memory("plain", 0), driver.memory("plain", 1)
    for ordinal, address in enumerate((plain, other)):
        equal(read(at(address, device_id=ordinal))[1], (CUDA, ordinal))
    with raises(
        BufferError,
        "f(): argument 'a' (1st): its declared device cuda:0 does not match the driver's cuda:1 for memory ",
    ):
        read(at(other))
    with raises(BufferError, "f(): argument 'b' (2nd): its declared device cuda:0 does not match the driver's cuda:1"):
        both(at(plain), at(other))
    with raises(BufferError, "its declared device cudahost:0 does not match the driver's cuda:0"):
        read(at(plain, device=PINNED))
    for kind, device in ("pinned", PINNED), ("managed", MANAGED):
        address = driver.memory(kind, 1)
        read(at(address, device=device))
        with raises(BufferError, "its declared device cuda:1 does not match the driver's "):
            read(at(address, device_id=1))
    for kind, text in (
        ("foreign", "belongs to a context that the program created"),
        ("unmapped", "there is no memory at the address"),
        ("array", "a texture array"),
    ):
        with raises(BufferError, "f(): argument 'a' (1st): cuda: pointer_attributes of ", text):
            read(at(driver.memory(kind, 0)))
    driver.fails("cuPointerGetAttributes", 700)
    with raises(
        RuntimeError, "f(): argument 'a' (1st): cuda: pointer_attributes of ", "CUDA_ERROR_ILLEGAL_ADDRESS (700)"
    ):
        read(at(plain))
    driver.fails("cuPointerGetAttributes", 0)
    with frees_all(), raises(BufferError, "its declared device cuda:0 does not match"):
        both(at(plain), at(other, kind=New))


def test_byte_ranges_of_elements():
    plain = driver.memory("plain", 0)
    read(at(plain + 32, 8))
    read(at(plain, 8, offset=32))
    read(at(plain + 60, 16, strides=[-1]))
    for shape, address, reaches in (16, plain + 4, 67), (17, plain, 67), (16, plain + 56, -4):
        strides = [-1] if reaches < 0 else [1]
        with raises(
            BufferError, f"does not match the driver's cpu:0 for memory {plain + reaches:#x}; it may have been freed"
        ):
            read(at(address, shape, strides=strides))
    with raises(BufferError, f"for memory {plain + 95:#x}"):
        read(at(plain, 16, offset=32))
    split = driver.memory("split", 0)
    read(at(split, 32))
    with raises(BufferError, f"for memory {split + 131:#x}"):
        read(at(split, 33))


def test_the_driver_is_not_asked_about_the_host():
    driver.log()
    both(Tabled(2), New(2))
    equal(driver.log(), [])


@contextlib.contextmanager
def works_on(stream):
    untrusted.set_stream(stream)
    try:
        yield
    finally:
        untrusted.set_stream(0)


def test_libraries_are_waited_for():
    """And wait for the call: its stream is 2, from library s@0."""
    plain = driver.memory("plain", 0)
    read(at(plain))  # loads the driver if this test runs alone
    with works_on(driver.stream(0, 0)):
        driver.log()
        lent = at(plain)
        equal(both(lent, at(plain), stream=PER_THREAD)[3], PER_THREAD)
        equal(lent.asked, [])
    asks = ["cuPointerGetAttributes(7"] * 2
    there = ["cuEventCreate(2", "cuEventRecord(s@0", "cuStreamWaitEvent(2,0", "cuEventDestroy("] * 2
    back = ["cuEventCreate(2", "cuEventRecord(2", "cuStreamWaitEvent(s@0,0", "cuEventDestroy("] * 2
    equal(driver.log(), there + asks + back)
    equal(driver.alive(), 0)


def test_two_libraries_on_two_streams():
    plain = driver.memory("plain", 0)
    streams = ctypes.create_string_buffer(0x2000)
    for offset in 0, 0x1000:
        ctypes.memmove(ctypes.addressof(streams) + offset, driver.stream(0, 0), 32)
    with works_on(ctypes.addressof(streams)):
        driver.log()
        lent = at(plain, kind=table_type(6))
        equal(function(any_tensor(), any_tensor())(at(plain), lent)[3], ctypes.addressof(streams))
    equal(lent.asked, [])
    equal([call for call in driver.log() if "Wait" in call], ["cuStreamWaitEvent(s@0,0"] * 2)


def test_streams_that_agree_are_left_alone():
    plain = driver.memory("plain", 0)
    with works_on(driver.stream(0, 0)):
        driver.log()
        both(at(plain), at(plain))
    equal(driver.log(), ["cuPointerGetAttributes(7"] * 2)


def test_order_that_is_rejected():
    plain, captured = driver.memory("plain", 0), driver.stream(0, 0)
    driver.capture(captured, 1, 7)
    with works_on(captured), frees_all():
        with raises(
            RuntimeError,
            "f(): argument 'a' (1st): cuda: stream_wait: the producer's stream is captured, but the consumer's is not",
        ):
            both(at(plain), at(plain), stream=PER_THREAD)
    equal(driver.alive(), 0)


def test_order_that_fails_at_the_end():
    told = []
    plain = driver.memory("plain", 0)
    sys.unraisablehook, hook = told.append, sys.unraisablehook
    try:
        with works_on(driver.stream(0, 0)):
            driver.fails("cuEventRecord", 719, 1)
            equal(both(at(plain), New(2, device=CUDA, data=plain), stream=PER_THREAD)[3], PER_THREAD)
    finally:
        sys.unraisablehook = hook
        driver.fails("cuEventRecord", 0)
    equal(len(told), 1)
    assert "f(): argument 'a' (1st): cuda: stream_wait: " in str(told[0].exc_value), told
    equal(driver.alive(), 0)


def test_streams_of_another_device():
    plain, own, other = driver.memory("plain", 0), driver.stream(0, 0), driver.stream(1, 0)
    with (
        frees_all(),
        raises(ValueError, "f(): argument 'stream': cuda: ", f"the stream {other:#x} is of device 1, not of device 0"),
    ):
        both(at(plain), New(2, device=CUDA, data=plain), stream=other)
    for number, handle in (own, own), (1, 0), (PER_THREAD, PER_THREAD):
        given = at(plain, kind=New)
        equal(both(given, at(plain, kind=New), stream=number)[3], handle)
        equal(given.asked[-1]["stream"], number)
    with raises(ValueError, "f(): argument 'stream': 0 is invalid on cuda:0, where 1 is the default stream"):
        both(at(plain), at(plain), stream=0)


def test_the_stream_of_the_program():
    plain = driver.memory("plain", 0)
    given = at(plain, kind=New)
    with raises(ValueError, "f(): argument 'a' (1st): no current stream is known for cuda:0"):
        one(given)
    checked.use_device(capsule(table()), PER_THREAD)
    try:
        equal(one(given)[2], PER_THREAD)
        equal(given.asked[-1]["stream"], PER_THREAD)
        with works_on(driver.stream(0, 0)):
            assert one(at(plain))[2] != PER_THREAD, "a library that tells its stream comes first"
        with raises(RuntimeError, "f(): argument 'a' (1st): cuda: current_work_stream: there is no device 7"):
            one(at(plain, kind=New, device_id=7))
        with raises(ValueError, "no current stream is known"):
            one(at(DATA, kind=New, device=METAL))
    finally:
        checked.use_device(capsule(table()), None)


@contextlib.contextmanager
def on_the_programs(stream):
    checked.use_device(capsule(table()), stream)
    try:
        yield
    finally:
        checked.use_device(capsule(table()), None)


def test_results_on_the_device():
    import numpy

    given = at(driver.memory("plain", 0), kind=New)
    with on_the_programs(PER_THREAD):
        driver.log()
        made = checked.like(one.which, FLOAT32, [2, 3], 0, given)
        log = driver.log()
        assert "cuMemAllocAsync(24,2" in log and "cuEventRecord(2" in log, log
        equal((type(made).__name__, made.__dlpack_device__()), ("Tensor", (CUDA, 0)))
        for stream, calls in (
            (None, ["cuEventCreate(2", "cuEventRecord(2", "cuStreamWaitEvent(1,0", "cuEventDestroy("]),
            (PER_THREAD, []),
            (-1, []),
        ):
            made.__dlpack__(stream=stream, max_version=(1, 0))
            equal(driver.log(), calls)
        copied = numpy.from_dlpack(made, device="cpu")
        equal((copied.shape, copied.tolist()), ((2, 3), [[0, 0, 0]] * 2))
        assert "cuMemcpyAsync(24,2" in driver.log()
        padded = untrusted.consume(
            checked.like(one.which, FLOAT4, [5], 7, given, PADDED).__dlpack__(dl_device=(CPU, 0), max_version=(1, 0))
        )
        equal([untrusted.look(padded)[2], ctypes.string_at(untrusted.look(padded)[6], 5)], [COPIED | PADDED, b"\7" * 5])
        untrusted.release(padded)
        assert "cuMemcpyAsync(5,2" in driver.log(), "elements of a byte each"
        with raises(BufferError, "only host memory with elements of whole bytes can be copied"):
            made.__dlpack__(copy=True)
        with raises(BufferError, "the tensor is on device (2, 0), requested (1, 0)"):
            made.__dlpack__(dl_device=(CPU, 0), copy=False)
        driver.fails("cuMemcpyAsync", 700)
        with raises(RuntimeError, "cuda: copy of 24 bytes: CUDA_ERROR_ILLEGAL_ADDRESS"):
            made.__dlpack__(dl_device=(CPU, 0))
        driver.fails("cuMemcpyAsync", 0)
        captured = driver.stream(0, 0)
        driver.capture(captured, 1, 7)
        with raises(RuntimeError, "cuda: stream_wait: the consumer's stream is captured"):
            made.__dlpack__(stream=captured)
        driver.log()
        capsule_of = made.__dlpack__(stream=-1)
        del made
        equal(driver.log(), [])
        del capsule_of
        assert "cuMemFreeAsync(s@0" in driver.log()
        equal(driver.alive(), 0)


def test_results_of_libraries_without_an_allocator():
    untrusted.allocate_wrongly(10)
    untrusted.wrap_as(1)
    try:
        given = at(driver.memory("plain", 0), kind=table_type(5))
        with works_on(PER_THREAD):
            driver.log()
            made = checked.like(one.which, FLOAT32, [2, 3], 0, given)
            log = driver.log()
            assert "cuMemAllocAsync(24,2" in log and "cuEventRecord(2" in log, log
            del made
            assert "cuMemFreeAsync" in str(driver.log())
    finally:
        untrusted.wrap_as(0)
        untrusted.allocate_wrongly(0)


def test_passed_tensors_are_read_by_the_host():
    """Also for a function's own exports, which are finished: on the default stream."""
    import numpy

    with on_the_programs(PER_THREAD):
        given = checked.give(at(driver.memory("plain", 0), kind=New), 0)
    equal(given.__dlpack_device__(), (CUDA, 0))
    driver.log()
    equal(numpy.from_dlpack(given, device="cpu").shape, (16,))
    calls = driver.log()
    assert "cuMemcpyAsync(64,1" in calls, calls
    given.__dlpack__(dl_device=(CPU, 0), copy=True)
    with raises(BufferError, "the tensor is on device (2, 0), requested (1, 0)"):
        given.__dlpack__(dl_device=(CPU, 0), copy=False)
    driver.log()
    given.__dlpack__(stream=PER_THREAD)
    equal(driver.log(), [])


def test_results_as_arguments():
    """A call on another stream than the result's waits for it, and so does a call that keeps the
    result."""
    given = at(driver.memory("plain", 0), kind=New)
    with on_the_programs(PER_THREAD):
        made = checked.like(one.which, FLOAT32, [16], 0, given)
        driver.log()
        equal(one(made)[1:], ((CUDA, 0), PER_THREAD))
        equal([call for call in driver.log() if "Wait" in call], [])
    with on_the_programs(1):
        equal(one(made)[1:], ((CUDA, 0), 0))
        equal([call for call in driver.log() if "Wait" in call], ["cuStreamWaitEvent(1,0"])
    with works_on(driver.stream(0, 0)):
        both(at(given.desc["data"]), made)
        equal([call for call in driver.log() if "Wait" in call], ["cuStreamWaitEvent(s@0,0"])
    checked.take(made, 0)
    equal([call for call in driver.log() if "Wait" in call], ["cuStreamWaitEvent(1,0"])


def test_results_without_memory():
    given = at(driver.memory("plain", 0), kind=New)
    with on_the_programs(PER_THREAD):
        with raises(
            MemoryError, "cuda: allocate: 4000000000000 bytes of device type 2 on device 0: CUDA_ERROR_OUT_OF_MEMORY"
        ):
            checked.like(one.which, FLOAT32, [1000000000000], 0, given)
        managed = at(driver.memory("managed", 0), kind=New, device=MANAGED)
        with raises(ValueError, "no current stream is known"):
            checked.like(one.which, FLOAT32, [2], 0, managed)
    with raises(BufferError, "its library cannot allocate on metal:0"):
        with works_on(5):
            checked.like_on(
                function(any_tensor(), takes_stream=1).which, FLOAT32, [2], at(DATA, kind=New, device=METAL)
            )


def test_tables_of_other_versions():
    for name, value in ("abi_version", 2), ("size", 8):
        other = Table.from_buffer_copy(table().contents)
        setattr(other, name, value)
        with raises(
            ValueError, f"the backend's table has version {other.abi_version}, expected 1"
        ):
            checked.use_device(capsule(ctypes.pointer(other)), None)
    with raises(ValueError, "PyCapsule_GetPointer"):
        checked.use_device(untrusted.table(0), None)
    with raises(ValueError, "has version 0"):
        checked.device_capsule(METAL)
    checked.use_device(checked.device_capsule(CUDA), None)


def test_as_many_back_ends_as_there_is_room_for():
    room = (ctypes.c_char * table().contents.size * 4)()
    for i in range(4):
        ctypes.memmove(room[i], table(), table().contents.size)
        Table.from_buffer(room[i]).device_type = 100 + i
    kept.append(room)
    for i in range(3):
        checked.use_device(capsule(room[i]), None)
    with raises(RuntimeError, "too many backends: at most 4"):
        checked.use_device(capsule(room[3]), None)
    checked.use_device(capsule(room[2]), None)


kept = []
main()
