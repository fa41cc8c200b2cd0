"""The DLPack headers that dlpackgen generates, as a Conan 2 package: C in dlpack/ and dlpackgen/,
C++ in dlpackgen/."""

import os

from conan import ConanFile
from conan.tools.files import copy
from conan.tools.layout import basic_layout


class DlpackgenHeaders(ConanFile):
    name = "dlpackgen-headers"
    version = "0.1.0"
    license = "0BSD"
    homepage = "https://github.com/dlpackgen/dlpackgen"
    description = "DLPack's headers with checks of its ABI and rules, for C11 and C++17"
    topics = ("dlpack", "tensor", "header-only")
    package_type = "header-library"
    no_copy_source = True

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        copy(self, "LICENSE-OUTPUT", root, self.export_sources_folder)
        for folder in ("gen/c/dlpack", "gen/c/dlpackgen", "gen/cpp/dlpackgen"):
            copy(self, f"{folder}/*", root, self.export_sources_folder)

    def layout(self):
        basic_layout(self, src_folder=".")

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "LICENSE-OUTPUT", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for language in ("c", "cpp"):
            source = os.path.join(self.source_folder, "gen", language)
            copy(self, "*", source, os.path.join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
