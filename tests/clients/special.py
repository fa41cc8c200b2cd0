"""Tests beyond single cases. Arguments: the names of functions, or of a library for all functions
whose names begin with it."""

import ctypes
import gc
import os
import socket
import sys
import traceback
import warnings

import cases
import clients
from identity import *
from paddle_tensors import *
from rejections import rejected

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"  # for JAX, which is not imported yet
from torch_fields import *

warnings.simplefilter("ignore")


def not_exported(x, *causes):
    """A BufferError that names the argument and the type, with the library's own exception as its
    cause."""
    try:
        clients.read(x)
    except BufferError as e:
        start = f"read(): argument 'x' (1st): {type(x).__name__} was not exported: "
        assert str(e) == start + str(e.__cause__), f"the message says: {e}"
        assert type(e.__cause__).__name__ in causes, repr(e.__cause__)
    else:
        raise AssertionError("not rejected")


def torch_has_parameters_without_memory():
    import torch

    not_exported(torch.nn.parameter.UninitializedParameter(requires_grad=False), "ValueError", "RuntimeError")


def jax_says_itself_why_it_does_not_export():
    import jax.numpy as jnp

    not_exported(jnp.ones(3, jnp.int4), "JaxRuntimeError", "RuntimeError", "XlaRuntimeError")


def paddle_says_itself_why_it_does_not_export():
    import paddle

    x = paddle.eye(3)
    x._clear_data()
    not_exported(x, "ValueError", "RuntimeError")


def torch_shares_memory_until_it_is_written():
    import torch

    a = torch.zeros(8, dtype=torch.uint8)
    b = torch._lazy_clone(a)
    clients.read(b)
    clients.read_unlocked(b)
    # Before 2.10, the shim can only request writable memory.
    assert torch._C._is_cow_tensor(b) == (cases.torch_version() >= (2, 10)), "reading it made a copy"
    clients.fill(b)
    assert a.tolist() == [0] * 8 and b.tolist() == [1] * 8, f"{a} {b}"


def torch_keeps_memory_apart_that_is_handed_on():
    import numpy as np
    import torch

    a = torch.zeros(8, dtype=torch.uint8)
    b = torch._lazy_clone(a)
    np.from_dlpack(clients.export(b))[:] = 1
    assert a.tolist() == [0] * 8 and b.tolist() == [1] * 8, f"{a} {b}"


def torch_keeps_memory_that_the_tensor_gives_up():
    import numpy as np
    import torch

    for x in torch.arange(1024.0), torch.nn.Parameter(torch.arange(1024.0), requires_grad=False):
        kept = np.from_dlpack(clients.export(x))
        x.data = torch.zeros(3)
        others = [torch.full((1024,), 7.0) for _ in range(64)]
        assert kept.tolist() == list(range(1024)) and others, "the memory is somebody else's"


def torch_grad_mode_decides_at_each_call():
    import torch

    x = torch.ones(3, requires_grad=True)
    rejected(clients.read, x, text="requires grad.*no_grad")
    with torch.no_grad():
        clients.write(x)
        with torch.enable_grad():
            rejected(clients.read, x, text="requires grad")
    with torch.inference_mode():
        clients.read(x)
    rejected(clients.write, x, text="requires grad")


def torch_subclass_of_a_parameter_is_asked():
    import torch

    class Mine(torch.nn.Parameter):
        pass

    x = Mine(torch.ones(3))
    rejected(clients.read, x, text="requires grad.*no_grad")
    x.requires_grad_(False)
    assert clients.read(x)[0][0] == x.data_ptr()


def torch_at_an_odd_address_is_rejected():
    import torch

    odd = torch.frombuffer(bytearray(64), dtype=torch.float32, count=3, offset=1)
    for f in clients.read, clients.read_unlocked, clients.export:
        rejected(f, odd, text="not aligned to 4 bytes")
        rejected(f, odd.as_subclass(type("Plain", (torch.Tensor,), {})), text="not aligned to 4 bytes")
    # The parts of a complex number determine its alignment.
    assert clients.read(torch.frombuffer(bytearray(64), dtype=torch.complex64, count=3, offset=4))[0][1] == (3,)


def torch_overlaps_are_not_written():
    import torch

    windows = torch.arange(8.0).as_strided((3, 4), (2, 1))
    for f in clients.write, clients.write_unlocked:
        rejected(f, windows, text="its elements may overlap")
        f(torch.arange(8.0).as_strided((2, 3), (4, 1)))
        f(torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1))
    assert clients.read(windows)[0][2] == (2, 1)


def torch_has_more_dimensions_than_are_served():
    import torch

    x = torch.ones([1] * 65)
    for y in x, torch.nn.Parameter(x, requires_grad=False), x.as_subclass(type("Derived", (torch.Tensor,), {})):
        for f in clients.read, clients.read_unlocked, clients.export:
            rejected(f, y, text="it has 65 dimensions; at most 64 are supported")


def torch_rejections_leak_nothing():
    import torch

    x = torch.tensor([1 + 2j]).conj()
    y = torch.eye(3).to_sparse()
    before = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(y.layout), sys.getrefcount(type(x))
    for _ in range(50):
        rejected(clients.read, x, text="conjugated")
        rejected(clients.read, y, text="layout")
    gc.collect()
    after = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(y.layout), sys.getrefcount(type(x))
    assert all(b - a < 5 for a, b in zip(before, after)), f"{before} {after}"


def torch_leaves_no_exception_behind():
    import torch

    x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    rejected(clients.read, x, text="nested")
    assert clients.read(torch.ones(1))[1] == cases.torch_bytes(torch.ones(1))


def numpy_is_not_imported_by_the_module():
    import subprocess

    script = "import clients, sys; print([n for n in ('numpy', 'torch', 'jax', 'paddle') if n in sys.modules])"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]", out


def numpy_is_read_in_place():
    import numpy as np

    x = np.arange(6, dtype="f4").reshape(2, 3)[::-1]
    (address, shape, strides, *_), _ = clients.read(x)
    assert (address, shape, strides) == (x.__array_interface__["data"][0], (2, 3), (-3, 1))
    y = np.zeros(4, "u1")
    clients.fill(y)
    assert y.tolist() == [1] * 4


def numpy_changes_between_two_calls():
    import numpy as np

    x = np.arange(6, dtype="f4")
    assert clients.read(x)[0][1] == (6,)
    x.resize((2, 3), refcheck=False)
    assert clients.read(x)[0][1] == (2, 3)
    x.flags.writeable = False
    rejected(clients.write, x, text="read-only")
    assert clients.read(x)[0][-1] & 1


def numpy_subclasses_export_themselves():
    import numpy as np

    class Old(np.ndarray):
        def __dlpack__(self, stream=None):
            return super().__dlpack__(stream=None)

    class Broken(np.ndarray):
        def __dlpack__(self, **keywords):
            raise BufferError("not today")

    x = np.arange(3, dtype="f4")
    assert clients.read(x.view(Old))[1] == x.tobytes()
    rejected(clients.read, x.view(Broken), text="not today")


def numpy_memmap_at_an_odd_offset_is_rejected():
    import tempfile

    import numpy as np

    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(64))
        file.flush()
        for offset, fine in (1, False), (2, False), (8, True):
            mapped = np.memmap(file.name, "f4", "r", offset, (3,))
            if fine:
                assert clients.read(mapped)[0][1] == (3,)
            else:
                rejected(clients.read, mapped, text="not aligned to 4 bytes")
                rejected(clients.export, mapped, text="not aligned to 4 bytes")


def numpy_windows_are_not_written():
    import numpy as np

    windows = np.lib.stride_tricks.sliding_window_view(np.arange(8, dtype="f4"), 4, writeable=True)
    rejected(clients.write, windows, text="its elements may overlap")
    rejected(
        clients.write,
        np.lib.stride_tricks.as_strided(np.ones(3, "f4"), (2, 3), (0, -4)),
        text="its elements may overlap",
    )
    clients.write(np.arange(24, dtype="f4").reshape(2, 3, 4)[::-1, :, ::2])


def numpy_arrays_that_are_read_only_overlap_too():
    """Both are a BufferError through every access method, and read-only has precedence."""
    import numpy as np

    class Exported:
        def __init__(self, x):
            self.__dlpack__, self.__dlpack_device__ = x.__dlpack__, x.__dlpack_device__

    x = np.broadcast_to(np.ones(3, "f4"), (2, 3))
    for y in x, Exported(x), x.view(type("Derived", (np.ndarray,), {})):
        for f in clients.write, clients.write_unlocked:
            try:
                f(y)
            except BufferError as e:
                assert "read-only" in str(e), e
            else:
                raise AssertionError("written")


def numpy_rejections_leak_nothing():
    import numpy as np

    x = np.ones(2, np.dtype("f4").newbyteorder())
    before = sys.getrefcount(x), sys.getrefcount(x.dtype)
    for _ in range(50):
        rejected(clients.read, x, text="byte order")
    assert sys.getrefcount(x) - before[0] < 5 and sys.getrefcount(x.dtype) - before[1] < 5


def ours_is_lent_without_an_offset():
    x = clients.make(bytearray(range(32)), cases.DTYPES["uint8"], (5,), (1,), 3, 0)
    assert clients.read(x)[1] == bytes(range(3, 8)) and clients.byte_offset(x) == 0
    data, offset = lent_by_table(x)
    assert offset == 0 and ctypes.string_at(data, 5) == bytes(range(3, 8))


def lent_by_table(x):
    """Returns data and byte_offset from the exchange table of a type."""
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.c_void_p.from_address(address(type(x).__dlpack_c_exchange_api__, b"dlpack_exchange_api") + 40)
    lend = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(table.value)
    out = (ctypes.c_uint64 * 6)()
    assert lend(x, out) == 0
    return out[0], out[5]


def paddle_reads_what_we_put_behind_an_offset():
    """It ignores byte_offset, so exported tensors must not have one."""
    import paddle

    x = clients.make(bytearray(range(32)), cases.DTYPES["uint8"], (5,), (1,), 3, 0)
    assert paddle.from_dlpack(x).numpy().tolist() == [3, 4, 5, 6, 7]
    assert paddle.from_dlpack(clients.export(x)).numpy().tolist() == [3, 4, 5, 6, 7]


def jax_waits_for_the_result():
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def slow(x):
        return jax.lax.fori_loop(0, 40, lambda _, y: y @ x, x)

    x = jnp.eye(700, dtype="float32")
    slow(x).block_until_ready()
    y = slow(x)
    elements = clients.read(y)[1]
    assert elements == np.eye(700, dtype="f4").tobytes()


def jax_keeps_what_was_taken_for_longer():
    import jax.numpy as jnp
    import numpy as np

    x = jnp.arange(100000.0, dtype="float32")
    want = np.array(x)
    kept = clients.export(x)
    address = clients.read(kept)[0][0]
    try:
        x.delete()
    except Exception:
        pass  # it may report a reference
    others = [jnp.full(100000, float(i), "float32").block_until_ready() for i in range(8)]
    assert clients.read(kept)[0][0] == address
    assert clients.read(kept)[1] == want.tobytes(), len(others)
    rejected(clients.write, kept, text="read-only")


def jax_is_let_go_of():
    import jax.numpy as jnp

    x = jnp.arange(8.0, dtype="float32")
    before = sys.getrefcount(x)
    kept = clients.export(x)
    clients.read(x)
    assert sys.getrefcount(x) == before + 1, "by what was taken"
    del kept
    assert sys.getrefcount(x) == before


def jax_keeps_what_another_thread_deletes():
    import threading

    import jax.numpy as jnp
    import numpy as np

    x = jnp.arange(100000.0, dtype="float32")
    want = np.array(x).tobytes()
    got = []
    ours, theirs = socket.socketpair()
    reader = threading.Thread(target=lambda: got.append(clients.read_later(x, theirs.fileno())))
    reader.start()
    ours.recv(1)
    x.delete()
    others = [jnp.full(100000, float(i), "float32").block_until_ready() for i in range(8)]
    ours.send(b" ")
    reader.join()
    assert got == [want], len(others)


def jax_keeps_what_another_argument_deletes():
    import jax.numpy as jnp
    import numpy as np

    x = jnp.arange(100000.0, dtype="float32")
    want = np.array(x).tobytes()

    class Deletes:
        def __dlpack__(self, **arguments):
            x.delete()
            self.others = [jnp.full(100000, float(i), "float32").block_until_ready() for i in range(8)]
            return np.zeros(3).__dlpack__(**arguments)

    assert clients.read_first(x, Deletes()) == want


def jax_keeps_what_the_function_itself_deletes():
    import jax.numpy as jnp
    import numpy as np

    x = jnp.arange(100000.0, dtype="float32")
    want = np.array(x).tobytes()
    others = []

    def meanwhile():
        x.delete()
        others.extend(jnp.full(100000, float(i), "float32").block_until_ready() for i in range(8))

    clients.meanwhile = meanwhile
    assert clients.read_after(x) == want, len(others)


def jax_has_one_device_of_the_cpu():
    """JAX has several CPU devices. Some of its types are read through the buffer protocol, and some
    through __dlpack__."""
    import jax
    import jax.numpy as jnp

    assert len(jax.devices("cpu")) == 2
    for dtype in "bool", "int8", "float32", "complex64", "bfloat16", "float8_e5m2":
        for n in range(2):
            x = jax.device_put(jnp.ones(3, dtype), jax.devices("cpu")[n])
            for f in clients.read, clients.read_unlocked:
                assert f(x)[0][4] == (1, 0), (dtype, n)
            assert clients.export(x).__dlpack_device__() == (1, 0), (dtype, n)


def jax_is_not_written_to_by_any_route():
    import jax.numpy as jnp

    for dtype in "float32", "bfloat16":
        rejected(clients.write, jnp.ones(3, dtype), text="immutable")
        rejected(clients.fill, jnp.ones(3, dtype), text="immutable")


def main(names):
    failed = 0
    library = {
        n: f
        for n, f in globals().items()
        if n.split("_")[0] in ("torch", "numpy", "jax", "paddle", "ours") and callable(f)
    }
    unknown = {n for n in names if not any(name == n or name.startswith(n + "_") for name in library)}
    for name, function in library.items():
        if names and not any(name == n or name.startswith(n + "_") for n in names):
            continue
        try:
            function()
            print("ok", name, flush=True)
        except Exception:
            failed += 1
            print("FAIL", name)
            traceback.print_exc(file=sys.stdout)
    for name in unknown:
        print("FAIL", name, "is not a function")
    sys.exit(failed > 0 or bool(unknown))


if __name__ == "__main__":
    main(sys.argv[1:])
