"""Builds the extension module. pyproject.toml has everything else."""

import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

# One library serves every Python from 3.11 on, except the free-threaded builds.
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=[
        Extension(
            "placeholder._kernels",
            sources=["src/placeholder/_kernels.c", *sorted(str(path) for path in Path("csrc").glob("*.c"))],
            include_dirs=["csrc", "src/placeholder"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if ABI3 else [],
            # Or functions of other libraries that have the same name would be called.
            extra_compile_args=[] if sys.platform == "win32" else ["-fvisibility=hidden"],
            py_limited_api=ABI3,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {},
)
