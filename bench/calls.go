package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/bench/pair"
)

// callShares are the maximum ratios of a described kernel's call to tvm-ffi's call.
var callShares = []struct {
	name, group string
	limit       float64
}{
	{"kernels.call.numpy", "numpy", 0.075},
	{"kernels.call.torch", "torch", 0.16},
	{"kernels.call.torch.compiled_table", "torch by the compiled table", 0.10},
}

// Limits of calls, in nanoseconds above hand-written calls without checks.
const (
	describedOperatorMore = 30
	describedGoMore       = 20
)

// The maximum ratios of straight-line checks to checks by a table, in instructions and in time.
const (
	linesShare     = 0.8
	linesTimeShare = 1
)

// benchKernelCalls measures calls of an empty described kernel with three vectors and every check:
// from Python compared with tvm-ffi, through torch.ops and from Go compared with hand-written
// calls, and the checks alone.
func benchKernelCalls(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := &callsBench{torchBench: torchBench{pythonBench{dir: dir, sources: "bench/testdata/kernels/",
		python: ".venv/bin/python"}}}
	if err := b.generate(); err != nil {
		return nil, err
	}
	took, err := b.inPython(rounds)
	if err != nil {
		return nil, err
	}
	goCalls, err := b.inGo(rounds)
	if err != nil {
		return nil, err
	}
	checks, err := b.checks(out, rounds)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "kernels: f(a, b, c) with vectors of 16 float32, made anew in each of %d rounds, in turn on %d "+
		"cores\n", rounds, runtime.NumCPU())
	printCalls(out, took, "tvm-ffi", "bare")
	pairTable(out, goCalls)
	return append(describedGoals(took, goCalls), checks...), nil
}

func describedGoals(took calls, goCalls []pair.Result) (goals []goal) {
	for _, g := range callShares {
		goals = append(goals, took.goal(g.name, g.group, "described", "tvm-ffi", g.limit),
			took.goal(g.name+".gil_held", g.group, "held", "tvm-ffi", g.limit))
	}
	operators := map[string][]float64{"nop": took["torch.ops"]["described"],
		"nop" + byHand: took["torch.ops"]["by hand"]}
	return append(goals,
		goal{name: "kernels.call.torch_ops", measured: middle(operatorCosts(operators, "nop")), unit: "ns",
			limit: describedOperatorMore, needs: "times of torch.ops: make setup installs torch"},
		goal{name: "kernels.call.go", measured: middle(differences(goCalls[0])), limit: describedGoMore, unit: "ns"},
		goal{name: "kernels.call.go.allocs", measured: goCalls[0].Allocs})
}

// differences returns, by round, how much longer the described kernel took; NaN if it was not
// measured.
func differences(r pair.Result) (each []float64) {
	for i, ours := range r.Ours {
		each = append(each, ours-r.Bare[i])
	}
	if each == nil {
		return []float64{math.NaN()}
	}
	return each
}

type callsBench struct{ torchBench }

func (b *callsBench) generate() error {
	generate := exec.Command("go", "run", "./cmd/dlpackgen", "generate", "--quiet", "--config",
		b.sources+"dlpackgen.yaml", "--out", filepath.Join(b.dir, "generated"))
	if output, err := generate.CombinedOutput(); err != nil {
		return fmt.Errorf("generate: %w\n%s", err, output)
	}
	return nil
}

// made returns a path below the generated files.
func (b *callsBench) made(path string) string { return filepath.Join(b.dir, "generated", path) }

// includes are the include folders for the C source of a kernel.
func (b *callsBench) includes() []string {
	return []string{"-I" + b.made("c"), "-I" + b.made("kernels"), "-I" + b.made("python")}
}

// inPython builds the module twice, because each copy caches the first access method of a type.
func (b *callsBench) inPython(rounds int) (calls, error) {
	torch, err := findTorch(b.python)
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"", "compiled"} {
		if err := b.module(filepath.Join(b.dir, folder), torch.headers); err != nil {
			return nil, err
		}
	}
	ffi := []string{"-O3", "-shared", "-fPIC", "bench/testdata/python/nop_ffi.c"}
	if err := b.compile("gcc", "nop_ffi.so", ffi); err != nil {
		return nil, err
	}
	if err := b.operators(torch); err != nil {
		return nil, err
	}
	return b.run(b.sources+"calls.py", rounds)
}

// module builds the described kernels for Python in a folder.
func (b *callsBench) module(folder, headers string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	script := projectScript(filepath.Join(folder, "_described.abi3.so"), b.sources+"nop.c",
		[]string{b.made("python/_described.c"), b.made("kernels/kernels.c")}, append(b.includes(), "-I"+headers))
	if output, err := exec.Command("sh", "-ec", script).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", folder, err, output)
	}
	return nil
}

// operators builds the described operator, the hand-written one, and the compiled table.
func (b *callsBench) operators(torch torchFacts) error {
	lib := filepath.Join(torch.root, "lib")
	for name, source := range map[string]string{"checks.o": b.made("kernels/kernels.c"), "nop.o": b.sources + "nop.c"} {
		args := slices.Concat([]string{"-std=c11", "-O2", "-fPIC", "-c", source}, b.includes())
		if err := b.compile("gcc", name, args); err != nil {
			return err
		}
	}
	err := b.compile("g++", "operators.so", slices.Concat([]string{"-std=c++20", "-O2", "-DNDEBUG", "-fPIC",
		"-fvisibility=hidden", "-shared", "-I" + b.made("cpp"), "-isystem", filepath.Join(torch.root, "include"),
		"-isystem", torch.headers}, b.includes(), []string{b.made("cpp/dlpackgen_torch/described_kernels.cpp"),
		b.sources + "by_hand.cpp", filepath.Join(b.dir, "checks.o"), filepath.Join(b.dir, "nop.o"),
		"-L" + lib, "-ltorch_cpu", "-ltorch", "-lc10", "-Wl,-rpath," + lib}))
	if err != nil {
		return err
	}
	flags := append(slices.Clone(shared), "-Igen/c", "-Igen/cpp", "-I"+torch.headers)
	return b.buildTable(torch.root, "_torch_"+torch.release+torch.suffix, flags)
}

// inGo builds a module of the generated packages and a program that calls the kernel.
func (b *callsBench) inGo(rounds int) ([]pair.Result, error) {
	if err := os.CopyFS(b.dir, os.DirFS(b.sources+"go")); err != nil {
		return nil, err
	}
	files, err := b.goModule()
	if err != nil {
		return nil, err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return pairsOf(filepath.Join(b.dir, "called"), b.dir, ".", rounds)
}

// goModule returns, by name, the go.mod of the program and the other copied files. The go.mod is
// this project's, with this project as a requirement, so the versions are the same.
func (b *callsBench) goModule() (map[string]string, error) {
	const project = "github.com/dlpackgen/dlpackgen"
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for from, to := range map[string]string{b.sources + "nop.c": "author/nop.c", "go.mod": "go.mod",
		"go.sum": "go.sum"} {
		text, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		files[to] = string(text)
	}
	_, rest, found := strings.Cut(files["go.mod"], "module "+project+"\n")
	if !found {
		return nil, fmt.Errorf("go.mod is not that of %s", project)
	}
	files["go.mod"] = "module example.com/called\n" + rest +
		"\nrequire " + project + " v0.0.0\n\nreplace " + project + " => " + root + "\n"
	return files, nil
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// checks compares straight-line checks with checks by a table, for calls that pass and calls that
// fail. The goals are the largest ratios.
func (b *callsBench) checks(out io.Writer, rounds int) ([]goal, error) {
	if err := b.checksProgram(); err != nil {
		return nil, err
	}
	names, err := exec.Command(filepath.Join(b.dir, "checks"), "list").Output()
	if err != nil {
		return nil, err
	}
	times, err := b.timesOfChecks(rounds)
	if err != nil {
		return nil, err
	}
	instructions, err := b.instructions(out, strings.Fields(string(names)))
	if err != nil {
		return nil, err
	}
	for _, name := range strings.Fields(string(names)) {
		fmt.Fprintf(out, "kernels: the check of %s by straight lines takes %.3g of the time by the table\n", name,
			middle(times[name]))
	}
	return []goal{
		{name: "kernels.checks.instructions", measured: instructions, limit: linesShare,
			needs: "valgrind: apt-get install valgrind"},
		{name: "kernels.checks.time", measured: largestMiddle(times), limit: linesTimeShare},
	}, nil
}

// checksProgram builds the program with both kinds of checks.
func (b *callsBench) checksProgram() error {
	made := filepath.Join(b.dir, "checked")
	generate := exec.Command("go", "run", "./cmd/dlpackgen", "generate", "--quiet", "--config", b.sources+"checks.yaml",
		"--out", made)
	if output, err := generate.CombinedOutput(); err != nil {
		return fmt.Errorf("generate: %w\n%s", err, output)
	}
	return b.compile("gcc", "checks", []string{"-std=gnu11", "-O2", "-I" + filepath.Join(made, "c"),
		"-I" + filepath.Join(made, "kernels"), b.sources + "checks.c", filepath.Join(made, "kernels/kernels.c")})
}

// timesOfChecks returns the ratios of each call by round. Both kinds are timed in turn, in one
// process.
func (b *callsBench) timesOfChecks(rounds int) (map[string][]float64, error) {
	printed, err := exec.Command(filepath.Join(b.dir, "checks"), "time", strconv.Itoa(rounds)).Output()
	if err != nil {
		return nil, fmt.Errorf("checks: %w", err)
	}
	return sharesOf(string(printed))
}

// sharesOf parses lines of a name and two times.
func sharesOf(printed string) (map[string][]float64, error) {
	shares := map[string][]float64{}
	for line := range strings.Lines(printed) {
		var name string
		var lines, table float64
		if _, err := fmt.Sscan(line, &name, &lines, &table); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		shares[name] = append(shares[name], lines/table)
	}
	return shares, nil
}

// largestMiddle returns the largest median.
func largestMiddle(shares map[string][]float64) float64 {
	largest := 0.0
	for _, each := range shares {
		largest = max(largest, middle(each))
	}
	return largest
}

// instructions counts the instructions of straight-line checks, and returns the largest ratio to
// checks by a table; NaN without valgrind.
func (b *callsBench) instructions(out io.Writer, calls []string) (float64, error) {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return math.NaN(), nil
	}
	largest := 0.0
	for _, call := range calls {
		lines, err := b.perCheck("lines", call)
		if err != nil {
			return 0, err
		}
		table, err := b.perCheck("table", call)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(out, "kernels: instructions of the check of %s: %.0f by straight lines, %.0f by the table\n", call,
			lines, table)
		largest = max(largest, lines/table)
	}
	return largest, nil
}

// perCheck is the difference between many checks and few, which cancels the start of the process.
func (b *callsBench) perCheck(way, call string) (float64, error) {
	const few, many = 100, 1100
	var counted [2]float64
	for i, n := range []int{few, many} {
		output, err := exec.Command("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
			filepath.Join(b.dir, "checks"), way, call, strconv.Itoa(n)).CombinedOutput()
		found := collected.FindStringSubmatch(string(output))
		if err != nil || found == nil {
			return 0, fmt.Errorf("valgrind: %w\n%s", err, output)
		}
		if counted[i], err = strconv.ParseFloat(found[1], 64); err != nil {
			return 0, err
		}
	}
	return (counted[1] - counted[0]) / (many - few), nil
}
