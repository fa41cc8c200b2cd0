"""Compiles a program in C and one in C++ with the package, by the compiler in PATH, and runs both."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.layout import basic_layout


class TestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        basic_layout(self)

    def build(self):
        include = self.dependencies["dlpackgen-headers"].cpp_info.includedirs[0]
        for compiler, source in (("cc", "test.c"), ("c++ -std=c++17", "test.cpp")):
            path = os.path.join(self.source_folder, source)
            self.run(f'{compiler} -I "{include}" "{path}" -o "{source}.out"')

    def test(self):
        if can_run(self):
            for source in ("test.c", "test.cpp"):
                self.run(os.path.join(self.build_folder, f"{source}.out"))
