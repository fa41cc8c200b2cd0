"""install() and uninstall(), seen by consumers that were created before, between and after. Each
test runs in a separate process, because consumers cache types."""

import ctypes
import gc
import sys

import torch

import check
import dlpackgen_torch
from check import rejected

NAME = "__dlpack_c_exchange_api__"
before = torch.Tensor.__dict__.get(NAME)
negative = torch.tensor([1 + 2j, 3 + 4j]).conj().imag


def address(capsule):
    return check._pointer(capsule, b"dlpack_exchange_api")


def ours():
    offered = getattr(torch.Tensor, NAME, None)
    return offered is not None and address(offered) == address(dlpackgen_torch.exchange_api)


def test_once_and_twice():
    assert not dlpackgen_torch.is_installed() and not ours()
    for _ in range(2):
        dlpackgen_torch.install()
        assert dlpackgen_torch.is_installed() and ours()
        assert torch.nn.Parameter.__dlpackgen_read__ is not None and issubclass(torch.nn.Parameter, torch.Tensor)
    for _ in range(2):
        dlpackgen_torch.uninstall()
        assert not dlpackgen_torch.is_installed() and torch.Tensor.__dict__.get(NAME) is before
        assert not hasattr(torch.Tensor, "__dlpackgen_read__") and not hasattr(torch.nn.Parameter, "__dlpackgen_read__")


def test_over_and_over():
    for _ in range(200):
        dlpackgen_torch.install()
        dlpackgen_torch.uninstall()
    assert torch.Tensor.__dict__.get(NAME) is before


def test_another_that_came_later_stays():
    dlpackgen_torch.install()
    other = check.capsule_of(address(before), b"dlpack_exchange_api")
    setattr(torch.Tensor, NAME, other)
    dlpackgen_torch.uninstall()
    assert getattr(torch.Tensor, NAME) is other
    dlpackgen_torch.install()
    dlpackgen_torch.uninstall()
    assert getattr(torch.Tensor, NAME) is other, "it gives back what it replaced last"


READER = "__dlpackgen_read__"


def readers():
    return [kind.__dict__.get(READER) for kind in (torch.Tensor, torch.nn.Parameter)]


def test_the_reader_goes_without_the_table():
    dlpackgen_torch.install()
    setattr(torch.Tensor, NAME, before)
    dlpackgen_torch.uninstall()
    assert readers() == [None, None] and torch.Tensor.__dict__[NAME] is before


def test_the_reader_may_be_gone():
    dlpackgen_torch.install()
    delattr(torch.Tensor, READER)
    dlpackgen_torch.uninstall()
    assert readers() == [None, None] and torch.Tensor.__dict__.get(NAME) is before


def test_two_copies():
    """In every order of installation and removal, each copy removes its own table."""
    import importlib.util
    import os
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(dlpackgen_torch._module.__file__, folder)
        spec = importlib.util.spec_from_file_location(os.path.basename(path).split(".")[0], path)
        other = importlib.util.module_from_spec(spec)
        os.remove(path)
    for first, second in ((dlpackgen_torch, other), (other, dlpackgen_torch)):
        for going in ((first, second, first), (second, first), (first, second, first, second)):
            first.install()
            firsts = readers()
            second.install()
            assert None not in firsts and first.is_installed() == (not second.is_installed()) == False
            for copy in going:
                copy.uninstall()
                if copy is second and first.is_installed():
                    assert readers() == firsts, "what was there before is back"
            assert readers() == [None, None] and torch.Tensor.__dict__.get(NAME) is before


def test_without_one_before():
    delattr(torch.Tensor, NAME)
    dlpackgen_torch.install()
    assert ours()
    dlpackgen_torch.uninstall()
    assert not hasattr(torch.Tensor, NAME)


def test_the_table_outlives_the_package():
    dlpackgen_torch.install()
    table, x = check.table_in(getattr(torch.Tensor, NAME)), torch.ones(3)
    managed = check.own(table, x)
    dlpackgen_torch.uninstall()
    for name in [name for name in sys.modules if name.startswith("dlpackgen_torch")]:
        del sys.modules[name]
    check.__dict__.pop("dlpackgen_torch", None)
    globals().pop("dlpackgen_torch")
    gc.collect()
    check.delete(managed)
    assert check.borrow(table, x).data == x.data_ptr()


def test_tvm_ffi_that_came_before_keeps_what_it_saw():
    import tvm_ffi

    echo = tvm_ffi.get_global_func("testing.echo")
    echo(torch.ones(3))
    dlpackgen_torch.install()
    assert echo(torch.arange(3.0)).tolist() == [0, 1, 2]
    assert echo(negative).tolist() == [2, 4], "PyTorch's own table, which is wrong"
    assert echo(torch.nn.Parameter(torch.ones(2))).tolist() == [1, 1], "met later, and read by ours"
    dlpackgen_torch.uninstall()
    assert echo(torch.arange(3.0)).tolist() == [0, 1, 2]


def test_tvm_ffi_that_came_later_keeps_ours():
    import tvm_ffi

    dlpackgen_torch.install()
    echo = tvm_ffi.get_global_func("testing.echo")
    x = torch.arange(3.0)
    y = echo(x)
    assert type(y) is torch.Tensor and y.data_ptr() == x.data_ptr()
    with rejected(BufferError, "resolve_neg"):
        echo(negative)
    assert echo(torch.ones(3, requires_grad=True) * 2).tolist() == [2, 2, 2], "accepted as before"
    assert echo(torch.nn.Parameter(torch.ones(2))).tolist() == [1, 1]
    dlpackgen_torch.uninstall()
    with rejected(BufferError, "resolve_neg"):
        echo(negative)
    del x
    gc.collect()
    assert y.tolist() == [0, 1, 2]


def test_versions():
    """A module that is imported without the package compares versions by itself."""
    import importlib.machinery
    import importlib.util
    import os

    folder = os.path.dirname(dlpackgen_torch.__file__)
    wanted = dlpackgen_torch.torch_version
    name = "_torch_" + wanted.replace(".", "_")
    path = dlpackgen_torch._module.__file__
    assert wanted == torch.__version__.split("+")[0]
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_loader(name, loader)
    for version in (
        "2.3.1+cpu",
        wanted + "0",
        wanted + ".dev20261122+cpu",
        wanted + "a0+git1234567",
        wanted + "rc1",
        wanted.rsplit(".", 1)[0] + ".9",
    ):
        torch.__version__ = version
        with rejected(ImportError, f"built for torch {wanted}", f"torch {version} is running"):
            loader.create_module(spec)
        if not version.startswith(wanted):
            with rejected(ImportError, f"built for torch {wanted}", f"torch {version} is running"):
                dlpackgen_torch.load("dlpackgen_torch", folder)
    for version in wanted, wanted + "+cpu", wanted + "+cu132":
        torch.__version__ = version
        assert loader.create_module(spec)


def test_native_readers_that_are_off():
    import os

    os.environ["DLPACKGEN_NO_NATIVE_READERS"] = "1"
    dlpackgen_torch.install()
    assert not dlpackgen_torch.is_installed() and not hasattr(torch.Tensor, "__dlpackgen_read__")
    os.environ["DLPACKGEN_NO_NATIVE_READERS"] = "0"
    dlpackgen_torch.install()
    assert dlpackgen_torch.is_installed()


if __name__ == "__main__":
    check.run(globals())
