"""Tensors, streams and exceptions of a simulated CUDA backend: its memory is the host's, the stream
of device n has the handle 40 + n, and it raises requested exceptions."""

import ctypes
import os

import torch

import check
from check import TABLES, UntrustedProducer, borrow, delete, from_dlpack, give, own, rejected
from consume import Object, Tabled, table_for

faults = ctypes.CDLL(os.path.join(os.path.dirname(check.dlpackgen_torch.__file__), "..", "faults.so"))
faults.put_the_back_end()

RAISED = {
    1: (BufferError, "mine"),
    2: (MemoryError, "mine"),
    3: (MemoryError, "out of memory"),
    4: (RuntimeError, "mine"),
    5: (RuntimeError, "without a message"),
}


def test_streams():
    for table in TABLES.values():
        for number in (0, 1):
            out = ctypes.c_void_p()
            assert table.stream(check.CUDA, number, out) == 0 and out.value == 40 + number
        with rejected(BufferError, "no device with its device id"):
            table.stream(check.CUDA, 2, ctypes.c_void_p())
        with rejected(BufferError, "a backend that this torch lacks"):
            table.stream(10, 0, ctypes.c_void_p())


def test_exceptions_from_streams():
    for fault, raised in RAISED.items():
        for table in TABLES.values():
            faults.fail_with(fault)
            out = ctypes.c_void_p(1)
            with rejected(*raised):
                table.stream(check.CUDA, 0, out)
            assert not out
            faults.fail_with(0)
            assert table.stream(check.CUDA, 0, out) == 0 and out.value == 40


def test_exceptions_from_making_objects():
    """Read-only memory of such a device cannot be copied safely, and remains the caller's."""
    for table in TABLES.values():
        untrusted = UntrustedProducer((1 << 46,), (0,), flags=check.READ_ONLY)
        out = ctypes.c_void_p(1)
        try:
            table.give(ctypes.addressof(untrusted.managed), out)
        except (BufferError, MemoryError) as e:
            assert "memory" in str(e) and "Exception raised from" not in str(e), e
        else:
            raise AssertionError("it was made")
        assert not out and untrusted.deleted == 0


def test_tensors_of_devices():
    for number in (0, 1):
        untrusted = UntrustedProducer((2, 3), device=(check.CUDA, number), offset=4)
        x = from_dlpack(untrusted.capsule())
        assert x.device == torch.device("cuda", number) and x.data_ptr() == ctypes.addressof(check.room) + 4
        for table in TABLES.values():
            for view in (borrow(table, x), own(table, x).contents.tensor):
                assert (view.device.type, view.device.id) == (check.CUDA, number) and view.data == x.data_ptr()
                assert check.shape_of(view) == (2, 3)
        made = own(check.WRITE, x)
        y = give(check.WRITE, made.contents)
        assert y.device == x.device and y.data_ptr() == x.data_ptr()
        del x, y


def test_deleters_of_devices():
    untrusted = UntrustedProducer((2,), device=(check.CUDA, 1))
    x = from_dlpack(untrusted.capsule())
    assert untrusted.deleted == 0
    managed = own(check.WRITE, x)
    del x
    assert untrusted.deleted == 0
    delete(managed)
    assert untrusted.deleted == 1


def test_what_is_read_only_is_not_copied():
    untrusted = UntrustedProducer((2,), device=(check.CUDA, 0), flags=check.READ_ONLY)
    with rejected(BufferError, "only tensors on the CPU can be copied"):
        from_dlpack(untrusted.capsule(), read_only="copy")
    assert untrusted.deleted == 1


class OnDevice(Object):
    def __dlpack_device__(self):
        return (check.CUDA, 1)


def test_the_stream_is_requested():
    for old in (False, True):
        untrusted = UntrustedProducer((2,), device=(check.CUDA, 1))
        source = OnDevice(untrusted.capsule(), old)
        x = from_dlpack(source)
        assert source.asked == [{"max_version": (1, 3), "stream": 41}] + old * [{"stream": 41}]
        del x
        assert untrusted.deleted == 1


def test_devices_that_were_not_declared():
    """No stream of this device was synchronized with the elements."""

    class OnHost(Object):
        pass

    class Silent(Object):
        __dlpack_device__ = property(lambda self: getattr(self, "no such name"))

    for kind, says in (
        (OnHost, "__dlpack_device__() declared (1, 0), but its __dlpack__() returned a tensor on device (2, 1)"),
        (Silent, "no __dlpack_device__"),
    ):
        untrusted = UntrustedProducer((2,), device=(check.CUDA, 1))
        with rejected(BufferError, says):
            from_dlpack(kind(untrusted.capsule()))
        assert untrusted.deleted == 1
    untrusted = UntrustedProducer((2,), device=(check.CUDA, 0))
    with rejected(BufferError, "declared (2, 1)"):
        from_dlpack(OnDevice(untrusted.capsule()))
    untrusted = UntrustedProducer((2,), device=(3, 0))
    assert from_dlpack(OnDevice(untrusted.capsule())).tolist() == [0, 1], "pinned memory is the host's"


def test_tables_must_work_on_the_stream():
    wanted = 41

    def own(x, out):
        out[0] = ctypes.pointer(untrusted.managed)
        return 0

    def stream(kind, number, out):
        out[0] = wanted
        return 0

    Tabled.__dlpack_c_exchange_api__, table = table_for(own, stream)
    untrusted = UntrustedProducer((2,), device=(check.CUDA, 1))
    x = from_dlpack(Tabled())
    assert x.device == torch.device("cuda", 1)
    del x
    assert untrusted.deleted == 1
    wanted, untrusted = 40, UntrustedProducer((2,), device=(check.CUDA, 1))
    with rejected(BufferError, "differs from torch's current stream"):
        from_dlpack(Tabled())
    assert untrusted.deleted == 1


def test_exceptions_during_an_import():
    def own(x, out):
        out[0] = ctypes.pointer(untrusted.managed)
        return 0

    for fault in RAISED:
        Tabled.__dlpack_c_exchange_api__, table = table_for(own)
        untrusted, source = UntrustedProducer((2,), device=(check.CUDA, 1)), OnDevice(None)
        faults.fail_with(fault)
        for offered in (Tabled(), source):
            try:
                from_dlpack(offered)
            except (BufferError, MemoryError, RuntimeError):
                pass
            else:
                raise AssertionError(f"fault {fault} was not noticed")
        faults.fail_with(0)
        assert untrusted.deleted == 1 and source.asked == []


if __name__ == "__main__":
    check.run(globals())
