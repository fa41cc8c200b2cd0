"""Tensors that a kernel never receives: without data, with bits that change their meaning, on
another tensor's device."""

import torch
from check import FORMS, ops, raises, run


def square(x):
    return ops.square(x, 1.0)


def test_negated_and_conjugated_values_are_resolved():
    view = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    assert view.is_neg()
    assert square(view).tolist() == [4, 16]
    first, y = ops.mix_function(view, 1.0, 0, True, None, torch.zeros(2))
    assert first.tolist() == [-2, -4]


def test_negated_values_are_written_as_they_are():
    base = torch.tensor([1 + 2j, 3 + 4j])
    ops.fill(base.conj().imag, 5.0)
    assert base.imag.tolist() == [-5, -5]


def test_negated_values_are_written_beside_results():
    """PyTorch's own fallback fails there with an internal assertion."""
    for form in FORMS:
        base = torch.tensor([1 + 2j, 3 + 4j])
        view = base.conj().imag
        version = view._version
        first, y = getattr(ops, "mix_" + form)(view, 2.0, 0, True, None, view)
        assert (first.tolist(), y.tolist()) == ([-4, -8], [-2, -4])
        assert base.imag.tolist() == [1, 3] and base.real.tolist() == [1, 3]
        assert view._version > version


def test_conjugated_values_are_written():
    """0 + 1.875j is, as 64 bits, the number 1."""
    for form in FORMS:
        base = torch.full((2,), complex(0, -1.875))
        y = getattr(ops, "mix_" + form)(torch.zeros(2, dtype=base.dtype), 1.0, 0, True, None, base.conj())[1]
        assert y.tolist() == [1.875j] * 2 and base.tolist() == [-2j] * 2


def test_negated_values_that_overlap_are_not_written():
    raises((RuntimeError, ValueError), "", ops.fill, torch.tensor([1 + 2j]).conj().imag.expand(3), 1.0)


def test_zero_tensors():
    zeros = torch._efficientzerotensor((3,))
    assert square(zeros).tolist() == [0, 0, 0]
    raises(RuntimeError, "", ops.fill, zeros, 1.0)


def test_data_that_is_gone():
    gone = torch.ones(3)
    gone.untyped_storage().resize_(0)
    raises(BufferError, "square(): argument 'x' (1st): it has elements but no memory", square, gone)
    raises(BufferError, "fill(): argument 'out' (1st): it has elements but no memory", ops.fill, gone, 1.0)


def test_no_elements():
    assert square(torch.ones(0, 3)).shape == (0, 3)
    ops.fill(torch.ones(0), 1.0)
    assert square(torch.tensor(3.0)).item() == 9


def test_strides():
    x = torch.arange(6.0).view(2, 3)
    assert square(x.t()).tolist() == [[0, 9], [1, 16], [4, 25]], "what is read is copied"
    assert square(torch.tensor([2.0]).expand(3)).tolist() == [4, 4, 4]
    ops.fill(x.t()[1:], 7.0)
    assert x.tolist() == [[0, 7, 7], [3, 7, 7]], "a kernel that heeds strides writes to the view"
    raises(
        ValueError,
        "argument 'to' (6th): expected a C-contiguous tensor, got strides (1, 3) for shape (3, 2)",
        ops.mix_function,
        x.t(),
        1.0,
        0,
        True,
        None,
        x.t(),
    )


def test_overlapping_elements_are_not_written():
    shared = "argument 'out' (1st): its elements may overlap, but the parameter is writable, got strides ("
    raises(BufferError, shared + "0,) for shape (3,)", ops.fill, torch.ones(1).expand(3), 1.0)
    ops.fill(torch.ones(1).as_strided((1,), (0,)), 1.0)  # one element cannot overlap
    for view in (
        torch.ones(5).unfold(0, 3, 1),
        torch.ones(9).as_strided((3, 3), (1, 1)),
        torch.ones(9).as_strided((2, 3), (2, 1)),
    ):
        raises(BufferError, shared, ops.fill, view, 1.0)
    base = torch.zeros(4, 6)
    ops.fill(base.t()[::2, 1:3], 1.0)  # gaps and another order do not overlap
    assert base.sum() == 6


def test_elements_that_lie_between():
    odd = torch.frombuffer(bytearray(29), dtype=torch.float32, offset=1)
    between = " is not aligned to 4 bytes, as its elements require: pass a copy"
    raises(BufferError, between, square, odd)
    raises(BufferError, between, ops.fill, odd, 1.0)
    raises(BufferError, between, ops.fill, odd[::2], 1.0)
    assert square(odd.view(7)[::2]).tolist() == [0] * 4, "a copy lies well"
    ops.fill(odd[:0], 1.0)


def test_storage_that_was_made_smaller():
    for view in (lambda x: x, lambda x: x[2:], lambda x: x[::2], lambda x: x.view(2, 4).t()):
        x = torch.arange(8.0)
        bad, nothing = view(x), x[8:]
        ops.fail(bad, 0)
        x.untyped_storage().resize_(x.untyped_storage().nbytes() - 8)  # the last two elements of eight
        raises(BufferError, "fail(): argument 'x' (1st): it extends beyond its storage", ops.fail, bad, 0)
        raises(BufferError, "fill(): argument 'out' (1st): it extends beyond its storage", ops.fill, bad, 1.0)
        raises(BufferError, "square(): argument 'x' (1st): it extends beyond its storage", square, bad)
        ops.fail(x.as_strided((6,), (1,)), 0)
        ops.fail(nothing, 0)
    ops.fail(torch.ones(8).as_strided((0, 9), (1, 1), 3), 0)


def test_copy_on_write():
    for written in (True, False):
        a = torch.ones(4)
        b = torch._lazy_clone(a)
        assert torch._C._is_cow_tensor(b)
        if written:
            ops.fill(b, 3.0)
            assert (a.tolist(), b.tolist()) == ([1] * 4, [3] * 4)
        else:
            square(b)
            assert torch._C._is_cow_tensor(b), "reading materialises nothing"


def test_memory_that_is_shared_and_read_and_written():
    """Written arguments are separated first, so that arguments for reading are the same memory."""
    a = torch.ones(4)
    b = torch._lazy_clone(a)
    ops.same(b[:2], b[:2])
    assert not torch._C._is_cow_tensor(b) and torch._C._is_cow_tensor(a)
    raises(RuntimeError, "same(): the kernel failed with status 1", ops.same, a, b)


def test_types_that_have_no_name():
    quantized = torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8)
    for bad in (
        quantized,
        torch.ones(2).to_sparse(),
        torch.ones(2, 2).to_mkldnn(),
        torch.nested.nested_tensor([torch.ones(2)]),
    ):
        raises((NotImplementedError, RuntimeError, ValueError), "", square, bad)
    raises(
        BufferError,
        "square(): argument 'x' (1st): it cannot be borrowed",
        square,
        torch.zeros(2, dtype=torch.uint8).view(torch.bits8),
    )


def test_errors_of_the_kernel():
    x = torch.ones(1)
    ops.fail(x, 0)
    raises(RuntimeError, "fail(): seven is not to be had", ops.fail, x, 7)
    raises(RuntimeError, "fail(): the kernel failed with status 8", ops.fail, x, 8)
    raises(RuntimeError, "fail(): the kernel failed with status -1", ops.fail, x, -1)


def test_no_tensor_at_all():
    raises((ValueError, NotImplementedError, RuntimeError), "", ops.fail, None, 0)
    cpu, meta = (torch._C.DispatchKeySet(key) for key in (torch._C.DispatchKey.CPU, torch._C.DispatchKey.Meta))
    assert ops.fail.default.redispatch(cpu, None, 0) is None, "the host's memory"
    raises(ValueError, "fail(): expected at least one tensor", ops.fail.default.redispatch, meta, None, 0)


def test_numbers_of_arguments():
    numbers = [1] * 10
    written = torch.ones(2, 2)
    ops.many(written, *numbers, written)
    assert written.tolist() == [[10, 10], [10, 10]]
    raises(ValueError, "argument 'out' (12th)", ops.many, written, *numbers, torch.ones(2, 2).t())


def test_meta_tensors_are_alone():
    """One of them selects the key Meta, and results like the others would be uninitialized
    memory."""
    one = torch.ones(3)
    raises(
        ValueError,
        "mul(): argument 'y' (3rd): expected a tensor on meta, as argument 'x' (1st) is, got one on cpu:0",
        ops.mul,
        one.to("meta"),
        1,
        one,
    )
    raises(
        ValueError,
        "mul(): argument 'y' (3rd): expected a tensor on cpu:0, as argument 'x' (1st) is, got one on meta",
        ops.mul,
        one,
        1,
        one.to("meta"),
    )
    assert ops.mul(one.to("meta"), 1, one.to("meta"))[1].is_meta
    assert ops.mix_function(one.to("meta"), 1.0, 0, True, None, one.to("meta"))[0].is_meta


def test_subclasses():
    class Plain(torch.Tensor):
        pass

    assert square(torch.ones(2).as_subclass(Plain)).tolist() == [1, 1]
    assert square(torch.nn.Parameter(torch.ones(2), requires_grad=False)).tolist() == [1, 1]


run(globals())
