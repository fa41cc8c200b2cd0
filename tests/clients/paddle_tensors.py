"""Paddle tensors that its own exchange table does not distinguish: without dense memory, and with
gradients. Part of special.py."""

import os

import clients
from rejections import rejected
from torch_fields import fresh_clients, patched


def without_memory():
    """Tensors that Paddle's table treats as dense, by name."""
    import paddle

    def cleared(method):
        x = paddle.ones([4, 4])
        getattr(x, method)()
        return x

    return {
        "sparse": paddle.ones([4, 4], "int64").to_sparse_coo(2),
        "compressed": paddle.ones([4, 4]).to_sparse_csr(),
        "a sparse parameter": as_parameter(paddle.eye(3)).to_sparse_coo(2),
        **{
            method: cleared(method)
            for method in ("_clear", "_clear_dataptr", "_clear_data", "_clear_to_zero_allocation")
        },
    }


def as_parameter(x):
    import paddle

    made = paddle.create_parameter(x.shape, x.dtype)
    made.set_value(x)
    return made


def by_all_means(of):
    return of.read, of.write, of.read_unlocked, of.write_unlocked, of.export, lambda x: of.read_first(x, x)


def rejects_what_has_no_memory(of):
    import paddle

    for _ in range(3):
        for x in without_memory().values():
            for f in by_all_means(of):
                with paddle.no_grad():
                    rejected(f, x, text="no dense memory|should not be null|memory_size")


def paddle_tensors_without_memory_are_rejected():
    import paddle

    rejects_what_has_no_memory(clients)
    x = paddle.ones([4, 4])
    assert clients.read(x)[0][0] == x.data_ptr()


def clearing(x):
    class Clears:
        def __dlpack__(self, **arguments):
            import numpy as np

            x._clear()
            return np.zeros(3).__dlpack__(**arguments)

    return Clears()


def keeps_what_an_argument_clears(of):
    import paddle

    for make in paddle.ones, lambda shape: as_parameter(paddle.ones(shape)):
        x = make([3])
        rejected(of.read_first, clearing(x), x, text="no dense memory|cannot be read")
        x = make([3])
        with paddle.no_grad():
            try:
                assert of.read_first(x, clearing(x)) == b"\0\0\x80\x3f" * 3, "owned, and so there still"
            except BufferError:
                pass


def paddle_tensors_that_an_argument_clears_are_owned_or_rejected():
    keeps_what_an_argument_clears(clients)


def paddle_keeps_what_is_cleared_once_it_was_taken():
    import numpy as np
    import paddle

    for x in paddle.arange(1024.0), as_parameter(paddle.arange(1024.0)):
        with paddle.no_grad():
            kept = np.from_dlpack(clients.export(x))
        x._clear()
        others = [paddle.full([1024], 7.0) for _ in range(64)]
        assert kept.tolist() == list(range(1024)) and others


def rejects_recorded_gradients(of):
    import paddle

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    for tensor in x, x * 2, as_parameter(x):
        for f in by_all_means(of):
            rejected(f, tensor, text="stop_gradient is False.*detach.*paddle.no_grad")
            with paddle.no_grad():
                f(tensor)
                with paddle.set_grad_enabled(True):
                    rejected(f, tensor, text="stop_gradient is False")
        of.write(tensor.detach())
    y = (x * x).sum()
    rejected(of.fill, x, text="stop_gradient is False")
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def paddle_gradients_are_rejected_while_they_are_recorded():
    rejects_recorded_gradients(clients)


def paddle_parameters_are_read_by_the_table_of_tensors():
    import paddle

    x = as_parameter(paddle.arange(6.0).reshape([2, 3]))
    with paddle.no_grad():
        assert clients.write(x)[0][:3] == (x.data_ptr(), (2, 3), (3, 1))
        assert clients.export(x).__dlpack_device__() == (1, 0)
    x.stop_gradient = True
    assert clients.write(x)[0][0] == x.data_ptr()


def paddle_is_asked_by_its_methods_where_those_are_not_its_own():
    import paddle

    asked, former = [], paddle.Tensor.is_dense
    with patched(paddle.Tensor, is_dense=lambda self: asked.append(self) or former(self)):
        module = fresh_clients()
        rejects_what_has_no_memory(module)
        rejects_recorded_gradients(module)
        keeps_what_an_argument_clears(module)
    assert asked
    x, stop_gradient = paddle.ones([3]), paddle.Tensor.stop_gradient
    with patched(paddle.Tensor, is_dense=paddle.Tensor.is_sparse):
        rejected(fresh_clients().read, x, text="no dense memory")
    with patched(paddle.Tensor, stop_gradient=property(lambda self: False)):
        rejected(fresh_clients().read, x, text="stop_gradient is False")
    with patched(paddle.Tensor, stop_gradient=property(stop_gradient.__get__, stop_gradient.__set__)):
        module = fresh_clients()
        rejects_recorded_gradients(module)
        assert module.read_first(x, clearing(x)) == b"\0\0\x80\x3f" * 3, "what runs code of Python is not asked last"


def paddle_is_asked_by_its_methods_without_native_readers():
    os.environ["DLPACKGEN_NO_NATIVE_READERS"] = "1"
    try:
        module = fresh_clients()
        rejects_what_has_no_memory(module)
        rejects_recorded_gradients(module)
    finally:
        del os.environ["DLPACKGEN_NO_NATIVE_READERS"]
