"""from_dlpack(): tensors of every library and of strangers, and each refusal."""

import ctypes
import gc

import numpy as np
import torch

import check
from check import Stranger, refused
from dlpackgen_torch import from_dlpack


class Object:
    """Offers one capsule, and keeps what it was asked."""

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
    stranger = Stranger((2, 3))
    capsule = stranger.capsule()
    x = from_dlpack(capsule)
    assert x[1, 2] == 5 and stranger.deleted == 0
    with refused(TypeError, "nobody has taken"):
        from_dlpack(capsule)
    del x
    assert stranger.deleted == 1
    with refused(TypeError, "nobody has taken"):
        from_dlpack(check.capsule_of(ctypes.addressof(check.room), b"other"))


def test_objects_are_asked_for_the_newest_version():
    for old in (False, True):
        stranger = Stranger((2,))
        source = Object(stranger.capsule(), old)
        x = from_dlpack(source)
        assert source.asked == [{"max_version": (1, 3)}] + old * [{}] and x.tolist() == [0, 1]
        del x
        assert stranger.deleted == 1


def test_read_only_memory():
    for changes in (dict(flags=check.READ_ONLY), dict(legacy=True)):
        stranger = Stranger((2,), **changes)
        with refused(BufferError, "read-only"):
            from_dlpack(stranger.capsule())
        assert stranger.deleted == 1
        stranger = Stranger((2,), **changes)
        x = from_dlpack(stranger.capsule(), read_only="copy")
        assert stranger.deleted == 1 and x.tolist() == [0, 1] and x.data_ptr() != ctypes.addressof(check.room)
        stranger = Stranger((2,), **changes)
        x = from_dlpack(stranger.capsule(), "trust")
        assert stranger.deleted == 0 and x.data_ptr() == ctypes.addressof(check.room)
        del x
        assert stranger.deleted == 1
    with refused(ValueError, "'refuse', 'copy' or 'trust', not 'allow'"):
        from_dlpack(torch.ones(1), read_only="allow")


def test_refusals_delete_once():
    from give import REFUSED

    for name, (changes, says) in REFUSED.items():
        for how in ("refuse", "copy", "trust"):
            stranger = Stranger(**changes)
            with refused(BufferError, says):
                from_dlpack(stranger.capsule(), how)
            assert stranger.deleted == 1, name


def test_no_deleter():
    stranger = Stranger((2,))
    stranger.managed.deleter = check.Deleter()
    x = from_dlpack(stranger.capsule())
    del x
    assert stranger.deleted == 0


class Tabled:
    """An object whose type offers a table of this script."""


def table_for(own, stream=lambda *a: 0):
    """Makes the table; own(object, out) fills out and gives 0."""
    table = check.Table()
    table.major, table.minor = 1, 3
    kinds = {name: kind for name, kind in check.Table._fields_}
    for name, function in (("own", own), ("stream", stream), ("allocate", lambda *a: -1), ("give", lambda *a: -1)):
        setattr(table, name, kinds[name](function))
    check._kept.append(table)
    return check.capsule_of(ctypes.addressof(table), b"dlpack_exchange_api"), table


def test_tables():
    stranger = Stranger((2,))

    def own(x, out):
        out[0] = ctypes.pointer(stranger.managed)
        return 0

    Tabled.__dlpack_c_exchange_api__, table = table_for(own)
    x = from_dlpack(Tabled())
    assert x.tolist() == [0, 1] and stranger.deleted == 0
    del x
    assert stranger.deleted == 1
    stranger = Stranger((2,), version=(2, 0))
    with refused(BufferError, "major version"):
        from_dlpack(Tabled())
    assert stranger.deleted == 1
    table.major = 2
    with refused(TypeError, "has no __dlpack__"):
        from_dlpack(Tabled())
    stranger, table.major = Stranger((2,)), 1
    with refused(TypeError, "has no __dlpack__"):
        from_dlpack(type("Derived", (Tabled,), {})())


def test_tables_that_fail():
    def silent(x, out):
        return -1

    def nothing(x, out):
        return 0

    Tabled.__dlpack_c_exchange_api__, _ = table_for(silent)
    with refused(BufferError, "does not say why"):
        from_dlpack(Tabled())
    Tabled.__dlpack_c_exchange_api__, _ = table_for(nothing)
    with refused(BufferError, "gave no tensor"):
        from_dlpack(Tabled())


def test_numpy():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    y = from_dlpack(x)
    y[0, 0] = 9
    assert x[0, 0] == 9
    x.flags.writeable = False
    with refused(BufferError, "read-only"):
        from_dlpack(x)
    room = np.zeros(17, "u1")
    with refused(BufferError, "may stand"):
        from_dlpack(room[1:].view("f4"))
    with refused(BufferError, "negative stride"):
        from_dlpack(np.arange(4)[::-1])
    assert from_dlpack(np.zeros((0, 3))).shape == (0, 3) and from_dlpack(np.array(3.0)).item() == 3.0


def test_what_is_no_tensor():
    for x in (3, None, "text", [1.0]):
        with refused(TypeError, "has no __dlpack__"):
            from_dlpack(x)
    with refused(TypeError, ""):
        from_dlpack()

    class Raises:
        def __dlpack__(self, **keywords):
            raise KeyError("mine")

    with refused(KeyError, "mine"):
        from_dlpack(Raises())
    with refused(TypeError, "nobody has taken"):
        from_dlpack(Object(7))


def test_tensors_of_torch_give_an_alias():
    pair = torch.tensor([1 + 2j, 3 + 4j])
    y = from_dlpack(pair.conj().imag)
    assert y.tolist() == [-2, -4]
    x = torch.ones(3, requires_grad=True)
    y = from_dlpack(x)
    assert y.data_ptr() == x.data_ptr() and not y.requires_grad


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
