"""Every layout of a library with all of its data types: the outcomes are the same as for float32,
because elements are never read."""

from cases import DTYPES, READ_ONLY, SHARED, Case, of, torch_bytes, torch_version, SHIM_KNOWS


def cases(library):
    """(layout, the cases of all data types) of a library with more than one of both."""
    if library not in LAYOUTS:
        return
    dtypes, bases, layouts, bytes_of = LAYOUTS[library]()
    fixed = {"read_only": True, "written": "immutable"} if library == "jax" else {}
    for layout, (shape, arrange, *more) in layouts.items():

        def case(dtype, shape=shape, arrange=arrange, more=dict(*more) or fixed, layout=layout):
            make = lambda: arrange(bases(dtype))
            return Case(library, f"{layout} {dtype}", of(make), shape, dtype, truth=lambda: bytes_of(make()), **more)

        yield layout, [case(dtype) for dtype in dtypes]


def numpy_layouts():
    import numpy as np

    def frozen(x):
        x.flags.writeable = False
        return x

    strided = np.lib.stride_tricks.as_strided
    dtypes = (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
    )
    shared, read_only = {"written": SHARED}, {"written": READ_ONLY, "read_only": True}
    return (
        dtypes,
        lambda dtype: np.arange(24).reshape(2, 3, 4).astype(dtype),
        {
            "transposed": ((3, 4, 2), lambda x: x.transpose(1, 2, 0)),
            "every second": ((2, 2, 4), lambda x: x[:, ::2]),
            "negative strides": ((2, 3, 4), lambda x: x[::-1, :, ::-1]),
            "zero strides": ((5, 2, 3, 4), lambda x: strided(x, (5, 2, 3, 4), (0, *x.strides)), shared),
            "0-d": ((), lambda x: x[1, 2, 3, ...]),
            "empty": ((0, 3, 4), lambda x: x[:0]),
            "size 1, odd stride": ((1, 4), lambda x: strided(x, (1, 4), (x.itemsize + 1, x.itemsize))),
            "9 dimensions": ((1, 2, 1, 3, 1, 2, 1, 2, 1), lambda x: x.reshape(1, 2, 1, 3, 1, 2, 1, 2, 1)),
            "byte_offset": ((19,), lambda x: x.reshape(-1)[5:]),
            "read-only": ((2, 3, 4), frozen, read_only),
        },
        lambda x: np.ascontiguousarray(x).tobytes(),
    )


def torch_layouts():
    import torch

    def base(dtype):
        size = DTYPES[dtype][1] * DTYPES[dtype][2] // 8
        x = torch.arange(24 * size, dtype=torch.int32).to(torch.uint8)
        return ((x % 2) if dtype == "bool" else x).view(getattr(torch, dtype)).reshape(2, 3, 4)

    dtypes = [d for d in list(DTYPES)[:25] if hasattr(torch, d) and torch_version() >= SHIM_KNOWS.get(d, (0, 0))]
    return (
        dtypes,
        base,
        {
            "transposed": ((3, 4, 2), lambda x: x.permute(1, 2, 0)),
            "every second": ((2, 2, 4), lambda x: x[:, ::2]),
            "zero strides": ((5, 2, 3, 4), lambda x: x.expand(5, 2, 3, 4), {"written": SHARED}),
            "0-d": ((), lambda x: x[1, 2, 3]),
            "empty": ((0, 3, 4), lambda x: x[:0]),
            "size 1, odd stride": ((1, 4), lambda x: x.as_strided((1, 4), (77, 1))),
            "9 dimensions": ((1, 2, 1, 3, 1, 2, 1, 2, 1), lambda x: x.reshape(1, 2, 1, 3, 1, 2, 1, 2, 1)),
            "byte_offset": ((19,), lambda x: x.reshape(-1)[5:]),
            "copy on write": ((2, 3, 4), torch._lazy_clone),
        },
        torch_bytes,
    )


def jax_layouts():
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    dtypes = [d for d in list(DTYPES)[:25] if hasattr(jnp, d)]
    return (
        dtypes,
        lambda dtype: jnp.asarray(np.arange(24).reshape(2, 3, 4).astype(getattr(jnp, dtype))),
        {
            "transposed": ((3, 4, 2), lambda x: x.transpose(1, 2, 0)),
            "0-d": ((), lambda x: x[1, 2, 3]),
            "empty": ((0, 3, 4), lambda x: x[:0]),
            "9 dimensions": ((1, 2, 1, 3, 1, 2, 1, 2, 1), lambda x: x.reshape(1, 2, 1, 3, 1, 2, 1, 2, 1)),
        },
        lambda x: np.asarray(x).tobytes(),
    )


def paddle_layouts():
    import paddle

    dtypes = "bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128".split()
    return (
        dtypes,
        lambda dtype: paddle.arange(24, dtype="float32").reshape([2, 3, 4]).astype(dtype),
        {
            "transposed": ((3, 4, 2), lambda x: x.transpose([1, 2, 0])),
            "every second": ((2, 2, 4), lambda x: x[:, ::2]),
            "0-d": ((), lambda x: x[1, 2, 3]),
            "empty": ((0, 3, 4), lambda x: x[:0]),
            "9 dimensions": ((1, 2, 1, 3, 1, 2, 1, 2, 1), lambda x: x.reshape([1, 2, 1, 3, 1, 2, 1, 2, 1])),
            "byte_offset": ((19,), lambda x: x.reshape([-1])[5:]),
        },
        lambda x: x.contiguous().numpy().tobytes(),
    )


def tvm_ffi_layouts():
    import numpy as np
    import tvm_ffi

    _, bases, layouts, bytes_of = numpy_layouts()
    layouts = {
        name: (shape, lambda x, arrange=arrange: tvm_ffi.from_dlpack(arrange(x)))
        for name, (shape, arrange, *more) in layouts.items()
        if not more
    }
    return (
        "bool int8 int32 int64 uint8 uint16 float16 float32 float64".split(),
        bases,
        layouts,
        lambda x: bytes_of(np.from_dlpack(x)),
    )


LAYOUTS = {
    "numpy": numpy_layouts,
    "torch": torch_layouts,
    "jax": jax_layouts,
    "paddle": paddle_layouts,
    "tvm-ffi": tvm_ffi_layouts,
}
