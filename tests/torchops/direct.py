"""A function in C beside an operator: direct calls, and what torch.compile says of them."""

import torch
from check import ops, raises, run
from direct_module import fill
from stable_package.direct import set_compile_hint

set_compile_hint(fill, ops.fill)


def test_direct_calls_are_as_they_were():
    out = torch.zeros(3)
    assert fill(out, 2.0) is None
    assert out.tolist() == [2, 2, 2]


def test_a_full_graph_points_to_the_operator():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: fill(x, 2.0), fullgraph=True, backend="eager")
    raises(
        torch._dynamo.exc.Unsupported,
        "fill() is a function in C: inside torch.compile, call torch.ops.ops.fill",
        compiled,
        torch.zeros(3),
    )


def test_what_it_points_to_works():
    torch._dynamo.reset()
    out = torch.zeros(3)
    torch.compile(lambda x: ops.fill(x, 2.0), fullgraph=True, backend="aot_eager")(out)
    assert out.tolist() == [2, 2, 2]


def test_a_graph_may_break():
    torch._dynamo.reset()

    def function(x):
        y = x + 1
        fill(y, 5.0)
        return y * 2

    assert torch.compile(function, backend="eager")(torch.zeros(2)).tolist() == [10, 10]


def test_fake_tensors_are_refused():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros(3)
    raises(BufferError, "torch.ops", fill, fake, 1.0)


run(globals())
