"""A module over dlpackgen_python reads torch.Tensor through the table that install() sets, with the
same rules and messages as without it. Each test runs in a separate process."""

import ctypes

import torch

import check
import clients
import dlpackgen_torch
from check import rejected

Reader = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(check.Tensor), ctypes.c_void_p)


def numbers(x):
    taken, elements = clients.read(x)
    return taken[0]


def test_the_reader_may_decline():
    asked = []

    def decline(x, writable, out, numbers):
        asked.append(writable)
        return 1

    reader = Reader(decline)
    check._kept.append(reader)
    dlpackgen_torch.install()
    torch.Tensor.__dlpackgen_read__ = check.capsule_of(ctypes.cast(reader, ctypes.c_void_p).value, b"dlpackgen_read_2")
    x = torch.arange(3.0)
    assert numbers(x) == x.data_ptr() and asked and not any(asked)
    clients.write(x)
    assert any(asked)


def test_another_capsule_is_no_reader():
    dlpackgen_torch.install()
    torch.Tensor.__dlpackgen_read__ = check.capsule_of(ctypes.addressof(check.room), b"dlpackgen_read_1")
    x = torch.arange(3.0)
    assert numbers(x) == x.data_ptr()


def test_gradients():
    dlpackgen_torch.install()
    x = torch.ones(3, requires_grad=True)
    with rejected(BufferError, "requires grad"):
        clients.read(x)
    with torch.no_grad():
        assert numbers(x) == x.data_ptr()
    assert numbers(x.detach()) == x.data_ptr()


def test_what_is_too_large():
    dlpackgen_torch.install()
    for verb in clients.read, clients.read, clients.read_unlocked:  # the first call looks up the type
        for count in 65, 4000:  # the latter extend far beyond the room for copies
            with rejected(BufferError, f"it has {count} dimensions; at most 64 are supported"):
                verb(torch.ones([1] * count))
    with rejected(BufferError, "negated"):
        clients.read(torch.tensor([1 + 2j]).conj().imag)


def test_shape_and_strides_are_copied():
    """Before the storage is compared with them, because other threads may resize a tensor at any
    time."""
    import threading

    dlpackgen_torch.install()
    for shape, strides in ((2, 3), (3, 1)), ((2, 2), (1, 2)), ((3,), (2,)), ((1,) * 7, (1,) * 7), ((), ()):
        x = torch.arange(6.0).as_strided(shape, strides)
        taken, elements = clients.read(x)
        assert taken[:3] == (x.data_ptr(), shape, strides), taken
    for x in torch.arange(6.0), torch.arange(6.0)[::2]:
        x.untyped_storage().resize_(16)
        with rejected(BufferError, "bytes of storage, but its storage was resized to 16"):
            clients.read(x)
    x = torch.arange(6.0)

    def meanwhile():
        thread = threading.Thread(target=lambda: x.resize_(1, 1))
        thread.start()
        thread.join()

    clients.meanwhile = meanwhile
    assert len(clients.read_after(x)) == 24
    assert x.shape == (1, 1)


def test_reading_separates_nothing():
    dlpackgen_torch.install()
    a = torch.arange(4.0)
    b = torch._lazy_clone(a)
    assert numbers(a) == numbers(b)
    clients.write(b)
    assert numbers(a) != numbers(b)


if __name__ == "__main__":
    check.run(globals())
