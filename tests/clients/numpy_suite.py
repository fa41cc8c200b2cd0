"""Runs the installed NumPy's own tests of DLPack, with our exporter as x.__dlpack__ and the result
of our importer as the argument of np.from_dlpack()."""

import pathlib
import re
import sys

import numpy
import pytest

EDITS = {
    r"\b(\w+)\.(__dlpack__|__dlpack_device__)\(": r"clients.export(\1).\2(",
    r"np\.from_dlpack\((\w+)": r"np.from_dlpack(clients.export(\1)",
    r"\Aimport sys\n": "import sys\n\nimport clients\n",
}


def main(folder):
    text = (pathlib.Path(numpy.__file__).parent / "_core" / "tests" / "test_dlpack.py").read_text()
    for old, new in EDITS.items():
        text, count = re.subn(old, new, text)
        assert count > 0, f"nothing is {old}"
        print("edited", count)
    script = pathlib.Path(folder) / "test_dlpack_of_numpy.py"
    script.write_text(text)
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "--color=no", str(script)]))


if __name__ == "__main__":
    main(sys.argv[1])
