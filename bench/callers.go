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

// callerShares are the shares of the time of a call by hand, which checks less, that one of a
// described kernel may take.
var callerShares = []struct {
	name, group string
	limit       float64
}{
	{"callers.tvmffi.numpy", "tvm-ffi, numpy", 1},
	{"callers.tvmffi.torch", "tvm-ffi, torch", 1},
	{"callers.tvmffi.tensor", "tvm-ffi, tvm_ffi.Tensor", 1},
	{"callers.jax.loop", "jax, fori_loop", 0.85},
	{"callers.jax.call", "jax, jit", 1.02},
}

// allCallers has the description of two kernels that all hosts call, and their C.
const allCallers = "tests/callers/testdata/"

// benchCallers measures calls by other hosts beside their own C++, and the library with all
// callers.
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
	fmt.Fprintf(out, "callers: vectors of 16 float32, %d rounds in turn on %d cores\n", rounds, runtime.NumCPU())
	printCalls(out, took, "by hand")
	goals := []goal{{name: "callers.library.size", measured: float64(size) / 1000, limit: 150, unit: "KB"}}
	goCalls, err := b.fromGo(rounds)
	if err != nil {
		return nil, err
	}
	pairTable(out, goCalls)
	goals = append(goals, goal{name: "callers.go.tvmffi", measured: middle(goCalls[0].Ratios()), limit: goCalls[0].Limit},
		goal{name: "callers.go.tvmffi.allocs", measured: goCalls[0].Allocs})
	for _, g := range callerShares {
		goals = append(goals, goal{g.name, took.share(g.group, "described", "by hand"), g.limit, ""})
	}
	return goals, nil
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

// generateFrom makes the sources of a config below a folder.
func (b *callsBench) generateFrom(config, folder string) error {
	said, err := exec.Command("go", "run", "./cmd/dlpackgen", "generate", "--quiet", "--config", config, "--out",
		filepath.Join(b.dir, folder)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("generate: %w\n%s", err, said)
	}
	return nil
}

// compileFrom compiles C below such a folder into a library.
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
	if err := b.compileFrom("every", "kernels_torch.o", torch, slices.Concat(small, []string{"-fexceptions", "-c"})); err != nil {
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

// beside builds the described kernels and those by hand.
func (b *callsBench) beside() error {
	if err := b.generateFrom(b.sources+"dlpackgen.yaml", "generated"); err != nil {
		return err
	}
	if err := b.compileFrom("generated", "_kernels.abi3.so", b.sources+"author.c", []string{"-O2"}, "python/_kernels.c",
		"kernels/kernels.c", "jax/kernels_jax.c", "tvmffi/kernels_tvmffi.c"); err != nil {
		return err
	}
	const asked = "import jax.ffi, tvm_ffi.libinfo as i; print(jax.ffi.include_dir(), i.find_include_path(), " +
		"i.find_dlpack_include_path(), i.find_libtvm_ffi())"
	said, err := exec.Command(b.python, "-c", asked).Output()
	if err != nil {
		return fmt.Errorf("the headers of JAX and tvm-ffi: %w", err)
	}
	found := strings.Fields(string(said))
	flags := []string{"-std=c++17", "-O2", "-shared", "-fPIC", "-isystem", found[0], "-isystem", found[1], "-isystem",
		found[2]}
	if err := b.compile("g++", "by_hand_xla.so", append(flags, b.sources+"by_hand_xla.cpp")); err != nil {
		return err
	}
	return b.compile("g++", "by_hand_tvm.so", append(flags, b.sources+"by_hand_tvm.cpp", found[3]))
}
