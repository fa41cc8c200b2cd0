"""Builds the extension module. pyproject.toml has everything else."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

if not Path("csrc/kernels.h").exists():
    sys.exit("csrc/kernels.h is missing: run `dlpackgen generate` first")

# One library serves every Python from 3.11 on, except the free-threaded builds.
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")


def found(*patterns):
    return [path.as_posix() for pattern in patterns for path in sorted(Path().glob(pattern))]


# The checks, and the callers of every target in dlpackgen.yaml: they are compiled for size.
GENERATED = found("csrc/kernels.c", "src/placeholder/*kernels*.c")

# Hidden, because otherwise functions of the same name in other libraries would be called.
# Exceptions of PyTorch pass through kernels_torch.c, if there is one.
FLAGS = [] if sys.platform == "win32" else ["-fvisibility=hidden", "-fexceptions"]
SMALL = ["/O1"] if sys.platform == "win32" else [*FLAGS, "-Os", "-g0"]

# The switch for csrc/*.cu. Without it, calls with arrays of CUDA raise NotImplementedError.
WITH_CUDA = os.environ.get("PLACEHOLDER_CUDA", "0") == "1"

# The target GPUs of csrc/*.cu, as nvcc's -arch. For any other GPU, the driver would compile it at
# run time, which fails if the driver is older than nvcc.
CUDA_ARCH = os.environ.get("PLACEHOLDER_CUDA_ARCH", "all-major")


def cuda():
    """The folder of CUDA: from CUDA_HOME, the nvcc in PATH, or NVIDIA's wheels."""
    found = shutil.which("nvcc")
    wheels = importlib.util.find_spec("nvidia")
    places = [os.environ.get("CUDA_HOME"), found and Path(found).resolve().parents[1]]
    places += [path for root in wheels.submodule_search_locations for path in Path(root).glob("cu*")] if wheels else []
    for place in places:
        if place and Path(place, "bin/nvcc").exists():
            return Path(place)
    sys.exit("PLACEHOLDER_CUDA=1 needs nvcc: set CUDA_HOME, or pip install 'cuda-toolkit[nvcc,cudart]'")


class Build(build_ext):
    """Compiles the generated sources, and csrc/*.cu with nvcc, and links the objects with CUDA's
    runtime."""

    def finalize_options(self):
        super().finalize_options()
        self.force = True  # setuptools does not detect changes of the switch, headers or csrc/*.cu

    def build_extension(self, extension):
        extension.extra_objects += self.compiler.compile(
            GENERATED,
            output_dir=self.build_temp,
            macros=extension.define_macros,
            include_dirs=extension.include_dirs,
            extra_postargs=SMALL,
        )
        if WITH_CUDA:
            home = cuda()
            include = [f"-I{path}" for path in [*extension.include_dirs, home / "include"]]
            for source in sorted(Path("csrc").glob("*.cu")):
                made = Path(self.build_temp, source.with_suffix(".cu.o").name)
                made.parent.mkdir(parents=True, exist_ok=True)
                flags = ["-O3", f"-arch={CUDA_ARCH}", "-Xcompiler", "-fPIC,-fvisibility=hidden"]
                subprocess.run([home / "bin/nvcc", *flags, *include, "-c", source, "-o", made], check=True)
                extension.extra_objects.append(str(made))
            extension.library_dirs += [str(home / "lib64"), str(home / "lib")]
            extension.libraries += ["cudart_static", "stdc++", "rt", "pthread", "dl"]
        super().build_extension(extension)


macros = [("Py_LIMITED_API", "0x030B0000")] if ABI3 else []
setup(
    cmdclass={"build_ext": Build},
    ext_modules=[
        Extension(
            "placeholder._kernels",
            sources=[path for path in found("csrc/*.c") if path not in GENERATED],
            depends=GENERATED,
            include_dirs=["csrc", "src/placeholder"],
            define_macros=macros if WITH_CUDA else [*macros, ("DLPACKGEN_WITHOUT_CUDA", None)],
            extra_compile_args=FLAGS,
            extra_link_args=["-Wl,-s"] if sys.platform == "linux" else [],
            py_limited_api=ABI3,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {},
)
