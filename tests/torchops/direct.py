"""A C function with an equivalent operator: direct calls, and torch.compile's treatment of them."""

import torch
from check import ops, raises, run
from direct_module import fill
from stable_package.direct import point_to

assert point_to(fill, ops.fill) is fill


def test_direct_calls_are_as_they_were():
    out = torch.zeros(3)
    assert fill(out, 2.0) is None
    assert out.tolist() == [2, 2, 2]


def test_a_full_graph_points_to_the_operator():
    torch._dynamo.reset()
    seen = []

    def backend(graph, _):
        seen.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward

    def function(x):
        y = x + 1
        fill(y, 5.0)
        fill(out=y[1:], value=2.0)
        return y * 2

    compiled = torch.compile(function, fullgraph=True, backend=backend)
    assert compiled(torch.zeros(3)).tolist() == function(torch.zeros(3)).tolist() == [10, 4, 4]
    assert sum("ops.fill" in target for target in seen) == 2, seen
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    assert compiled(torch.zeros(3)).tolist() == [10, 4, 4]


def test_other_keywords_break_the_graph():
    torch._dynamo.reset()
    text = "fill() has keywords that torch.ops.ops.fill lacks"
    compiled = torch.compile(lambda x: fill(x, 2.0, other=1), fullgraph=True, backend="eager")
    raises(torch._dynamo.exc.Unsupported, text, compiled, torch.zeros(3))
    raises(TypeError, "other", torch.compile(lambda x: fill(x, 2.0, other=1), backend="eager"), torch.zeros(3))


def test_fake_tensors_are_rejected():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros(3)
    raises(BufferError, "torch.ops", fill, fake, 1.0)


run(globals())
