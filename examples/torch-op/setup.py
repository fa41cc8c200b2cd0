"""The library of the kernels: what dlpackgen made, and one file of C."""

import os

import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

# Where targets c and cpp are; a project of its own has them beside the rest.
here = os.path.dirname(os.path.abspath(__file__))
headers = os.environ.get("DLPACKGEN_HEADERS", os.path.join(here, "..", "..", "gen"))

kernels = CppExtension(
    "torchop._kernels_" + "_".join(torch.__version__.split(".")[:2]),
    ["generated/dlpackgen_torch/described_kernels.cpp", "generated/kernels.c", "src/torchop/silu.c"],
    include_dirs=[os.path.join(here, "generated"), os.path.join(headers, "c"), os.path.join(headers, "cpp")],
    extra_compile_args={"cxx": [*os.environ.get("CXXFLAGS", "-O2").split(), "-fvisibility=hidden"]},
)

setup(ext_modules=[kernels], cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)})
