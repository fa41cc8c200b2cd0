"""Described kernels as JAX functions, under each of its transformations, compared with JAX's
own."""

import ctypes
import os
import subprocess
import sys
import threading

from loaded import BUILD, raises, run

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import _kernels
import kernels_jax as kernels

P = PartitionSpec
CHECKS = [jax.export.DisabledSafetyCheck.custom_call(name) for name in kernels.__targets__]


def rms_norm(x, weight, bias=None, eps=1e-6):
    y = x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + eps) * weight
    return y if bias is None else y + bias


def doubles(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape))  # JAX compiles its own for each shape


def floats(*shape):
    return jnp.asarray(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


def close(got, want):
    got, want = jax.tree.leaves(got), jax.tree.leaves(want)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert g.shape == w.shape and g.dtype == w.dtype, (g.shape, g.dtype, w.shape, w.dtype)
        np.testing.assert_allclose(g, w, rtol=1e-5 if g.dtype == jnp.float32 else 1e-12)


def loss(f):
    return lambda *args: (f(*args) ** 2).sum()


def calls(function, *args):
    """The shapes of the arguments of each kernel call in a program."""
    text = jax.jit(function).lower(*args).as_text()
    return [line.split("} : (")[1].split(") ->")[0] for line in text.splitlines() if "@described." in line]


X, W, B = doubles(6, 5, 8), doubles(8, seed=1), doubles(8, seed=2)


def test_values():
    close(kernels.rms_norm(X, W), rms_norm(X, W))
    close(kernels.rms_norm(X, W, B, 1e-3), rms_norm(X, W, B, 1e-3))
    close(jax.jit(kernels.rms_norm)(X, W, B), rms_norm(X, W, B))
    close(kernels.rms_norm(np.asarray(X), W, eps=0.5), rms_norm(X, W, eps=0.5))
    x, w = X.astype(jnp.float32), W.astype(jnp.float32)
    close(kernels.rms_norm(x, w), rms_norm(x, w))
    assert kernels.ramp(4).tolist() == [0, 1, 2, 3] and kernels.ramp(0).shape == (0,)


def test_scalars_lists_and_texts():
    x = floats(3, 4)
    y, z = kernels.words(x, [1, 5])
    assert y.shape == (5, 3) and z.shape == (12, 1) and z.dtype == jnp.int64
    assert y.ravel()[:8].tolist() == [2, -1, 4, 3, -1, 1, -1, 1]
    y, _ = kernels.words(x, [1, 5], [1.0, 2.0], "abcde", 7, 9, False, 2.5)
    assert y.ravel()[:8].tolist() == [2, 2, 5, 7, 9, 0, 2.5, 1]
    assert kernels.words(x, [1, 5], [])[0].ravel()[1] == 0  # an empty list differs from a missing one
    y, _ = kernels.words(x, (1, 5), None, "", -128, -5, True, 0)
    assert y.ravel()[:8].tolist() == [2, -1, 0, -128, -5, 1, 0, 1]
    for number in (0, 7, (1 << 64) - 1, 1 << 63):
        y, z = kernels.filled(jnp.ones(3, jnp.uint64), number, number)
        assert y.tolist() == [number] * 3 and z.tolist() == [number], (y, z)
    assert kernels.filled(jnp.ones(2, jnp.int8), -128)[0].tolist() == [-128] * 2
    assert kernels.filled(jnp.ones(2, bool), False)[0].tolist() == [False] * 2
    assert kernels.filled(jnp.ones(2, jnp.float32), 2.5)[0].tolist() == [2.5] * 2
    assert kernels.filled(jnp.ones(2, jnp.int64), -(1 << 63))[1].tolist() == [7]


def test_scalars_differ_by_their_bits():
    x = floats(1, 1)
    one = lambda by: kernels.pad(x, by=by)[0].ravel()[0]  # noqa: E731
    assert [str(one(by)) for by in (0.0, -0.0, float("nan"), 1.0, None)] == ["0.0", "-0.0", "nan", "1.0", "-1.0"]
    assert [str(y) for y in jax.jit(lambda: (one(0.0), one(-0.0)))()] == ["0.0", "-0.0"]


def test_static_arguments_of_jit():
    f = jax.jit(kernels.rms_norm, static_argnames="eps")
    close(f(X, W, eps=0.5), rms_norm(X, W, eps=0.5))
    text = "rms_norm(): argument 'eps' (4th): expected float, got a traced value: add the argument to static_argnames"
    raises(TypeError, text, jax.jit(kernels.rms_norm), X, W, None, 0.5)
    raises(TypeError, "axpy(): argument 'a' (1st): expected float32, got a traced", jax.jit(kernels.axpy), 1.0, *A)


A = floats(4), floats(4) + 1


def test_written_arguments_come_back():
    x, y = A
    close(kernels.axpy(2, x, y), 2 * x + y)
    assert y.tolist() == [1, 2, 3, 4]
    close(kernels.axpy(2, y, y), 3 * y)  # one array in two positions
    close(jax.jit(lambda y: (kernels.axpy(2, y, y), y))(y), (3 * y, y))
    total, made, none = kernels.update(x, y)
    close((total, made), ((x + y).sum(), x + y))
    assert none is None
    close(kernels.update(x, y, x), ((x + y).sum(), x + y, 2 * x))
    close(kernels.update(jnp.ones((0, 4), jnp.float32), jnp.ones((0, 4), jnp.float32))[0], jnp.ones(0, jnp.float32))
    close(jax.lax.fori_loop(0, 5, lambda i, y: kernels.axpy(1, x, y), y), 5 * x + y)


def test_donated_arguments_are_written_in_place():
    x, y = floats(1000), floats(1000) + 1
    address = y.unsafe_buffer_pointer()
    made = jax.jit(lambda x, y: kernels.axpy(2.0, x, y), donate_argnums=1)(x, y)
    assert y.is_deleted() and made.unsafe_buffer_pointer() == address
    close(made, 3 * x + 1)


def test_layouts():
    x, y = floats(3, 4), floats(3, 4) + 1
    places = jnp.arange(12, dtype=jnp.float32).reshape(4, 3).T
    close(kernels.columns(x, y), y + places * x)
    close(jax.jit(lambda x, y: kernels.columns(x + 1, y.T) * 2)(x, y.T), 2 * (y + places * (x + 1)))
    assert kernels.strided(x.T, x.T, x.T).tolist() == [3, 1] * 3
    assert jax.jit(lambda x: kernels.strided(x, x, x))(x).tolist() == [4, 1] * 3


def test_short_dtypes_are_packed():
    x = jnp.asarray([1, -2, 3, -4, 5], jnp.int4)
    y, packed = kernels.nibbles(x)
    assert y.tolist() == x.tolist() and y.dtype == jnp.int4
    assert packed.tolist() == [0xE1, 0xC3, packed[2]] and packed[2] % 16 == 5


def test_kernels_without_results_are_called():
    counted = ctypes.c_int64.in_dll(ctypes.CDLL(_kernels.__file__), "counted")
    before = counted.value
    assert kernels.count(floats(3)) is None
    jax.jit(lambda x: kernels.count(x))(floats(3))
    jax.effects_barrier()
    assert counted.value == before + 2
    jax.vmap(kernels.count)(floats(4, 3))
    jax.effects_barrier()
    assert counted.value == before + 6


def test_gradients():
    for args in ((X, W), (X, W, B)):
        places = tuple(range(len(args)))
        close(jax.grad(loss(kernels.rms_norm), places)(*args), jax.grad(loss(rms_norm), places)(*args))
        close(
            jax.jit(jax.value_and_grad(loss(kernels.rms_norm), places))(*args),
            jax.value_and_grad(loss(rms_norm), places)(*args),
        )
    close(jax.grad(jax.checkpoint(loss(kernels.rms_norm)))(X, W), jax.grad(loss(rms_norm))(X, W))
    by, x = doubles(4, seed=3), doubles(4)
    close(jax.grad(lambda x: kernels.scale(x, by, 2.5, [2, 3], "all").sum())(x), 15 * by)
    close(jax.grad(lambda x: kernels.scale(x, by, 2.5, [], "none").sum())(x), by)
    made = (doubles(4), doubles(3), doubles(2), doubles(5), 5)
    close(jax.grad(lambda x: kernels.names(x, *made[1:]).sum())(made[0]), jnp.ones(4))


def test_gradients_of_some_results():
    x, y = doubles(4), doubles(4, seed=1)
    first = jax.grad(lambda x, y: (kernels.pair(x, y)[0] ** 2).sum(), (0, 1))(x, y)
    close(first, (2 * (x + y), 2 * (x + y)))
    second = jax.grad(lambda x, y: (kernels.pair(x, y)[1] ** 2).sum(), (0, 1))(x, y)
    close(second, (2 * (x - y), -2 * (x - y)))


def test_gradients_that_nothing_computes_are_rejected():
    x, by = doubles(4), doubles(4, seed=1)
    text = "scale(): argument 'by' (2nd): it requires a gradient, which the backward does not compute: pass jax"
    raises(NotImplementedError, text, jax.grad(lambda by: kernels.scale(x, by, 2.5, [], "all").sum()), by)
    text = "blend(): argument 'w' (3rd): it requires a gradient, but the kernel has no backward: pass jax.lax"
    raises(NotImplementedError, text, jax.grad(lambda w: kernels.blend(X, X, w).sum()), W)
    text = "rms_norm(): argument 'x' (1st): it requires a second-order gradient, which no backward computes"
    raises(NotImplementedError, text, jax.grad(lambda x: jax.grad(loss(kernels.rms_norm))(x, W).sum()), X)
    stopped = jax.grad(lambda w: (kernels.blend(X, X, jax.lax.stop_gradient(w)).sum() * w).sum())(W)
    close(stopped, jnp.full(8, kernels.blend(X, X, W).sum()))
    raises(TypeError, "forward-mode", lambda: jax.jvp(lambda x: kernels.rms_norm(x, W), (X,), (X,)))


def test_training():
    data, target = doubles(64, 8), doubles(64, 8, seed=5)
    losses = []
    for norm in (kernels.rms_norm, rms_norm):
        step = jax.jit(jax.value_and_grad(lambda p, norm=norm: ((norm(data, *p) - target) ** 2).mean()))
        parameters = (jnp.ones(8), jnp.zeros(8))
        for _ in range(50):
            value, gradients = step(parameters)
            parameters = jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
        losses.append(float(value))
    assert abs(losses[0] - losses[1]) < 1e-12 and losses[0] < 2, losses


def batched(function, args, in_axes=0, out_axes=0, each=None):
    """Compares vmap with a loop."""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    count = next(a.shape[d] for a, d in zip(args, axes) if d is not None)
    one = lambda i: [a if d is None else jnp.take(a, i, d) for a, d in zip(args, axes)]  # noqa: E731
    mapped = jax.vmap(function, in_axes, out_axes)
    made = [function(*one(i)) for i in range(count)]
    want = jax.tree.map(lambda *all: jnp.stack(all, out_axes), *made)
    close(mapped(*args), want)
    close(jax.jit(mapped)(*args), want)
    shapes = calls(mapped, *args)
    assert ("while" in jax.jit(mapped).lower(*args).as_text()) == bool(each), (shapes, each)
    assert len(shapes) == 1, shapes


def test_vmap_calls_once():
    batched(kernels.rms_norm, (X, W), (0, None))
    batched(kernels.rms_norm, (X, W), (1, None), 2)
    batched(lambda x: kernels.rms_norm(x, W, W, 0.5), (X,))
    batched(lambda x: jax.vmap(kernels.rms_norm, (0, None))(x, W), (doubles(2, 3, 5, 8),))
    assert jax.vmap(kernels.rms_norm, (0, None))(doubles(0, 5, 8), W).shape == (0, 5, 8)
    batched(lambda x, y: kernels.axpy(2.0, x, y), (floats(3, 4), floats(3, 4)))
    batched(lambda x, y: kernels.update(x, y, y), (floats(3, 4), floats(3, 4)))


def test_vmap_gives_the_batch_to_all_with_leading_dimensions():
    x, y = doubles(4, 3, 8), doubles(3, 8, seed=1)
    batched(kernels.blend, (x, y, W), (0, None, None))
    batched(kernels.blend, (y, x, W), (None, 0, None))
    batched(kernels.blend, (x, doubles(3, 4, 8), W), (0, 1, None))
    assert calls(jax.vmap(kernels.blend, (0, None, None)), x, y, W) == [
        "tensor<4x3x8xf64>, tensor<4x3x8xf64>, tensor<8xf64>"
    ]
    batched(lambda x, y: kernels.axpy(2.0, x, y), (floats(3, 4), floats(4)), (0, None))
    batched(lambda x, y: kernels.axpy(2.0, x, y), (floats(4), floats(3, 4)), (None, 0))


def test_vmap_calls_each_where_an_argument_has_no_leading_dimensions():
    x, w = doubles(4, 3, 8), doubles(4, 8, seed=1)
    batched(kernels.blend, (x, x, w), each=True)
    batched(kernels.blend, (x, x, doubles(8, 4)), (0, 0, 1), 1, each=True)
    batched(kernels.rms_norm, (x[0], w), (None, 0), each=True)
    batched(lambda x: kernels.words(x, [1, 5]), (floats(2, 3, 4),), each=True)
    batched(lambda x: kernels.columns(x, x), (floats(2, 3, 4),), each=True)
    assert jax.vmap(kernels.rms_norm, (None, 0))(x[0], doubles(0, 8)).shape == (0, 3, 8)


def test_vmap_of_kernels_that_forbid_it():
    text = "alone(): jax.vmap does not call kernels with `batch: none`: call it in a loop, or leave `batch:` out"
    raises(NotImplementedError, text, jax.vmap(kernels.alone), X)
    close(jax.vmap(lambda y: y + kernels.alone(W))(jnp.zeros((3, 8))), jnp.stack([W] * 3))


def test_vmap_and_gradients():
    both = lambda f: jax.vmap(f, (1, None), 1)  # noqa: E731
    close(jax.grad(loss(both(kernels.rms_norm)), (0, 1))(X, W), jax.grad(loss(rms_norm), (0, 1))(X, W))
    each = lambda f: jax.vmap(jax.grad(loss(f), (0, 1)), (0, None))(X, W)  # noqa: E731
    close(each(kernels.rms_norm), each(rms_norm))
    close(jax.jacrev(kernels.rms_norm)(X[0], W), jax.jacrev(rms_norm)(X[0], W))


def test_control_flow():
    three = rms_norm(rms_norm(rms_norm(X, W), W), W)
    step = lambda x, _: (kernels.rms_norm(x, W), x.sum())  # noqa: E731
    close(jax.lax.scan(step, X, None, length=3)[0], three)
    close(jax.lax.fori_loop(0, 3, lambda i, x: kernels.rms_norm(x, W), X), three)
    close(jax.jit(lambda x: jax.lax.cond(x.sum() > 1e9, lambda x: x, lambda x: step(x, 0)[0], x))(X), rms_norm(X, W))
    grads = [
        jax.grad(lambda x, f=f: jax.lax.scan(lambda x, _: (f(x, W), None), x, None, length=3)[0][0].sum())(X)
        for f in (kernels.rms_norm, rms_norm)
    ]
    np.testing.assert_allclose(grads[0], grads[1], atol=1e-12)


MESH = jax.make_mesh((4,), ("i",), **(
    {"axis_types": (jax.sharding.AxisType.Auto,)} if hasattr(jax.sharding, "AxisType") else {}
))
XS = doubles(8, 5, 8)
shard_map = getattr(jax, "shard_map", None)


def sharded(f, in_specs, out_specs, **words):
    return jax.jit(shard_map(f, mesh=MESH, in_specs=in_specs, out_specs=out_specs, **words))


def test_shard_map():
    for words in ({}, {"check_vma": False}):
        over = lambda f: sharded(f, (P("i"), P()), P("i"), **words)(XS, W)  # noqa: E731, B023
        close(over(kernels.rms_norm), rms_norm(XS, W))
        close(over(jax.vmap(kernels.rms_norm, (0, None))), rms_norm(XS, W))
        scan = lambda x, w: jax.lax.scan(lambda x, _: (kernels.rms_norm(x, w), None), x, None, length=2)  # noqa: E731
        close(over(lambda x, w: scan(x, w)[0]), rms_norm(rms_norm(XS, W), W))
        total = lambda x, w: jax.lax.psum(loss(kernels.rms_norm)(x, w), "i")  # noqa: E731
        got = jax.grad(sharded(total, (P("i"), P()), P(), **words), (0, 1))(XS, W)
        close(got, jax.grad(loss(rms_norm), (0, 1))(XS, W))


def test_gradients_inside_shard_map():
    local = sharded(jax.grad(loss(kernels.rms_norm), (0, 1)), (P("i"), P()), (P("i"), P()))
    close(local(XS, W), jax.grad(loss(rms_norm), (0, 1))(XS, W))
    first = sharded(jax.grad(lambda x, y: (kernels.pair(x, y)[0] ** 2).sum()), (P("i"), P()), P("i"))
    x, y = doubles(8), doubles(2, seed=1)
    close(first(x, y), 2 * (x + jnp.tile(y, 4)))


def test_pmap():
    """JAX 0.10 implements pmap with jit and shard_map, its successor."""
    x = XS[:4]
    close(jax.pmap(kernels.rms_norm, in_axes=(0, None))(x, W), rms_norm(x, W))
    total = lambda x, w: jax.lax.psum(loss(kernels.rms_norm)(x, w), "i")  # noqa: E731
    close(jax.pmap(total, "i", in_axes=(0, None))(x, W), jnp.tile(loss(rms_norm)(x, W), 4))
    got = jax.pmap(jax.grad(loss(kernels.rms_norm), (0, 1)), in_axes=(0, None))(x, W)
    close(got, jax.vmap(jax.grad(loss(rms_norm), (0, 1)), (0, None))(x, W))
    ours, theirs = floats(4, 3), floats(4, 3)
    pairs = jax.pmap(kernels.update, in_axes=(0, 0), donate_argnums=1)(ours, theirs)
    close(pairs[0], jax.vmap(kernels.update)(ours, floats(4, 3))[0])


def traits(symbol):
    """XLA's information about a registered handler: the major and minor version, and the traits."""
    metadata = (ctypes.c_uint64 * 5)(40)
    extension = (ctypes.c_uint64 * 4)(32, 1, 0, ctypes.addressof(metadata))  # 1: of metadata
    frame = (ctypes.c_uint64 * 32)(ctypes.sizeof(ctypes.c_uint64 * 32), ctypes.addressof(extension))
    handler = getattr(ctypes.CDLL(_kernels.__file__), symbol)
    handler.restype = ctypes.c_void_p
    assert handler(frame) is None
    return metadata[3] & 0xFFFFFFFF, metadata[3] >> 32, metadata[4] & 0xFFFFFFFF


def test_traits():
    """graphs is the trait for command buffers. Only XLA for CUDA uses it, so it has no effect on
    the CPU."""
    assert traits("dlpackgen_jax_cuda_placed") == (0, 1, 1)
    assert traits("dlpackgen_jax_cpu_placed") == (0, 1, 0)
    assert traits("dlpackgen_jax_cpu_rms_norm") == (0, 1, 0)


def test_sharded_arrays():
    x = jax.device_put(XS, NamedSharding(MESH, P("i")))
    close(jax.jit(kernels.rms_norm)(x, W), rms_norm(XS, W))
    close(kernels.rms_norm(x, W), rms_norm(XS, W))
    for device in jax.devices():
        close(kernels.rms_norm(jax.device_put(X, device), jax.device_put(W, device)), rms_norm(X, W))


def test_export():
    exported = jax.export.export(jax.jit(kernels.rms_norm), disabled_checks=CHECKS)(X, W)
    path = os.path.join(BUILD, "exported")
    with open(path, "wb") as file:
        file.write(exported.serialize())
    np.save(path + ".npy", np.stack([np.asarray(X).sum(0), np.asarray(rms_norm(X, W)).sum(0)]))
    out = subprocess.run([sys.executable, "reloaded.py", path], capture_output=True, text=True)
    assert out.returncode == 0 and "ok reloaded" in out.stdout, out.stdout + out.stderr
    shape = jax.ShapeDtypeStruct(jax.export.symbolic_shape("a, 8"), jnp.float64)
    text = "rms_norm(): argument 'x' (1st): expected a shape of numbers, got (a, 8): export each shape separately"
    raises(NotImplementedError, text, jax.export.export(jax.jit(kernels.rms_norm), disabled_checks=CHECKS), shape, W)


def test_threads():
    want, wrong = rms_norm(X, W), []

    def work():
        for _ in range(100):
            if not np.allclose(kernels.rms_norm(X, W), want):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_failures_of_the_kernel():
    text = "OUT_OF_RANGE: rms_norm(): argument 'x' (1st): a row has no scale"
    raises(FAILURE, text, lambda: jax.block_until_ready(kernels.rms_norm(jnp.full((3, 8), 1e30), W)))
    raises(FAILURE, text, lambda: jax.block_until_ready(jax.jit(kernels.rms_norm)(jnp.full((3, 8), 1e30), W)))


FAILURE = getattr(jax.errors, "JaxRuntimeError", None)


def test_foreign_calls_are_rejected():
    """Calls of handlers by code other than kernels_jax.py."""

    def call(result, *args, target="described.rms_norm", **attributes):
        f = jax.ffi.ffi_call(target, result)
        return jax.block_until_ready(jax.jit(lambda *args: f(*args, **attributes))(*args))

    good = {"?": np.int64(0b1011), "eps": 0.5}
    two = [jax.ShapeDtypeStruct((3, 8), jnp.float64), jax.ShapeDtypeStruct((3,), jnp.float64)]
    x = X[0, :3]
    close(call(two, x, W, **good)[0], rms_norm(x, W, eps=0.5))
    close(call(two, x, W, **{**good, "?": np.int64(0)})[0], rms_norm(x, W, eps=0.5))
    start = "INVALID_ARGUMENT: rms_norm(): XLA's call has "
    for what, result, args, attributes in (
        ("too few arguments", two, (x,), good),
        ("too many arguments", two, (x, W, W), good),
        ("too few arguments", two, (x, W), {**good, "?": np.int64(0b1111)}),
        ("too few results", two[:1], (x, W), good),
        ("too many results", two * 2, (x, W), good),
        ("an unexpected number of attributes", two, (x, W), {"?": np.int64(11)}),
        ("attributes of unexpected types", two, (x, W), {**good, "eps": np.float32(1)}),
        ("attributes of unexpected types", two, (x, W), {**good, "?": 1.0}),
        ("attributes of unexpected types", two, (x, W), {**good, "eps": "text"}),
    ):
        text = start + what + ": it was compiled for a different version of the library"
        raises(FAILURE, text, call, result, *args, **attributes)
    wrong = [jax.ShapeDtypeStruct((3, 9), jnp.float64), two[1]]
    raises(FAILURE, "rms_norm(): argument 'y' (5th): expected 8 in dimension 1, got 9", call, wrong, x, W, **good)
    raises(FAILURE, "argument 'weight' (2nd): expected n = 8", call, two, x, W[:7], **good)
    raises(FAILURE, "argument 'weight' (2nd): expected 1 dimension, got 2", call, two, x, W[None], **good)
    sizes, none = np.array([1, 5]), np.zeros(0)
    good = {"?": np.int64(0), "sizes": sizes, "scales": none, "mode": "clip\0", "maybe": np.int64(0), "exact": True}
    two = [jax.ShapeDtypeStruct((5, 3), jnp.float32), jax.ShapeDtypeStruct((12, 1), jnp.int64)]
    good.update(target="described.words", half=0.5)
    x = jnp.ones((3, 4), jnp.float32)
    call(two, x, tiny=np.int64(127), **good), call(two, x, tiny=np.int64(-128), **good)
    for tiny in 128, -129:
        text = f"words(): argument 'tiny' (5th): int8 cannot represent {tiny}"
        raises(FAILURE, text, call, two, x, tiny=np.int64(tiny), **good)


if __name__ == "__main__":
    run(dict(globals()))
