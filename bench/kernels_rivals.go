package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// rivals contains the module of axpyAndSoftmax for nanobind and for tvm-ffi.
const rivals = "bench/testdata/kernels/rivals/"

// rival is the same module by another library: its author's lines and its build.
type rival struct {
	name   string
	source string  // below rivals
	share  float64 // maximum ratio to the other library's build
	build  func(b *kernelsBench, source string) (*command, error)
}

var kernelRivals = []rival{
	{"nanobind", "by_nanobind.cpp", 0.15, (*kernelsBench).nanobind},
	{"tvm-ffi", "by_tvm_ffi.cpp", 0.6, (*kernelsBench).tvmffi},
}

// goal compares the builds; missing is the reason why the other library has no build.
func (r rival) goal(ours, build *command, missing error) goal {
	g := goal{name: "kernels-build-cpu." + r.name, measured: math.NaN(), limit: r.share}
	if missing != nil {
		g.needs = r.name + ": " + missing.Error()
	} else {
		g.measured = cpuRatio(ours, build)
	}
	return g
}

// query runs a line of Python, and returns the printed words.
func query(line string) ([]string, error) {
	output, err := exec.Command(".venv/bin/python", "-c", line).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w (make setup)", line, err)
	}
	return strings.Fields(string(output)), nil
}

// nanobind builds as documented, with nanobind's CMake function, which also compiles nanobind's own
// sources.
func (b *kernelsBench) nanobind(source string) (*command, error) {
	where, err := query("import nanobind; print(nanobind.cmake_dir())")
	if err != nil {
		return nil, err
	}
	python, err := filepath.Abs(".venv/bin/python")
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.dir, "nanobind")
	configure := exec.Command("cmake", "-G", "Ninja", "-S", filepath.Dir(source), "-B", folder,
		"-DCMAKE_BUILD_TYPE=Release", "-DPython_EXECUTABLE="+python, "-Dnanobind_DIR="+where[0])
	if output, err := configure.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cmake: %w\n%s", err, output)
	}
	clean := func() error { return exec.Command("cmake", "--build", folder, "--target", "clean").Run() }
	return &command{name: "build, the same by nanobind", argv: []string{"cmake", "--build", folder}, prepare: clean},
		nil
}

// tvmffi builds with the flags of tvm_ffi.cpp.build.
func (b *kernelsBench) tvmffi(source string) (*command, error) {
	found, err := query("import tvm_ffi.libinfo as i; print(i.find_include_path(), i.find_dlpack_include_path(), " +
		"i.find_libtvm_ffi())")
	if err != nil {
		return nil, err
	}
	return &command{name: "build, the same by tvm-ffi", argv: []string{"g++", "-std=c++17", "-fPIC", "-O2", "-shared",
		"-I" + found[0], "-I" + found[1], "-o", filepath.Join(b.dir, "by_tvm_ffi.so"), source, found[2]}}, nil
}

// linesOfRival counts the lines that the author writes, without empty lines, comments and the
// computations.
func linesOfRival(source string) (lines int, err error) {
	text, err := os.ReadFile(source)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	return lines, err
}
