"""torch's own exchange table, lent to a module, with the questions that it does not
ask, and what is asked of types like torch's."""

import torch

from check import *

plain = function(any_tensor())
named = function(any_tensor(dtypes=[FLOAT32, COMPLEX64]))
requires_grad = torch.ones(2, requires_grad=True)


def refuses(*functions):
    for f in functions:
        f(torch.ones(2, 3))
        with raises(BufferError, "negated"):
            f(torch.tensor([1 + 2j]).conj().imag)
        with raises(BufferError, "conjugated"):
            f(torch.tensor([1 + 2j]).conj())
        f(torch.tensor([1 + 2j]))
        with raises(BufferError, "grad"):
            f(requires_grad)
        with torch.no_grad():
            f(requires_grad)


def take(x):
    return checked.take(x, 0)


def test_the_adopted_table():
    refuses(plain, named, take)
    with raises(BufferError, "f(): argument 'a' (1st): "):
        plain(torch.ones(2, 2).to_mkldnn())


def test_the_table_of_torch():
    table = stranger.address(torch.Tensor.__dlpack_c_exchange_api__)
    checked.enroll(torch.Tensor, table)
    refuses(plain, named, take)
    eye = torch.eye(3)
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    for x in eye.to_sparse(), eye.to_sparse_csr(), eye.to_mkldnn(), nested:
        for f in plain, named, write, take:
            try:
                f(x)
            except (BufferError, RuntimeError):
                continue
            raise AssertionError(x.layout)
    x = torch.ones(2, 3)
    equal(plain(x)[0]["data"], x.data_ptr())
    equal(plain(x)[0]["owned"], False)
    write(x)


def test_a_type_that_derives():
    class Derived(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Derived)
    equal(plain(x)[0]["shape"], (2,))
    with raises(BufferError, "negated"):
        plain(torch.tensor([1 + 2j]).conj().imag.as_subclass(Derived))


def test_a_result_like_a_type_that_derives():
    class Derived(torch.Tensor):
        pass

    class Further(Derived):
        pass

    for x in (
        torch.ones(2),
        torch.nn.Parameter(torch.ones(2), requires_grad=False),
        torch.ones(2).as_subclass(Derived),
        torch.ones(2).as_subclass(Further),
        torch.nn.Buffer(torch.ones(2)),
    ):
        made = checked.like(plain.which, FLOAT32, [3], 0, x)
        equal(type(made), torch.Tensor)
        equal(made.tolist(), [0, 0, 0])


main()
