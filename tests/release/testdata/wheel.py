"""Run by the Python of an environment with the wheel, with its expected version as the argument."""

import base64
import hashlib
import sys
from importlib import metadata
from importlib.resources import files
from pathlib import Path

import dlpackgen

assert dlpackgen.__version__ == metadata.version("dlpackgen") == sys.argv[1]
include = Path(dlpackgen.include_dir())
for header in ("dlpack/dlpack.h", "dlpackgen/tensor.h", "dlpackgen/all.hpp", "dlpackgen_python.h"):
    assert (include / header).is_file(), header
assert (files("dlpackgen") / "py.typed").is_file()
assert Path(dlpackgen.program()).parent == Path(sys.executable).parent
recorded = [f for f in metadata.files("dlpackgen") if f.hash and f.suffix != ".pyc"]
assert len(recorded) > 40
for file in recorded:
    digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_binary()).digest()).rstrip(b"=").decode()
    assert digest == file.hash.value, file
