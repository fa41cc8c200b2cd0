"""The objects that both tables create: from foreign tensors, and new tensors."""

import ctypes
import gc
import itertools

import torch

import check
from check import READ, TABLES, WRITE, UntrustedProducer, delete, give, own, rejected


def test_objects_over_the_memory_of_others():
    for table in TABLES.values():
        untrusted = UntrustedProducer((2, 3), offset=8)
        x = give(table, untrusted.managed)
        assert (
            type(x) is torch.Tensor
            and x.tolist() == [[2, 3, 4], [5, 6, 7]]
            and x.data_ptr() == ctypes.addressof(check.room) + 8
        )
        assert untrusted.deleted == 0 and not x.requires_grad
        view = x[1]
        del x
        gc.collect()
        assert untrusted.deleted == 0, "a view still owns it"
        del view
        assert untrusted.deleted == 1


def test_strides_and_extents_of_others():
    for shape, strides in (
        ((2, 3), (1, 2)),
        ((3,), (0,)),
        ((), ()),
        ((0, 4), None),
        ((1, 3), (77, 2)),
        ((1,), (-5,)),
        ((2, 1, 3), (3, -9, 1)),
    ):
        untrusted = UntrustedProducer(shape, strides, data=ctypes.addressof(check.room) if 0 not in shape else None)
        x = give(WRITE, untrusted.managed)
        assert tuple(x.shape) == shape
        assert shape != (1, 3) or x.stride() == (6, 2), "a stride that means nothing is that of dense elements"
        where = itertools.product(*map(range, shape))
        wanted = (
            [float(sum(i * s for i, s in zip(at, untrusted.strides))) for at in where] if strides is not None else []
        )
        if strides is not None and min(strides, default=0) >= 0:
            assert x.flatten().tolist() == wanted, (shape, strides)
        del x
        assert untrusted.deleted == 1, (shape, strides)


def test_what_is_read_only_is_copied():
    untrusted = UntrustedProducer((2, 2), flags=check.READ_ONLY)
    x = give(WRITE, untrusted.managed)
    assert untrusted.deleted == 1 and x.data_ptr() != ctypes.addressof(check.room) and x.tolist() == [[0, 1], [2, 3]]
    x.fill_(9)
    assert check.room[0] == 0


REJECTED = {
    "another major version": (dict(version=(2, 0)), "major version"),
    "no memory": (dict(data=None), "NULL"),
    "too many dimensions": (dict(shape=(1,) * 65), "ndim"),
    "a negative extent": (dict(shape=(-1,)), "negative"),
    "NULL strides": (dict(strides="NULL"), "strides"),
    "more than there can be": (dict(shape=(1 << 31, 1 << 31, 4)), ""),
    "a negative stride": (dict(shape=(3,), strides=(-1,), offset=16), "negative stride"),
    "off its place": (dict(offset=2), "is not aligned to"),
    "half of a byte": (dict(dtype=(0, 4, 1)), "no ATen equivalent"),
    "lanes": (dict(dtype=(2, 32, 4)), "no ATen equivalent"),
    "an unknown code": (dict(dtype=(200, 8, 1)), "code"),
    "an opaque handle": (dict(dtype=(3, 64, 1)), "no ATen equivalent"),
    "padded": (dict(dtype=(17, 4, 2), flags=check.PADDED), "padded"),
    "a device that is not here": (dict(device=(check.CUDA, 99)), "device"),
    "a device of another backend": (dict(device=(10, 0)), "device"),
    "OpenCL": (dict(device=(4, 0)), "device"),
}


def test_what_is_rejected_stays_the_callers():
    for name, (changes, says) in REJECTED.items():
        for table in TABLES.values():
            untrusted = UntrustedProducer(**changes)
            with rejected(BufferError, says):
                give(table, untrusted.managed)
            assert untrusted.deleted == 0, name


def test_no_tensor_at_all():
    for table in TABLES.values():
        with rejected(BufferError, "NULL"):
            table.give(None, ctypes.c_void_p())


def test_complex_elements_stand_where_their_halves_may():
    for bits in (64, 128):
        x = give(WRITE, UntrustedProducer((2,), dtype=(5, bits, 1), offset=bits // 16).managed)
        assert x.data_ptr() % (bits // 8) == bits // 16 and x.is_complex()
        with rejected(BufferError, "is not aligned to"):
            give(WRITE, UntrustedProducer((2,), dtype=(5, bits, 1), offset=bits // 32).managed)


def test_older_producers_may_have_no_strides():
    untrusted = UntrustedProducer((2, 3), "NULL", version=(1, 1))
    x = give(WRITE, untrusted.managed)
    assert x.stride() == (3, 1) and x[1, 2] == 5
    del x
    assert untrusted.deleted == 1


def test_there_and_back():
    x = torch.arange(6.0)
    for _ in range(100):
        y = give(WRITE, own(WRITE, x).contents)
        assert y.data_ptr() == x.data_ptr()
        del y
    for dtype in (
        torch.bool,
        torch.bfloat16,
        torch.complex64,
        torch.uint16,
        torch.float8_e8m0fnu,
        torch.float4_e2m1fn_x2,
    ):
        y = give(WRITE, own(WRITE, torch.zeros(4).to(torch.uint8).view(torch.uint8).repeat(16).view(dtype)).contents)
        assert y.dtype is dtype


def allocate(table, shape, dtype=(2, 32, 1), device=(check.CPU, 0), report=True):
    """Returns the tensor, or the reported error."""
    output = []
    numbers = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    prototype = check.Tensor(None, check.Device(*device), len(shape), check.DType(*dtype), numbers, None, 0)
    out = check.ManagedPointer()
    tell = check.SetError(lambda context, kind, message: output.append((context, kind.decode(), message.decode())))
    failed = table.allocate(prototype, out, 77, tell if report else check.SetError())
    assert (failed == 0) == bool(out) and (failed in (0, -1))
    assert not failed or not report or len(output) == 1, "reported once"
    return out if not failed else output


def test_new_tensors():
    for table in TABLES.values():
        for shape in ((), (3,), (2, 0), (4, 5, 6)):
            made = allocate(table, shape)
            view = made.contents.tensor
            assert (
                check.shape_of(view) == shape
                and (view.dtype.code, view.dtype.bits) == (2, 32)
                and made.contents.flags == 0
            )
            assert view.data or 0 in shape
            x = give(table, made.contents)
            x.fill_(1)


def test_new_tensors_are_made_below_the_modes():
    from consume import modes

    for table in TABLES.values():
        for mode in modes():
            with mode:
                made = allocate(table, (3,))
            x = give(table, made.contents)
            assert type(x) is torch.Tensor and x.fill_(2).tolist() == [2, 2, 2]
            del x


def test_new_tensors_that_cannot_be():
    for changes, kind in (
        (dict(shape=(-1,)), "BufferError"),
        (dict(shape=(2,), dtype=(0, 4, 1)), "BufferError"),
        (dict(shape=(1,) * 65), "BufferError"),
        (dict(shape=(2,), device=(check.CUDA, 99)), "BufferError"),
        (dict(shape=(2,), device=(4, 0)), "BufferError"),
        (dict(shape=(1 << 33, 1 << 33)), "BufferError"),
        (dict(shape=(1 << 46,)), None),
    ):
        for table in TABLES.values():
            ((context, output, message),) = allocate(table, **changes)
            assert context == 77 and message and output == (kind or output), (changes, output, message)
            assert allocate(table, report=False, **changes) == [], "nobody needs to listen"


def test_streams():
    """Fake tensors leave a substitute for a CUDA backend behind."""
    rejects_other_streams()
    with torch._subclasses.fake_tensor.FakeTensorMode():
        torch.empty(2, device="cuda")
    rejects_other_streams()
    says = "this torch has no streams for its device"
    if check.TORCH < (2, 11):
        says = "the stream of its device, which torch before 2.11 reports only to its own table"
    if check.TORCH < (2, 10):
        says = "this torch has no device with its device id"  # the substitute has no devices
    for table in TABLES.values():
        with rejected(BufferError, says):
            table.stream(check.CUDA, 0, ctypes.c_void_p())


def rejects_other_streams():
    for table in TABLES.values():
        for device in (check.CPU, 3):
            out = ctypes.c_void_p(1)
            assert table.stream(device, 0, out) == 0 and not out
        for number in (99, -1):
            with rejected(BufferError, "this torch has no device with its device id"):
                table.stream(check.CUDA, number, ctypes.c_void_p())
        other = "its device belongs to a backend that this torch lacks"
        for device, text in (10, other), (4, "unsupported device"), (12345, "unsupported device"):
            with rejected(BufferError, text):
                table.stream(device, 0, ctypes.c_void_p())


if __name__ == "__main__":
    check.run(globals())
