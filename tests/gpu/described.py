"""Checks of described kernels on a GPU: the kernels of the folder kernels, generated into
BIN/kernels, are compiled here with nvcc, and called through the Python module, PyTorch's operators,
tvm-ffi and JAX. A rehearsal compiles them only for the CPU."""

import ctypes
import functools
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile

import exchange
from checks import BIN, REHEARSAL, ROOT, Missing, check, module, need, somewhere

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(BIN, "kernels")
OWN = os.path.join(HERE, "kernels")
WITHOUT = ["-DDLPACKGEN_WITHOUT_CUDA"] if REHEARSAL else []


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError as why:
        raise Missing(f"no {command[0]}") from why
    assert done.returncode == 0, f"{command[0]}: {(done.stderr or done.stdout)[-1000:]}"


@functools.cache
def objects():
    """A folder with the objects that the libraries of this process share: kernels.o, cpu.o, and
    cuda.o."""
    if not os.path.isdir(SOURCES):
        raise Missing("no kernels among the programs")
    folder = tempfile.mkdtemp()
    include = [f"-I{SOURCES}/c", f"-I{SOURCES}/kernels"]
    options = ["-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", *WITHOUT, *include]
    for source in (f"{SOURCES}/kernels/kernels.c", f"{OWN}/cpu.c"):
        run("gcc", *options, "-c", source, "-o", f"{folder}/{os.path.basename(source)[:-2]}.o")
    if not REHEARSAL:
        cuda = ["-std=c++17", "-O2", "-Xcompiler=-fPIC,-fvisibility=hidden"]
        run("nvcc", *cuda, *include, "-c", f"{OWN}/cuda.cu", "-o", f"{folder}/cuda.o")
    return folder


def link(compiler, out, *more):
    """Links a library: with nvcc if there is GPU code, which adds CUDA's runtime."""
    found = [os.path.join(objects(), name) for name in ("kernels.o", "cpu.o", "cuda.o")]
    found = [name for name in found if os.path.exists(name)]
    linker = [compiler] if REHEARSAL else ["nvcc", "-ccbin", compiler, "-cudart=static"]
    run(*linker, "-shared", *more, *found, "-o", out)


@functools.cache
def library():
    """One library for every caller: the Python module gpu_kernels, which is imported from it."""
    folder = tempfile.mkdtemp()
    include = [f"-I{SOURCES}/{part}" for part in ("c", "kernels", "python")]
    options = ["-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-fexceptions", "-w", "-DPy_LIMITED_API=0x030B0000"]
    made = []
    for source in ("python/gpu_kernels", "torchshim/kernels_torch", "tvmffi/kernels_tvmffi", "jax/kernels_jax"):
        made.append(f"{objects()}/{os.path.basename(source)}.o")
        headers = ["-isystem", sysconfig.get_path("include")]
        run("gcc", *options, *WITHOUT, *include, *headers, "-c", f"{SOURCES}/{source}.c", "-o", made[-1])
    link("gcc", f"{folder}/gpu_kernels.abi3.so", *made)
    sys.path[:0] = [folder, *(f"{SOURCES}/{part}" for part in ("torchshim", "tvmffi", "jax"))]
    return f"{folder}/gpu_kernels.abi3.so"


def kernels():
    library()
    return module("gpu_kernels")


def captured():
    """The number of calls during which their stream was captured into a graph."""
    count = ctypes.CDLL(library()).gpu_kernels_captured
    count.restype = ctypes.c_int64
    return count()


def rejected(kind, words, call, *arguments):
    try:
        call(*arguments)
    except kind as why:
        assert words in str(why), why
        return
    raise AssertionError("not rejected")


@check
def functions_take_torch(_):
    torch, where = somewhere()
    f = kernels()
    x = torch.arange(12, dtype=torch.float32, device=where).reshape(3, 4)
    y = f.square(x)
    assert y.device == x.device and torch.equal(y, x * x)
    out = torch.empty_like(x)
    assert f.square(x, out=out) is out and torch.equal(out, x * x)
    f.increase(x, 2)
    assert x[0, 1].item() == 3 and f.square(x[:0]).shape == (0, 4)
    rejected(ValueError, "argument 'b' (2nd): expected n = 4 in dimension 0", f.none, x[0], x[0, :3], x[0])
    rejected(ValueError, "argument 'x' (1st): expected a C-contiguous tensor", f.square, x.t())
    rejected(TypeError, "argument 'x' (1st): expected", f.square, x.double())
    if not REHEARSAL:
        rejected(ValueError, "argument 'b' (2nd)", f.none, x[0], x[0].cpu(), x[0])
        torch.cuda.synchronize()


@check
def functions_take_cupy(_):
    cupy = need("cupy")
    f = kernels()
    x = cupy.arange(12, dtype="float32").reshape(3, 4)
    side = cupy.cuda.Stream(non_blocking=True)
    y = f.square(x)
    assert isinstance(y, cupy.ndarray) and y.device == x.device and bool((y == x * x).all())
    with side:
        z = f.slow_square(f.slow_square(x, 100_000_000), 0)
        assert bool((z == x**4).all()), "the calls ran on CuPy's stream, one behind the other"


@check
def functions_take_several_libraries(_):
    """torch and CuPy, both on the default stream."""
    torch, cupy = need("torch"), need("cupy")
    f = kernels()
    x, y = torch.ones(4, device="cuda"), cupy.ones(4, dtype="float32")
    f.none(x, y, x)
    f.none(y, x, y)
    with torch.cuda.stream(torch.cuda.Stream()):
        f.none(x, y, x)  # CuPy's array is requested for torch's stream
    rejected(ValueError, "argument 'b' (2nd): expected n = 4 in dimension 0", f.none, x, y[:3], x)


@check
def functions_take_jax(_):
    jax = module("jax")
    if not REHEARSAL and jax.default_backend() != "gpu":
        raise Missing("jax sees no GPU")
    f = kernels()
    x = jax.numpy.arange(12, dtype="float32")
    if REHEARSAL:
        y = f.square(x)
        assert isinstance(y, jax.Array) and y.device == x.device and (y == x * x).all()
        return
    f.none(x, x, x, stream=2)
    rejected(ValueError, "no current stream is known for cuda:0: pass stream=", f.none, x, x, x)
    rejected(BufferError, "its library cannot allocate on cuda:0", lambda: f.square(x, stream=2))


@check
def functions_run_on_torchs_stream(_):
    """The kernel waits for torch's queued work, torch for the kernel, and the host for neither."""
    torch = need("torch")
    f = kernels()
    side, x = torch.cuda.Stream(), torch.zeros(1 << 20, device="cuda")
    for warm in (True, False):  # the first run of a kernel loads it, which waits
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(200_000_000)
            x.fill_(3)
            y = f.slow_square(x, 100_000_000)
            total = (y + 1).sum()
            assert warm or not side.query(), "the call waited on the host"
        side.synchronize()
        assert total.item() == 10 << 20, total.item()


@check
def functions_are_captured_by_torch(_):
    torch = need("torch")
    f, before = kernels(), captured()
    x = torch.ones(16, device="cuda")
    f.square(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = f.square(x)
        f.increase(y, 1)
    assert captured() == before + 2
    for value in (2, 3):
        x.fill_(value)
        graph.replay()
        assert y.sum().item() == 16 * (value**2 + 1), y


def operators(torch, where):
    """PyTorch's operators of either library: with gradients, graphs, vmap."""
    ops = torch.ops.gpu
    x = torch.arange(1.0, 13, device=where).reshape(3, 4).requires_grad_()
    y = ops.square(x)
    assert y.device == x.device and torch.equal(y, x * x)
    y.sum().backward()
    assert torch.equal(x.grad, 2 * x)
    compiled = torch.compile(lambda v: ops.square(v) + 1, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x), x * x + 1)
    torch.library.opcheck(ops.square.default, (x,))
    torch.library.opcheck(ops.increase.default, (x.detach().clone(),))
    assert torch.equal(torch.vmap(ops.square)(x.detach()), (x * x).detach())
    rejected(TypeError, "square(): argument 'x' (1st): expected", ops.square, x.detach().double())
    if where == "cpu":
        return
    d = x.detach()[0]
    rejected(ValueError, "none(): argument 'b' (2nd)", ops.none, d, d.cpu(), d)
    side, v = torch.cuda.Stream(), torch.zeros(1 << 20, device=where)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)
        v.fill_(3)
        total = (ops.slow_square(v, 100_000_000) + 1).sum()
    side.synchronize()
    assert total.item() == 10 << 20, total.item()
    graph, v = torch.cuda.CUDAGraph(), torch.ones(16, device=where)
    with torch.cuda.graph(graph):
        w = ops.square(v)
        ops.increase(w, 1)
    v.fill_(3)
    graph.replay()
    assert w.sum().item() == 160, w


@check
def operators_of_the_shim(_):
    torch, where = somewhere()
    library()
    __import__("kernels_torch").register()
    operators(torch, where)


@check
def operators_compiled_for_torch(_):
    """In a separate process, because the names are also those of the shim's operators."""
    torch, where = somewhere()
    described = os.path.join(SOURCES, "cpp", "dlpackgen_torch", "described_kernels.cpp")
    include = [f"-I{SOURCES}/{part}" for part in ("c", "cpp", "kernels")]
    standard = "-std=c++20" if int(torch.__version__.split(".")[1]) >= 15 else "-std=c++17"
    made = []
    for source in (described, f"{OWN}/by_hand.cpp"):
        made.append(f"{objects()}/{os.path.basename(source)}.o")
        run("g++", standard, "-O0" if REHEARSAL else "-O1", "-fPIC", "-fvisibility=hidden", "-w", *WITHOUT, *include,
            *exchange.headers(torch), "-c", source, "-o", made[-1])  # fmt: skip
    out = os.path.join(objects(), "operators.so")
    link("g++", out, *made, f"-L{torch.__path__[0]}/lib", "-ltorch_cpu", "-ltorch", "-lc10")
    program = (
        f"import torch, described; torch.ops.load_library({out!r}); described.operators(torch, {where!r}); "
        f"print(described.beside_one_by_hand(torch, {where!r}))"
    )
    done = subprocess.run([sys.executable, "-c", program, BIN], cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def beside_one_by_hand(torch, where):
    """The time of a call of a described operator, and of two hand-written ones without checks."""
    bare = torch.ops.bare
    functions = {"described": torch.ops.gpu.none.default}
    functions |= {"by hand, with device and stream": bare.placed.default, "by hand": bare.none.default}
    return interleaved(torch, functions, where)


def interleaved(torch, functions, where):
    """The time of a call of each function, with CPU and GPU tensors."""
    sys.path.insert(0, os.path.join(ROOT, "bench", "testdata", "python"))
    import measure

    output = []
    for place in ("cpu",) if REHEARSAL else ("cpu", where):
        took = measure.rounds_of(functions, lambda i: torch.full((16,), float(i), device=place), 3 if REHEARSAL else 15)
        medians = {name: statistics.median(times) for name, times in took.items()}
        output.append(place + " " + ", ".join(f"{name} {median:.0f} ns" for name, median in medians.items()))
    return "; ".join(output)


@check
def functions_of_tvm_ffi(_):
    torch, where = somewhere()
    tvm_ffi = module("tvm_ffi")
    library()
    f = __import__("kernels_tvmffi").load(library())
    x = torch.arange(12, dtype=torch.float32, device=where)
    y = f.square(x)
    assert torch.equal(torch.from_dlpack(y), x * x)
    rejected(TypeError, "square(): argument 'x' (1st): expected", f.square, x.double())
    if REHEARSAL:
        return
    rejected(ValueError, "none(): argument 'b' (2nd)", f.none, x, x.cpu(), x)
    side, v = torch.cuda.Stream(), torch.zeros(1 << 20, device=where)
    torch.cuda.synchronize()
    with tvm_ffi.use_torch_stream(torch.cuda.stream(side)):
        torch.cuda._sleep(200_000_000)
        v.fill_(3)
        total = (torch.from_dlpack(f.slow_square(v, 100_000_000)) + 1).sum()
    side.synchronize()
    assert total.item() == 10 << 20, total.item()


@check
def functions_of_jax(_):
    jax = module("jax")
    if not REHEARSAL and jax.default_backend() != "gpu":
        raise Missing("jax sees no GPU")
    library()
    f, np = __import__("kernels_jax"), jax.numpy
    x = np.arange(12, dtype="float32").reshape(3, 4)
    y = jax.jit(f.square)(x)
    assert y.device == x.device and (y == x * x).all()
    assert (jax.grad(lambda v: f.square(v).sum())(x) == 2 * x).all()
    assert (jax.vmap(f.square)(x) == x * x).all()
    chained = jax.jit(lambda v: f.slow_square(f.slow_square(v + 1, cycles=100_000_000)) + 1)
    assert (chained(x) == (x + 1) ** 4 + 1).all()
    v = np.ones(1 << 20)
    address, w = v.unsafe_buffer_pointer(), jax.jit(f.increase, donate_argnums=0)(v)
    assert w.unsafe_buffer_pointer() == address and (w == 2).all()
    rejected(TypeError, "square(): argument 'x' (1st): expected", f.square, x.astype("int32"))


# Of the calls that XLA may put into a command buffer, those with `graphs: true` are made while a
# stream is captured, and the others never are.
COMMAND_BUFFERS = """
import described, jax
described.library()
import kernels_jax as f
x = jax.numpy.arange(12, dtype="float32")
once = jax.jit(lambda v: f.square(f.square(v) + 1) + 1)
for _ in range(5):
    assert (once(x) == (x * x + 1) ** 2 + 1).all()
graphs = described.captured()
slow = jax.jit(lambda v: f.slow_square(f.slow_square(v) + 1) + 1)
for _ in range(5):
    assert (slow(x) == (x * x + 1) ** 2 + 1).all()
print(graphs, described.captured() - graphs)
"""


@check
def command_buffers_of_jax(_):
    need("jax")
    flags = "--xla_gpu_enable_command_buffer=FUSION,CUSTOM_CALL --xla_gpu_graph_min_graph_size=1"
    done = subprocess.run(
        [sys.executable, "-c", COMMAND_BUFFERS, BIN], cwd=HERE, capture_output=True, text=True,
        env={**os.environ, "XLA_FLAGS": flags})  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    graphs, others = map(int, done.stdout.split())
    assert graphs > 0 and others == 0, (graphs, others)
    return f"{graphs} calls were captured"


@check
def calls_of_kernels(_):
    """What a call of a kernel without work costs, through each caller, interleaved."""
    torch, where = somewhere()
    f = kernels()
    __import__("kernels_torch").register()
    functions = {"module": f.none, "operators": torch.ops.gpu.none.default}
    functions["tvm-ffi"] = module("tvm_ffi").load_module(library()).none
    return interleaved(torch, functions, where)
