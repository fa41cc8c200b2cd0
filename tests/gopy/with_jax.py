import logging

from check import equal, framework, main, no_leak, outstanding, raises

logging.disable(logging.WARNING)
jax, jnp, np = framework("jax", "jax.numpy", "numpy")
import gopy

jax.config.update("jax_platforms", "cpu")


# JAX returns a capsule from before DLPack 1.0, which cannot declare that its arrays are immutable;
# Go treats such tensors as read-only.
def test_go_sees_an_array_in_place():
    x = jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
    want = (x.unsafe_buffer_pointer(), "float32", (2, 3), (3, 1), "CPU:0", True)
    equal(gopy.describe(x), want)
    equal(gopy.describe_owned(x), want)
    equal(gopy.sum(x), 15.0)
    with raises(BufferError, "fill(): argument 1", "read-only"):
        gopy.fill(x, 1)
    gopy.overwrite(x, 2)  # reports it by name
    equal(gopy.sum(x), 12.0)


def test_a_result_is_waited_for():
    x = jnp.ones((1500, 1500), jnp.float32)
    equal(gopy.sum((x @ x) * 0 + 1), 1500.0 * 1500)


def test_scalars_nothing_and_types():
    equal(gopy.sum(jnp.float32(3.5)), 3.5)
    equal(gopy.sum(jnp.zeros((0, 3), jnp.float32)), 0.0)
    for name in (
        "bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64 float8_e4m3fn float8_e5m2".split()
    ):
        equal(gopy.describe(jnp.zeros(2, name))[1], name)


def test_traced_values_are_rejected():
    def inside(x):
        with raises(jax.errors.ConcretizationTypeError, "float32[3]"):
            gopy.sum(x)
        return x

    jax.jit(inside)(jnp.ones(3))


def test_jax_sees_go():
    t = gopy.counting(2, 3, 0)
    x = jnp.from_dlpack(t)
    equal(x.tolist(), [[0, 1, 2], [3, 4, 5]])
    equal(np.asarray(jnp.from_dlpack(gopy.strided())).tolist()[0], [1, 5, 9])


def test_jax_is_told_that_it_cannot_have_flags():
    with raises(BufferError, "read-only", "max_version"):
        gopy.counting(2, 2, 1).__dlpack__()


def test_the_slice_lives_while_somebody_looks():
    before = outstanding()
    x = jnp.from_dlpack(gopy.counting(100, 10, 0))
    shares = x.unsafe_buffer_pointer()
    equal(float(x[50, 0]), 500.0)
    assert shares
    del x
    equal(outstanding(), before)


def test_many_rounds_without_a_leak():
    x = jnp.ones((2, 3), jnp.float32)
    no_leak(lambda: gopy.sum(x))
    no_leak(lambda: gopy.forward(x))
    t = gopy.counting(2, 3, 0)
    no_leak(lambda: jnp.from_dlpack(t), 20_000)  # JAX takes 0.1 ms for each
    del t
    equal(outstanding(), 0)


main()
