"""from_dlpack(): tensors of every library and of untrusted producers, and each rejection."""

import ctypes
import enum
import gc

import numpy as np
import torch
from torch._subclasses import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

import check
from check import UntrustedProducer, from_dlpack, rejected


class Object:
    """Exports one capsule, and records the arguments."""

    def __init__(self, capsule, old=False):
        self.offered, self.old, self.asked = capsule, old, []

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        if self.old and "max_version" in keywords:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.offered

    def __dlpack_device__(self):
        return (1, 0)


def test_capsules():
    untrusted = UntrustedProducer((2, 3))
    capsule = untrusted.capsule()
    x = from_dlpack(capsule)
    assert x[1, 2] == 5 and untrusted.deleted == 0
    with rejected(TypeError, "expected an unconsumed DLPack capsule"):
        from_dlpack(capsule)
    del x
    assert untrusted.deleted == 1
    with rejected(TypeError, "expected an unconsumed DLPack capsule"):
        from_dlpack(check.capsule_of(ctypes.addressof(check.room), b"other"))


def test_the_newest_version_is_requested():
    for old in (False, True):
        untrusted = UntrustedProducer((2,))
        source = Object(untrusted.capsule(), old)
        x = from_dlpack(source)
        assert source.asked == [{"max_version": (1, 3)}] + old * [{}] and x.tolist() == [0, 1]
        del x
        assert untrusted.deleted == 1


def test_numbers_of_the_host_mean_nothing():
    """It is one device, with any number (DLPack: 0 for CPU memory), as in modules over
    dlpackgen_python."""
    x = from_dlpack(UntrustedProducer(device=(check.CPU, 5)).capsule())
    assert x.device == torch.device("cpu") and x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_read_only_memory():
    for changes in (dict(flags=check.READ_ONLY), dict(legacy=True)):
        untrusted = UntrustedProducer((2,), **changes)
        with rejected(BufferError, "read-only"):
            from_dlpack(untrusted.capsule())
        assert untrusted.deleted == 1
        untrusted = UntrustedProducer((2,), **changes)
        x = from_dlpack(untrusted.capsule(), read_only="copy")
        assert untrusted.deleted == 1 and x.tolist() == [0, 1] and x.data_ptr() != ctypes.addressof(check.room)
        untrusted = UntrustedProducer((2,), **changes)
        x = from_dlpack(untrusted.capsule(), read_only="allow")
        assert untrusted.deleted == 0 and x.data_ptr() == ctypes.addressof(check.room)
        del x
        assert untrusted.deleted == 1
    with rejected(ValueError, "'raise', 'copy' or 'allow', not 'trust'"):
        from_dlpack(torch.ones(1), read_only="trust")


def test_copies_that_are_requested():
    for changes in (dict(), dict(flags=check.READ_ONLY), dict(legacy=True)):
        for read_only in ("raise", "copy", "allow"):
            untrusted = UntrustedProducer((2,), **changes)
            x = from_dlpack(untrusted.capsule(), copy=True, read_only=read_only)
            assert untrusted.deleted == 1 and x.tolist() == [0, 1] and x.data_ptr() != ctypes.addressof(check.room)
    own = torch.arange(3)
    copy = from_dlpack(own, copy=True)
    assert copy.tolist() == [0, 1, 2] and copy.data_ptr() != own.data_ptr()
    assert from_dlpack(own, copy=None).data_ptr() == own.data_ptr()


def test_copies_that_are_not_allowed():
    untrusted = UntrustedProducer((2,))
    x = from_dlpack(untrusted.capsule(), copy=False)
    assert x.data_ptr() == ctypes.addressof(check.room)
    own = np.arange(3)
    assert from_dlpack(own, copy=False).data_ptr() == own.ctypes.data
    untrusted = UntrustedProducer((2,), flags=check.COPIED)
    with rejected(BufferError, "its producer copied it"):
        from_dlpack(untrusted.capsule(), copy=False)
    assert untrusted.deleted == 1
    untrusted = UntrustedProducer((2,), flags=check.COPIED)
    assert from_dlpack(untrusted.capsule()).tolist() == [0, 1]
    for read_only in ("raise", "copy"):
        untrusted = UntrustedProducer((2,), flags=check.READ_ONLY)
        with rejected(BufferError, "it is read-only"):
            from_dlpack(untrusted.capsule(), copy=False, read_only=read_only)
        assert untrusted.deleted == 1
    with rejected(TypeError, "copy must be True, False or None"):
        from_dlpack(torch.ones(1), copy=1)


def test_devices_that_are_requested():
    own = torch.arange(3)
    for device in (None, "cpu", torch.device("cpu")):
        for copy in (None, False):
            assert from_dlpack(own, device=device, copy=copy).data_ptr() == own.data_ptr()
        assert from_dlpack(own, device=device, copy=True).data_ptr() != own.data_ptr()
    untrusted = UntrustedProducer((2,))
    moved = from_dlpack(untrusted.capsule(), device="meta")
    assert moved.device == torch.device("meta") and moved.shape == (2,) and untrusted.deleted == 1
    untrusted = UntrustedProducer((2,))
    with rejected(BufferError, "it is not on device="):
        from_dlpack(untrusted.capsule(), device="meta", copy=False)
    assert untrusted.deleted == 1
    with rejected(RuntimeError, "nosuch"):
        from_dlpack(own, device="nosuch")


def test_the_signature():
    for args, keywords in (((), dict(x=torch.ones(1))), ((torch.ones(1), "copy"), {})):
        with rejected(TypeError, "from_dlpack"):
            from_dlpack(*args, **keywords)


CUDA_HOST = 3


class Raising(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        raise KeyError("mine")


def modes():
    return Raising(), FakeTensorMode(allow_non_fake_inputs=True)


def test_copies_are_made_below_the_modes():
    for mode in modes():
        for give in (
            lambda s: from_dlpack(s.capsule(), read_only="copy"),
            lambda s: check.give(check.WRITE, s.managed),
        ):
            for shape, strides, expected in (((2,), None, [0, 1]), ((2, 2), (3, 2), [[0, 2], [3, 5]])):
                untrusted = UntrustedProducer(shape, strides, flags=check.READ_ONLY)
                with mode:
                    x = give(untrusted)
                assert type(x) is torch.Tensor and untrusted.deleted == 1 and x.tolist() == expected
    source = UntrustedProducer((2,), flags=check.READ_ONLY)
    copies = torch.vmap(lambda row: row + from_dlpack(source.capsule(), read_only="copy"))(torch.zeros(3, 2))
    assert copies.tolist() == [[0, 1]] * 3 and source.deleted == 1


def test_rejections_delete_once():
    from exports import REJECTED

    for name, (changes, says) in REJECTED.items():
        if name == "NULL strides":
            continue  # the table rejects it, and both consumers accept it
        for how in ("raise", "copy", "allow"):
            untrusted = UntrustedProducer(**changes)
            with rejected(BufferError, says):
                from_dlpack(untrusted.capsule(), read_only=how)
            assert untrusted.deleted == 1, name


def test_devices_of_others():
    """Device types without a torch backend, with numbers that all of them have."""
    for device in (4, 7, 8, 9, 12, 15, 16):
        untrusted = UntrustedProducer((2,), device=(device, 0))
        with rejected(BufferError, "unsupported device"):
            from_dlpack(untrusted.capsule())
        assert untrusted.deleted == 1


def test_copies_of_nothing():
    for shape in ((0, 3), (3, 0), (2, 0, 2)):
        untrusted = UntrustedProducer(shape, data=None, flags=check.READ_ONLY)
        x = from_dlpack(untrusted.capsule(), read_only="copy")
        assert tuple(x.shape) == shape and untrusted.deleted == 1


def test_copies_of_a_number():
    untrusted = UntrustedProducer((), flags=check.READ_ONLY, offset=12)
    assert from_dlpack(untrusted.capsule(), read_only="copy").item() == 3 and untrusted.deleted == 1


def test_no_deleter():
    untrusted = UntrustedProducer((2,))
    untrusted.managed.deleter = check.Deleter()
    x = from_dlpack(untrusted.capsule())
    del x
    assert untrusted.deleted == 0


class Tabled:
    """An object whose type has a table of this script."""


def table_for(own, stream=lambda *a: 0):
    """Creates the table; own(object, out) fills out and returns 0."""
    table = check.Table()
    table.major, table.minor = 1, 3
    kinds = {name: kind for name, kind in check.Table._fields_}
    for name, function in (("own", own), ("stream", stream), ("allocate", lambda *a: -1), ("give", lambda *a: -1)):
        setattr(table, name, kinds[name](function))
    check._kept.append(table)
    return check.capsule_of(ctypes.addressof(table), b"dlpack_exchange_api"), table


def test_tables():
    untrusted = UntrustedProducer((2,))

    def own(x, out):
        out[0] = ctypes.pointer(untrusted.managed)
        return 0

    Tabled.__dlpack_c_exchange_api__, table = table_for(own)
    x = from_dlpack(Tabled())
    assert x.tolist() == [0, 1] and untrusted.deleted == 0
    del x
    assert untrusted.deleted == 1
    untrusted = UntrustedProducer((2,), version=(2, 0))
    with rejected(BufferError, "major version"):
        from_dlpack(Tabled())
    assert untrusted.deleted == 1
    table.major = 2
    with rejected(TypeError, "has no __dlpack__"):
        from_dlpack(Tabled())
    untrusted, table.major = UntrustedProducer((2,)), 1
    with rejected(TypeError, "has no __dlpack__"):
        from_dlpack(type("Derived", (Tabled,), {})())


def test_tables_that_fail():
    def silent(x, out):
        return -1

    def nothing(x, out):
        return 0

    Tabled.__dlpack_c_exchange_api__, _ = table_for(silent)
    with rejected(BufferError, "without an error message"):
        from_dlpack(Tabled())
    Tabled.__dlpack_c_exchange_api__, _ = table_for(nothing)
    with rejected(BufferError, "returned no tensor"):
        from_dlpack(Tabled())


def careless(kind):
    """A C function that sets an error and returns 0."""
    return ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, kind)


def test_deleters_do_not_meet_errors():
    """A table fails after it has returned a tensor, whose deleter runs Python code, and may set
    another error."""
    untrusted = UntrustedProducer((2,), device=(check.CUDA, 99))

    def own(x, out):
        out[0] = ctypes.pointer(untrusted.managed)
        return 0

    Tabled.__dlpack_c_exchange_api__, table = table_for(own)
    table.stream = check.WRITE.stream
    with rejected(BufferError, "device"):
        from_dlpack(Tabled())
    assert untrusted.deleted == 1
    untrusted = UntrustedProducer((2,), device=(check.CUDA, 99))
    untrusted.managed.deleter = careless(check.Deleter)
    with rejected(BufferError, "device"):
        from_dlpack(untrusted.capsule())


def test_errors_of_others_that_succeed_are_not_kept():
    # Copied, so that it is deleted at once: torch itself deletes without the GIL, where no deleter
    # may set an error.
    untrusted = UntrustedProducer((2,), flags=check.READ_ONLY)
    untrusted.managed.deleter = careless(check.Deleter)
    assert from_dlpack(untrusted.capsule(), read_only="copy").tolist() == [0, 1]
    Tabled.__dlpack_c_exchange_api__, table = table_for(lambda x, out: 0)
    table.own = careless(dict(check.Table._fields_)["own"])
    with rejected(BufferError, "returned no tensor"):
        from_dlpack(Tabled())


def test_other_streams():
    """Host memory has no stream, pinned or not: the library is not queried. errors.py has other
    devices."""
    untrusted = UntrustedProducer((2,), device=(CUDA_HOST, 0))

    def own(x, out):
        out[0] = ctypes.pointer(untrusted.managed)
        return 0

    def stream(kind, number, out):
        raise AssertionError("it was asked")

    Tabled.__dlpack_c_exchange_api__, table = table_for(own, stream)
    assert from_dlpack(Tabled()).tolist() == [0, 1]
    assert untrusted.deleted == 1


def test_null_strides_of_any_version():
    for version in (1, 0), (1, 1), (1, 3):
        x = from_dlpack(UntrustedProducer((2, 3), "NULL", version=version).capsule())
        assert x.stride() == (3, 1) and x[1, 2] == 5


FAR = 1 << 62


def test_strides_that_lead_nowhere():
    """Tensors with one element, and tensors without elements; no sum or product of them may
    overflow."""
    for shape, strides, expected in (
        ((1, 2), (1, FAR), (FAR, FAR)),
        ((1, 1, 2), (FAR, FAR, FAR), (FAR, FAR, FAR)),
        ((1, 2), (-FAR, FAR), (FAR, FAR)),
        ((1, 3, 2), (9, 2, FAR), (6, 2, FAR)),
    ):
        untrusted = UntrustedProducer(shape, strides, dtype=(0, 8, 1))
        x = from_dlpack(untrusted.capsule())
        assert tuple(x.shape) == shape and x.stride() == expected, x.stride()
        del x
        assert untrusted.deleted == 1
    for strides in ((-1, -1, -1), (FAR, FAR, FAR), (-1 << 63, -1 << 63, -1 << 63), "NULL"):
        for changes in dict(), dict(data=None), dict(offset=(1 << 64) - 3), dict(offset=2), dict(flags=check.READ_ONLY):
            untrusted = UntrustedProducer((3, 0, 2), strides, **changes)
            x = from_dlpack(untrusted.capsule(), read_only="copy")
            assert tuple(x.shape) == (3, 0, 2) and x.stride() == (2, 2, 1), x.stride()
            del x
            assert untrusted.deleted == 1
    untrusted = UntrustedProducer((1 << 40, 1 << 40, 0), (1, 1, 1))
    with rejected(BufferError, "overflow"):
        from_dlpack(untrusted.capsule())
    assert untrusted.deleted == 1


def test_devices_that_are_none():
    pairs = ("a", "b"), (1.0, 0), (None, 0), (2, None), (Kind, 0), (Kind.NAMELESS, 0)
    for answer in ("x", (1, 0, 3), (2**40, 0), (1, -(2**40)), None, (1,), 7, "ab", {1, 0}, *pairs):
        source = Object(UntrustedProducer((2,)).capsule())
        type(source).__dlpack_device__, kept = (lambda self, answer=answer: answer), type(source).__dlpack_device__
        with rejected(
            BufferError, "as an integer" if answer in pairs else "did not return a device type and an id"
        ):
            from_dlpack(source)
        type(source).__dlpack_device__ = kept
        assert source.asked == []


class Kind(enum.Enum):
    """Without __index__, like Open3D's."""

    CPU = 1
    NAMELESS = "cpu"


def test_devices_that_are_members_of_enumerations():
    for answer in (
        (Kind.CPU, 0),
        [1, 0],
        (1, None),
        (Kind.CPU, None),
        [enum.IntEnum("Number", "CPU").CPU, 0],
        (True, False),
    ):
        source = Object(UntrustedProducer((2,)).capsule())
        type(source).__dlpack_device__, kept = (lambda self, answer=answer: answer), type(source).__dlpack_device__
        assert from_dlpack(source).tolist() == [0, 1]
        type(source).__dlpack_device__ = kept


def test_numpy():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    y = from_dlpack(x)
    y[0, 0] = 9
    assert x[0, 0] == 9
    x.flags.writeable = False
    with rejected(BufferError, "read-only"):
        from_dlpack(x)
    room = np.zeros(17, "u1")
    with rejected(BufferError, "is not aligned to"):
        from_dlpack(room[1:].view("f4"))
    with rejected(BufferError, "negative stride"):
        from_dlpack(np.arange(4)[::-1])
    assert from_dlpack(np.zeros((0, 3))).shape == (0, 3) and from_dlpack(np.array(3.0)).item() == 3.0


def test_what_is_no_tensor():
    for x in (3, None, "text", [1.0]):
        with rejected(TypeError, "has no __dlpack__"):
            from_dlpack(x)
    with rejected(TypeError, ""):
        from_dlpack()

    class Raises:
        def __dlpack__(self, **keywords):
            raise KeyError("mine")

    with rejected(BufferError, "Raises was not exported: 'mine'"):
        from_dlpack(Raises())
    with rejected(BufferError, "its __dlpack__() did not return an unconsumed"):
        from_dlpack(Object(7))
    with rejected(TypeError, "expected an unconsumed DLPack capsule"):
        from_dlpack(check.capsule_of(8, b"other"))


def test_tensors_of_torch_become_an_alias():
    pair = torch.tensor([1 + 2j, 3 + 4j])
    y = from_dlpack(pair.conj().imag)
    assert y.tolist() == [-2, -4]
    x = torch.ones(3, requires_grad=True)
    with rejected(BufferError, "requires grad"):
        from_dlpack(x)
    with torch.no_grad():
        y = from_dlpack(x)
        assert y.data_ptr() == x.data_ptr() and not y.requires_grad
        y[0] = 7
    assert x._version == y._version == 1 and x[0] == 7, "both count versions together"
    with torch.inference_mode():
        z = torch.ones(2)
    assert from_dlpack(z).data_ptr() == z.data_ptr()


def test_nothing_is_left():
    x = np.arange(1000.0)
    for _ in range(2000):
        from_dlpack(x)
        try:
            from_dlpack(x[::-1])
        except BufferError:
            pass
    gc.collect()
    import sys

    assert sys.getrefcount(x) == 2


if __name__ == "__main__":
    check.run(globals())
