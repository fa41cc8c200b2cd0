"""torch.compile, FakeTensor and PyTorch's own checks of operators."""

import torch
from check import FORMS, ops, run


def graphs(function, *calls):
    """The number of graphs for calls with these arguments."""
    made = []

    def backend(module, _):
        made.append(module)
        return module

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend, fullgraph=True, dynamic=True)
    for args in calls:
        expected = function(*args)
        torch.testing.assert_close(compiled(*args), expected)
    return len(made)


def test_one_graph_for_all_shapes():
    shapes = [(2, 3), (4, 5), (7, 6), (9, 8)]
    assert graphs(lambda x: ops.square(x, 2.0) + 1, *[(torch.randn(s),) for s in shapes]) == 1
    assert graphs(lambda x: ops.mul(x, 2, x)[1], *[(torch.randn(s),) for s in shapes]) == 1


def test_one_graph_for_every_form():
    for form in FORMS:
        mix = getattr(ops, "mix_" + form)

        def function(x):
            out = torch.ones_like(x)
            first, y = mix(x, 2.0, 1, True, None, out)
            return first + y + out

        assert graphs(function, *[(torch.randn(s),) for s in [(2, 3), (4, 5), (7, 6), (9, 8)]]) == 1, form


def test_gradients_through_aot():
    torch._dynamo.reset()
    x = torch.randn(3, 4, requires_grad=True)
    compiled = torch.compile(lambda x: ops.square(x, 2.0).sum(), backend="aot_eager", fullgraph=True, dynamic=True)
    for shape in [(3, 4), (5, 6)]:
        x = torch.randn(shape, requires_grad=True)
        compiled(x).backward()
        torch.testing.assert_close(x.grad, 4 * x.detach())


def test_writes_are_functionalized():
    torch._dynamo.reset()

    def function(x):
        out = torch.zeros_like(x)
        ops.mix_function(x, 1.0, 1, True, None, out)
        ops.fill(out[1:], 9.0)
        return out + 1

    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    assert compiled(torch.ones(3)).tolist() == function(torch.ones(3)).tolist() == [2, 10, 10]


def test_fake_tensors():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        got = ops.square(torch.ones(2, 3), 1.0)
        first, second = ops.mul(torch.ones(2, dtype=torch.float64), 1, torch.ones(2, dtype=torch.float64))
    assert got.shape == (2, 3) and first.dtype == torch.float64 and second.dtype == torch.float64
    got = ops.square(torch.ones(3, 2, device="meta").t(), 1.0)
    assert got.device.type == "meta" and got.is_contiguous(), "as the kernel gives it"


def test_opcheck():
    randn = torch.randn
    torch.library.opcheck(ops.square.default, (randn(3, 4), 2.0))
    torch.library.opcheck(ops.square.default, (randn(3, 4, requires_grad=True), 2.0))
    torch.library.opcheck(ops.square_boxed.default, (randn(3, 4, requires_grad=True), 2.0))
    torch.library.opcheck(ops.mul.default, (randn(3, requires_grad=True), 2, randn(3)))
    torch.library.opcheck(ops.fill.default, (randn(3, 4).t(), 2.0))
    for form in FORMS:
        torch.library.opcheck(getattr(ops, "mix_" + form).default, (randn(3), 1.0, 2, True, randn(3), randn(3)))


def test_they_are_compliant():
    assert torch.Tag.pt2_compliant_tag in ops.square.default.tags


run(globals())
