"""Checks CUDA's backend on a machine with a GPU, beside torch, cupy and jax where
they are there. Prints a line for each check, and ends with 1 when one failed.
usage: gpu.py BIN [CHECK...]"""

import ctypes
import gc
import os
import subprocess
import sys
import time

import checks
from checks import BIN, Missing, check, need, program, rejected
from table import Backend, Rejected, Wrapped, stream


def steps(*words):
    return program("client", *words)


@check
def starts(b):
    version, devices = b.probe()
    assert devices >= 1
    return f"driver {version}, {devices} device(s)"


@check
def every_step_in_c(_):
    out = steps(
        "probe",
        "alloc:2:0:1024",
        "alloc:3:0:16",
        "info:t0+128",
        "info:t1",
        "info:h",
        "order:2:0:1:0",
        "finish:2:0",
        "copy:2:0:t0:1:0:h:64@1@0",
        "copy:1:0:h+64:2:0:t0:64@2@0",
        "copy:2:0:t0:3:0:t1:64@1@0",
        "keep:0:2:0",
        "finish:1:0",
        "delete:0",
        "deletethere:1",
        "finish:1:0",
    )
    assert all(" ok" in line for line in out), out
    assert out[3].endswith("ok 2 0 0 +128 4096"), out[3]
    assert out[4].startswith("info ok 3 0 0 +0 "), out[4]
    assert out[5] == "info ok 1 0 -1 +-1 0", out[5]


@check
def rejections_in_c(_):
    out = steps(
        "alloc:2:99:4", "alloc:2:0:400000000000000", "number:2:0:0", "info:n", "alloc:2:0:0", "copy:2:0:h:1:0:h:16@1@0"
    )
    assert [line.split()[1] for line in out] == ["9", "19", "10", "7", "ok", "16"], out


@check
def forked_children_are_told(_):
    assert steps("probe", "alloc:2:0:4", "fork", "count", "delete:0")[-1].startswith("count 6 ")


@check
def deleter_at_exit(_):
    assert steps("alloc:2:0:4", "atexit") == ["alloc ok 2 0 4 1 data"]


@check
def managed_memory(b):
    t = b.alloc(1024, (13, 0))
    assert b.info(t.contents.tensor.data)[0] == (13, 0)
    b.call("free", t)


ASKING = """
import ctypes, sys
from table import Backend
Backend(sys.argv[1], "dlpackgen_cuda").info(id(sys))
flags, active = ctypes.c_uint(), ctypes.c_int(7)
code = ctypes.CDLL("libcuda.so.1").cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active))
print(code, active.value)
"""


@check
def no_context_is_started_by_asking(_):
    here, library = (
        os.path.dirname(os.path.abspath(__file__)),
        os.path.join(os.path.abspath(BIN), "libdlpackgen_cuda.so"),
    )
    out = subprocess.run(
        [sys.executable, "-c", ASKING, library], capture_output=True, text=True, timeout=120, check=True, cwd=here
    )
    assert out.stdout == "0 0\n", out.stdout


@check
def numpy_takes_ours_where_the_host_reads_it(b):
    numpy = need("numpy")
    for device in ((3, 0), (13, 0)):
        ours = b.alloc(256, device)
        address = ours.contents.tensor.data
        a = numpy.from_dlpack(Wrapped(ours, device))
        assert a.ctypes.data == address and a.shape == (256,) and b.info(address)[0] == device
        del ours, a
        gc.collect()
        assert b.info(address)[0] == (1, 0), "the deleter freed the memory"


@check
def kinds_of_torch(b):
    torch = need("torch")
    x = torch.arange(1000, device="cuda")
    (kind, p) = b.info(x[10:].data_ptr())
    assert kind == (2, x.device.index) and p.base is not None
    assert b.info(torch.empty(16, pin_memory=True).data_ptr())[0] == (3, 0)
    assert b.info(torch.empty(16).data_ptr())[0] == (1, 0)


@check
def kinds_of_cupy(b):
    cupy = need("cupy")
    assert b.info(cupy.arange(10).data.ptr)[0] == (2, 0)
    managed = cupy.cuda.malloc_managed(1024)
    assert b.info(managed.ptr)[0] == (13, 0)
    pinned = cupy.cuda.alloc_pinned_memory(1024)
    assert b.info(pinned.ptr)[0] == (3, 0)
    pooled = cupy.cuda.malloc_async(1024)
    assert b.info(pooled.ptr)[0] == (2, 0)


@check
def order_really_orders(b):
    torch = need("torch")
    producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
    torch.zeros(1 << 20, device="cuda").fill_(1).sum()  # kernels are loaded when they run first, which waits
    lost = 0
    for ordered in (False, True):
        x = torch.zeros(1 << 20, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(producer):
            torch.cuda._sleep(200_000_000)
            x.fill_(1)
        if ordered:
            b.order(stream(consumer.cuda_stream), stream(producer.cuda_stream))
        with torch.cuda.stream(consumer):
            seen = x.sum()
        torch.cuda.synchronize()
        if ordered:
            assert seen.item() == 1 << 20, seen.item()
        else:
            lost = (1 << 20) - int(seen.item())
    assert lost > 0, "without order the consumer should have come first: the kernel was too short"
    return f"without order {lost} elements were read too early, with it none"


@check
def order_does_not_wait(b):
    torch = need("torch")
    producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(producer):
        torch.cuda._sleep(500_000_000)
    begin = time.perf_counter()
    b.order(stream(consumer.cuda_stream), stream(producer.cuda_stream))
    took = time.perf_counter() - begin
    assert not producer.query(), "the kernel was too short"
    torch.cuda.synchronize()
    return f"{took * 1e6:.0f} us while the producer was at work"


@check
def captures_are_rejected_and_survive(b):
    torch = need("torch")
    graph, side, other = torch.cuda.CUDAGraph(), torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.ones(16, device="cuda")
    texts = []
    earlier = b.alloc(1024, (2, 0), other.cuda_stream)
    with torch.cuda.graph(graph, stream=side):
        captured = stream(side.cuda_stream)
        y = x + 1
        texts.append(rejected(12, b.order, stream(2), captured))
        texts.append(rejected(12, b.order, captured, stream(2)))
        texts.append(rejected(12, b.alloc, 16, (2, 0), side.cuda_stream))
        texts.append(rejected(12, b.call, "finish", ctypes.byref(captured)))
        earlier.contents.deleter(earlier)
    graph.replay()
    torch.cuda.synchronize()
    assert y.sum().item() == 32, "the capture was not broken"
    return texts[0]


@check
def a_host_function_may_free(b):
    torch = need("torch")
    ours, side = b.alloc(256, (3, 0)), torch.cuda.Stream()
    address = ours.contents.tensor.data
    free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: ours.contents.deleter(ours))
    assert ctypes.CDLL("libcuda.so.1").cuLaunchHostFunc(ctypes.c_void_p(side.cuda_stream), free, None) == 0
    side.synchronize()
    for _ in range(10_000):
        if b.info(address)[0] == (1, 0):
            return
        time.sleep(0.001)
    raise AssertionError("the memory was not given back")


RESET = """
import ctypes, sys
from table import Backend
b = Backend(sys.argv[1], "dlpackgen_cuda")
before = b.alloc(16)
print(ctypes.CDLL("libcuda.so.1").cuDevicePrimaryCtxReset_v2(0))
after = b.alloc(16)
print(b.info(after.contents.tensor.data)[0])
before.contents.deleter(before)
b.call("free", after)
"""


@check
def a_reset_is_noticed(_):
    here, library = (
        os.path.dirname(os.path.abspath(__file__)),
        os.path.join(os.path.abspath(BIN), "libdlpackgen_cuda.so"),
    )
    out = subprocess.run(
        [sys.executable, "-c", RESET, library], capture_output=True, text=True, timeout=120, check=True, cwd=here
    )
    assert out.stdout == "0\n(2, 0)\n", out.stdout


@check
def memory_of_graphs(b):
    torch = need("torch")
    rt = ctypes.CDLL("libcuda.so.1")
    side, node = torch.cuda.Stream(), ctypes.c_void_p()
    graph = ctypes.c_void_p()
    assert rt.cuStreamBeginCapture_v2(ctypes.c_void_p(side.cuda_stream), 2) == 0
    assert rt.cuMemAllocAsync(ctypes.byref(node), ctypes.c_size_t(4096), ctypes.c_void_p(side.cuda_stream)) == 0
    try:
        kind = b.info(node.value)[0]
        assert kind == (1, 0), "memory of a graph counts as the device's"
        return "the driver does not know the address"
    except Rejected as why:
        assert why.code == 14, why
        return str(why)
    finally:
        rt.cuStreamEndCapture(ctypes.c_void_p(side.cuda_stream), ctypes.byref(graph))


@check
def torch_takes_ours(b):
    torch = need("torch")
    ours = b.alloc(256)
    address = ours.contents.tensor.data
    t = torch.from_dlpack(Wrapped(ours, (2, 0)))
    assert t.data_ptr() == address and t.shape == (256,)
    t.fill_(3)
    assert t.sum().item() == 768
    del t
    gc.collect()


@check
def cupy_takes_ours(b):
    cupy = need("cupy")
    ours = b.alloc(256)
    address = ours.contents.tensor.data
    a = cupy.from_dlpack(Wrapped(ours, (2, 0)))
    assert a.data.ptr == address
    a[:] = 2
    assert float(a.sum()) == 512


@check
def jax_takes_ours(b):
    jax = need("jax")
    if jax.default_backend() != "gpu":
        raise Missing("jax sees no GPU")
    ours = b.alloc(256)
    t = stream(None)
    b.call("finish", ctypes.byref(t))
    address = ours.contents.tensor.data
    x = jax.dlpack.from_dlpack(Wrapped(ours, (2, 0)))
    assert x.shape == (256,) and x.unsafe_buffer_pointer() == address
    del x
    gc.collect()
    assert b.info(address)[0] == (1, 0), "the deleter freed the memory"


@check
def the_deleter_waits_for_the_work(b):
    torch = need("torch")
    side = torch.cuda.Stream()
    ours = b.alloc(1 << 20)
    t = torch.from_dlpack(Wrapped(ours, (2, 0))).fill_(1)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(500_000_000)
        total = t.sum()
    b.call("keep_until", ours, ctypes.byref(stream(side.cuda_stream)))
    begin = time.perf_counter()
    del t
    took = time.perf_counter() - begin
    assert not side.query(), "the deleter waited on the host"
    torch.from_dlpack(Wrapped(b.alloc(1 << 20), (2, 0))).fill_(7)
    torch.cuda.synchronize()
    assert total.item() == 1 << 20, "the memory was given out again too early"
    return f"{took * 1e6:.0f} us while the stream was at work"


@check
def streams_of_two_devices(b):
    torch = need("torch")
    if torch.cuda.device_count() < 2:
        raise Missing("one device alone")
    with torch.cuda.device(1):
        other = torch.cuda.Stream(device=1)
    rejected(11, b.order, stream(other.cuda_stream, 0), stream(None))
    b.order(stream(other.cuda_stream, 1), stream(None))


@check
def speed(_):
    rows = sorted(tuple(map(float, line.split())) for line in program("measure", "pairs", "50"))
    driver, table = rows[len(rows) // 2][0], sorted(r[1] for r in rows)[len(rows) // 2]
    return f"pointer_attributes {table:.0f} ns, the driver's own call {driver:.0f} ns, ratio {table / driver:.3f}"


def main():
    import described  # noqa: F401  (adds its checks, as modules does)
    import modules  # noqa: F401

    backend = Backend(os.path.join(BIN, "libdlpackgen_cuda.so"), "dlpackgen_cuda")
    return checks.main(backend, sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
