package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// torchGoals are the maximum ratios of the compiled table to other libraries. For "as fast as
// tvm-ffi before", the limit includes noise. A call reads through the compiled table, with inlined
// checks (dlpackgen_call_begin_inline); "by hand" is the same call without dlpackgen_python.
var torchGoals = []struct {
	name, group, ours, rival string
	limit                    float64
}{
	{"torch.call", "call", "inlined", "tvm-ffi", 0.10},
	{"torch.call.by_hand", "call", "by hand", "tvm-ffi", 0.12},
	{"torch.borrow", "borrow", "ours", "torch", 0.15},
	{"torch.own", "own", "ours", "torch", 0.8},
	{"torch.own.by_object", "own", "ours, by object", "torch", 0.35},
	{"torch.import", "import_", "ours", "torch", 1},
	{"torch.import.consumer", "from_dlpack", "ours", "torch", 0.75},
	{"torch.import.stable_consumer", "from_dlpack", "ours, stable ABI", "torch", 1},
	{"torch.tvm-ffi", "with tvm-ffi", "our table", "torch's table", 1.05},
}

// benchTorch compares the compiled table for torch.Tensor with PyTorch's own, and a call through it
// with tvm-ffi's.
func benchTorch(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := torchBench{pythonBench{dir: dir, sources: "bench/testdata/python/", python: ".venv/bin/python"}}
	if err := b.build(); err != nil {
		return nil, err
	}
	took := calls{}
	// swaps the two types with which tvm-ffi is compared
	for _, order := range []string{"tensor first", "parameter first"} {
		if err := b.add(took, "bench/testdata/torch/measure.py", fmt.Sprint(rounds), order); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(out,
		"torch: 60 tensors of 16 float32 that only Python owns, made anew in each of %d rounds, in turn on %d "+
			"cores\n", rounds, runtime.NumCPU())
	printCalls(out, took, "tvm-ffi", "bare")
	var goals []goal
	for _, g := range torchGoals {
		goals = append(goals, took.goal(g.name, g.group, g.ours, g.rival, g.limit))
	}
	return goals, nil
}

type torchBench struct{ pythonBench }

// askTorch prints the information for compiling against torch.
const askTorch = `
import sysconfig, torch
print(torch.__path__[0], sysconfig.get_path("include"), torch.__version__.split("+")[0].replace(".", "_"), sysconfig.get_config_var("EXT_SUFFIX"))`

// torchFacts are the include and library folders of PyTorch and Python, and the suffix of module
// names.
type torchFacts struct{ root, headers, release, suffix string }

func findTorch(python string) (torchFacts, error) {
	output, err := exec.Command(python, "-W", "ignore", "-c", askTorch).Output()
	if err != nil {
		return torchFacts{}, fmt.Errorf("%s: %w (make setup)", python, err)
	}
	f := strings.Fields(string(output))
	return torchFacts{f[0], f[1], f[2], f[3]}, nil
}

// build compiles the package, and the calling modules; one is copied three times, because each copy
// caches one access method.
func (b torchBench) build() error {
	torch, err := findTorch(b.python)
	if err != nil {
		return err
	}
	shared := []string{"-O3", "-shared", "-fPIC", "-fvisibility=hidden", "-Igen/c", "-I" + torch.headers}
	for _, folder := range []string{"shim", "compiled", "registered"} {
		if err := os.Mkdir(filepath.Join(b.dir, folder), 0o755); err != nil {
			return err
		}
		if err := b.compile("gcc", folder+"/fast.abi3.so",
			append(shared, "-std=c11", "-DPy_LIMITED_API=0x030B0000", b.sources+"fast.c")); err != nil {
			return err
		}
	}
	if err := b.compile("gcc", "nop_ffi.so", []string{"-O3", "-shared", "-fPIC", b.sources + "nop_ffi.c"}); err != nil {
		return err
	}
	if err := b.compile("gcc", "tables.so", append(shared, "bench/testdata/torch/tables.c")); err != nil {
		return err
	}
	return b.buildPackage(torch.root, "_torch_"+torch.release+torch.suffix, append(shared, "-Igen/cpp"))
}

// buildPackage compiles dlpackgen_torch as documented, and its form with the stable ABI.
func (b torchBench) buildPackage(root, name string, flags []string) error {
	stable := append(slices.Clone(flags), "-std=c++20", "-I"+root+"/include",
		"-DTORCH_TARGET_VERSION=0x020E000000000000", torchSources+"stable_module.cpp", "-L"+root+"/lib", "-ltorch_cpu")
	if err := b.compile("g++", "dlpackgen_torch_stable.so", stable); err != nil {
		return err
	}
	return b.buildTable(root, name, flags)
}

const torchSources = "gen/cpp/dlpackgen_torch/"

// buildTable compiles the package with only the table.
func (b torchBench) buildTable(root, name string, flags []string) error {
	text, err := os.ReadFile(torchSources + "__init__.py")
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(b.dir, "dlpackgen_torch"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.dir, "dlpackgen_torch", "__init__.py"), text, 0o600); err != nil {
		return err
	}
	return b.compile("g++", "dlpackgen_torch/"+name, append(flags, "-std=c++20", "-I"+root+"/include",
		torchSources+"module.cpp", "-L"+root+"/lib", "-ltorch_python", "-ltorch_cpu", "-lc10"))
}
