"""What each library hands out, and what must become of it: the expected outcomes
are written here, from DLPack's rules, before anything is run."""


class Case:
    """One tensor. run(f) calls f with it, where it exists, and gives f's result.

    refused is None where the rules let the tensor be read, else the name of the
    exception's class and a pattern of its text (the name is a pattern too), or the pattern alone of a BufferError,
    which is what the rules want for what cannot be exported; written the same for an
    argument that is written to, and the same as refused unless it is said. truth gives
    the bytes of the elements in row-major order, or is None where there is none; with
    shape they say what the strides mean.
    """

    def __init__(
        self, library, name, run, shape=None, dtype=None, refused=None, written="", truth=None, read_only=False
    ):
        self.library, self.name, self.run, self.truth, self.read_only = library, name, run, truth, read_only
        self.shape, self.dtype = shape, DTYPES.get(dtype)
        self.refused = refusal(refused)
        self.written = self.refused if written == "" else refusal(written)

    def __str__(self):
        return f"{self.library}: {self.name}"


DTYPES = {
    "bool": (6, 8, 1),
    "int8": (0, 8, 1),
    "int16": (0, 16, 1),
    "int32": (0, 32, 1),
    "int64": (0, 64, 1),
    "uint8": (1, 8, 1),
    "uint16": (1, 16, 1),
    "uint32": (1, 32, 1),
    "uint64": (1, 64, 1),
    "float16": (2, 16, 1),
    "float32": (2, 32, 1),
    "float64": (2, 64, 1),
    "bfloat16": (4, 16, 1),
    "complex32": (5, 32, 1),
    "complex64": (5, 64, 1),
    "complex128": (5, 128, 1),
    "float8_e3m4": (7, 8, 1),
    "float8_e4m3": (8, 8, 1),
    "float8_e4m3b11fnuz": (9, 8, 1),
    "float8_e4m3fn": (10, 8, 1),
    "float8_e4m3fnuz": (11, 8, 1),
    "float8_e5m2": (12, 8, 1),
    "float8_e5m2fnuz": (13, 8, 1),
    "float8_e8m0fnu": (14, 8, 1),
    "float4_e2m1fn_x2": (17, 4, 2),
    "int4": (0, 4, 1),
    "uint4": (1, 4, 1),
    "float4_e2m1fn": (17, 4, 1),
    "float6_e2m3fn": (15, 6, 1),
    "float32x4": (2, 32, 4),
}


def refusal(said):
    """The class and the text of an exception that is expected, or None."""
    return ("BufferError", said) if isinstance(said, str) else said


NO_TENSOR = ("TypeError", "no __dlpack__")
NINE = (1, 2, 1, 1, 1, 1, 1, 1, 2)
READ_ONLY = "read-only"
READ_ONLY_HERE = "it is read-only, and this argument is written to"  # as its library says
SHARED = "several elements in one place"  # though it can be exported


def of(make):
    """Runs on what make gives, made anew each time."""
    return lambda f: f(make())


def numpy_cases():
    import numpy as np

    def bytes_of(x):
        return np.ascontiguousarray(x).tobytes()

    def case(name, shape, make, dtype="float32", **keywords):
        return Case("numpy", name, of(make), shape, dtype, truth=lambda: bytes_of(make()), **keywords)

    def refused(name, make, pattern, **keywords):
        return Case("numpy", name, of(make), refused=pattern, **keywords)

    def three():
        return np.arange(24, dtype="f4").reshape(2, 3, 4)

    def frozen():
        x = three()
        x.flags.writeable = False
        return x

    def unaligned():
        return np.frombuffer(bytearray(range(64)), "f4", 3, 1)

    strided = np.lib.stride_tricks.as_strided
    structure = np.dtype([("a", "f4"), ("b", "f4")])
    odd = np.dtype([("a", "f4"), ("b", "i1")])
    numbers = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
    for dtype in numbers.split():
        yield case(dtype, (2, 3), lambda dtype=dtype: np.arange(6).reshape(2, 3).astype(dtype), dtype)
    for letter in "lLqQ":
        name = ("int" if letter.islower() else "uint") + str(8 * np.dtype(letter).itemsize)
        yield case(f"C's type {letter}", (3,), lambda letter=letter: np.arange(3, dtype=letter), name)
    yield case("column-major", (2, 3, 4), lambda: np.asfortranarray(three()))
    yield case("transposed", (3, 4, 2), lambda: three().transpose(1, 2, 0))
    yield case("every second", (2, 2, 4), lambda: three()[:, ::2])
    yield case("negative strides", (2, 3, 4), lambda: three()[::-1, :, ::-1])
    yield case("zero strides", (4, 3), lambda: strided(np.arange(3, dtype="f4"), (4, 3), (0, 4)), written=SHARED)
    yield case("0-d", (), lambda: np.array(2.5, "f4"))
    yield case("empty", (0, 3), lambda: np.zeros((0, 3), "f4"))
    yield case("size 1, odd stride", (1, 3), lambda: np.ndarray((1, 3), "f4", np.arange(3, dtype="f4"), 0, (5, 4)))
    yield case("empty, odd stride", (2, 0), lambda: np.ndarray((2, 0), "f4", bytearray(64), 0, (5, 4)))
    yield case("empty, unaligned", (2, 0), lambda: np.ndarray((2, 0), "f4", bytearray(64), 1))
    yield case("9 dimensions", NINE, lambda: np.arange(4, dtype="f4").reshape([1, 2] + [1] * 6 + [2]))
    yield case("64 dimensions", (1,) * 64, lambda: np.ones([1] * 64, "f4"))
    yield case("field", (2,), lambda: np.array([(1, 2), (3, 4)], structure)["b"])
    yield case("byte_offset", (19,), lambda: np.arange(24, dtype="f4")[5:])
    yield case("read-only", (2, 3, 4), frozen, written=READ_ONLY_HERE, read_only=True)
    yield case(
        "broadcast",
        (2, 3),
        lambda: np.broadcast_to(np.arange(3, dtype="f4"), (2, 3)),
        written=READ_ONLY_HERE,
        read_only=True,
    )
    yield case(
        "broadcast_arrays",
        (3, 2),
        lambda: np.broadcast_arrays(np.ones((1, 2), "f4"), np.ones((3, 1), "f4"))[0],
        written=READ_ONLY_HERE,
        read_only=True,
    )  # NumPy means to forbid writing to it
    yield case("matrix", (2, 2), lambda: np.matrix([[1, 2], [3, 4]], "f4"))  # exports itself as an array does
    yield case("recarray", (3,), lambda: np.arange(3, dtype="f4").view(np.recarray))
    yield refused("structured", lambda: np.ones(2, structure), "structured")
    yield refused("objects", lambda: np.array([1, "a"], "O"), "Python objects")
    yield refused("bytes", lambda: np.array([b"ab"]), "text")
    yield refused("text", lambda: np.array(["ab"]), "text")
    yield refused("variable text", lambda: np.array(["ab"], np.dtypes.StringDType()), "text")
    yield refused("date", lambda: np.array(["2021-05-27"], "M8[s]"), "time")
    yield refused("duration", lambda: np.array([3], "m8[s]"), "time")
    yield refused("long double", lambda: np.ones(2, "g"), "long double")
    yield refused("complex long double", lambda: np.ones(2, "G"), "long double")
    yield refused("byte-swapped", lambda: np.ones(2, np.dtype("f4").newbyteorder()), "byte order")
    yield refused("unaligned", unaligned, "not aligned", truth=lambda: bytes_of(unaligned()))
    yield refused("indivisible stride", lambda: np.ones(2, odd)["a"], "no multiple")
    yield refused(
        "masked", lambda: np.ma.array(np.arange(3, dtype="f4"), mask=[0, 1, 0]), "masked array"
    )  # the mask would be lost
    for name in "bfloat16 float8_e4m3fn float8_e5m2 int4".split():
        yield refused(
            f"ml_dtypes {name}", lambda name=name: numpy_extension(name), "DLPack only supports"
        )  # NumPy's own words


def numpy_extension(name):
    import ml_dtypes
    import numpy as np

    return np.ones(3, getattr(ml_dtypes, name))


# The versions of torch whose shim has a name for a dtype.
SHIM_KNOWS = {"float8_e8m0fnu": (2, 12), "float4_e2m1fn_x2": (2, 12)}


def torch_version():
    import torch

    return tuple(int(n) for n in torch.__version__.split(".")[:2])


def torch_bytes(x):
    x = x.detach().resolve_conj().resolve_neg().clone(memory_format=__import__("torch").contiguous_format)
    return bytes(x.untyped_storage().tolist())


def torch_cases():
    import torch

    def case(name, shape, make, dtype="float32", **keywords):
        return Case("torch", name, of(make), shape, dtype, truth=lambda: torch_bytes(make()), **keywords)

    def refused(name, make, pattern, run=None, **keywords):
        return Case("torch", name, run or of(make), refused=pattern, **keywords)

    def three():
        return torch.arange(24.0).reshape(2, 3, 4)

    def raw(dtype):
        x = torch.arange(1, 33, dtype=torch.uint8)
        return (x % 2).view(getattr(torch, dtype)) if dtype == "bool" else x.view(getattr(torch, dtype))

    for dtype in list(DTYPES)[:25]:
        if hasattr(torch, dtype) and torch_version() < SHIM_KNOWS.get(dtype, (0, 0)):
            yield refused(dtype, lambda dtype=dtype: raw(dtype), "none that DLPack can name")
        elif hasattr(torch, dtype):
            yield case(dtype, (32 * 8 // (DTYPES[dtype][1] * DTYPES[dtype][2]),), lambda dtype=dtype: raw(dtype), dtype)
    yield case("transposed", (3, 4, 2), lambda: three().permute(1, 2, 0))
    yield case("every second", (2, 2, 4), lambda: three()[:, ::2])
    yield case(
        "channels last",
        (1, 2, 3, 4),
        lambda: torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last),
    )
    yield case("zero strides", (4, 3), lambda: torch.arange(3.0).expand(4, 3), written=SHARED)
    yield case("0-d", (), lambda: torch.tensor(2.5))
    yield case("empty", (0, 3), lambda: torch.ones(0, 3))
    yield case("size 1, odd stride", (1, 3), lambda: torch.arange(8.0).as_strided((1, 3), (77, 2)))
    yield case("9 dimensions", NINE, lambda: torch.arange(4.0).reshape([1, 2] + [1] * 6 + [2]))
    yield case("64 dimensions", (1,) * 64, lambda: torch.ones([1] * 64))
    yield refused(
        "4000 dimensions",
        lambda: torch.ones([1] * 4000),
        "its 4000 dimensions",
        truth=lambda: torch_bytes(torch.ones(1)),
    )
    yield refused(
        "65 dimensions", lambda: torch.ones([1] * 65), "its 65 dimensions", truth=lambda: torch_bytes(torch.ones(1))
    )
    yield case("byte_offset", (19,), lambda: torch.arange(24.0)[5:])
    yield case("resolved conjugate", (1,), lambda: torch.tensor([1 + 2j]).conj().resolve_conj(), "complex64")
    yield case("copy on write", (2, 3, 4), lambda: torch._lazy_clone(three()))
    yield case("plain subclass", (2, 3, 4), lambda: three().as_subclass(type("Plain", (torch.Tensor,), {})))
    yield from torch_bits(torch, refused)
    yield from torch_grad(torch, case, refused)
    yield from torch_without_memory(torch, refused)
    yield from torch_wrapped(torch, refused)


def torch_bits(torch, refused):
    def bits(name, make, pattern):
        return refused(name, make, pattern, truth=lambda: torch_bytes(make()))

    yield bits("conjugate", lambda: torch.tensor([1 + 2j, 3 + 4j]).conj(), "conjugated values")
    yield bits("negative float32", lambda: torch.tensor([1 + 2j, 3 + 4j]).conj().imag, "negated values")
    yield bits("negative float64", lambda: torch._neg_view(torch.ones(3, dtype=torch.float64)), "negated values")
    yield bits("negative complex64", lambda: torch._neg_view(torch.tensor([1 + 2j])), "negated values")
    yield bits("negative conjugate", lambda: torch._neg_view(torch.tensor([1 + 2j]).conj()), "negated values")
    yield bits(
        "negative subclass",
        lambda: torch._neg_view(torch.ones(3)).as_subclass(type("Plain", (torch.Tensor,), {})),
        "negated values",
    )


def torch_grad(torch, case, refused):
    def no_grad(make):
        def run(f):
            with torch.no_grad():
                return f(make())

        return run

    def leaf():
        return torch.ones(3, requires_grad=True)

    for name, make in (
        ("leaf", leaf),
        ("result", lambda: leaf() * 2),
        ("Parameter", lambda: torch.nn.Parameter(torch.ones(3))),
    ):
        yield refused(f"requires grad: {name}", make, "requires grad", truth=lambda make=make: torch_bytes(make()))
        yield Case(
            "torch",
            f"requires grad: {name}, no_grad",
            no_grad(make),
            (3,),
            "float32",
            truth=lambda make=make: torch_bytes(make()),
        )
    yield case("detached", (3,), lambda: leaf().detach())
    yield case("frozen Parameter", (3,), lambda: torch.nn.Parameter(torch.ones(3), requires_grad=False))


def torch_without_memory(torch, refused):
    from torch._subclasses.fake_tensor import FakeTensorMode

    def resized():
        x = torch.ones(3)
        x.untyped_storage().resize_(0)
        return x

    def fake():
        with FakeTensorMode():
            return torch.ones(3)

    class Logs(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    two = [torch.ones(2), torch.ones(3)]
    yield refused("storage resized to 0", resized, "storage was freed")
    yield refused("zero tensor", lambda: torch._efficientzerotensor(3), "stands for a tensor")
    yield refused("meta", lambda: torch.ones(3, device="meta"), "its device is meta")
    yield refused("sparse", lambda: torch.eye(3).to_sparse(), "no strided memory")
    yield refused("sparse rows", lambda: torch.eye(3).to_sparse_csr(), "no strided memory")
    yield refused("mkldnn", lambda: torch.ones(3).to_mkldnn(), "no strided memory")
    yield refused(
        "quantized", lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "none that DLPack can name"
    )
    for name in "uint4 int4 bits8".split():
        yield refused(name, lambda name=name: torch.empty(2, dtype=getattr(torch, name)), "none that DLPack can name")
    yield refused("nested strided", lambda: torch.nested.nested_tensor(two), "nested")
    yield refused(
        "nested jagged", lambda: torch.nested.nested_tensor(two, layout=torch.jagged), "NestedTensor.*torch.ops"
    )
    yield refused("FakeTensor", fake, "FakeTensor.*torch.ops")
    yield refused("dispatching subclass", lambda: torch.ones(3).as_subclass(Logs), "Logs.*torch.ops")


def torch_wrapped(torch, refused):
    def inside(transform):
        def run(f):
            seen = []

            def probe(x):
                try:
                    seen.append((f(x), None))
                except Exception as e:
                    seen.append((None, e))
                return x.sum()

            transform(probe)
            if seen[0][1]:
                raise seen[0][1]
            return seen[0][0]

        return run

    x = torch.arange(6.0).reshape(2, 3)
    func = torch.func
    yield refused("vmap", None, "stands for a tensor", inside(lambda f: torch.vmap(f)(x)))
    yield refused("grad", None, "requires grad|stands for a tensor", inside(lambda f: func.grad(f)(x)))
    yield refused("jvp", None, "stands for a tensor", inside(lambda f: func.jvp(f, (x,), (x,))))
    yield refused("functionalize", None, "stands for a tensor", inside(lambda f: func.functionalize(f)(x)))


def jax_cases():
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)

    def case(name, shape, make, dtype="float32", **keywords):
        return Case(
            "jax",
            name,
            of(make),
            shape,
            dtype,
            truth=lambda: np.asarray(make()).tobytes(),
            written="immutable",
            read_only=True,
            **keywords,
        )

    def refused(name, run, refused, written="immutable"):
        return Case("jax", name, run, refused=refused, written=written)

    def three():
        return jnp.arange(24.0, dtype="float32").reshape(2, 3, 4)

    def deleted():
        x = jnp.arange(3.0)
        x.delete()
        return x

    for dtype in list(DTYPES)[:25]:
        if hasattr(jnp, dtype):
            yield case(
                dtype, (2, 3), lambda dtype=dtype: jnp.arange(6).reshape(2, 3).astype(getattr(jnp, dtype)), dtype
            )
    yield case("transposed", (3, 4, 2), lambda: three().transpose(1, 2, 0))
    yield case("every second", (2, 2, 4), lambda: three()[:, ::2])
    yield case("0-d", (), lambda: jnp.float32(2.5))
    yield case("empty", (0, 3), lambda: jnp.ones((0, 3), "float32"))
    yield case("9 dimensions", NINE, lambda: jnp.arange(4.0, dtype="float32").reshape([1, 2] + [1] * 6 + [2]))
    yield refused("int4", of(lambda: jnp.ones(3, jnp.int4)), "was not exported: .*no DLPack equivalent")
    yield refused("deleted", of(deleted), "was deleted")
    yield refused("keys", of(lambda: jax.random.key(0)), NO_TENSOR, NO_TENSOR)
    yield from jax_tracers(jax, three, refused)


def jax_tracers(jax, three, refused):
    def inside(transform):
        def run(f):
            def probe(x):
                f(x)
                return x.sum()

            transform(probe)

        return run

    yield refused(
        "jit",
        inside(lambda f: jax.jit(f)(three())),
        "a tracer of JAX .*DynamicJaxprTracer",
        "a tracer of JAX .*DynamicJaxprTracer",
    )
    yield refused(
        "vmap", inside(lambda f: jax.vmap(f)(three())), "a tracer of JAX .*BatchTracer", "a tracer of JAX .*BatchTracer"
    )
    yield refused(
        "grad", inside(lambda f: jax.grad(f)(three())), "a tracer of JAX .*Tracer", "a tracer of JAX .*Tracer"
    )


def paddle_cases():
    import paddle

    def case(name, shape, make, dtype="float32", **keywords):
        return Case("paddle", name, of(make), shape, dtype, truth=lambda: make().numpy().tobytes(), **keywords)

    def three():
        return paddle.arange(24, dtype="float32").reshape([2, 3, 4])

    numbers = "bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128 float8_e4m3fn float8_e5m2"
    for dtype in numbers.split():
        yield case(dtype, (2, 3), lambda dtype=dtype: paddle.ones([2, 3], dtype=dtype), dtype)
    yield case("transposed", (3, 4, 2), lambda: three().transpose([1, 2, 0]))
    yield case("every second", (2, 2, 4), lambda: three()[:, ::2])
    yield case("expanded", (4, 3), lambda: paddle.arange(3, dtype="float32").expand([4, 3]))
    yield case("0-d", (), lambda: paddle.to_tensor(2.5, dtype="float32"))
    yield case("empty", (0, 3), lambda: paddle.ones([0, 3], dtype="float32"))
    yield case("9 dimensions", NINE, lambda: paddle.arange(4, dtype="float32").reshape([1, 2] + [1] * 6 + [2]))


def tvm_ffi_cases():
    import numpy as np
    import tvm_ffi

    def case(name, shape, make, dtype="float32", **keywords):
        return Case(
            "tvm-ffi",
            name,
            of(lambda: tvm_ffi.from_dlpack(make())),
            shape,
            dtype,
            truth=lambda: np.ascontiguousarray(make()).tobytes(),
            **keywords,
        )

    for dtype in "bool int8 int32 int64 uint8 uint16 float16 float32 float64 complex64".split():
        yield case(dtype, (2, 3), lambda dtype=dtype: np.arange(6).reshape(2, 3).astype(dtype), dtype)
    yield case("transposed", (3, 2), lambda: np.arange(6, dtype="f4").reshape(2, 3).T)
    yield case("0-d", (), lambda: np.array(2.5, "f4"))
    yield case("empty", (0, 3), lambda: np.zeros((0, 3), "f4"))


def nanobind_cases():
    import struct

    import withnanobind

    def case(name, shape, make, values, **keywords):
        return Case(
            "nanobind",
            name,
            of(make),
            shape,
            "float64",
            truth=lambda: struct.pack(f"{len(values)}d", *values),
            **keywords,
        )

    yield case("float64", (2, 3), withnanobind.make, [1.5, -2.5, 3.5, 4.5, 5.5, 6.5])
    memory = bytes(range(1, 97))

    def of_any(name, dtype, shape, strides, elements, **keywords):
        code, bits, lanes = DTYPES[dtype]
        size = bits * lanes // 8
        truth = b"".join(memory[i * size : i * size + size] for i in elements)
        return Case(
            "nanobind",
            name,
            of(lambda: withnanobind.make_any(memory, code, bits, lanes, shape, strides)),
            shape,
            dtype,
            truth=lambda: truth,
            **keywords,
        )

    for dtype in [
        d for d, (_, bits, lanes) in DTYPES.items() if bits * lanes % 8 == 0 and d not in ("bool", "float64")
    ]:
        yield of_any(dtype, dtype, (2, 3), (3, 1), range(6))
    yield of_any("transposed", "int16", (3, 2), (1, 3), [0, 3, 1, 4, 2, 5])
    yield of_any("zero strides", "int16", (2, 3), (0, 1), [0, 1, 2] * 2, written=SHARED)
    yield of_any("size 1, odd stride", "int16", (1, 3), (77, 1), range(3))
    yield of_any("0-d", "int16", (), (), [0])
    yield of_any("empty", "int16", (0, 3), (3, 1), [])
    yield of_any("9 dimensions", "int16", NINE, (4, 2, 2, 2, 2, 2, 2, 2, 1), range(4))
    yield case("strided", (2, 2), withnanobind.make_strided, [1.5, 3.5, 4.5, 6.5])
    yield case(
        "read-only",
        (2, 3),
        withnanobind.make_read_only,
        [1.5, -2.5, 3.5, 4.5, 5.5, 6.5],
        written=READ_ONLY,
        read_only=True,
    )


def our_cases():
    """What no library hands out, by an object of our own."""
    import clients

    memory = bytes(range(1, 97))

    def case(name, dtype, shape, strides, elements, offset=0, flags=0, **keywords):
        make = lambda: clients.make(bytearray(memory), DTYPES[dtype], shape, strides, offset, flags)
        truth = lambda: b"".join(memory[offset + first : offset + first + size] for first, size in elements)
        return Case(
            "ours",
            name,
            of(make),
            shape,
            dtype,
            truth=truth,
            read_only=flags & 1 == 1,
            written=READ_ONLY if flags & 1 else "",
            **keywords,
        )

    def each(count, step=4, size=4):
        return [(i * step, size) for i in range(count)]

    yield case("byte_offset", "float32", (5,), (1,), each(5), offset=8)
    yield case("odd byte_offset", "uint8", (5,), (1,), each(5, 1, 1), offset=3)
    yield case("byte_offset, negative strides", "float32", (3,), (-1,), each(3, -4), offset=16)
    yield case("0-d", "float64", (), (), [(0, 8)])
    yield case("empty", "float32", (0, 3), (3, 1), [])
    yield case("9 dimensions", "float32", (1,) * 8 + (3,), (3,) * 8 + (1,), each(3))
    yield case("read-only", "float32", (3,), (1,), each(3), flags=1)
    yield case("vectors of 4", "float32x4", (3,), (1,), each(3, 16, 16))
    for dtype in "int4", "uint4", "float4_e2m1fn":
        yield case(f"{dtype} packed", dtype, (5,), (1,), [(0, 3)])
        yield case(f"{dtype} padded", dtype, (5,), (1,), each(5, 1, 1), flags=4)
    yield case("float6_e2m3fn packed", "float6_e2m3fn", (5,), (1,), [(0, 4)])


LIBRARIES = {
    "ours": our_cases,
    "numpy": numpy_cases,
    "torch": torch_cases,
    "jax": jax_cases,
    "paddle": paddle_cases,
    "tvm-ffi": tvm_ffi_cases,
    "nanobind": nanobind_cases,
}


def cases(*libraries):
    for library in libraries or LIBRARIES:
        yield from LIBRARIES[library]()
