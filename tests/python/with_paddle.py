"""Paddle tensors combined with a library that runs code while they are borrowed."""

import paddle

from check import *

attack = types.SimpleNamespace(run=lambda: None)


def make_table():
    """An exchange table whose allocator runs a given function; it must be kept alive."""
    members = ctypes.c_void_p * 7  # the version, the previous table, and five functions
    api = members.from_buffer_copy(members.from_address(untrusted.address(untrusted.table(5))))
    allocates = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
    original = allocates(api[2])

    @allocates
    def allocate(*arguments):
        attack.run()
        return original(*arguments)

    api[2] = ctypes.cast(allocate, ctypes.c_void_p).value
    return api, allocate


def test_what_has_no_memory():
    f = function(any_tensor())
    x = paddle.ones([3])
    f(x)
    x._clear()
    with raises(BufferError, "it has no dense memory: pass to_dense()"):
        f(x)


def test_what_an_allocator_clears():
    """A change of a borrowed tensor is reported. Owned tensors, which take part in differentiation,
    still exist."""
    api, kept = make_table()
    maker = type("Maker", (New,), {})
    checked.enroll(maker, ctypes.addressof(api))
    f = function(any_tensor(), any_tensor())

    def parameter():
        return paddle.create_parameter([3], "float32")

    with frees_all(), paddle.no_grad():
        for make in parameter, lambda: paddle.ones([3]):
            attack.run, x = lambda: None, make()
            equal(checked.making(f.which, 0, maker(3), x)[1]["data"], x.data_ptr())
            attack.run = lambda: x._clear()
            if make is parameter:
                equal(checked.making(f.which, 0, maker(3), x)[1]["owned"], True)
            else:
                with raises(BufferError, "f(): argument 'b' (2nd): it changed while the result was allocated"):
                    checked.making(f.which, 0, maker(3), x)
    del kept


main()
