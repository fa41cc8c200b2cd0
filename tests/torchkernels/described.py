"""Described kernels as torch operators: values, gradients, graphs, and the messages of the Python
module. With STABLE set, the operators use the C shim, through kernels_torch.py."""

import importlib.util
import os
import pathlib
import sys
import threading

import numpy
import torch
import torch._dynamo.testing
from check import raises, run
from torch.library import opcheck
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))
from kinds import compare_kinds  # noqa: E402

ops = torch.ops.described
kernels = importlib.util.module_from_spec(importlib.util.spec_from_file_location("_kernels", os.environ["MODULE"]))
kernels.__spec__.loader.exec_module(kernels)
if os.environ.get("STABLE"):
    sys.modules["_kernels"] = kernels
    sys.path.insert(0, os.path.join(os.environ.get("MUTANTS", ""), os.environ.get("DLPACKGEN_MUTANT", "0")))
    importlib.import_module("kernels_torch").register()


def rms_norm(x, weight, bias=None, eps=1e-6):
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight
    return y if bias is None else y + bias


def doubles(*shape, grad=False):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=grad)


def test_schemas():
    schemas = {name: str(getattr(ops, name).default._schema) for name in ("rms_norm", "axpy", "words", "scale")}
    assert schemas["rms_norm"].startswith("described::rms_norm(Tensor x, Tensor weight, Tensor? bias=None, float eps=")
    assert schemas["rms_norm"].endswith(") -> Tensor")
    assert schemas["axpy"] == "described::axpy(Scalar a, Tensor x, Tensor(a!) y) -> ()"
    assert schemas["words"] == (
        'described::words(Tensor x, int[] sizes, float[]? scales=None, str mode="clip", int tiny=3, '
        "int? maybe=None, bool exact=True, float? half=None) -> (Tensor, Tensor)"
    )


def test_values():
    x, w, b = doubles(3, 5, 8), doubles(8), doubles(8)
    assert torch.allclose(ops.rms_norm(x, w), rms_norm(x, w))
    assert torch.allclose(ops.rms_norm(x, w, b, 1e-3), rms_norm(x, w, b, 1e-3))
    assert torch.allclose(ops.rms_norm(x.float(), w.float(), eps=0.5), rms_norm(x, w, eps=0.5).float(), atol=1e-5)
    y = torch.ones(4, dtype=torch.int32)
    ops.axpy(3, torch.arange(4, dtype=torch.int32), y)
    assert y.tolist() == [1, 4, 7, 10] and y._version == 1
    z = torch.ones(4)
    ops.axpy(2.5, torch.arange(4.0), z)
    assert z.tolist() == [1, 3.5, 6, 8.5]


def test_scalars_lists_and_texts():
    x = torch.arange(12.0).reshape(4, 3).t()  # is copied to a C-contiguous tensor, because of `copied`
    y, z = ops.words(x, [1, 5])
    assert y.shape == (5, 3) and z.shape == (12, 1) and z.dtype == torch.int64
    assert y.flatten()[:8].tolist() == [2, -1, 4, 3, -1, 1, -1, 3]
    y, _ = ops.words(x, [1, 5], [1.0, 2.0], "abcde", 7, 9, False, 2.5)
    assert y.flatten()[:8].tolist() == [2, 2, 5, 7, 9, 0, 2.5, 3]
    assert ops.words(x, [1, 5], [])[0].flatten()[1] == 0  # an empty list differs from a missing one


def test_gradients():
    x, w, b = doubles(2, 3, 4, grad=True), doubles(4, grad=True), doubles(4, grad=True)
    assert torch.autograd.gradcheck(ops.rms_norm, (x, w, b))
    assert torch.autograd.gradcheck(ops.rms_norm, (x, w))
    ops.rms_norm(x, w).sum().backward()  # the gradient is expanded
    by, one = doubles(4), doubles(4, grad=True)
    assert torch.autograd.gradcheck(lambda x: ops.scale(x, by, 2.5, [2, 3], "all"), (one,))
    assert torch.autograd.gradcheck(lambda x: ops.scale(x, by, 2.5, [], "none"), (one,))


def test_second_derivatives():
    x = doubles(4, grad=True)
    assert torch.autograd.gradgradcheck(ops.cube, (x,))
    (first,) = torch.autograd.grad(ops.cube(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=False)
    assert torch.allclose(first, 3 * x * x) and torch.allclose(second, 6 * x)
    one, by = doubles(4, grad=True), doubles(4)
    raises(
        NotImplementedError,
        "the kernel has no backward",
        lambda: torch.autograd.grad(ops.rms_norm(one, by).sum(), one, create_graph=True),
    )


def test_gradients_that_nothing_computes_are_rejected():
    x, by = doubles(4), doubles(4, grad=True)
    text = "argument 'by' (2nd): it requires a gradient, which the backward does not compute"
    raises(NotImplementedError, text, ops.scale, x, by, 1.0, [], "all")
    z = torch.ones(3, requires_grad=True)
    raises(NotImplementedError, "the kernel has no backward", ops.axpy, 1.0, z, torch.ones(3))


def test_names_of_arguments():
    x = doubles(4, grad=True)
    assert torch.autograd.gradcheck(lambda x: ops.names(x, doubles(3), name=doubles(2), handle=doubles(5), K=5), (x,))


def test_training():
    torch.manual_seed(0)
    data, target = doubles(64, 8), doubles(64, 8)
    losses = []
    for step in (ops.rms_norm, rms_norm):
        w, b = torch.ones(8, dtype=torch.float64, requires_grad=True), doubles(8).zero_().requires_grad_()
        optimizer = torch.optim.SGD([w, b], lr=0.1)
        for _ in range(50):
            optimizer.zero_grad()
            loss = (step(data, w, b) - target).pow(2).mean()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert abs(losses[0] - losses[1]) < 1e-12, losses


def test_one_graph_for_all_shapes():
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    w, b = doubles(8, grad=True), doubles(8, grad=True)
    f = torch.compile(lambda x: ops.rms_norm(x * 2, w, b).sin(), fullgraph=True, dynamic=True, backend=counter)
    for n in (3, 5, 7):
        x = doubles(n, 8, grad=True)
        f(x).sum().backward()
        y = x.detach().clone().requires_grad_()
        rms_norm(y * 2, w, b).sin().sum().backward()
        assert torch.allclose(x.grad, y.grad)
    assert counter.frame_count == 1, counter.frame_count
    g = torch.compile(lambda x: ops.words(x, [1, 5])[0] + 1, fullgraph=True, dynamic=True, backend="aot_eager")
    assert g(torch.ones(4, 3)).shape == (5, 3) and g(torch.ones(6, 5)).shape == (5, 4)


def test_functions_of_the_module_are_operators_in_graphs():
    path = os.path.join(os.path.dirname(os.environ["MODULE"]), "cpp", "dlpackgen_torch", "direct.py")
    spec = importlib.util.spec_from_file_location("direct", path)
    direct = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(direct)
    for name in ("rms_norm", "axpy"):
        assert direct.point_to(getattr(kernels, name), getattr(ops, name)) is getattr(kernels, name)
    seen = []

    def backend(graph, _):
        seen.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward

    def step(x, weight):
        y = kernels.rms_norm(x * 2, weight, eps=0.5)
        kernels.axpy(2.0, x, y)
        return y + 1

    x, w = torch.randn(3, 8), torch.randn(8)
    assert torch.equal(torch.compile(step, fullgraph=True, backend=backend)(x, w), step(x, w))
    assert [name for name in seen if "described" in name] == ["described.rms_norm", "described.axpy"], seen
    x, w = doubles(3, 8, grad=True), doubles(8, grad=True)
    f = torch.compile(lambda x: kernels.rms_norm(x, w), fullgraph=True, backend="aot_eager")
    f(x).sum().backward()
    assert torch.allclose(x.grad, torch.autograd.grad(ops.rms_norm(x, w).sum(), x)[0])


def test_they_are_compliant():
    x, w, b = doubles(3, 8, grad=True), doubles(8, grad=True), doubles(8, grad=True)
    for op, args in (
        (ops.rms_norm, (x, w, b)),
        (ops.rms_norm, (x, w)),
        (ops.words, (torch.ones(3, 4), [1, 5])),
        (ops.axpy, (2.0, torch.ones(3), torch.ones(3))),
        (ops.scale, (doubles(4, grad=True), doubles(4), 2.0, [3], "all")),
    ):
        assert set(opcheck(op.default, args).values()) == {"SUCCESS"}


def test_export():
    class Model(torch.nn.Module):
        def forward(self, x, w):
            return ops.rms_norm(x, w)

    x, w = doubles(3, 8), doubles(8)
    assert torch.allclose(torch.export.export(Model(), (x, w)).module()(x, w), rms_norm(x, w))


def test_vmap():
    x, w = doubles(3, 5, 8), doubles(8)
    assert torch.allclose(torch.vmap(ops.rms_norm, in_dims=(0, None))(x, w), rms_norm(x, w))


class Calls(TorchDispatchMode):
    """Counts the calls that reach described kernels."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func.namespace == "described"
        return func(*args, **(kwargs or {}))


def batched(calls, function, args, **words):
    """Compares vmap with a loop, and counts calls of kernels."""
    in_dims, out_dims = words.get("in_dims", 0), words.get("out_dims", 0)
    in_dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
    with Calls() as seen:
        got = torch.vmap(function, **words)(*args)
    count = next(a.shape[d] for a, d in zip(args, in_dims) if d is not None)
    each = [[a if d is None else a.select(d, i).contiguous() for a, d in zip(args, in_dims)] for i in range(count)]
    assert torch.equal(got, torch.stack([function(*one) for one in each], out_dims))
    assert seen.count == calls, (seen.count, calls)


def test_vmap_calls_once():
    x, w = doubles(3, 5, 8), doubles(8)
    batched(1, ops.rms_norm, (x, w), in_dims=(0, None))
    batched(1, ops.rms_norm, (x, w), in_dims=(1, None), out_dims=2)
    batched(1, ops.rms_norm, (doubles(3, 8, 5), w), in_dims=(2, None), out_dims=1)
    batched(1, ops.rms_norm, (doubles(6, 5, 8)[::2], w), in_dims=(0, None))
    batched(2, ops.rms_norm, (x, w), in_dims=(0, None), chunk_size=2)
    batched(1, lambda x: ops.rms_norm(x, w, w, 0.5), (x,))
    nested = torch.vmap(torch.vmap(ops.rms_norm, in_dims=(0, None)), in_dims=(1, None))
    batched(1, lambda x: nested(x, w), (doubles(2, 3, 5, 8),))
    assert torch.vmap(ops.rms_norm, in_dims=(0, None))(doubles(0, 5, 8), w).shape == (0, 5, 8)


def test_vmap_gives_the_batch_to_all_with_leading_dimensions():
    x, y, w = doubles(4, 3, 8), doubles(3, 8), doubles(8)
    batched(1, ops.blend, (x, y, w), in_dims=(0, None, None))
    batched(1, ops.blend, (y, x, w), in_dims=(None, 0, None))
    batched(1, ops.blend, (x, doubles(3, 4, 8), w), in_dims=(0, 1, None))
    outer = torch.vmap(lambda w: torch.vmap(ops.blend, in_dims=(0, 0, None))(x, x, w))
    with Calls() as seen:
        got = outer(doubles(2, 8).fill_(2))
    assert torch.equal(got, torch.stack([-x, -x])) and seen.count == 2


def test_vmap_calls_each_where_an_argument_has_no_leading_dimensions():
    x, w = doubles(4, 3, 8), doubles(4, 8)
    batched(4, ops.blend, (x, x, w))
    batched(4, ops.blend, (x, x, doubles(8, 4)), in_dims=(0, 0, 1), out_dims=1)
    batched(4, ops.rms_norm, (x[0], w), in_dims=(None, 0))
    raises(ValueError, "a batch of 0 elements", torch.vmap(ops.rms_norm, in_dims=(None, 0)), x[0], doubles(0, 8))


def test_vmap_of_kernels_that_forbid_it():
    text = "alone(): torch.vmap does not call kernels with `batch: none`"
    raises(NotImplementedError, text, torch.vmap(ops.alone), doubles(3, 4))
    x = doubles(4)
    assert torch.equal(torch.vmap(lambda y: y + ops.alone(x))(doubles(3, 4).fill_(0)), x.expand(3, 4))


def test_vmap_and_gradients():
    x, w = doubles(3, 5, 8, grad=True), doubles(8, grad=True)
    f = torch.vmap(ops.rms_norm, in_dims=(1, None), out_dims=1)
    assert torch.autograd.gradcheck(f, (x, w))
    y = ops.rms_norm(x[0], w)
    ones = torch.eye(40, dtype=torch.float64).reshape(40, 5, 8)
    rows = torch.autograd.grad(y, (x, w), ones, retain_graph=True, is_grads_batched=True)
    for i in range(40):
        for got, want in zip(rows, torch.autograd.grad(y, (x, w), ones[i], retain_graph=True)):
            assert torch.allclose(got[i], want)


def test_vmap_in_one_graph():
    x, w = doubles(3, 5, 8), doubles(8)
    f = torch.compile(torch.vmap(ops.rms_norm, in_dims=(1, None)), fullgraph=True, backend="aot_eager")
    assert torch.allclose(f(x, w), rms_norm(x, w).transpose(0, 1))


def test_autocast_leaves_them_alone():
    x, w = torch.ones(3, 8), torch.ones(8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half = x @ torch.ones(8, 8)
        assert half.dtype == torch.bfloat16 and ops.rms_norm(x, w).dtype == torch.float32
        inside = outcome(ops.rms_norm, (half, w), {})
    assert inside is not None and inside == outcome(ops.rms_norm, (half, w), {})


def meta(*shape):
    return torch.empty(*shape, device="meta")


def test_shapes_are_checked_without_data():
    assert ops.rms_norm(meta(3, 8), meta(8)).shape == (3, 8)
    text = "rms_norm(): argument 'weight' (2nd): expected n = 8 in dimension 0, as in argument 'x' (1st), got 7"
    raises(ValueError, text, ops.rms_norm, meta(3, 8), meta(7))
    raises(ValueError, "expected a C-contiguous tensor", ops.rms_norm, meta(8, 3).t(), meta(8))
    assert ops.words(meta(4, 3).t(), [1, 5])[0].shape == (5, 3)


def test_meta_and_other_tensors_do_not_mix():
    raises(Exception, "argument 'weight' (2nd)", ops.rms_norm, torch.ones(3, 8), meta(8))
    y = torch.ones(4)
    raises(Exception, "argument 'y' (3rd)", ops.axpy, 1.0, meta(4), y)
    assert y.tolist() == [1] * 4


def test_shapes_round_down():
    assert [t.shape for t in ops.pad(torch.ones(3, 10))] == [(3, 2, 16), (3, 1)]
    seen = []

    def backend(graph, _):
        values = [n.meta["example_value"] for n in graph.graph.nodes if "pad" in str(n.target)]
        seen.extend(value[0] for value in values if isinstance(value, tuple))
        return graph.forward

    f = torch.compile(lambda x: ops.pad(x)[0] + 1, fullgraph=True, backend=backend)
    for m in (3, 5):
        x = torch.ones(m, 10)
        torch._dynamo.mark_dynamic(x, 0)
        assert f(x).shape == (m, 2, 16)
    assert [tuple(fake.shape)[1:] for fake in seen] == [(2, 16)]  # one graph, in which only m is a symbol
    g = torch.compile(lambda x: ops.pad(x, parts=0)[0], fullgraph=True, backend="aot_eager")
    x = torch.ones(3, 10)
    torch._dynamo.mark_dynamic(x, 0)
    raises(Exception, "divides by 0", g, x)
    raises(ValueError, "pad()", lambda: ops.pad(torch.ones(3, 10), parts=0))


def test_defaults_of_optional_floats():
    assert ops.pad(torch.ones(1, 1))[0].flatten()[0] == 1
    assert ops.pad(torch.ones(1, 1), by=None)[0].flatten()[0] == -1


def test_threads():
    x, w = doubles(64, 8), doubles(8)
    want, wrong = rms_norm(x, w), []

    def work():
        for _ in range(200):
            if not torch.allclose(ops.rms_norm(x, w), want):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def outcome(call, args, words):
    try:
        call(*args, **words)
    except Exception as e:
        return type(e), str(e).split("\n")[0]
    return None


# torch arguments, which the module receives unchanged. (The module raises OverflowError for a
# number out of a dtype's range, for which PyTorch has no class.)
F, D, I = torch.float32, torch.float64, torch.int32
MISTAKES = [
    ("rms_norm", (torch.ones(3, 8), torch.ones(4)), {}),
    ("rms_norm", (torch.ones(3, 8), torch.ones(8, dtype=D)), {}),
    ("rms_norm", (torch.ones(3, 8, dtype=I), torch.ones(8, dtype=I)), {}),
    ("rms_norm", (torch.ones(8, 3).t(), torch.ones(8)), {}),
    ("rms_norm", (torch.ones(()), torch.ones(8)), {}),
    ("rms_norm", (torch.ones(3, 0), torch.ones(0)), {}),
    ("rms_norm", (torch.ones(3, 8), torch.ones(8), torch.ones(8, 1)), {}),
    ("rms_norm", (torch.full((3, 8), 1e30, dtype=D), torch.ones(8, dtype=D)), {}),
    ("axpy", (1.0, torch.ones(4), torch.ones(5)), {}),
    ("axpy", (1.5, torch.ones(4, dtype=I), torch.ones(4, dtype=I)), {}),
    ("axpy", (1.0, torch.ones(4), torch.ones(4, 2).t()[0]), {}),
    ("axpy", (0.0, torch.ones(4, dtype=I), torch.ones(4, dtype=I)), {}),
    ("axpy", (True, torch.ones(4, dtype=I), torch.ones(4, dtype=I)), {}),
    ("axpy", (1 << 40, torch.ones(4, dtype=I), torch.ones(4, dtype=I)), {}),
    ("axpy", ((1 << 64) - 1, torch.ones(4, dtype=I), torch.ones(4, dtype=I)), {}),
    ("axpy", (1j, torch.ones(4, dtype=I), torch.ones(4, dtype=I)), {}),
    ("axpy", (1j, torch.ones(4), torch.ones(4)), {}),
    ("axpy", (-1234567e33, torch.ones(4), torch.ones(4)), {}),
    ("axpy", (1e300, torch.ones(4), torch.ones(4)), {}),
    ("words", (torch.ones(3, 4), [1]), {}),
    ("words", (torch.ones(3, 4), [1, -5]), {}),
    ("words", (torch.ones(3), [1, 5]), {}),
    ("words", (torch.ones(3, 4), [1, 5]), {"tiny": 300}),
    ("words", (torch.ones(3, 4), [1, 5]), {"tiny": -129}),
    ("words", (torch.ones(3, 4), [1, 5]), {"mode": "a\0b"}),
    ("words", (torch.ones(3, 4), [1, 5]), {"half": 1e300}),
]
SHARED = torch.ones(4)
MISTAKES.append(("axpy", (1.0, SHARED, SHARED), {}))


def test_the_sentences_are_those_of_modules():
    for name, args, words in MISTAKES:
        ours, theirs = outcome(getattr(ops, name), args, words), outcome(getattr(kernels, name), args, words)
        assert ours is not None and theirs is not None, (name, args, words, ours, theirs)
        assert ours[1] == theirs[1], (ours, theirs)
        assert ours[0] is theirs[0] or (ours[0], theirs[0]) == (ValueError, OverflowError), (ours, theirs)


def test_what_pytorch_converts():
    x = torch.ones(3, 4)
    call = lambda tiny: [made.tolist() for made in ops.words(x, [1, 5], tiny=tiny)]  # noqa: E731
    assert call(numpy.float16(1.5)) == call(True) == call(1) != call(2)
    raises(RuntimeError, "Expected a value of type 'number'", ops.axpy, numpy.float32(1), SHARED, torch.ones(4))
    y = torch.ones(4)
    ops.axpy(numpy.float64(2), SHARED, y)
    assert y.tolist() == [3.0] * 4


def test_scalars_above_int64():
    y = torch.ones(4)
    ops.axpy((1 << 64) - 1, torch.ones(4), y)
    assert y.tolist() == [2.0**64] * 4


def test_kinds_of_scalars():
    compare_kinds(
        lambda kernel, dtype, number: getattr(ops, kernel)(torch.zeros(1, dtype=getattr(torch, dtype)), number),
        {"OverflowError": "ValueError"},  # PyTorch has no OverflowError
    )


def test_nothing_is_written_before_a_mistake_is_found():
    y = torch.ones(5)
    raises(ValueError, "", ops.axpy, 1.0, torch.ones(4), y)
    assert y.tolist() == [1] * 5


def test_bits_are_resolved():
    z = torch.complex(torch.ones(4), torch.arange(4.0))
    x = z.conj().imag  # is negated
    assert x.is_neg()
    y = torch.zeros(4)
    ops.axpy(1.0, x, y)
    assert y.tolist() == [0, -1, -2, -3]


if __name__ == "__main__":
    assert numpy
    run(dict(globals()))
