"""Checks of the table's users, and of other libraries' interfaces: Python modules in C, the package
for torch, and programs."""

import ctypes
import gc
import os
import statistics
import sys

import exchange
from checks import BIN, REHEARSAL, ROOT, Missing, check, module, need, program, somewhere
from table import Wrapped, stream

BUILT = []


def extension():
    """The prebuilt module checked, and check.py of tests/python for it."""
    os.environ["MODULES"] = BIN
    sys.path.insert(0, os.path.join(ROOT, "tests", "python"))
    try:
        return __import__("check")
    except ImportError as why:
        raise Missing(f"no module for this Python: {why}") from why


def capsule(b):
    """The backend for modules; they keep its table, which exists until the process ends."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(b.table), b"dlpackgen_backend", None)


def with_back_end(b, program_stream=None):
    shared = extension()
    shared.checked.use_device(capsule(b), program_stream)
    return shared


@check
def programs_in_go(_):
    out = program("golang", "0")
    assert out[-1] == "together" and "a borrow of a device's tensor adds 1" in out, out


@check
def conformance(_):
    out = program("conformance", statuses=(0, 77))  # 77: order is not tested without hooks
    assert out[-1].endswith(" checks, 0 failed"), out
    return out[-1]


def places_of(torch, where):
    x = torch.arange(24, dtype=torch.float32, device=where).reshape(4, 6)
    return x, x.t(), x[1:, ::2], x[:, :1], x[2, 3]


def as_torch_says(seen, x, torch):
    index, kind = x.device.index or 0, 2 if x.is_cuda else 1
    assert seen["data"] + seen["offset"] == x.data_ptr(), seen
    assert (seen["shape"], seen["strides"]) == (tuple(x.shape), tuple(x.stride())), seen
    assert seen["device"] == (kind, index) and seen["dtype"] == 2 | 32 << 8 | 1 << 16, seen


@check
def modules_read_torch(b):
    """Through the shim, and through each of torch's tables; with and without the driver's
    answer."""
    torch, where = somewhere()
    shared = extension()
    read, write = shared.read, shared.function(shared.any_tensor(writes=1))
    for x in places_of(torch, where):
        for f in (read, write):
            as_torch_says(f(x)[0], x, torch)
    if REHEARSAL:
        return "tensors on the CPU"
    side = torch.cuda.Stream()
    for current in (torch.cuda.current_stream(), side):
        with torch.cuda.stream(current):
            assert (read(x)[2] or 0) == current.cuda_stream, "the stream of the call is torch's"
    with_back_end(b)
    for x in places_of(torch, where):
        as_torch_says(read(x)[0], x, torch)


@check
def modules_reject_kinds_of_torch(_):
    """Tensors without plain memory, whose keys differ from those of plain tensors on each
    device."""
    torch, where = somewhere()
    shared = extension()
    x, shrunk = torch.ones(4, device=where), torch.ones(4, device=where)
    shared.read(x)
    shrunk.untyped_storage().resize_(7)
    for bad, says in (
        (torch._neg_view(x), "negated values"),
        (torch.ones(4, device=where, dtype=torch.complex64).conj(), "conjugated values"),
        (x.to_sparse(), "has no strided memory"),
        (torch._efficientzerotensor((4,), device=where), "it has elements but no memory"),
        (shrunk, "it needs 16 bytes of storage, but its storage was resized to 7"),
    ):
        try:
            shared.read(bad)
        except BufferError as why:
            assert says in str(why), why
        else:
            raise AssertionError(f"taken: {says}")


@check
def modules_read_cupy(b):
    cupy = need("cupy")
    shared = with_back_end(b)
    a = cupy.arange(24, dtype="float32").reshape(4, 6)
    side = cupy.cuda.Stream(non_blocking=True)
    for view in (a, a.T, a[1:, ::2], a[:0]):
        seen = shared.read(view)[0]
        assert not view.size or seen["data"] == view.data.ptr
        assert seen["shape"] == view.shape and seen["device"] == (2, a.device.id), seen
    with side:
        assert shared.read(a)[2] == side.ptr, "the stream of the call is CuPy's"
    managed = cupy.ndarray((4,), "float32", cupy.cuda.malloc_managed(16))
    try:
        assert shared.read(managed)[0]["device"] == (13, 0)
    except ValueError as why:
        raise AssertionError(f"managed memory of CuPy was not read: {why}") from why
    try:
        shared.read(cupy.ndarray((3,), ">f4", a.data))
    except BufferError as why:
        assert "not in native byte order" in str(why), why
    else:
        raise AssertionError("the other byte order was read")


@check
def modules_read_jax(b):
    jax = module("jax")
    if not REHEARSAL and jax.default_backend() != "gpu":
        raise Missing("jax sees no GPU")
    shared = with_back_end(b, 2)
    x = jax.numpy.arange(24, dtype="float32").reshape(4, 6)
    seen = shared.read(x)[0]
    assert seen["shape"] == (4, 6) and seen["data"] == x.unsafe_buffer_pointer(), seen
    assert seen["device"] == ((1, 0) if REHEARSAL else (2, 0)), seen


@check
def modules_reject_what_the_driver_denies(b):
    """A tensor that declares the device, but is in pinned memory, or was freed."""
    shared = with_back_end(b, 2)
    for kind in (3, 13):
        ours = b.alloc(16, (kind, 0))
        address = ours.contents.tensor.data
        lies = shared.New(16, data=address, device=2)
        for gone in (False, True):
            if gone:
                b.call("free", ours)
            try:
                shared.read(lies)
            except BufferError as why:
                says = "cpu:0" if gone else {3: "cudahost:0", 13: "cudamanaged:0"}[kind]
                assert f"its declared device cuda:0 does not match the driver's {says} for memory" in str(why), why
            else:
                raise AssertionError("taken")


@check
def results_are_made_on_the_device(b):
    cupy = need("cupy")
    shared = with_back_end(b)
    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        a = cupy.arange(1000, dtype="float32")
        which = shared.function(shared.any_tensor()).which
        made = shared.checked.like(which, shared.FLOAT32, [10, 20], -1, a)
        assert isinstance(made, cupy.ndarray) and made.shape == (10, 20) and made.device == a.device
        address = made.data.ptr
        made.fill(3)
        assert float(made.sum()) == 600 and b.info(address)[0] == (2, a.device.id)
        side.synchronize()
        del made
        gc.collect()


@check
def results_reach_the_host(b):
    """A module's own device tensor, copied by numpy; its values are arbitrary."""
    numpy = module("numpy")
    shared = with_back_end(b, 2)
    ours = b.alloc(16)
    given = shared.New(16, data=ours.contents.tensor.data, device=2)
    made = shared.checked.like(shared.function(shared.any_tensor()).which, shared.FLOAT32, [4, 5], -1, given)
    assert made.__dlpack_device__() == (2, 0)
    assert numpy.from_dlpack(made, device="cpu").shape == (4, 5)
    del made
    b.call("free", ours)


@check
def libraries_wait_for_each_other(b):
    """A call with CuPy's stream waits for torch's stream, and torch's for the call."""
    torch, cupy = need("torch"), need("cupy")
    shared = with_back_end(b)
    f = shared.function(shared.any_tensor(), shared.any_tensor())
    theirs, ours = torch.cuda.Stream(), cupy.cuda.Stream(non_blocking=True)
    x, n = torch.zeros(1 << 20, device="cuda"), 1 << 20
    torch.cuda.synchronize()
    with torch.cuda.stream(theirs):
        torch.cuda._sleep(200_000_000)
        x.fill_(1)
        with ours:
            a = cupy.zeros(n, dtype="float32")
            out = f(a, x)
            assert out[3] == ours.ptr, "CuPy came first"
            view = cupy.ndarray(
                (n,), "float32", cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(x.data_ptr(), 4 * n, x), 0)
            )
            a += view
    torch.cuda.synchronize()
    assert float(a.sum()) == n, f"{float(a.sum())} of {n} elements were there"
    with torch.cuda.stream(torch.cuda.ExternalStream(ours.ptr)):
        torch.cuda._sleep(200_000_000)
    with ours:
        a.fill(2)
        with torch.cuda.stream(theirs):
            f(a, x)
            seen = torch.from_dlpack(Wrapped_cupy(a)).sum()
    torch.cuda.synchronize()
    assert seen.item() == 2 * n, "torch went on before the work of the call was done"


class Wrapped_cupy:
    """A CuPy array without stream order, which is what this checks."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **asked):
        return self.a.__dlpack__(stream=-1)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


def package():
    """dlpackgen_torch, built here."""
    if not BUILT:
        try:
            BUILT.append(exchange.build(somewhere()[0]))
        except OSError as why:
            raise Missing(str(why)) from why
    return BUILT[0]


def through(table, torch, where, streams):
    """Checks an exchange table with tensors and streams of each device."""
    for ordinal in range(torch.cuda.device_count() if streams else 1):
        device = f"cuda:{ordinal}" if streams else where
        for view in places_of(torch, device):
            table.check(view, (2, ordinal) if streams else (1, 0))
        if not streams:
            continue
        with torch.cuda.device(ordinal):
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                assert table.current_stream(2, ordinal) == side.cuda_stream
            assert not table.current_stream(2, ordinal), "NULL is the legacy default stream"


@check
def torchs_own_table(_):
    torch, where = somewhere()
    holder = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if holder is None:
        raise Missing("this torch has no exchange table")
    through(exchange.Exchange(holder), torch, where, not REHEARSAL)


@check
def our_tables_of_torch(_):
    torch, where = somewhere()
    tables = [getattr(package(), name) for name in ("exchange_api", "exchange_api_object_owned")]
    for table in tables:
        through(exchange.Exchange(table), torch, where, not REHEARSAL)
    read_only = exchange.Exchange(package().exchange_api_read_only)
    if not REHEARSAL:
        assert not read_only.current_stream(2, 0)


@check
def the_installed_table_is_read_by_modules(_):
    torch, where = somewhere()
    shared = extension()
    package().install()
    try:
        for x in places_of(torch, where):
            as_torch_says(shared.read(x)[0], x, torch)
    finally:
        package().uninstall()


@check
def our_consumer_takes_ours(b):
    torch, _ = somewhere()
    taken = package()
    taken.use_backend(capsule(b))
    device = (3, 0) if REHEARSAL else (2, 0)
    ours = b.alloc(256, device)
    address = ours.contents.tensor.data
    t = taken.from_dlpack(Wrapped(ours, device))
    assert t.data_ptr() == address and t.is_cuda != REHEARSAL
    t.fill_(2)
    assert t.sum().item() == 512
    del t
    gc.collect()
    assert b.info(address)[0] == (1, 0), "the deleter freed the memory"
    if REHEARSAL:
        return "pinned memory"
    lies = b.alloc(256, (3, 0))
    lies.contents.tensor.device.type = 2
    try:
        taken.from_dlpack(Wrapped(lies, (2, 0)))
    except BufferError as why:
        assert "does not match the driver's (3, 0)" in str(why), why
    else:
        raise AssertionError("pinned memory was taken for the device's")


@check
def our_consumer_keeps_memory_until_torch_is_done(b):
    """The block is not reused while a kernel still reads it."""
    torch = need("torch")
    taken = package()
    taken.use_backend(capsule(b))
    side, n = torch.cuda.Stream(), 1 << 20
    ours = b.alloc(n)
    t = taken.from_dlpack(Wrapped(ours, (2, 0)))
    t.fill_(1)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(1_000_000_000)
        total = t.sum()
        del t
    assert not side.query(), "the deleter waited on the host"
    others = [b.alloc(n) for _ in range(4)]
    for other in others:
        taken.from_dlpack(Wrapped(other, (2, 0))).fill_(7)
    torch.cuda.synchronize()
    assert total.item() == n, "the memory was given out again too early"


@check
def both_streams_captured_into_one_graph(b):
    torch = need("torch")
    graph, side, other = torch.cuda.CUDAGraph(), torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.ones(16, device="cuda")
    with torch.cuda.graph(graph, stream=side):
        y = x + 1
        event = torch.cuda.Event()
        event.record(side)
        other.wait_event(event)  # a stream that is not captured yet is rejected
        b.order(stream(other.cuda_stream), stream(side.cuda_stream))
        with torch.cuda.stream(other):
            z = y * 2
        b.order(stream(side.cuda_stream), stream(other.cuda_stream))
    x.fill_(2)
    graph.replay()
    torch.cuda.synchronize()
    assert z.sum().item() == 96


@check
def calls_beside_tvm_ffi(b):
    """f(a, b, c) with new tensors and every check, interleaved."""
    torch, where = somewhere()
    sys.path.insert(0, BIN)
    fast, tvm = module("fast"), module("tvm_ffi")
    if not os.path.exists(os.path.join(BIN, "nop_ffi.so")):
        raise Missing("no nop_ffi.so among the programs")
    sys.path.insert(0, os.path.join(ROOT, "bench", "testdata", "python"))
    import measure

    functions = {"ours": fast.held, "tvm-ffi": tvm.load_module(os.path.join(BIN, "nop_ffi.so")).nop}
    took = measure.rounds_of(functions, lambda i: torch.full((16,), float(i), device=where), 3 if REHEARSAL else 15)
    share = statistics.median(o / t for o, t in zip(took["ours"], took["tvm-ffi"]))
    return f"{statistics.median(took['ours']):.0f} ns, tvm-ffi {statistics.median(took['tvm-ffi']):.0f} ns, share {share:.3f}"
