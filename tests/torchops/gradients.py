"""Autograd: kernels with a backward are differentiated, others are rejected."""

import torch
from check import ops, raises, run


def doubles(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def test_gradcheck():
    for op in (ops.square, ops.square_boxed):
        torch.autograd.gradcheck(lambda x: op(x, 1.5), doubles(3, 2))
    torch.autograd.gradcheck(lambda x, y: ops.mul(x, 3, y), (doubles(2, 3), doubles(2, 3)))
    torch.autograd.gradcheck(lambda x: ops.mul(x, 3, x), doubles(2, 3))
    x = doubles(2)
    torch.autograd.gradcheck(lambda x: ops.mul(x, 3, torch.ones_like(x)), x)


def test_a_result_that_is_not_used():
    x, y = doubles(2), doubles(2)
    _, total = ops.mul(x, 2, y)
    total.sum().backward()
    assert x.grad.tolist() == [1, 1] and y.grad.tolist() == [1, 1]


def test_twice_needs_the_backward_of_the_backward():
    x = doubles(2)
    (grad,) = torch.autograd.grad(ops.square(x, 1.0).sum(), x, create_graph=False)
    assert torch.equal(grad, 2 * x)
    y = ops.square(x, 1.0).sum()
    raises(
        NotImplementedError,
        "square_backward(): an argument requires a gradient",
        lambda: torch.autograd.grad(y, x, create_graph=True),
    )


def test_saved_tensors_are_watched():
    x = torch.ones(2, requires_grad=True)
    between = x * 1
    y = ops.square(between, 1.0)
    ops.fill(between.detach(), 3.0)
    raises(RuntimeError, "modified by an inplace operation", y.sum().backward)


def test_without_a_backward_a_gradient_is_rejected():
    leaf = torch.ones(2, requires_grad=True)
    raises(
        NotImplementedError,
        "fill(): an argument requires a gradient, but the kernel has no backward",
        ops.fill,
        leaf,
        1.0,
    )
    raises(
        NotImplementedError,
        "mix_boxed_function(): an argument requires a gradient",
        ops.mix_boxed_function,
        torch.ones(2),
        1.0,
        1,
        True,
        leaf,
        torch.ones(2),
    )
    with torch.no_grad():
        ops.fill(leaf, 4.0)
    assert leaf.tolist() == [4, 4]
    assert leaf._version == 1


def test_every_argument_is_looked_at():
    leaf, plain = torch.ones(2, requires_grad=True), torch.ones(2)
    raises(
        NotImplementedError,
        "mix_function(): an argument requires a gradient",
        ops.mix_function,
        plain,
        1.0,
        1,
        True,
        leaf,
        plain,
    )
    before = torch.ones(2).requires_grad_().requires_grad_(False)  # has autograd data, but requires no gradient
    raises(
        NotImplementedError,
        "square_backward(): an argument requires a gradient",
        ops.square_backward,
        leaf,
        before,
        1.0,
    )
    raises(
        NotImplementedError,
        "square_backward(): an argument requires a gradient",
        ops.square_backward,
        before,
        leaf,
        1.0,
    )
    ops.mul(leaf, 2, before)[1].sum().backward()
    assert leaf.grad.tolist() == [1, 1]


def test_forward_mode_is_rejected():
    import torch.autograd.forward_ad as fwAD

    with fwAD.dual_level():
        dual = fwAD.make_dual(torch.ones(2), torch.ones(2))
        raises(NotImplementedError, "forward-mode derivative", ops.square, dual, 1.0)
        raises(NotImplementedError, "forward-mode derivative", ops.square_boxed, dual, 1.0)


def test_backward_in_threads():
    from concurrent.futures import ThreadPoolExecutor

    def work(seed):
        for op in (ops.square, ops.square_boxed) * 50:
            x = torch.full((4,), float(seed), requires_grad=True)
            op(x, 2.0).sum().backward()
            assert x.grad.tolist() == [4.0 * seed] * 4
            raises(NotImplementedError, "requires a gradient", ops.fill, x, 1.0)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))


def test_torch_func_is_rejected():
    for op, name in (ops.square, "square"), (ops.square_boxed, "square_boxed"):
        raises(
            NotImplementedError,
            f"{name}(): torch.func (grad, vjp, jacrev) does not differentiate kernels",
            torch.func.grad(lambda x: op(x, 1.0).sum()),
            torch.ones(2),
        )
    y = torch.full((2,), 3.0)
    assert torch.func.grad(lambda x: (x * ops.square(y, 1.0)).sum())(torch.ones(2)).tolist() == [9, 9]


def test_transforms_raise():
    raises(
        RuntimeError,
        "",
        torch.func.vmap(lambda x: ops.mix_function(x, 1.0, 1, True, None, torch.ones(2))),
        torch.ones(3, 2),
    )


run(globals())
