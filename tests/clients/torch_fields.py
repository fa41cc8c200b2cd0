"""Storages that are smaller than their tensors, and the words of torch's objects that reveal it.
Part of special.py."""

import contextlib
import ctypes
import importlib.machinery
import importlib.util
import shutil
import tempfile

import clients
from rejections import rejected


def shrunk(make, parameter=False):
    """A tensor, or a parameter, whose storage is one byte too small."""
    import torch

    x = make(torch.ones(8))
    if parameter:
        x = torch.nn.Parameter(x, requires_grad=False)
    needs = x.storage_offset() + 1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride()))
    x.untyped_storage().resize_(needs * x.element_size())
    clients.read(x)
    x.untyped_storage().resize_(needs * x.element_size() - 1)
    return x


LAYOUTS = {
    "dense": lambda x: x,
    "behind an offset": lambda x: x[3:7],
    "strided": lambda x: x[::2],
    "repeated": lambda x: x.expand(2, 8),
    "two dimensions": lambda x: x.view(2, 4).T,
    "0-d": lambda x: x[7],
    "two strides": lambda x: x.as_strided((2, 2), (1, 3), 2),
}


def torch_beyond_its_storage_is_rejected():
    import torch

    for name, make in LAYOUTS.items():
        for parameter in False, True:
            x = shrunk(make, parameter)
            for f in clients.read, clients.write, clients.read_unlocked, clients.write_unlocked, clients.export:
                rejected(f, x, text="it needs [0-9]+ bytes of storage, but its storage was resized to [0-9]+")
    for x in torch.ones(8)[4:], torch.ones(2, 0), torch.ones(8)[8:]:
        clients.read(x)
        clients.export(x)
    gone = torch.ones(4)[4:]
    gone.untyped_storage().resize_(0)
    clients.read(gone)


def torch_beyond_its_storage_is_rejected_by_other_routes():
    """Tensors that the shim does not borrow are queried through their methods: subclasses, and
    objects that hide their address."""
    import torch

    class Plain(torch.Tensor):
        pass

    for make in LAYOUTS.values():
        x = shrunk(make).as_subclass(Plain)
        for f in clients.read, clients.read_unlocked, clients.export:
            rejected(f, x, text="it needs [0-9]+ bytes of storage, but its storage was resized to [0-9]+")
    assert clients.read(torch.ones(3).as_subclass(Plain))[0][1] == (3,)
    assert clients.read(torch.ones(2, 0).as_subclass(Plain))[0][1] == (2, 0)


def torch_whose_memory_is_forbidden_is_rejected():
    import torch

    x = torch.ones(3)
    torch._C._set_throw_on_mutable_data_ptr(x)
    rejected(clients.write, x, text="it has no memory of its own")


def torch_without_a_storage_is_left_to_its_own_export():
    import torch

    class Bare(torch.Tensor):
        def untyped_storage(self):
            raise NotImplementedError("no storage")

    class Wrong(torch.Tensor):
        def untyped_storage(self):
            raise KeyError("no storage")

    assert clients.read(torch.ones(3).as_subclass(Bare))[0][1] == (3,)
    try:
        clients.read(torch.ones(3).as_subclass(Wrong))
    except BufferError as e:
        assert type(e.__cause__) is KeyError, repr(e.__cause__)
    else:
        raise AssertionError("an exception was lost")


def fresh_clients():
    """A new copy of the module, which has not read a tensor yet."""

    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(clients.__file__, folder)
        loader = importlib.machinery.ExtensionFileLoader("clients", path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("clients", loader))
        loader.exec_module(module)
    return module


def torch_words_are_proven():
    """Otherwise, all tensors would be read through the shim, which no other test would detect."""
    import torch

    module = fresh_clients()
    assert module.torch_fields() == (0,) * 7
    module.read(torch.ones(3))
    keys, storage, offset, size, usual, plain, gpu = module.torch_fields()
    assert keys > offset > storage > 0 and size > 0 and usual and plain, module.torch_fields()
    cpu, cuda = torch._C.DispatchKey.CPU, torch._C.DispatchKey.CUDA
    assert plain ^ gpu == torch._C.DispatchKeySet(cpu).raw_repr() ^ torch._C.DispatchKeySet(cuda).raw_repr()


def torch_keys_of_a_gpu_tell_the_device():
    """Meta tensors represent GPU tensors here; tests/gpu tests real ones."""
    import torch

    keys = torch._C.DispatchKeySet

    class Swapped:
        """torch's report of keys, with meta's as CUDA's."""

        def __init__(self, key):
            meta = torch._C._dispatch_keys(torch.empty(0, device="meta")).raw_repr()
            cpu = torch._C._dispatch_keys(torch.empty(0)).raw_repr()
            own = keys(torch._C.DispatchKey.CPU).raw_repr()
            self.key = own if key == torch._C.DispatchKey.CPU else own ^ cpu ^ meta

        def raw_repr(self):
            return self.key

    x, module = torch.empty(0, 3, device="meta"), fresh_clients()
    rejected(clients.read, x, text="meta")
    with patched(torch._C, DispatchKeySet=Swapped):
        module.read(torch.ones(3))
    words = module.torch_fields()
    assert words[:6] == clients.torch_fields()[:6] and words[6] != clients.torch_fields()[6], words
    assert module.export(x).__dlpack_device__()[0] == 2


def torch_that_does_not_tell_keys_is_asked_for_the_device():
    import torch

    class Unknown:
        """torch's report of keys that differ from those of its tensors."""

        def __init__(self, key):
            self.key = 2**64 - 1 if key == torch._C.DispatchKey.CPU else 0

        def raw_repr(self):
            return self.key

    for reported in None, Unknown:
        module = fresh_clients()
        with patched(torch._C, DispatchKeySet=reported):
            assert module.read(torch.ones(3))[0][1] == (3,)
        *_, plain, gpu = module.torch_fields()
        assert plain == gpu != 0, reported


@contextlib.contextmanager
def patched(owner, **values):
    """Replaces attributes of a module or a type."""
    before = {name: getattr(owner, name) for name in values}
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


def torch_words_are_proven_in_any_mode():
    """The tensors that a mode substitutes must neither be trusted nor be visible."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    asked = []

    class Answers(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            asked.append(func)
            raise ValueError(func)

    class Dispatches(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            asked.append(func)
            raise ValueError(func)

    clients.read(torch.ones(3))
    x = torch.ones(3, dtype=torch.float64)
    negated, address = torch._neg_view(x), x.data_ptr()
    modes = torch.inference_mode, torch.no_grad, FakeTensorMode, Answers, Dispatches, lambda: torch.device("meta")
    for mode in modes:
        module = fresh_clients()
        with mode():
            before = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
            assert module.read(x)[0][0] == address, mode
            rejected(module.read, negated, text="negated values")
            assert before == (torch.is_inference_mode_enabled(), torch.is_grad_enabled()), mode
        assert module.torch_fields() == clients.torch_fields(), mode
    module = fresh_clients()
    torch.func.functionalize(lambda y: y if module.read(x) else None)(torch.ones(3))
    assert module.torch_fields() == clients.torch_fields()
    # torch reports its own modes through a function, and Answers is notified of it.
    assert all(func.__name__ in ("is_inference_mode_enabled", "is_grad_enabled") for func in asked), asked


def torch_words_that_are_not_proven_are_asked_of_the_shim():
    import torch

    class Fake:
        """An object with an address in place of its TensorImpl's, which it also reports."""

        __slots__ = ("held",)
        _cdata = property(lambda self: id(self.held))

        def __init__(self):
            self.held = (None,) * 100

    shrunk = torch.ones(3)
    shrunk.untyped_storage().resize_(11)
    for made in bytes(200), Fake():
        module = fresh_clients()
        with patched(torch, _efficientzerotensor=lambda *args, **keywords: made):
            module.read(torch.ones(3))
        assert module.torch_fields() == (0,) * 7
    rejected(module.read, torch._neg_view(torch.ones(3)), text="negated values")
    rejected(module.read, shrunk, text="it needs 12 bytes of storage, but its storage was resized to 11")


def torch_that_is_not_proven_is_read_by_its_own_table():
    import torch

    def raises(error):
        def empty(*args, **keywords):
            raise error

        return patched(torch, empty=empty)

    clients.read(torch.ones(3))
    x, shrunk, negated, parameter = (
        torch.ones(3),
        torch.ones(3),
        torch._neg_view(torch.ones(3)),
        torch.nn.Parameter(torch.ones(3), False),
    )
    shrunk.untyped_storage().resize_(11)
    for hidden in raises(ValueError("no")), patched(torch, empty=lambda *args, **keywords: bytes(200)):
        module = fresh_clients()
        with hidden:
            assert module.read(x)[0][0] == x.data_ptr()
        assert module.torch_fields() == (0,) * 7
        rejected(module.read, negated, text="negated values")
        rejected(module.read, shrunk, text="it needs 12 bytes of storage, but its storage was resized to 11")
        module.read(parameter)  # the first of another type verifies it
        assert module.torch_fields() == clients.torch_fields()
    for error in KeyboardInterrupt, MemoryError:
        module = fresh_clients()
        with raises(error()):
            try:
                module.read(x)
            except error:
                pass
            else:
                raise AssertionError("an exception was lost")
        assert module.read(x)[0][0] == x.data_ptr() and module.torch_fields() == clients.torch_fields()


def torch_whose_address_differs_is_not_proven():
    import torch

    x, module = torch.ones(3), fresh_clients()
    cdata = torch.Tensor._cdata
    torch.Tensor._cdata = property(lambda x: 16)
    try:
        assert module.read(x)[0][0] == x.data_ptr()
    finally:
        del torch.Tensor._cdata
    assert module.torch_fields() == (0,) * 7 and torch.Tensor._cdata is cdata


def torch_is_asked_nothing_once_its_type_is_known():
    """A mode answers for _cdata: in Python, which may resize earlier tensors."""
    import numpy as np
    import torch
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if getattr(getattr(func, "__self__", None), "__name__", "") == "_cdata":
                return self.answer(func(*args))
            return func(*args, **(kwargs or {}))

    class Lies(Mode):
        def answer(self, address):
            return 16

    class Resizes(Mode):
        def answer(self, address):
            asked.append(address)
            earlier.resize(1, refcheck=False)
            return address

    asked, x, module = [], torch.ones(3), fresh_clients()
    with Lies():
        assert x._cdata == 16 and module.read(x)[0][0] == x.data_ptr()
    earlier = np.arange(100_000.0)
    want = earlier.tobytes()
    module.read(earlier)
    with Resizes():
        assert module.read_first(earlier, x) == want
    assert not asked


class Seen(ctypes.Structure):
    """struct dlpackgen_torch_seen"""

    _fields_ = [
        ("plain", ctypes.c_void_p * 5),
        ("inference", ctypes.c_void_p),
        ("others", ctypes.c_void_p * 6),
        ("storage", ctypes.c_uint64 * 5),
        ("offset", ctypes.c_uint64 * 5),
        ("bytes", ctypes.c_uint64 * 5),
        ("sizes", ctypes.c_uint32),
        ("end", ctypes.c_uint32),
    ]


PLAIN, INFERENCE = 0x94, 0x80


class Objects:
    """Possible layouts of torch's objects: sizes in words 4 to 14, the offset, another word, flags
    and the keys."""

    def __init__(self):
        words = lambda: (ctypes.c_uint64 * 18)(*[77] * 18)
        self.plain, self.others, self.inference = [words() for _ in range(5)], [words() for _ in range(6)], words()
        self.storages, self.offset, self.bytes = [words() for _ in range(5)], [0, 200, 0, 3, 8], [1680, 2400, 44, 1, 13]
        for i, x in enumerate(self.plain):
            x[2], x[14], x[15], x[16], x[17] = (
                ctypes.addressof(self.storages[i]),
                self.offset[i],
                10 * i,
                1000 + i,
                PLAIN,
            )
            self.storages[i][6] = self.bytes[i]
        self.inference[16], self.inference[17] = 1001, INFERENCE
        for i, x in enumerate(self.others):
            x[16], x[17] = 1000, PLAIN | 1 << (8 + i)

    def find(self):
        at = ctypes.addressof
        seen = Seen(sizes=4, end=14, inference=at(self.inference))
        for name, values in (
            ("plain", map(at, self.plain)),
            ("others", map(at, self.others)),
            ("storage", map(at, self.storages)),
        ):
            getattr(seen, name)[:] = list(values)
        seen.offset[:], seen.bytes[:] = self.offset, self.bytes
        return clients.find_torch_words(at(seen))[:6]


def torch_words_are_those_that_hold_what_torch_says():
    assert Objects().find() == (17, 2, 14, 6, PLAIN ^ INFERENCE, INFERENCE)

    def two_storages(o):
        for x in o.plain:
            x[3] = x[2]

    def another_storage(o):
        o.plain[4][2] = o.plain[3][2]

    def two_offsets(o):
        for x in o.plain:
            x[15] = x[14]

    def another_offset(o):
        o.plain[2][14] = 1

    def two_sizes(o):
        for x in o.storages:
            x[7] = x[6]

    def a_size_that_stays(o):
        o.storages[4][6] = 64

    def two_keys(o):
        for x in o.plain + o.others + [o.inference]:
            x[16] = x[17]

    def keys_of_one_tensor(o):
        o.plain[3][17] = PLAIN | 1

    def keys_that_do_not_tell(o):
        o.others[5][17] = PLAIN

    def keys_that_inference_tells(o):
        o.others[5][17] = INFERENCE

    def no_keys(o):
        o.inference[17] = 0

    def a_storage_that_is_none(o):
        for x, n in zip(o.plain, range(5)):
            x[2], x[5] = 8 * n + 1, x[2]  # after the words where one may be

    breaks = list(locals().values())
    assert len(breaks) == 12
    for change in breaks:
        objects = Objects()
        change(objects)
        assert objects.find() == (0,) * 6, change.__name__


def torch_words_lie_between_sizes_that_are_believed():
    assert clients.believes_torch_sizes(64, 104) == (8, 18)
    assert clients.believes_torch_sizes(72, 112) == (9, 19)
    for sizes, strides in (64, 96), (64, 112), (8, 48), (136, 176), (68, 108), (-1, 104), (64, -1):
        assert clients.believes_torch_sizes(sizes, strides) is False, (sizes, strides)
