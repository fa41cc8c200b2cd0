package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The maximum ratio of the time to include the C++ headers to the time to include nanobind's.
const (
	coreShare = 0.1
	allShare  = 0.2
)

// callShare is the maximum ratio of a kernel over C++ views to a kernel in C.
const callShare = 1.05

// benchCpp measures the time to compile a source file that includes the C++ headers, compared with
// nanobind's headers for the same task, and with a file without includes.
func benchCpp(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := cppBench{dir: dir}
	floor, core, all := b.including("nothing"), b.including("dlpackgen/core.hpp"), b.including("dlpackgen/all.hpp")
	commands := []*command{floor, b.including("dlpack/dlpack.h"), core, all}
	nanobind, missing := b.nanobind()
	if missing == nil {
		commands = append(commands, nanobind)
	}
	if b.err != nil {
		return nil, b.err
	}
	if err := measure(rounds, commands); err != nil {
		return nil, err
	}
	called, err := b.calls(out, rounds)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out,
		"cpp: g++ -fsyntax-only -std=c++17, %d rounds in turn on %d cores, medians and extremes; the goals are "+
			"about user and system time\n", rounds, runtime.NumCPU())
	table(out, commands)
	if missing != nil {
		return cppGoals(math.NaN(), math.NaN(), "nanobind: "+missing.Error(), called), nil
	}
	return cppGoals(cpuRatio(core, nanobind), cpuRatio(all, nanobind), "", called), nil
}

func cppGoals(core, all float64, needs string, called calls) []goal {
	return []goal{
		{name: "cpp.include.core", measured: core, limit: coreShare, needs: needs},
		{name: "cpp.include.all", measured: all, limit: allShare, needs: needs},
		called.goal("cpp.call.numpy", "numpy", "C++", "C", callShare),
		called.goal("cpp.call.torch", "torch", "C++", "C", callShare),
	}
}

// calls compares calls from Python of a kernel in C++ and of the same kernel in C.
func (b *cppBench) calls(out io.Writer, rounds int) (calls, error) {
	p := pythonBench{dir: b.dir, sources: "bench/testdata/cpp/", python: ".venv/bin/python"}
	headers, err := p.headers()
	if err != nil {
		fmt.Fprintln(out, "no Python to call from:", err)
		return nil, nil
	}
	err = errors.Join(p.module("fast.abi3.so", "bench/testdata/python/fast.c", headers),
		p.module("views.abi3.so", p.sources+"views.cpp", headers))
	if err != nil {
		return nil, err
	}
	took, err := p.run(p.sources+"measure.py", rounds)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "cpp: f(a, b, c) in C and in C++, with tensors of 16 float32, made anew in each of %d rounds\n",
		rounds)
	for _, library := range sortedKeys(took) {
		for _, name := range sortedKeys(took[library]) {
			fmt.Fprintf(out, "%s in %s: %.0f ns\n", library, name, middle(took[library][name]))
		}
	}
	return took, nil
}

// cppBench writes the sources, and keeps the first error.
type cppBench struct {
	dir string
	err error
}

// including runs a compiler over a file with one line.
func (b *cppBench) including(header string, flags ...string) *command {
	source := filepath.Join(b.dir, strings.NewReplacer("/", "_", ".", "_").Replace(header)+".cpp")
	line := "#include <" + header + ">\n"
	if header == "nothing" {
		line = "\n"
	}
	b.err = errors.Join(b.err, os.WriteFile(source, []byte(line), 0o600))
	argv := []string{"g++", "-fsyntax-only", "-std=c++17", "-Igen/c", "-Igen/cpp", source}
	return &command{name: header, argv: append(argv, flags...)}
}

// nanobind's own headers are in its wheel, and need Python's headers.
func (b *cppBench) nanobind() (*command, error) {
	python := ".venv/bin/python"
	where, err := exec.Command(python, "-c",
		"import nanobind, sysconfig; print(nanobind.include_dir()); print(sysconfig.get_path('include'))").Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w (make setup)", python, err)
	}
	lines := strings.Fields(string(where))
	if len(lines) != 2 {
		return nil, fmt.Errorf("%s: said %q", python, where)
	}
	include, headers := lines[0], lines[1]
	if _, err := os.Stat(filepath.Join(headers, "Python.h")); err != nil {
		return nil, fmt.Errorf("%w (apt-get install python3-dev)", err)
	}
	robin := filepath.Join(filepath.Dir(include), "ext", "robin_map", "include")
	return b.including("nanobind/ndarray.h", "-I"+include, "-I"+robin, "-I"+headers), nil
}
