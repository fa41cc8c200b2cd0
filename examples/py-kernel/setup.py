"""The extension: one file of C, for every Python from 3.11 on."""

import os

from setuptools import Extension, setup

# Where `dlpackgen generate` wrote the headers; a project of its own has them beside it.
here = os.path.dirname(os.path.abspath(__file__))
headers = os.environ.get("DLPACKGEN_HEADERS", os.path.join(here, "..", "..", "gen", "c"))

kernel = Extension(
    "pykernel._kernel",
    ["src/pykernel/_kernel.c"],
    include_dirs=[headers],
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    extra_compile_args=[] if os.name == "nt" else ["-std=c11", "-O2", "-fvisibility=hidden"],
    libraries=[] if os.name == "nt" else ["m"],
    py_limited_api=True,
)

setup(ext_modules=[kernel], options={"bdist_wheel": {"py_limited_api": "cp311"}})
