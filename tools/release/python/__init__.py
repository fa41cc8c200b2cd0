"""The dlpackgen program, and the headers that it makes of DLPack's newest release.

    setuptools:         Extension(..., include_dirs=[dlpackgen.include_dir()])
    scikit-build-core,  python -c "import dlpackgen; print(dlpackgen.include_dir())"
    meson-python:
"""

import os
import sysconfig
from importlib import metadata
from pathlib import Path

__all__ = ["cmake_dir", "include_dir", "program"]
__version__ = metadata.version("dlpackgen")


def include_dir() -> str:
    """The folder of <dlpack/dlpack.h>, <dlpackgen/...> and <dlpackgen_python.h>."""
    return str(Path(__file__).with_name("include"))


def cmake_dir() -> str:
    """The folder of the CMake package: -Ddlpackgen_DIR=... (scikit-build-core finds it by
    itself)."""
    return str(Path(__file__).with_name("cmake"))


def program() -> str:
    """The path of the dlpackgen program."""
    name = "dlpackgen.exe" if os.name == "nt" else "dlpackgen"
    recorded = [f.locate() for f in metadata.files("dlpackgen") or [] if f.name == name]
    # pip --target moves the program without an entry in its record.
    moved = [Path(__file__).parents[1] / "bin" / name, Path(sysconfig.get_path("scripts"), name)]
    for path in [*recorded, *moved]:
        if os.path.isfile(path):
            return os.path.abspath(path)
    raise FileNotFoundError(f"the dlpackgen package has lost its program {name}: reinstall it")
