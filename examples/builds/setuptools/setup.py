"""A module of C over generated headers: `pip install .`, or `python setup.py build_ext --inplace`."""

import json
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class GenerateAndBuild(build_ext):
    """Brings the headers up to date first. The extension is compiled if one of them has changed."""

    def run(self):
        flags = ["--config", "../dlpackgen.yaml", "--out", "gen"]
        subprocess.run(["dlpackgen", "generate", "--quiet", *flags], check=True)
        listed = subprocess.run(["dlpackgen", "list", "outputs", *flags, "--format", "json"], check=True,
                                stdout=subprocess.PIPE)
        outputs = json.loads(listed.stdout)["outputs"]
        for extension in self.extensions:
            extension.depends += [output["path"] for output in outputs if output["kind"] == "header"]
        super().run()


module = Extension("tensors", ["../module.c"], include_dirs=["gen/c"], py_limited_api=True,
                   define_macros=[("Py_LIMITED_API", "0x030B0000")])

setup(name="tensors", version="1", ext_modules=[module], cmdclass={"build_ext": GenerateAndBuild},
      options={"bdist_wheel": {"py_limited_api": "cp311"}})
