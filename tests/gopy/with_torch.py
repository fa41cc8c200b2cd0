import threading
import warnings

from check import equal, framework, main, no_leak, outstanding, raises

(torch,) = framework("torch")
import gopy

warnings.simplefilter("ignore")


def test_go_sees_a_tensor_in_place():
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    want = (x.data_ptr(), "float32", (2, 3), (3, 1), "CPU:0", False)
    equal(gopy.describe(x), want)
    equal(gopy.describe_owned(x), want)
    equal(gopy.sum(x), 15.0)
    gopy.fill(x, 2)
    equal(x.tolist(), [[2, 2, 2], [2, 2, 2]])


def test_strides_scalars_and_nothing():
    x = torch.zeros(2, 3, 4, dtype=torch.int16).permute(2, 0, 1)[1:]
    equal(gopy.describe(x), (x.data_ptr(), "int16", (3, 2, 3), (1, 12, 4), "CPU:0", False))
    equal(gopy.describe(torch.ones(1).expand(4))[3], (0,))
    equal(gopy.sum(torch.tensor(3.5)), 3.5)
    equal(gopy.sum(torch.zeros(0, 3)), 0.0)
    with raises(BufferError, "fill(): argument 1", "not C-contiguous"):
        gopy.fill(torch.zeros(4, 4).T, 1)


def test_every_type():
    integers = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64"
    for name in f"{integers} float16 bfloat16 float32 float64 complex64 complex128".split():
        equal(gopy.describe(torch.zeros(2, dtype=getattr(torch, name)))[1], name)
    for name in "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu".split():
        equal(gopy.describe(torch.zeros(2, dtype=torch.uint8).view(getattr(torch, name)))[1], name)


def test_three_tensors_at_once():
    a, b, out = torch.ones(3), torch.arange(3.0), torch.zeros(3)
    gopy.add(a, b, out)
    equal(out.tolist(), [1, 2, 3])
    gopy.add(a, b.numpy(), out.numpy())
    equal(out.tolist(), [1, 2, 3])


def test_gradients():
    x = torch.ones(3, requires_grad=True)
    equal(gopy.describe(x)[5], True)
    equal(gopy.describe_owned(x)[5], True)
    equal(gopy.sum(x), 3.0)
    with raises(BufferError, "fill(): argument 1", "read-only"):
        gopy.fill(x, 1)
    gopy.fill(x.detach(), 2)
    equal(x.tolist(), [2, 2, 2])


def test_values_that_are_not_in_memory():
    z = torch.tensor([1 + 2j, 3 + 4j])
    with raises(BufferError, "describe(): argument 1", "resolve_conj"):
        gopy.describe(z.conj())
    with raises(BufferError, "resolve_conj"):
        gopy.describe_owned(z.conj())
    with raises(BufferError, "resolve_neg"):
        gopy.sum(z.conj().imag)
    equal(gopy.describe(z)[1], "complex64")
    equal(gopy.sum(z.conj().imag.resolve_neg()), -6.0)


def test_tensors_without_memory():
    shrunk = torch.ones(3)
    shrunk.untyped_storage().resize_(0)
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3)
    for x in shrunk, fake, torch._efficientzerotensor(3):
        for function in gopy.describe, gopy.describe_owned, gopy.sum:
            with raises(BufferError, "argument 1", "NULL"):
                function(x)


def test_tensors_that_torch_does_not_export():
    jagged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    eye = torch.eye(3)
    for x in [
        torch.ones(3, device="meta"),
        eye.to_sparse(),
        eye.to_sparse_csr(),
        eye.to_mkldnn(),
        torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        jagged,
    ]:
        with raises(Exception, "describe(): argument 1"):
            gopy.describe(x)

    def inside(x):
        with raises(Exception, "argument 1"):
            gopy.sum(x)
        return x.sum()

    torch.vmap(inside)(torch.ones(2, 3))
    torch.func.grad(inside)(torch.ones(3))
    torch.func.functionalize(inside)(torch.ones(3))


def test_copy_on_write():
    a = torch.ones(3)
    b = torch._lazy_clone(a)
    gopy.fill(b, 5)
    equal((a.tolist(), b.tolist()), ([1, 1, 1], [5, 5, 5]))


# The table of torch.Tensor does not take changes of a subclass into account, so subclasses are read
# through __dlpack__: a parameter is then rejected, as everywhere in torch.
def test_subclasses_do_not_use_the_table():
    class Sub(torch.Tensor):
        asked = 0

        def __dlpack__(self, **more):
            Sub.asked += 1
            return super().__dlpack__(**more)

    x = torch.ones(3).as_subclass(Sub)
    equal((gopy.sum(x), Sub.asked), (3.0, 1))
    equal(gopy.describe(x)[0], x.data_ptr())
    with raises(BufferError, "argument 1", "gradient"):
        gopy.sum(torch.nn.Parameter(torch.ones(3)))
    with raises(BufferError, "resolve_neg"):
        gopy.sum(torch.tensor([1 + 2j]).conj().imag.as_subclass(Sub))


def test_the_table_of_the_type_itself_is_used():
    whole, torch.Tensor.__dlpack__ = torch.Tensor.__dlpack__, None
    try:
        equal(gopy.sum(torch.ones(3)), 3.0)
    finally:
        torch.Tensor.__dlpack__ = whole


def test_torch_sees_go_in_place():
    t = gopy.counting(2, 3, 0)
    x = torch.from_dlpack(t)
    equal(x.tolist(), [[0, 1, 2], [3, 4, 5]])
    equal(x.data_ptr(), gopy.describe(t)[0])
    x[0, 0] = 7
    equal(gopy.sum(t), 22.0)
    y = torch.from_dlpack(gopy.strided())
    equal((y.stride(), y.tolist()), ((1, 4), [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]]))
    equal(torch.from_dlpack(t, copy=True).data_ptr() == x.data_ptr(), False)


def test_the_same_memory_through_two_objects():
    x = torch.arange(3.0)
    y = torch.from_dlpack(gopy.forward(x))
    equal(y.data_ptr(), x.data_ptr())
    del x
    equal(y.tolist(), [0, 1, 2])


def test_the_slice_lives_while_somebody_looks():
    before = outstanding()
    x = torch.from_dlpack(gopy.counting(100, 10, 0))
    view = x[50:]
    del x
    equal(outstanding(), before + 1)
    equal(view[0, 0].item(), 500)
    del view
    equal(outstanding(), before)


def test_deleters_on_other_threads():
    before = outstanding()
    tensors = [torch.from_dlpack(gopy.counting(3, 3, 0)) for _ in range(100)]
    thread = threading.Thread(target=tensors.clear)
    thread.start()
    thread.join()
    equal(outstanding(), before)
    for number in [gopy.hold(torch.ones(3)) for _ in range(100)]:
        equal(gopy.held_sum(number), 3.0)
        gopy.release(number, 1)


def test_many_rounds_without_a_leak():
    x, y, out = torch.ones(2, 3), torch.ones(2, 3), torch.zeros(2, 3)
    no_leak(lambda: gopy.add(x, y, out))
    no_leak(lambda: torch.from_dlpack(gopy.counting(2, 3, 0)))
    no_leak(lambda: gopy.forward(x))
    equal(outstanding(), 0)


def test_many_rejections_without_a_leak():
    wrong = torch.tensor([1 + 2j]).conj().imag

    def rejected():
        with raises(BufferError):
            gopy.sum(wrong)

    no_leak(rejected)


main()
