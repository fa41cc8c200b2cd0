"""An exchange table for torch.Tensor, compiled against libtorch.

This package contains a module for each version of torch that it was built for. Other versions are
rejected before a symbol of torch is looked up: a table that was built with other headers would read
tensors incorrectly.
"""

import importlib
import importlib.machinery
import os
import re


def built(folder):
    """Returns the versions of torch for which modules in a folder were built, oldest first."""
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    names = [name.removesuffix(s) for name in os.listdir(folder) for s in suffixes if name.endswith(s)]
    found = {tuple(map(int, m.groups())) for m in (re.fullmatch(r"_torch_(\d+)_(\d+)_(\d+)", n) for n in names) if m}
    return sorted(found)


def load(package, folder):
    """Imports the module for the running torch; ImportError names its version and the existing
    ones."""
    running = importlib.import_module("torch").__version__
    wanted = tuple(map(int, re.match(r"(\d+)\.(\d+)\.(\d+)", running).groups()))
    versions = built(folder)
    if wanted not in versions:
        names = [".".join(map(str, version)) for version in versions]
        there = "torch " + " and ".join(names) if names else "no version of torch"
        raise ImportError(f"{package} was built for {there}, but torch {running} is running: rebuild it")
    return importlib.import_module(f"{package}._torch_" + "_".join(map(str, wanted)))


_module = load(__name__, os.path.dirname(__file__))
install = _module.install
uninstall = _module.uninstall
is_installed = _module.is_installed
from_dlpack = _module.from_dlpack
use_backend = _module.use_backend
exchange_api = _module.exchange_api
exchange_api_read_only = _module.exchange_api_read_only
exchange_api_object_owned = _module.exchange_api_object_owned
stream_source = _module.stream_source
torch_version = _module.torch_version
