package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// pythonGoals are the maximum ratios of a call f(a, b, c) to other libraries. For Paddle, the
// checks are inlined, and the baseline is hand-written code with the queries that Paddle's own
// table requires.
var pythonGoals = []struct {
	name, library, ours, rival string
	limit                      float64
}{
	{"python.torch", "torch", "held", "tvm-ffi", 0.16},
	{"python.torch.own_table", "torch by its own table", "held", "tvm-ffi", 0.45},
	{"python.numpy", "numpy", "held", "tvm-ffi", 0.08},
	{"python.numpy.inlined", "numpy", "inlined", "tvm-ffi", 0.075},
	{"python.numpy.nanobind", "numpy", "held", "nanobind", 0.12},
	{"python.paddle", "paddle", "inlined", "asking", 1.1},
	{"python.jax", "jax", "held", "tvm-ffi", 0.16},
	{"python.jax.bare", "jax", "held", "bare", 1.1},
	{"python.cpp", "torch", "C++", "held", 1.05},
	{"python.cpp.numpy", "numpy", "C++", "held", 1.05},
}

// releasedMore is the maximum additional time of a call, in nanoseconds, if it releases the
// GIL.
const releasedMore = 60

// benchPython measures calls from Python with three tensors and an empty kernel, with
// dlpackgen_python and every check, and with other libraries.
func benchPython(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := pythonBench{dir: dir, sources: "bench/testdata/python/", python: ".venv/bin/python"}
	if err := b.build(out); err != nil {
		return nil, err
	}
	took, err := b.run(b.sources+"measure.py", rounds)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out,
		"python: f(a, b, c) with tensors of 16 float32, made anew in each of %d rounds, in turn on %d cores\n",
		rounds, runtime.NumCPU())
	printCalls(out, took, "tvm-ffi", "bare")
	return callGoals(took), nil
}

// calls are nanoseconds by library, function and round.
type calls map[string]map[string][]float64

type pythonBench struct{ dir, sources, python string }

// headers returns the compiler's flag for the Python headers.
func (b pythonBench) headers() (string, error) {
	output, err := exec.Command(b.python, "-c", "import sysconfig; print(sysconfig.get_path('include'))").Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w (make setup)", b.python, err)
	}
	return "-I" + strings.TrimSpace(string(output)), nil
}

// shared are the default compiler flags of setuptools.
var shared = []string{"-O3", "-shared", "-fPIC", "-fvisibility=hidden"}

// module compiles an extension module over dlpackgen_python, in C or C++.
func (b pythonBench) module(name, source, headers string) error {
	args := append(slices.Clone(shared), "-DPy_LIMITED_API=0x030B0000", "-Igen/c", headers, source)
	if filepath.Ext(source) == ".c" {
		return b.compile("gcc", name, append(args, "-std=c11"))
	}
	return b.compile("g++", name, append(args, "-std=c++17", "-Igen/cpp"))
}

// build compiles the called modules; without nanobind, its goal is not measured.
func (b pythonBench) build(out io.Writer) error {
	headers, err := b.headers()
	if err != nil {
		return err
	}
	err = errors.Join(b.module("fast.abi3.so", b.sources+"fast.c", headers),
		b.module("fast_cpp.abi3.so", b.sources+"fast_cpp.cpp", headers),
		b.compile("gcc", "nop_ffi.so", []string{"-O3", "-shared", "-fPIC", b.sources + "nop_ffi.c"}))
	if err != nil {
		return err
	}
	if err := b.nanobind(append(slices.Clone(shared), "-std=c++17", headers)); err != nil {
		fmt.Fprintln(out, "no nanobind to compare with:", err)
	}
	return nil
}

func (b pythonBench) compile(compiler, name string, args []string) error {
	output, err := exec.Command(compiler, append(
		[]string{"-o", filepath.Join(b.dir, name)}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, output)
	}
	return nil
}

// nanobind's sources are in its wheel.
func (b pythonBench) nanobind(flags []string) error {
	output, err := exec.Command(b.python, "-c", "import nanobind; print(nanobind.include_dir())").Output()
	if err != nil {
		return errors.New("pip install -r tests/requirements.txt")
	}
	include := strings.TrimSpace(string(output))
	root := filepath.Dir(include)
	args := append(slices.Clone(flags), "-DNDEBUG", "-fno-strict-aliasing", "-I"+include,
		"-I"+filepath.Join(root, "ext", "robin_map", "include"),
		b.sources+"nop_nb.cpp", filepath.Join(root, "src", "nb_combined.cpp"))
	return b.compile("g++", "nop_nb.so", args)
}

// pythonProcesses share the rounds, because code and memory placement differ between processes, and
// may favour one side.
const pythonProcesses = 3

// run distributes the rounds of a script over a few processes.
func (b pythonBench) run(script string, rounds int) (calls, error) {
	took := calls{}
	each := (rounds + pythonProcesses - 1) / pythonProcesses
	for ; rounds > 0; rounds -= each {
		if err := b.add(took, script, fmt.Sprint(min(each, rounds))); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// add runs a process of a script, and adds its rounds to the others.
func (b pythonBench) add(took calls, script string, args ...string) error {
	var output bytes.Buffer
	cmd := exec.Command(b.python, append([]string{"-W", "ignore", script, b.dir}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1")
	cmd.Stderr = &output
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", script, err, output.Bytes())
	}
	found := calls{}
	if err := json.Unmarshal(out, &found); err != nil {
		return err
	}
	took.join(found)
	return nil
}

// join adds rounds to the existing ones.
func (c calls) join(others calls) {
	for group, works := range others {
		if c[group] == nil {
			c[group] = map[string][]float64{}
		}
		for name, times := range works {
			c[group][name] = append(c[group][name], times...)
		}
	}
}

// printCalls prints a line for each group and name, with its ratio to the other libraries.
func printCalls(out io.Writer, took calls, rivals ...string) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "ns a call\t\tmiddle\tfrom\tto\tof %s\t\n", strings.Join(rivals, "\tof "))
	for _, library := range sortedKeys(took) {
		for _, name := range sortedKeys(took[library]) {
			times := took[library][name]
			fmt.Fprintf(w, "%s\t%s\t%.0f\t%.0f\t%.0f\t", library, name, middle(times), slices.Min(times),
				slices.Max(times))
			for _, rival := range rivals {
				fmt.Fprintf(w, "%s\t", shown(took.share(library, name, rival)))
			}
			fmt.Fprintln(w)
		}
	}
	w.Flush()
}

// shown formats a ratio for a table; a dash if the other library did not run.
func shown(share float64) string {
	if math.IsNaN(share) {
		return "-"
	}
	return fmt.Sprintf("%.2f", share)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// share returns the median over the rounds of one function's time divided by another's; NaN if one
// was not measured.
func (c calls) share(library, name, of string) float64 {
	ours, rival := c[library][name], c[library][of]
	if len(ours) == 0 || len(ours) != len(rival) {
		return math.NaN()
	}
	var each []float64
	for i := range ours {
		each = append(each, ours[i]/rival[i])
	}
	return middle(each)
}

// goal returns a goal for the ratio of two functions' times.
func (c calls) goal(name, library, ours, rival string, limit float64) goal {
	return goal{name: name, measured: c.share(library, ours, rival), limit: limit,
		needs: fmt.Sprintf("times of %s, %s and %s: make setup installs the libraries", library, ours, rival)}
}

// more returns the largest cost of releasing the GIL among the libraries: the median over the
// rounds; NaN if one was not measured.
func (c calls) more() float64 {
	worst := math.Inf(-1)
	for _, library := range []string{"torch", "numpy", "paddle", "jax"} {
		held, released := c[library]["held"], c[library]["released"]
		if len(held) == 0 || len(held) != len(released) {
			return math.NaN()
		}
		var each []float64
		for i := range held {
			each = append(each, released[i]-held[i])
		}
		worst = max(worst, middle(each))
	}
	return worst
}

func callGoals(took calls) []goal {
	var goals []goal
	for _, g := range pythonGoals {
		goals = append(goals, took.goal(g.name, g.library, g.ours, g.rival, g.limit))
	}
	return append(goals, goal{name: "python.released", measured: took.more(), limit: releasedMore, unit: "ns",
		needs: "times of torch, numpy, paddle and jax: make setup installs them"})
}
