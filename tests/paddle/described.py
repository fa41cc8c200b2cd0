"""Described kernels as Paddle functions: values, gradients and static graphs."""

from loaded import BUILD, equal, gradients, raises, run, same_gradients, static, tensor

import inspect
import itertools

import numpy as np
import paddle

import kernels_paddle as kernels


def reference(x, weight, bias=0, eps=1e-6):
    return x / ((x * x).mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def arguments():
    return tensor(3, 8, gradient=True), tensor(8, gradient=True), tensor(8, gradient=True) * 1


def leaves():
    x, weight, _ = arguments()
    bias = paddle.ones([8], dtype="float64")
    bias.stop_gradient = False
    return x, weight, bias


def norm(x, weight, bias=None):
    return kernels.rms_norm(x, weight, bias)


def test_signatures_and_documents():
    assert str(inspect.signature(kernels.rms_norm)) == "(x, weight, bias=None, eps=1e-06, *, out=None)"
    assert str(inspect.signature(kernels.axpy)) == "(a, x, y)"
    assert kernels.rms_norm.__doc__.startswith("Scales each row of x"), kernels.rms_norm.__doc__
    assert "rms_norm" in kernels.__all__


def test_values():
    x, weight, bias = (a.detach() for a in leaves())
    for call in kernels.rms_norm, static(norm):
        made = call(x, weight, bias)
        assert isinstance(made, paddle.Tensor) and made.stop_gradient
        equal(made, reference(x, weight, bias))
        equal(call(x, weight), reference(x, weight))
    equal(kernels.rms_norm(x, weight=weight, eps=2.0), reference(x, weight, eps=2.0))


def test_out():
    x, weight, _ = (a.detach() for a in leaves())
    out = paddle.zeros([3, 8], dtype="float64")
    assert kernels.rms_norm(x, weight, out=out) is out
    equal(out, reference(x, weight))
    assert out.inplace_version == 1
    x.stop_gradient = False
    raises(NotImplementedError, "rms_norm(): out= is not supported if", kernels.rms_norm, x, weight, out=out)


def test_keywords_that_nothing_reads():
    x, weight, _ = leaves()

    def beside(x, weight):
        return kernels.rms_norm(x, weight, like=x)

    def on_stream(x, weight):
        return kernels.rms_norm(x, weight, stream=1)

    for name, function in ("like", beside), ("stream", on_stream):
        text = f"rms_norm() got an unexpected keyword argument '{name}'"
        for call in function, static(function):
            raises(TypeError, text, call, x, weight)
            raises(TypeError, text, call, x.detach(), weight.detach())
    text = "axpy() got an unexpected keyword argument 'out'"
    raises(TypeError, text, kernels.axpy, 2.0, tensor(3, dtype="float32"), tensor(3, dtype="float32"), out=x)


def test_written_arguments():
    x, y = tensor(3, dtype="float32"), tensor(3, dtype="float32")
    want = 2 * x + y
    assert kernels.axpy(2.0, x, y) is None
    equal(y, want)
    assert y.inplace_version == 1
    kernels.axpy(2.0, x=x, y=y)
    assert y.inplace_version == 2


def three_times(x):
    return kernels.multiplied(x, like=3)


def test_arguments_with_the_names_of_keywords():
    x, out = tensor(3), paddle.zeros([3], dtype="float64")
    assert kernels.into(x, out=out) is None
    equal(out, x)
    assert out.inplace_version == 1
    raises(TypeError, "into(): argument 'x' (1st): expected a tensor of Paddle", kernels.into, np.ones(3), out=out)
    for call in three_times, static(three_times):
        equal(call(x), 3 * x)
    x.stop_gradient = False
    raises(NotImplementedError, "into(): argument 'x' (1st): it requires a gradient", kernels.into, x, out=out)


def add_in_place(x, y):
    return kernels.axpy(2.0, x, y)


def sum_of(x):
    return kernels.total(x)


def test_what_stays_outside_of_graphs():
    x = tensor(3, dtype="float32")
    text = "axpy(): it writes to y, which static graphs of Paddle do not support"
    raises(NotImplementedError, text, static(add_in_place), x, x)
    text = "total(): it returns the scalar sum, which"
    raises(NotImplementedError, text, static(sum_of), tensor(3))
    equal(kernels.total(tensor(3)), tensor(3).sum())

    def with_out(x, weight, out):
        return kernels.rms_norm(x, weight, out=out)

    text = "rms_norm(): it has out=, which"
    raises(NotImplementedError, text, static(with_out), tensor(3, 8), tensor(8), tensor(3, 8))


def test_gradients():
    for function in norm, static(norm), paddle.jit.to_static(norm, full_graph=False):
        for _ in range(2):
            same_gradients(function, reference, *leaves())
    x, weight, bias = leaves()
    same_gradients(static(norm), reference, x, weight.detach(), bias)
    same_gradients(norm, reference, x, weight.detach(), bias)


def used_twice(function):
    def twice(x, weight, bias):
        y = function(x * 2, weight + 1, bias)
        return y.t() * 3 + y.sum() * y[:, :3].t()[0:1, 0:1]

    return twice


def transposed(x, weight, bias):
    return norm(x, weight, bias).t()


def used_twice_here(x, weight, bias):
    return used_twice(norm)(x, weight, bias)


def test_cotangents():
    """Gradients of a transposed view, of a result with several uses, and of an expanded one."""
    same_gradients(used_twice(norm), used_twice(reference), *leaves())
    same_gradients(transposed, lambda *a: reference(*a).t(), *leaves())
    same_gradients(static(transposed), lambda *a: reference(*a).t(), *leaves())
    same_gradients(static(used_twice_here), used_twice(reference), *leaves())


def second(x, y):
    return kernels.pair(x, y)[1] * 2


def both(x, y):
    s, d, _ = kernels.pair(x, y)
    return s * s + d


def test_results_that_have_no_gradient():
    p, q = tensor(4, gradient=True), tensor(5, gradient=True)[:4].detach()
    q.stop_gradient = False
    for ours, theirs in (second, lambda x, y: (x - y) * 2), (both, lambda x, y: (x + y) ** 2 + (x - y)):
        same_gradients(ours, theirs, p, q)
        same_gradients(static(ours), theirs, p, q)
    places = kernels.pair(p, q)[2]
    assert places.dtype == paddle.int32 and places.stop_gradient


def first_of_mixed(x, y):
    return kernels.mixed(x, y)[0]


def alone(x):
    return kernels.alone(x)


def alone_without_gradient(x):
    with paddle.no_grad():
        return kernels.alone(x)


def test_gradients_that_nothing_computes():
    p, q = tensor(4, gradient=True), tensor(4, gradient=True)
    text = "argument 'y' (2nd): it requires a gradient, which the backward does not compute: pass y.detach(), or"
    for function in first_of_mixed, static(first_of_mixed):
        raises(NotImplementedError, text, function, p, q)
        same_gradients(function, lambda x, y: x * y, p, q.detach())
    text = "alone(): argument 'x' (1st): it requires a gradient, but the kernel has no backward: pass x.detach(), or"
    for function in alone, static(alone):
        raises(NotImplementedError, text, function, p)
    for function in alone_without_gradient, static(alone_without_gradient):
        equal(function(p), p.detach())
        assert function(p).stop_gradient
    with paddle.no_grad():
        equal(kernels.rms_norm(x=tensor(3, 8, gradient=True), weight=tensor(8)), reference(tensor(3, 8), tensor(8)))


def test_second_derivatives():
    x, weight, _ = leaves()
    try:
        paddle.grad(kernels.rms_norm(x, weight).sum(), [x], create_graph=True)
    except Exception as e:
        assert "second-order gradient, which no backward computes: pass x.detach()" in str(e), e
    else:
        raise AssertionError("a second derivative is zero")


def scaled(x):
    return [kernels.scale(x, x.detach() * 0 + 2, f, [2, 3], "m") for f in (-1.0, -2.0, 1.0, 0.0)]


def modes(x):
    return [kernels.scale(x, x.detach() * 0 + 2, f, [2], m) for f, m in ((1.0, "m"), (True, "m"), (1, "none"))]


def test_scalars_differ():
    """Paddle hashes -1 like -2, and 1 like True."""
    for function in scaled, modes:
        same_gradients(static(function), function, tensor(3, gradient=True))
    factors = [g.item() for g in static(scaled)(paddle.ones([1], dtype="float64"))]
    assert factors == [-12.0, -24.0, 12.0, 0.0], factors


def words(x):
    return kernels.words(x, [1, 5], mode="wrap", half=2.5)


def test_extents_that_are_unknown():
    x = tensor(3, 4, dtype="float32")
    unknown = static(words, ([-1, -1], "float32"))
    for got, want in zip(unknown(x), kernels.words(x, [1, 5], mode="wrap", half=2.5), strict=True):
        equal(got, want)
    specs = ([-1, 8], "float64"), ([8], "float64"), ([8], "float64")
    same_gradients(static(norm, *specs), reference, *leaves())
    same_gradients(static(norm, ([-1, -1, 8], "float64"), *specs[1:]), reference, tensor(2, 3, 8, gradient=True),
                   *leaves()[1:])


def norm_of_4(x, weight):
    return kernels.rms_norm(x, weight)


def test_mistakes_beside_unknown_extents():
    text = "rms_norm(): argument 'weight' (2nd): expected n = 8 in dimension 0, as in argument 'x' (1st), got 4"
    raises(ValueError, text, static(norm_of_4, ([-1, 8], "float64"), ([4], "float64")), tensor(2, 8), tensor(4))
    text = "rms_norm(): argument 'weight' (2nd): expected"
    raises(TypeError, text, static(norm_of_4, ([-1, 8], "float64"), ([-1], "float32")), tensor(2, 8),
           tensor(4, dtype="float32"))
    text = "rms_norm(): argument 'x' (1st): expected"
    raises(ValueError, text, static(norm_of_4, ([], "float64"), ([-1], "float64")), tensor(), tensor(4))
    fine = static(norm_of_4, ([-1, -1], "float64"), ([4], "float64"))
    equal(fine(tensor(2, 4), tensor(4)), reference(tensor(2, 4), tensor(4)))
    raises(SystemError, "", fine, tensor(2, 5), tensor(4))


def failing(x):
    return kernels.fails(x, 7)


def test_what_a_kernel_reports():
    raises(IndexError, "fails(): argument 'x' (1st): no", kernels.fails, tensor(3), 7)
    raises(SystemError, "", static(failing), tensor(3))


def copied(x):
    return kernels.copy(x)


DTYPES = "bool int8 uint8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"


def test_dtypes_and_sizes():
    for dtype in DTYPES.split():
        for shape in [], [0], [2, 0, 3], [2, 3]:
            x = paddle.ones(shape, dtype="float32").astype(dtype)
            for function in kernels.copy, static(copied):
                y = function(x)
                assert y.dtype == x.dtype and list(y.shape) == shape, (y, dtype, shape)
                equal(y.astype("float32"), x.astype("float32"))


def turned(x):
    return kernels.turned(x.t())


def test_strides():
    x = tensor(3, 4, dtype="float32")
    for function in turned, static(turned):
        equal(function(x), x)


def counting(x):
    kernels.count(x)
    kernels.count(x)
    return x * 1


def counted():
    import ctypes

    return ctypes.c_int64.in_dll(ctypes.CDLL(f"{BUILD}/_kernels.abi3.so"), "counted").value


def test_kernels_without_results_are_called():
    before = counted()
    assert kernels.count(tensor(2, dtype="float32")) is None
    static(counting)(tensor(2, dtype="float32"))
    assert counted() - before == 3


def ramp(x):
    return kernels.ramp(4) + x


def test_kernels_without_tensors():
    made = kernels.ramp(3)
    assert isinstance(made, paddle.Tensor)
    equal(made, [0, 1, 2])
    equal(static(ramp)(paddle.zeros([4])), [0, 1, 2, 3])


class Layer(paddle.nn.Layer):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.weight = self.create_parameter([8], dtype="float64")

    def forward(self, x):
        return self.function(x, self.weight)


def test_parameters_of_layers():
    for graph in None, True, False:
        ours, theirs = Layer(kernels.rms_norm), Layer(reference)
        theirs.weight.set_value(ours.weight)
        if graph is not None:
            ours = paddle.jit.to_static(ours, full_graph=graph)
        for layer in ours, theirs:
            layer(tensor(3, 8)).pow(2).sum().backward()
        equal(ours.weight.grad, theirs.weight.grad)


def test_programs():
    """Without paddle.jit."""
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x = paddle.static.data("x", [-1, 8], "float64")
            y = kernels.rms_norm(x, paddle.ones([8], dtype="float64"))
            assert list(y.shape) == [-1, 8] and y.dtype == x.dtype
            for shape, dtype in itertools.product(([2], [3], [], [0, 2]), ("bfloat16", "int64")):
                z = kernels.copy(paddle.zeros(shape, dtype=dtype))
                assert list(z.shape) == shape and str(z.dtype) == f"paddle.{dtype}", (z, shape, dtype)
        data = np.ones((2, 8))
        made = paddle.static.Executor(paddle.CPUPlace()).run(program, feed={"x": data}, fetch_list=[y])
        equal(made[0], data)
    finally:
        paddle.disable_static()


if __name__ == "__main__":
    run(dict(globals()))
