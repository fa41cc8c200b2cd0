import threading
import warnings

from check import equal, framework, main, no_leak, outstanding, raises

warnings.simplefilter("ignore")
(paddle,) = framework("paddle")
import gopy


def test_go_sees_a_tensor_in_place():
    x = paddle.arange(6, dtype="float32").reshape([2, 3])
    want = (x.data_ptr(), "float32", (2, 3), (3, 1), "CPU:0", False)
    equal(gopy.describe(x), want)
    equal(gopy.describe_owned(x), want)
    equal(gopy.sum(x), 15.0)
    gopy.fill(x, 2)
    equal(x.tolist(), [[2, 2, 2], [2, 2, 2]])


def test_strides_scalars_and_nothing():
    x = paddle.zeros([2, 3, 4]).transpose([2, 0, 1])
    equal(gopy.describe(x)[2:4], ((4, 2, 3), tuple(x.strides)))
    equal(gopy.sum(paddle.to_tensor(3.5)), 3.5)
    equal(gopy.sum(paddle.zeros([0, 3])), 0.0)


def test_every_type():
    for name in "bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128".split():
        equal(gopy.describe(paddle.zeros([2], dtype="float32").cast(name))[1], name)


def test_gradients():
    x = paddle.ones([3])
    x.stop_gradient = False
    equal(gopy.sum(x), 3.0)
    with raises(BufferError, "read-only"):
        gopy.fill(x, 1)


def test_tensors_without_memory():
    """Paddle's table treats all of them as dense, and crashes some calls later."""
    cleared = paddle.ones([3])
    cleared._clear()
    for x, why in (paddle.ones([4, 4], "int64").to_sparse_coo(2), "sparse"), (cleared, "not be Null"):
        for function in gopy.describe, gopy.describe_owned:
            for _ in range(200):
                with raises(Exception, "argument 1", why):
                    function(x)


def test_parameters_do_not_use_the_table():
    with raises(Exception, "argument 1"):
        gopy.fill(paddle.create_parameter([3], "float32"), 1)


def test_paddle_sees_go_in_place():
    t = gopy.counting(2, 3, 0)
    x = paddle.from_dlpack(t)
    equal(x.tolist(), [[0, 1, 2], [3, 4, 5]])
    equal(x.data_ptr(), gopy.describe(t)[0])
    equal(paddle.from_dlpack(gopy.strided()).tolist()[0], [1, 5, 9])


def test_the_same_memory_through_two_objects():
    x = paddle.arange(3, dtype="float32")
    y = paddle.from_dlpack(gopy.forward(x))
    equal(y.data_ptr(), x.data_ptr())
    del x
    equal(y.tolist(), [0, 1, 2])


def test_the_slice_lives_while_somebody_looks():
    before = outstanding()
    x = paddle.from_dlpack(gopy.counting(100, 10, 0))
    equal(outstanding(), before + 1)
    del x
    equal(outstanding(), before)


def test_deleters_on_other_threads():
    before = outstanding()
    tensors = [paddle.from_dlpack(gopy.counting(3, 3, 0)) for _ in range(100)]
    thread = threading.Thread(target=tensors.clear)
    thread.start()
    thread.join()
    equal(outstanding(), before)
    for number in [gopy.hold(paddle.ones([3])) for _ in range(100)]:
        equal(gopy.held_sum(number), 3.0)
        gopy.release(number, 1)


def test_many_rounds_without_a_leak():
    x = paddle.ones([2, 3])
    no_leak(lambda: gopy.add(x, x, x))
    no_leak(lambda: gopy.forward(x))
    # Paddle keeps 80 bytes of every imported tensor, including NumPy's.
    for _ in range(2000):
        paddle.from_dlpack(gopy.counting(2, 3, 0))
    equal(outstanding(), 0)


main()
