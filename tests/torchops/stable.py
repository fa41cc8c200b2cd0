"""The kernels by the stable ABI of LibTorch: what differs from kernels.cpp, and what must not."""

import os

import torch
from check import ALL, raises, run
from stable_package import stable_kernels

loaded = stable_kernels.load(os.environ["LIBRARY"])
ops = torch.ops.ops


def doubles(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def mixes():
    return {form: getattr(ops, "mix_" + form) for form in ALL}


def test_all_kinds_of_arguments():
    assert len(loaded) == 17
    for form, mix in mixes().items():
        x, w, out = torch.arange(4.0), torch.full((4,), 5.0), torch.ones(4)
        first, y = mix(x, 2.5, 3, True, w, out)
        assert (first.tolist(), y.tolist(), out.tolist()) == ([3, 5.5, 8, 10.5], [6] * 4, [2] * 4), form
        first, y = mix(x, 1.0, 0, False, None, out)
        assert (first.tolist(), y.tolist(), out.tolist()) == ([0, 1, 2, 3], [2] * 4, [1] * 4), form
    assert ops.square(torch.ones(0, 3), 1.0).shape == (0, 3)
    assert ops.square(torch.tensor(3.0), 1.0).item() == 9


def test_bits_are_resolved():
    view = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    assert ops.square(view, 1.0).tolist() == [4, 16]
    assert ops.mix_function(view, 1.0, 0, True, None, torch.zeros(2))[0].tolist() == [-2, -4]
    assert ops.square(torch._efficientzerotensor((3,)), 1.0).tolist() == [0, 0, 0]


def test_strides():
    x = torch.arange(6.0).view(2, 3)
    assert ops.square(x.t(), 1.0).tolist() == [[0, 9], [1, 16], [4, 25]]
    ops.fill(x.t()[1:], 7.0)
    assert x.tolist() == [[0, 7, 7], [3, 7, 7]]
    raises(
        RuntimeError,
        "argument 'out' (6th): expected a C-contiguous tensor, got strides (1, 3) for shape (3, 2)",
        ops.mix_function,
        x.t(),
        1.0,
        0,
        True,
        None,
        x.t(),
    )


def test_overlaps_are_not_written():
    raises(
        RuntimeError, "its elements may overlap, but the parameter is writable", ops.fill, torch.ones(1).expand(3), 1.0
    )
    ops.fill(torch.ones(1).as_strided((1,), (0,)), 1.0)  # one element shares with none
    for view in (torch.ones(5).unfold(0, 3, 1), torch.ones(9).as_strided((3, 3), (1, 1))):
        raises(RuntimeError, "its elements may overlap, but the parameter is writable", ops.fill, view, 1.0)
    base = torch.zeros(4, 6)
    ops.fill(base.t()[::2, 1:3], 1.0)
    assert base.sum() == 6


def test_elements_that_lie_between():
    odd = torch.frombuffer(bytearray(29), dtype=torch.float32, offset=1)
    between = " is not aligned to 4 bytes, which its elements need: make a copy"
    raises(RuntimeError, between, ops.square, odd, 1.0)
    raises(RuntimeError, between, ops.fill, odd, 1.0)
    raises(RuntimeError, between, ops.fill, odd[::2], 1.0)
    assert ops.square(odd[::2], 1.0).tolist() == [0] * 4, "a copy lies well"
    ops.fill(odd[:0], 1.0)


def test_storage_that_was_made_smaller():
    for view in (lambda x: x, lambda x: x[2:], lambda x: x[::2], lambda x: x.view(2, 4).t()):
        x = torch.arange(8.0)
        bad, nothing = view(x), x[8:]
        ops.fail(bad, 0)
        x.untyped_storage().resize_(x.untyped_storage().nbytes() - 8)  # the last two elements of eight
        raises(RuntimeError, "ops::fail(): argument 'x' (1st): it reaches beyond its storage", ops.fail, bad, 0)
        raises(RuntimeError, "ops::fill(): argument 'out' (1st): it reaches beyond its storage", ops.fill, bad, 1.0)
        raises(RuntimeError, "it reaches beyond its storage", ops.square, bad, 1.0)
        ops.fail(x.as_strided((6,), (1,)), 0)
        ops.fail(nothing, 0)


def test_inference_tensors_are_written_in_their_mode_alone():
    with torch.inference_mode():
        made = torch.ones(2)
        ops.fill(made, 3.0)
    raises(RuntimeError, "Inplace update to inference tensor outside InferenceMode", ops.fill, made, 1.0)
    assert made.tolist() == [3, 3]


def test_data_that_is_gone():
    gone = torch.ones(3)
    gone.untyped_storage().resize_(0)
    raises(
        RuntimeError, "ops::fail(): argument 'x' (1st): it has elements and no memory", ops.fail, gone, 0
    )  # which looks at none of them


def test_meta_tensors_are_alone():
    one = torch.ones(3)
    for x, y, text in (
        (one.to("meta"), one, "meta, as argument 'x' (1st) is, got one on cpu:0"),
        (one, one.to("meta"), "cpu:0, as argument 'x' (1st) is, got one on meta"),
    ):
        raises(ValueError, "ops::mul(): argument 'y' (3rd): expected a tensor on " + text, ops.mul, x, 1, y)
    assert ops.mul(one.to("meta"), 1, one.to("meta"))[1].is_meta
    assert ops.mix_function(one.to("meta"), 1.0, 0, True, None, one.to("meta"))[0].is_meta


def test_types_without_a_name():
    raises(
        RuntimeError,
        "it is of a type that DLPack has no name for",
        ops.square,
        torch.zeros(2, dtype=torch.uint8).view(torch.bits8),
        1.0,
    )


def test_memory_that_is_shared_and_read_and_written():
    a = torch.ones(4)
    b = torch._lazy_clone(a)
    ops.same(b[:2], b[:2])
    assert not torch._C._is_cow_tensor(b) and torch._C._is_cow_tensor(a)


def test_copy_on_write():
    for written in (True, False):
        a = torch.ones(4)
        b = torch._lazy_clone(a)
        if written:
            ops.fill(b, 3.0)
            assert (a.tolist(), b.tolist()) == ([1] * 4, [3] * 4)
        else:
            ops.square(b, 1.0)
            assert torch._C._is_cow_tensor(b)


def test_errors_of_the_kernel():
    x = torch.ones(1)
    ops.fail(x, 0)
    raises(RuntimeError, "ops::fail(): seven is not to be had (error 7)", ops.fail, x, 7)
    raises(RuntimeError, "ops::fail(): the kernel failed (error 8)", ops.fail, x, 8)


def test_versions():
    for form, mix in mixes().items():
        out = torch.ones(2)
        weight = torch.ones(2, requires_grad=True)
        product = weight * out
        mix(torch.ones(2), 1.0, 1, True, None, out)
        assert out._version == 1, form
        raises(RuntimeError, "modified by an inplace operation", product.sum().backward)


def test_gradients():
    torch.autograd.gradcheck(lambda x: ops.square(x, 1.5), doubles(3, 2))
    torch.autograd.gradcheck(lambda x, y: ops.mul(x, 3, y), (doubles(2, 3), doubles(2, 3)))


def test_gradients_that_are_refused():
    leaf = torch.ones(2, requires_grad=True)
    raises(NotImplementedError, "ops::fill(): an argument requires a gradient", ops.fill, leaf, 1.0)
    with torch.no_grad():
        ops.fill(leaf, 4.0)
    assert leaf.tolist() == [4, 4]
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        raises(
            NotImplementedError, "derivative of forward mode", ops.mix_function, dual, 1.0, 0, True, None, torch.ones(2)
        )
        raises(
            NotImplementedError,
            "derivative of forward mode",
            ops.mix_function,
            torch.ones(2),
            1.0,
            0,
            True,
            dual,
            torch.ones(2),
        )


def test_forward_mode_is_refused_where_there_is_a_backward():
    ones = torch.ones(2)
    with torch.autograd.forward_ad.dual_level():
        for primal in (ones, torch.ones(2, requires_grad=True)):
            dual = torch.autograd.forward_ad.make_dual(primal, ones)
            raises((NotImplementedError, RuntimeError), "forward", ops.square, dual, 1.0)
        raises(
            NotImplementedError,
            "derivative of forward mode",
            ops.mul,
            ones,
            2,
            torch.autograd.forward_ad.make_dual(ones, ones),
        )
    raises(
        NotImplementedError,
        "derivative of forward mode",
        torch.func.jvp,
        lambda x: ops.square(x, 2.0),
        (ones,),
        (ones,),
    )


def test_one_graph_for_all_shapes():
    made = []

    def backend(module, _):
        made.append(module)
        return module

    torch._dynamo.reset()
    compiled = torch.compile(lambda x: ops.square(x, 2.0) + 1, backend=backend, fullgraph=True, dynamic=True)
    for shape in [(2, 3), (4, 5), (7, 6), (9, 8)]:
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x), 2 * x * x + 1)
    assert len(made) == 1


def test_opcheck():
    torch.library.opcheck(ops.square.default, (torch.randn(3, 4), 2.0))
    torch.library.opcheck(ops.square.default, (torch.randn(3, 4, requires_grad=True), 2.0))
    torch.library.opcheck(ops.mul.default, (torch.randn(3, requires_grad=True), 2, torch.randn(3)))
    torch.library.opcheck(ops.fill.default, (torch.randn(3, 4).t(), 2.0))
    torch.library.opcheck(ops.mix_function.default, (torch.randn(3), 1.0, 2, True, torch.randn(3), torch.randn(3)))


run(globals())
