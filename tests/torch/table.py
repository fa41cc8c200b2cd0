"""The loans and exports of both tables: each kind of tensor, and each rejection."""

import ctypes
import threading
import time

import torch

import check
from check import READ, TABLES, WRITE, borrow, delete, own, rejected, same

NAMED = {
    torch.bool: (6, 8, 1),
    torch.int8: (0, 8, 1),
    torch.int16: (0, 16, 1),
    torch.int32: (0, 32, 1),
    torch.int64: (0, 64, 1),
    torch.uint8: (1, 8, 1),
    torch.uint16: (1, 16, 1),
    torch.uint32: (1, 32, 1),
    torch.uint64: (1, 64, 1),
    torch.float16: (2, 16, 1),
    torch.float32: (2, 32, 1),
    torch.float64: (2, 64, 1),
    torch.bfloat16: (4, 16, 1),
    torch.complex32: (5, 32, 1),
    torch.complex64: (5, 64, 1),
    torch.complex128: (5, 128, 1),
    torch.float8_e4m3fn: (10, 8, 1),
    torch.float8_e4m3fnuz: (11, 8, 1),
    torch.float8_e5m2: (12, 8, 1),
    torch.float8_e5m2fnuz: (13, 8, 1),
    torch.float8_e8m0fnu: (14, 8, 1),
    torch.float4_e2m1fn_x2: (17, 4, 2),
}


class Plain(torch.Tensor):
    pass


def readable():
    """Tensors that PyTorch's own table exports too."""
    a = torch.arange(24.0).reshape(2, 3, 4)
    with torch.inference_mode():
        inference = torch.ones(3)
    graph = torch.ones(3, requires_grad=True)
    return {
        "dense": a,
        "strided": a[:, ::2, 1:],
        "transposed": a.T if a.ndim == 2 else a.permute(2, 0, 1),
        "0-d": torch.tensor(7.0),
        "empty": torch.empty(0, 3),
        "expanded": torch.ones(1).expand(5),
        "many dimensions": torch.ones([1] * 12),
        "parameter": torch.nn.Parameter(torch.ones(3)),
        "leaf that requires grad": graph,
        "its result": graph * 2,
        "derived type": a.as_subclass(Plain),
        "inference": inference,
        "detached": graph.detach(),
    }


def test_what_is_borrowed_and_exported():
    for name, x in readable().items():
        for table in TABLES.values():
            same(borrow(table, x), x)
            managed = own(table, x)
            same(managed.contents.tensor, x)
            assert (managed.contents.major, managed.contents.minor) == (1, 3), name
            assert managed.contents.flags == (check.READ_ONLY if table is READ else 0), name
            delete(managed)


def test_what_pytorch_exports_is_exported():
    """Through torch's own table, from 2.10 on: nothing more is rejected, and everything is
    equal."""
    offered = torch.Tensor.__dict__.get("__dlpack_c_exchange_api__")
    if offered is None:
        return
    theirs = check.table_in(offered)
    for name, x in (readable() | {str(dtype): torch.empty(4, dtype=dtype) for dtype in NAMED}).items():
        for table in TABLES.values():
            for a, b in ((borrow(theirs, x), borrow(table, x)), (own(theirs, x), own(table, x))):
                left, right = (
                    view.contents.tensor if isinstance(view, check.ManagedPointer) else view for view in (a, b)
                )
                assert (left.data, *shape_of_all(left)) == (right.data, *shape_of_all(right)), name
                assert bytes(left.dtype) + bytes(left.device) == bytes(right.dtype) + bytes(right.device), name
                if left is not a:
                    delete(a), delete(b)


def test_types_of_elements():
    for dtype, named in NAMED.items():
        x = torch.empty(4, dtype=dtype)
        for table in TABLES.values():
            found = borrow(table, x).dtype
            assert (found.code, found.bits, found.lanes) == named, dtype


def test_types_without_a_name():
    """The names in PyTorch's own exports are kept, or rejected."""
    for dtype in (torch.uint3, torch.bits8):
        x = torch.empty(4, dtype=torch.uint8).view(dtype)
        for table in TABLES.values():
            try:
                view = borrow(table, x)
            except BufferError:
                continue
            assert view.dtype.lanes == 1 and view.dtype.bits == 8


def wrapped(transform):
    """Returns a tensor as it is inside a transformation."""
    seen = []

    def look(x):
        for table in TABLES.values():
            for read in (borrow, own):
                try:
                    read(table, x)
                except BufferError as e:
                    seen.append(e)
        return x.sum()

    transform(look)
    return seen


def test_wrappers_are_rejected():
    ones = torch.ones(3, 3)
    transforms = {
        "vmap": lambda f: torch.func.vmap(f)(ones),
        "grad": lambda f: torch.func.grad(f)(ones),
        "jvp": lambda f: torch.func.jvp(f, (ones,), (ones,)),
        "functionalize": lambda f: torch.func.functionalize(f)(ones),
    }
    for name, transform in transforms.items():
        assert len(wrapped(transform)) == 2 * len(TABLES), name


def unreadable():
    """Tensors that a DLTensor cannot represent, and the messages of their rejections."""
    a = torch.arange(6.0)
    freed = torch.ones(3)
    freed.untyped_storage().resize_(0)
    pair = torch.tensor([1 + 2j, 3 + 4j])
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3)
    return {
        "negative, real": (pair.conj().imag, "resolve_neg"),
        "conjugated": (pair.conj(), "resolve_conj"),
        "negative and conjugated": (torch._neg_view(pair.conj()), "resolve_"),
        "zeros": (torch._efficientzerotensor(3), "clone"),
        "negative of a derived type": (pair.conj().imag.as_subclass(Plain), "resolve_neg"),
        "freed": (freed, "no memory"),
        "fake": (fake, ""),
        "meta": (torch.ones(3, device="meta"), ""),
        "sparse": (a.to_sparse(), ""),
        "compressed": (torch.eye(3).to_sparse_csr(), ""),
        "mkldnn": (a.to_mkldnn() if torch.backends.mkldnn.is_available() else a.to_sparse(), ""),
        "quantized": (torch.quantize_per_tensor(a, 1.0, 0, torch.qint8), ""),
        "nested, strided": (torch.nested.nested_tensor([a, a[:2]]), ""),
    }


def test_rejections():
    for name, (x, says) in unreadable().items():
        for table in TABLES.values():
            for read in (borrow, own):
                try:
                    read(table, x)
                except BufferError as e:
                    assert says in str(e) or "torch before 2.10" in str(e), f"{name}: {e}"
                    assert "Exception raised from" not in str(e), "a trace of the stack is no message"
                else:
                    raise AssertionError(f"{name} was read by {read.__name__}")


def test_tensors_beyond_their_storage():
    def shrunk(x, size):
        x.untyped_storage().resize_(size)
        return x

    for name, x in {
        "dense": shrunk(torch.ones(1000), 4),
        "by one byte": shrunk(torch.ones(4), 15),
        "behind an offset": shrunk(torch.ones(8)[4:], 28),
        "strided": shrunk(torch.ones(4, 4).t(), 60),
        "strided, behind an offset": shrunk(torch.ones(4, 4)[1:, ::3], 60),
        "complex": shrunk(torch.ones(4, dtype=torch.complex64).conj().resolve_conj(), 31),
    }.items():
        for table in TABLES.values():
            for read, fault in (
                (borrow, said_by_its_code(BufferError, "beyond its storage")),
                (own, (BufferError, "beyond its storage")),
            ):
                with rejected(*fault):
                    read(table, x)
                    raise AssertionError(f"{name} was read")
    for x in (
        torch.ones(4, 4)[1:, ::3],
        shrunk(torch.ones(16), 64),
        shrunk(torch.ones(16)[:4], 16),
        torch.ones(3, 1).expand(3, 5),
        shrunk(torch.ones(4, 4)[:2, :2], 24),
        shrunk(torch.ones(4, 0), 0),
    ):
        for table in TABLES.values():
            check.same(borrow(table, x), x)
            delete(own(table, x))


def said_by_its_code(kind, text):
    """Before 2.10, torch lends only plain tensors, so it is not tested."""
    lends = check.TORCH >= (2, 10)
    return (kind, text) if lends else (BufferError, "torch before 2.10")


def test_what_its_own_code_raises_is_kept():
    jagged = torch.nested.nested_tensor([torch.ones(3), torch.ones(2)], layout=torch.jagged)
    for table in TABLES.values():
        with rejected(*said_by_its_code(RuntimeError, "NestedTensor does not support")):
            borrow(table, jagged)


class Raises(torch.Tensor):
    """Its own code is queried for its size, and raises an exception without a C++ class."""

    @staticmethod
    def __new__(cls):
        return torch.Tensor._make_wrapper_subclass(cls, (3,), dispatch_sizes_strides_policy="sizes")

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise KeyError("mine")


def test_exceptions_of_python_keep_their_class():
    x = Raises()
    for table in TABLES.values():
        with rejected(*said_by_its_code(KeyError, "mine")):
            borrow(table, x)
        with rejected(KeyError, "mine"):
            own(table, x)


def test_what_is_no_tensor():
    for table in TABLES.values():
        for x in (3, [1.0], torch.Tensor, None):
            with rejected(TypeError, "expected a torch.Tensor"):
                borrow(table, x)
            with rejected(TypeError, "expected a torch.Tensor"):
                own(table, x)
        with rejected(TypeError, "expected a torch.Tensor"):
            table.borrow(None, check.Tensor())


def test_shared_memory_is_separated_by_writing_alone():
    a = torch.arange(4.0)
    b = torch._lazy_clone(a)
    shared = borrow(READ, a).data
    assert borrow(READ, b).data == shared, "reading separates nothing"
    managed = own(READ, b)
    assert managed.contents.tensor.data == shared
    delete(managed)
    view = borrow(WRITE, b)
    assert view.data != shared
    ctypes.c_float.from_address(view.data).value = 9.0
    assert a.tolist() == [0, 1, 2, 3] and b.tolist() == [9, 1, 2, 3]
    c = torch._lazy_clone(a)
    managed = own(WRITE, c)
    ctypes.c_float.from_address(managed.contents.tensor.data).value = 8.0
    assert a[0] == 0 and c[0] == 8
    delete(managed)


def test_read_only_exports_outlive_the_others():
    a = torch.arange(4096.0)
    b = torch._lazy_clone(a)
    managed = own(READ, b)
    address = managed.contents.tensor.data
    b[0], a[0] = 5.0, 6.0
    del a, b
    again = [torch.full((4096,), -1.0) for _ in range(8)]
    assert ctypes.c_float.from_address(address).value == 0.0 and ctypes.c_float.from_address(address + 4).value == 1.0
    delete(managed)
    del again


def test_exports_do_not_change():
    """Independently of the tensor: its shape, its memory, its end. A storage that grows, or is
    shrunk, moves its memory away from every export, as in PyTorch."""
    x = torch.arange(4096.0).reshape(64, 64)
    managed = own(WRITE, x)
    view = managed.contents.tensor
    x.resize_(4, 4)
    assert shape_of_all(view) == ((64, 64), (64, 1))
    x.data = torch.zeros(3)
    del x
    again = [torch.full((4096,), -1.0) for _ in range(8)]
    assert ctypes.c_float.from_address(view.data + 4).value == 1.0
    delete(managed)
    del again
    many = torch.ones([1] * 11 + [5])
    managed = own(WRITE, many)
    del many
    view = managed.contents.tensor
    assert shape_of_all(view)[0] == (1,) * 11 + (5,)
    within = ctypes.cast(view.shape, ctypes.c_void_p).value - ctypes.addressof(managed.contents)
    assert not 0 <= within < 2 * ctypes.sizeof(check.Managed), "there is room for few dimensions in the block"
    delete(managed)


def shape_of_all(view):
    return check.shape_of(view), check.strides_of(view)


def owners(x):
    return torch._C._storage_Use_Count(x.untyped_storage()._cdata)


def test_deleters_release_once():
    x = torch.ones(5)
    before = owners(x)
    for table in (WRITE, READ):
        held = [own(table, x) for _ in range(1000)]
        assert owners(x) == before + 1000
        for managed in held:
            delete(managed)
        assert owners(x) == before


def test_deleters_on_other_threads():
    x = torch.ones(5)
    before = owners(x)
    for _ in range(5):
        held = [own(WRITE, x) for _ in range(700)]
        # ctypes releases the GIL while a deleter runs.
        threads = [
            threading.Thread(target=lambda part: [delete(m) for m in part], args=(held[i::4],)) for i in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    kept = []
    thread = threading.Thread(target=lambda: kept.extend(own(WRITE, x) for _ in range(300)))
    thread.start()
    thread.join()
    for managed in kept:  # the thread and its pool have ended
        delete(managed)
    assert owners(x) == before


class Heap(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


libc = ctypes.CDLL(None)


def in_use():
    """The allocated bytes of the heap; always 0 if the C library or a sanitizer does not count."""
    count = getattr(libc, "mallinfo2", None)
    if count is None:
        return 0
    count.restype = Heap
    return count().uordblks


def test_threads_keep_few_blocks():
    x = torch.ones(5)
    before = in_use()
    held = [own(WRITE, x) for _ in range(20000)]
    for managed in held:
        delete(managed)
    del held
    assert in_use() - before < 1 << 20, "some hundred blocks of some hundred bytes"


def test_blocks_that_come_after_the_end_of_a_thread():
    """Destructors of keys run after those of C++, when the pool no longer exists."""
    x, keys = torch.ones(5), [ctypes.c_uint() for _ in range(100)]
    first = own(WRITE, x)
    deleter = ctypes.cast(first.contents.deleter, ctypes.c_void_p)
    delete(first)
    for key in keys:
        assert libc.pthread_key_create(ctypes.byref(key), deleter) == 0

    def work():
        delete(own(WRITE, x))
        for key in keys:
            libc.pthread_setspecific(key, own(WRITE, x))

    def rounds(many):
        for _ in range(many):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

    def until(fine):
        """join() returns before a thread has run its key destructors."""
        end = time.process_time() + 5
        while not fine() and time.process_time() < end:
            time.sleep(0)
        return fine()

    owned = owners(x)
    rounds(10)
    assert until(lambda: owners(x) == owned)
    before = in_use()
    rounds(100)
    assert until(lambda: owners(x) == owned and in_use() - before < 1 << 20)
    for key in keys:
        libc.pthread_key_delete(key)


def test_readers_and_writers_at_once():
    xs = [torch.arange(8.0) + i for i in range(4)]
    wrong = []

    def work(x):
        for _ in range(3000):
            managed = own(WRITE, x)
            if managed.contents.tensor.data != x.data_ptr() or borrow(READ, x).data != x.data_ptr():
                wrong.append(x)
            delete(managed)

    threads = [threading.Thread(target=work, args=(x,)) for x in xs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


if __name__ == "__main__":
    check.run(globals())
