package main

import (
	"bytes"
	"encoding/json"
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

	"github.com/dlpackgen/dlpackgen/internal/kernel"
)

// operatorMore is the maximum additional time of a call through torch.ops compared with a
// hand-written operator, in nanoseconds.
const operatorMore = 30

// byHand is the suffix of the hand-written operator for a kernel.
const byHand = " by hand"

// benchTorchOps measures the cost of the checks around a kernel: empty kernels in every form,
// called through torch.ops, compared with an empty hand-written operator.
func benchTorchOps(out io.Writer, dir string, rounds int) ([]goal, error) {
	const python = ".venv/bin/python"
	library, err := buildOperators(python, dir)
	if err != nil {
		return nil, err
	}
	var output bytes.Buffer
	cmd := exec.Command(python, "-W", "ignore", "bench/testdata/torchops/measure.py", library, fmt.Sprint(rounds))
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1")
	cmd.Stderr = &output
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("measure.py: %w\n%s", err, output.Bytes())
	}
	took := map[string][]float64{}
	if err := json.Unmarshal(text, &took); err != nil {
		return nil, err
	}
	fmt.Fprintf(out,
		"torch.ops: f(a, b, c) with tensors of 16 float32, made anew in each of %d rounds, in turn on %d cores\n",
		rounds, runtime.NumCPU())
	printOperators(out, took)
	return operatorGoals(took), nil
}

// buildOperators builds the kernels and the hand-written operators as one library, without the
// assertions of torch's headers, like setuptools and CMake's release builds.
func buildOperators(python, dir string) (string, error) {
	const sources = "bench/testdata/torchops/"
	generate := exec.Command("go", "run", "./cmd/dlpackgen", "generate", "--config", sources+"dlpackgen.yaml",
		"--out", dir)
	if output, err := generate.CombinedOutput(); err != nil {
		return "", fmt.Errorf("generate: %w\n%s", err, output)
	}
	torch, err := findTorch(python)
	if err != nil {
		return "", err
	}
	lib, library := filepath.Join(torch.root, "lib"), filepath.Join(dir, "operators.so")
	for _, args := range [][]string{
		{"gcc", "-std=c11", "-O2", "-fPIC", "-I" + dir, "-c", sources + "kernels.c", "-o",
			filepath.Join(dir, "empty.o")},
		{"gcc", "-std=c11", "-O2", "-fPIC", "-I" + dir, "-c", filepath.Join(dir, "kernels.c"), "-o",
			filepath.Join(dir, "kernels.o")},
		{"g++", "-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-shared", "-I" + dir, "-isystem",
			filepath.Join(torch.root, "include"), "-isystem", torch.headers,
			filepath.Join(dir, "dlpackgen_torch", "described_kernels.cpp"), sources + "bare.cpp",
			filepath.Join(dir, "kernels.o"), filepath.Join(dir, "empty.o"), "-o", library,
			"-L" + lib, "-ltorch_cpu", "-ltorch", "-lc10", "-Wl,-rpath," + lib},
	} {
		if output, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", args[0], err, output)
		}
	}
	return library, nil
}

func printOperators(out io.Writer, took map[string][]float64) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "ns a call\tmiddle\tfrom\tto\tmore than by hand\tfrom\tto\t")
	for _, name := range sortedKeys(took) {
		times, more := took[name], operatorCosts(took, name)
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t\n", name, middle(times), slices.Min(times),
			slices.Max(times),
			middle(more), slices.Min(more), slices.Max(more))
	}
	w.Flush()
}

// operatorCosts returns, by round, how much longer a kernel took than the hand-written operator
// with the same schema and an equally long name.
func operatorCosts(took map[string][]float64, name string) []float64 {
	ours, bare := took[name], took[strings.TrimSuffix(name, byHand)+byHand]
	var each []float64
	for i := range min(len(ours), len(bare)) {
		each = append(each, ours[i]-bare[i])
	}
	if each == nil {
		return []float64{math.NaN()}
	}
	return each
}

// operatorGoals returns a goal for each form, for its slower kernel.
func operatorGoals(took map[string][]float64) []goal {
	var goals []goal
	for _, form := range kernel.Forms {
		more := max(middle(operatorCosts(took, "read "+form)), middle(operatorCosts(took, "write "+form)))
		goals = append(goals, goal{name: "torch.ops." + form, measured: more, limit: operatorMore, unit: "ns",
			needs: "times of torch.ops: make setup installs torch"})
	}
	return goals
}
