"""torch's own exchange table, registered in a module, with the queries that it does not make, and
the queries for types like torch's."""

import itertools
import sys

import torch

from check import *

plain = function(any_tensor())
named = function(any_tensor(dtypes=[FLOAT32, COMPLEX64]))
requires_grad = torch.ones(2, requires_grad=True)


def rejects(*functions):
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
        shrunk = torch.ones(2, 3)
        shrunk.untyped_storage().resize_(23)
        with raises(BufferError, "it needs 24 bytes of storage, but its storage was resized to 23"):
            f(shrunk)


def take(x):
    return checked.take(x, 0)


def test_the_native_reader():
    rejects(plain, named, take)
    with raises(BufferError, "f(): argument 'a' (1st): "):
        plain(torch.ones(2, 2).to_mkldnn())


class Capsule:
    """A torch tensor that is read only through its capsule."""

    def __init__(self, x):
        self.x = x
        self.__dlpack_device__ = x.__dlpack_device__

    def __dlpack__(self, **asked):
        return self.x.__dlpack__(**asked)


def test_the_first_error_is_reported_by_every_access_method():
    f = function(*[{"ndim": 1, "shape": [symbol(0)], "dtypes": [FLOAT32]}] * 2, {"kind": INT})
    faults = (
        torch.ones(2, dtype=torch.float64),
        torch.ones(2, 2),
        torch.ones(2, requires_grad=True),
        misaligned(),
        torch.eye(2).to_sparse(),
    )
    for kinds in itertools.product([lambda x: x, Capsule], repeat=2):
        f(*[kind(torch.ones(2)) for kind in kinds], 5)
        for a, b in itertools.product(faults, repeat=2):
            with told(1):
                f(kinds[0](a), kinds[1](b), "x")
            with told(2):
                f(kinds[0](torch.ones(2)), kinds[1](b), "x")


@contextlib.contextmanager
def told(argument):
    try:
        yield
    except (BufferError, TypeError, ValueError) as e:
        assert f"f(): argument '{' ab'[argument]}'" in str(e), e
    else:
        raise AssertionError("taken")


def misaligned():
    return torch.frombuffer(bytearray(64), dtype=torch.float32, count=2, offset=1)


def test_alignment():
    for make in lambda x: x, Capsule:
        for f in plain, named, take:
            with raises(BufferError, "is not aligned to 4 bytes"):
                f(make(misaligned()))


class Answers(torch.overrides.TorchFunctionMode):
    def __init__(self, detached):
        super().__init__()
        self.detached = detached

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") == "detach":
            return self.detached(args[0])
        return function(*args, **(kwargs or {}))


def test_what_a_mode_detaches():
    """The retained object is an alias of the tensor, even if a mode returns another one."""
    x, parameter = torch.ones(2, 3), torch.nn.Parameter(torch.ones(2, 3), requires_grad=False)
    shared = torch._lazy_clone(x)
    for kept in x, parameter, shared, torch._lazy_clone(x):
        equal(checked.described(checked.take(kept, 0))["data"], kept.data_ptr())
        with torch.device("cpu"):
            equal(checked.described(checked.take(kept, 0))["data"], kept.data_ptr())
        wrong = None, "x" * 40, (1, 2), torch.full((2, 3), 7.0), torch.nn.Parameter(x, requires_grad=False)
        for answer in *wrong, *[kept.data[:1], kept.data.T[:2], kept.data.view(torch.int32), kept.data.flatten()]:
            with Answers(lambda _: answer), raises(BufferError, "its detach() did not return an alias"):
                checked.take(kept, 0)
        with Answers(lambda found: found.data):
            equal(checked.described(checked.take(kept, 0))["data"], kept.data_ptr())


def test_the_table_of_torch():
    table = untrusted.address(torch.Tensor.__dlpack_c_exchange_api__)
    checked.enroll(torch.Tensor, table)
    rejects(plain, named, take)
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


def test_an_untrusted_table_for_torch():
    """It is neither trusted nor exempt from the queries of torch's tensors."""
    checked.enroll(torch.Tensor, untrusted.address(untrusted.table(0)))
    x = torch.ones(2)
    x.desc = desc(2, flags=READ_ONLY)
    with raises(BufferError, "it is read-only"):
        write(x)
    for shape, strides in ((2, 2), [-3, 4]), ((2, 2), [4, -3]), ((3, 2), [2, 1]):
        x = torch.ones(4)
        x.desc = desc(*shape, strides=strides)  # its report is compared with torch's storage
        with raises(BufferError, "bytes of storage, but its storage was resized to 16"):
            plain(x)
    x = torch.tensor([1 + 2j]).conj()
    x.desc = desc(1, dtype=COMPLEX64)
    with raises(BufferError, "conjugated"):
        plain(x)
    checked.enroll(torch.Tensor, untrusted.address(torch.Tensor.__dlpack_c_exchange_api__))


def test_what_a_guard_rejects_is_released():
    checked.enroll(torch.Tensor, untrusted.address(torch.Tensor.__dlpack_c_exchange_api__))
    x = torch.tensor([1 + 2j]).conj().imag
    before = sys.getrefcount(x), x._use_count()
    for _ in range(10):
        with raises(BufferError, "negated"):
            checked.take(x, 0)
    equal((sys.getrefcount(x), x._use_count()), before)


def copies_metadata(also=lambda x: x):
    for changes in {}, {"dtypes": [FLOAT32]}:
        f, x = function(any_tensor(**changes)), also(torch.ones(2, 3))
        checked.meanwhile(
            f.which, lambda: None, x
        )  # its description is checked now, so that a call may take the fast path
        got = checked.meanwhile(f.which, lambda: x.resize_(1, 1), x)
        equal((got["shape"], got["strides"]), ((2, 3), (3, 1)))


def test_metadata_is_copied():
    """torch resizes tensors without the GIL, so other threads do it while a function holds it."""
    plain(torch.ones(2))
    copies_metadata()
    copies_metadata(lambda x: torch.nn.Parameter(x, requires_grad=False))


def test_metadata_of_torchs_own_table_is_copied():
    checked.enroll(torch.Tensor, untrusted.address(torch.Tensor.__dlpack_c_exchange_api__))
    copies_metadata()


def test_parameters_are_trusted():
    checked.enroll(torch.nn.Parameter, untrusted.address(torch.Tensor.__dlpack_c_exchange_api__))
    with torch.no_grad():
        equal(write(torch.nn.Parameter(torch.ones(2)))[0]["owned"], False)


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
