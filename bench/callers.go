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

	"github.com/dlpackgen/dlpackgen/bench/pair"
)

// callerShares are the maximum ratios of a described kernel's call to a hand-written call, which
// checks less.
var callerShares = []struct {
	name, group, rival string
	limit              float64
}{
	{"callers.tvmffi.numpy", "tvm-ffi, numpy", handWritten, 1},
	{"callers.tvmffi.torch", "tvm-ffi, torch", handWritten, 1},
	{"callers.tvmffi.tensor", "tvm-ffi, tvm_ffi.Tensor", handWritten, 1},
	{"callers.jax.loop", "jax, fori_loop", handWritten, 0.85},
	{"callers.jax.loop.jax_tvm_ffi", "jax, fori_loop", "jax-tvm-ffi", 0.7},
	{"callers.jax.call", "jax, jit", handWritten, 1.02},
	{"callers.torch_ops", "torch.ops", handWritten, 1},
}

// handWritten is the name of the baseline in C++, which uses the host's own headers.
const handWritten = "by hand"

// allCallers contains the description of two kernels that all hosts call, and their C source.
const allCallers = "tests/callers/testdata/"

// benchCallers compares calls from other hosts with hand-written C++ for them, and measures the
// library with all callers.
func benchCallers(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := &callsBench{torchBench: torchBench{pythonBench{dir: dir, sources: "bench/testdata/callers/",
		python: ".venv/bin/python"}}}
	size, err := b.everyHost()
	if err != nil {
		return nil, err
	}
	if err := b.beside(); err != nil {
		return nil, err
	}
	took, err := b.run(b.sources+"calls.py", rounds)
	if err != nil {
		return nil, err
	}
	if took["loading"], err = b.loading(rounds); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "callers: vectors of 16 float32, %d rounds in turn on %d cores\n", rounds, runtime.NumCPU())
	printCalls(out, took, handWritten, "jax-tvm-ffi", "libm")
	printHandlers(out, took["jax, fori_loop"])
	goCalls, err := b.fromGo(rounds)
	if err != nil {
		return nil, err
	}
	pairTable(out, goCalls)
	return callerGoals(took, goCalls[0], size), nil
}

// printHandlers prints the time that XLA takes for a step of a loop, measured with a handler that
// does nothing, and what each handler adds to it.
func printHandlers(out io.Writer, steps map[string][]float64) {
	const empty = "empty"
	if len(steps[empty]) == 0 {
		return
	}
	fmt.Fprintf(out, "jax, a step of fori_loop: XLA itself %.1f ns", middle(steps[empty]))
	for _, name := range sortedKeys(steps) {
		if name == empty || len(steps[name]) != len(steps[empty]) {
			continue
		}
		own := make([]float64, len(steps[name]))
		for i, step := range steps[name] {
			own[i] = step - steps[empty][i]
		}
		fmt.Fprintf(out, ", %s %.1f ns", name, middle(own))
	}
	fmt.Fprintln(out)
}

// callerGoals returns a goal for each share, for calls from Go, and for the library with all
// callers.
func callerGoals(took calls, fromGo pair.Result, size int64) []goal {
	goals := []goal{{name: "callers.library.size", measured: float64(size) / 1000, limit: 150, unit: "KB"},
		{name: "callers.library.load", measured: middle(took["loading"]["described"]) / 1e6, limit: 1, unit: "ms"},
		{name: "callers.go.tvmffi", measured: middle(fromGo.Ratios()), limit: fromGo.Limit},
		{name: "callers.go.tvmffi.allocs", measured: fromGo.Allocs}}
	for _, g := range callerShares {
		goals = append(goals, took.goal(g.name, g.group, "described", g.rival, g.limit))
	}
	return goals
}

// fromGo measures a call of a tvm-ffi kernel from Go, in a library without Python's symbols.
func (b *callsBench) fromGo(rounds int) ([]pair.Result, error) {
	if err := b.compileFrom("generated", "plain.so", b.sources+"author.c", []string{"-O2"}, "kernels/kernels.c",
		"tvmffi/kernels_tvmffi.c"); err != nil {
		return nil, err
	}
	if err := os.Setenv("LIBRARY", filepath.Join(b.dir, "plain.so")); err != nil {
		return nil, err
	}
	return pairsOf(filepath.Join(b.dir, "gotvmffi"), ".", "./bench/gotvmffi", rounds)
}

// generateFrom generates the sources of a config below a folder.
func (b *callsBench) generateFrom(config, folder string) error {
	output, err := exec.Command("go", "run", "./cmd/dlpackgen", "generate", "--quiet", "--config", config, "--out",
		filepath.Join(b.dir, folder)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("generate: %w\n%s", err, output)
	}
	return nil
}

// compileFrom compiles C sources below such a folder to a library.
func (b *callsBench) compileFrom(folder, name, author string, flags []string, sources ...string) error {
	headers, err := b.headers()
	if err != nil {
		return err
	}
	args := slices.Concat(flags, []string{"-std=c11", "-shared", "-fPIC", "-fvisibility=hidden",
		"-DPy_LIMITED_API=0x030B0000", headers, author})
	for _, include := range []string{"c", "kernels", "python"} {
		args = append(args, "-I"+filepath.Join(b.dir, folder, include))
	}
	for _, source := range sources {
		args = append(args, filepath.Join(b.dir, folder, source))
	}
	return b.compile("gcc", name, append(args, "-lm"))
}

// everyHost builds the library with all callers, and returns its size without symbols.
func (b *callsBench) everyHost() (int64, error) {
	if err := b.generateFrom(allCallers+"dlpackgen.yaml", "every"); err != nil {
		return 0, err
	}
	small := []string{"-Os", "-s", "-mtls-dialect=gnu2"}
	torch := filepath.Join(b.dir, "every", "torchshim", "kernels_torch.c")
	if err := b.compileFrom("every", "kernels_torch.o", torch,
		slices.Concat(small, []string{"-fexceptions", "-c"})); err != nil {
		return 0, err
	}
	small = append(small, "-fno-asynchronous-unwind-tables", "-Wl,-z,noseparate-code", filepath.Join(b.dir,
		"kernels_torch.o"))
	if err := b.compileFrom("every", "every.so", allCallers+"author.c", small, "python/_kernels.c", "kernels/kernels.c",
		"jax/kernels_jax.c", "tvmffi/kernels_tvmffi.c", "onnxruntime/kernels_onnxruntime.c",
		"ufunc/kernels_ufunc.c", "paddle/kernels_paddle.c"); err != nil {
		return 0, err
	}
	info, err := os.Stat(filepath.Join(b.dir, "every.so"))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// beside builds the described and the hand-written kernels.
func (b *callsBench) beside() error {
	if err := b.generateFrom(b.sources+"dlpackgen.yaml", "generated"); err != nil {
		return err
	}
	torch := filepath.Join(b.dir, "generated", "torchshim", "kernels_torch.c")
	if err := b.compileFrom("generated", "torch.o", torch, []string{"-O2", "-fexceptions", "-c"}); err != nil {
		return err
	}
	if err := b.compileFrom("generated", "_kernels.abi3.so", b.sources+"author.c", []string{"-O2",
		filepath.Join(b.dir, "torch.o")}, "python/_kernels.c", "kernels/kernels.c", "jax/kernels_jax.c",
		"tvmffi/kernels_tvmffi.c"); err != nil {
		return err
	}
	if err := b.besideTorch(); err != nil {
		return err
	}
	const requested = "import jax.ffi, tvm_ffi.libinfo as i; print(jax.ffi.include_dir(), i.find_include_path(), " +
		"i.find_dlpack_include_path(), i.find_libtvm_ffi())"
	output, err := exec.Command(b.python, "-c", requested).Output()
	if err != nil {
		return fmt.Errorf("the headers of JAX and tvm-ffi: %w", err)
	}
	found := strings.Fields(string(output))
	flags := []string{"-std=c++17", "-O2", "-shared", "-fPIC", "-isystem", found[0], "-isystem", found[1], "-isystem",
		found[2]}
	if err := b.compile("g++", "by_hand_xla.so", append(flags, b.sources+"by_hand_xla.cpp")); err != nil {
		return err
	}
	if err := b.compile("gcc", "empty_xla.so", []string{"-std=c11", "-O2", "-shared", "-fPIC", "-isystem", found[0],
		b.sources + "empty_xla.c"}); err != nil {
		return err
	}
	return b.compile("g++", "by_hand_tvm.so", append(flags, b.sources+"by_hand_tvm.cpp", found[3]))
}

// besideTorch builds the hand-written operator, and the described one that is compiled against
// libtorch.
func (b *callsBench) besideTorch() error {
	torch, err := findTorch(b.python)
	if err != nil {
		return err
	}
	headers := []string{"-std=c++20", "-O2", "-DNDEBUG", "-shared", "-fPIC", "-fvisibility=hidden", "-isystem",
		filepath.Join(torch.root, "include"), "-isystem", torch.headers}
	libraries := []string{"-L" + filepath.Join(torch.root, "lib"), "-ltorch_cpu", "-ltorch", "-lc10"}
	stable := slices.Concat(headers, []string{b.sources + "by_hand_torch.cpp"}, libraries)
	if err := b.compile("g++", "by_hand_torch.so", stable); err != nil {
		return err
	}
	if err := b.generateFrom(b.sources+"compiled.yaml", "compiled"); err != nil {
		return err
	}
	if err := b.compileFrom("compiled", "author.o", b.sources+"author.c", []string{"-O2", "-c"}); err != nil {
		return err
	}
	if err := b.compileFrom("compiled", "kernels.o", filepath.Join(b.dir, "compiled", "kernels", "kernels.c"),
		[]string{"-O2", "-c"}); err != nil {
		return err
	}
	folder := filepath.Join(b.dir, "compiled")
	compiled := slices.Concat(headers, []string{"-I" + folder + "/c", "-I" + folder + "/cpp",
		"-I" + folder + "/kernels",
		folder + "/cpp/dlpackgen_torch/described_kernels.cpp", b.dir + "/author.o", b.dir + "/kernels.o"}, libraries)
	return b.compile("g++", "compiled.so", append(compiled, "-ltorch_python"))
}

// loading compares the first import of the library with all callers to the loading of a copy of
// libm. Each process loads only one of them.
func (b *callsBench) loading(rounds int) (map[string][]float64, error) {
	found, err := exec.Command("gcc", "-print-file-name=libm.so.6").Output()
	if err != nil {
		return nil, fmt.Errorf("gcc: %w", err)
	}
	text, err := os.ReadFile(strings.TrimSpace(string(found)))
	if err != nil {
		return nil, err
	}
	libm := filepath.Join(b.dir, "libm_copy.so")
	if err := os.WriteFile(libm, text, 0o755); err != nil {
		return nil, err
	}
	took := map[string][]float64{}
	for range rounds {
		output, err := exec.Command(b.python, b.sources+"load.py", filepath.Join(b.dir, "every.so"), libm).Output()
		if err != nil {
			return nil, fmt.Errorf("load.py: %w", err)
		}
		var library, beside float64
		if _, err := fmt.Sscan(string(output), &library, &beside); err != nil {
			return nil, fmt.Errorf("load.py: %w", err)
		}
		took["described"], took["libm"] = append(took["described"], library), append(took["libm"], beside)
	}
	return took, nil
}
