"""The tensors of each library, and their expected outcomes, which were derived from DLPack's rules
before any run."""

from expected import DTYPES, NINE, NO_TENSOR, READ_ONLY, READ_ONLY_HERE, SHARED, Case, of, rejection  # noqa: F401
from torch_cases import SHIM_KNOWS, torch_bytes, torch_cases, torch_version  # noqa: F401


def numpy_cases():
    import numpy as np

    def bytes_of(x):
        return np.ascontiguousarray(x).tobytes()

    def case(name, shape, make, dtype="float32", **keywords):
        return Case("numpy", name, of(make), shape, dtype, truth=lambda: bytes_of(make()), **keywords)

    def rejected(name, make, pattern, **keywords):
        return Case("numpy", name, of(make), rejected=pattern, **keywords)

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
    )  # NumPy will forbid writing to it
    yield case("matrix", (2, 2), lambda: np.matrix([[1, 2], [3, 4]], "f4"))  # exports itself like an array
    yield case("recarray", (3,), lambda: np.arange(3, dtype="f4").view(np.recarray))
    yield rejected("structured", lambda: np.ones(2, structure), "structured")
    yield rejected("objects", lambda: np.array([1, "a"], "O"), "Python objects")
    yield rejected("bytes", lambda: np.array([b"ab"]), "text")
    yield rejected("text", lambda: np.array(["ab"]), "text")
    yield rejected("variable text", lambda: np.array(["ab"], np.dtypes.StringDType()), "text")
    yield rejected("date", lambda: np.array(["2021-05-27"], "M8[s]"), "time")
    yield rejected("duration", lambda: np.array([3], "m8[s]"), "time")
    yield rejected("long double", lambda: np.ones(2, "g"), "long double")
    yield rejected("complex long double", lambda: np.ones(2, "G"), "long double")
    yield rejected("byte-swapped", lambda: np.ones(2, np.dtype("f4").newbyteorder()), "byte order")
    yield rejected("unaligned", unaligned, "not aligned", truth=lambda: bytes_of(unaligned()))
    yield rejected("indivisible stride", lambda: np.ones(2, odd)["a"], "not a multiple")
    yield rejected(
        "masked", lambda: np.ma.array(np.arange(3, dtype="f4"), mask=[0, 1, 0]), "masked array"
    )  # the mask would be lost
    for name in "bfloat16 float8_e4m3fn float8_e5m2 int4".split():
        yield rejected(
            f"ml_dtypes {name}", lambda name=name: numpy_extension(name), "DLPack only supports"
        )  # NumPy's own message


def numpy_extension(name):
    import ml_dtypes
    import numpy as np

    return np.ones(3, getattr(ml_dtypes, name))


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

    def rejected(name, run, rejected, written="immutable"):
        return Case("jax", name, run, rejected=rejected, written=written)

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
    yield rejected("int4", of(lambda: jnp.ones(3, jnp.int4)), "was not exported: .*no DLPack equivalent")
    yield rejected("deleted", of(deleted), "was deleted")
    yield rejected("keys", of(lambda: jax.random.key(0)), NO_TENSOR, NO_TENSOR)
    yield from jax_tracers(jax, three, rejected)


def jax_tracers(jax, three, rejected):
    def inside(transform):
        def run(f):
            def probe(x):
                f(x)
                return x.sum()

            transform(probe)

        return run

    yield rejected(
        "jit",
        inside(lambda f: jax.jit(f)(three())),
        "a JAX tracer .*DynamicJaxprTracer",
        "a JAX tracer .*DynamicJaxprTracer",
    )
    yield rejected(
        "vmap", inside(lambda f: jax.vmap(f)(three())), "a JAX tracer .*BatchTracer", "a JAX tracer .*BatchTracer"
    )
    yield rejected(
        "grad", inside(lambda f: jax.grad(f)(three())), "a JAX tracer .*Tracer", "a JAX tracer .*Tracer"
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
    """Tensors that no library exports, from a test object."""
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
