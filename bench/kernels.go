package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// described is one of many kernels in a config.
const described = `  k%04d:
    types: {T: [float32, float64]}
    args:
      x: T[..., n]
      w: T[n]
      eps: float = 1e-6
    returns: {y: "T[..., n]"}
    symbol: k%04d_{T}
`

// benchKernels measures the cost of described kernels: lines of YAML, the module of two kernels,
// and generate and vet for many.
func benchKernels(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := &kernelsBench{dir: dir, tool: filepath.Join(dir, "dlpackgen")}
	if err := buildProgram(b.tool); err != nil {
		return nil, err
	}
	module, err := b.module()
	if err != nil {
		return nil, err
	}
	builds, goals, err := b.builds(out, module, rounds)
	if err != nil {
		return nil, err
	}
	few, many := b.many(100, moduleTargets), b.many(1000, moduleTargets)
	fewCalled, called := b.many(100, callerTargets), b.many(1000, callerTargets)
	vet := &command{name: "vet, 1000 kernels", argv: []string{b.tool, "vet", b.config(1000, moduleTargets)}}
	vetFew := &command{name: "vet, 100 kernels", argv: []string{b.tool, "vet", b.config(100, moduleTargets)}}
	all := []*command{few, many, vetFew, vet, fewCalled, called}
	if err := measure(rounds, all); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "kernels: %d rounds in turn on %d cores, whole processes, medians and extremes\n", rounds,
		runtime.NumCPU())
	table(out, append(builds, all...))
	return append(goals, []goal{
		{name: "kernels-generate-1000-cpu", measured: middle(cpus(many)), limit: 1, unit: "s"},
		{name: "kernels-generate-1000-peak", measured: mib(middle(many.peaks())), limit: 100, unit: "MiB"},
		{name: "kernels-generate-1000-over-100", measured: cpuRatio(many, few), limit: 11},
		{name: "kernels-generate-1000-callers-over-100", measured: cpuRatio(called, fewCalled), limit: 11},
		{name: "kernels-vet-1000-cpu", measured: middle(cpus(vet)), limit: 1, unit: "s"},
		{name: "kernels-vet-1000-peak", measured: mib(middle(vet.peaks())), limit: 100, unit: "MiB"},
		{name: "kernels-vet-1000-over-100", measured: cpuRatio(vet, vetFew), limit: 11},
	}...), nil
}

// builds compares the module with the same module by other libraries: lines and build time.
func (b *kernelsBench) builds(out io.Writer, module *command, rounds int) ([]*command, []goal, error) {
	lines, err := linesOf(axpyAndSoftmax + "/dlpackgen.yaml")
	if err != nil {
		return nil, nil, err
	}
	output, all := fmt.Sprintf("kernels: axpy and softmax are %d lines of YAML", lines), []*command{module}
	shares, missing := map[string]*command{}, map[string]error{}
	for _, r := range kernelRivals {
		theirs, err := linesOfRival(rivals + r.source)
		if err != nil {
			return nil, nil, err
		}
		output += fmt.Sprintf(", %d by %s", theirs, r.name)
		if rounds < leastRounds {
			continue
		}
		if build, err := r.build(b, rivals+r.source); err != nil {
			missing[r.name] = err
		} else {
			shares[r.name], all = build, append(all, build)
		}
	}
	fmt.Fprintln(out, output)
	if err := measure(min(rounds, leastRounds), all); err != nil {
		return nil, nil, err
	}
	goals := []goal{{name: "kernels-yaml-lines", measured: float64(lines), limit: 20}}
	for _, r := range kernelRivals {
		if rounds >= leastRounds {
			goals = append(goals, r.goal(module, shares[r.name], missing[r.name]))
		}
	}
	info, err := os.Stat(b.library())
	if err != nil {
		return nil, nil, err
	}
	return all, append(goals, goal{name: "kernels-stripped-size", measured: float64(info.Size()) / 1000, limit: 60,
		unit: "KB"}), nil
}

// leastRounds is the number of rounds from which on the other libraries are built, which takes a
// minute.
const leastRounds = 3

// library is the output of module.
func (b *kernelsBench) library() string { return filepath.Join(b.dir, "example", "_kernels.so") }

type kernelsBench struct{ dir, tool string }

func cpus(c *command) (all []float64) {
	for _, u := range c.runs {
		all = append(all, u.cpu.Seconds())
	}
	return all
}

var kernelsSection = regexp.MustCompile(`(?ms)^kernels:\n.*?(?:^\S|\z)`)

// linesOf counts the lines that describe kernels.
func linesOf(config string) (int, error) {
	text, err := os.ReadFile(config)
	return strings.Count(string(kernelsSection.Find(text)), "\n"), err
}

// selection is a list of targets, with a name.
type selection struct{ name, targets string }

// moduleTargets make a module for Python, callerTargets each caller of kernels in C.
var (
	moduleTargets = selection{"module", "c: {}, kernels: {}, python: {}"}
	callerTargets = selection{"callers", moduleTargets.targets + ", cpp: {}, go: {import: example.com/p}, torch: {}, " +
		"torchshim: {}, jax: {}, tvmffi: {}, onnxruntime: {}, ufunc: {}, paddle: {}"}
)

func (b *kernelsBench) config(n int, of selection) string {
	return filepath.Join(b.dir, fmt.Sprint(of.name, "-", n), "dlpackgen.yaml")
}

// many generates the given number of kernels from nothing.
func (b *kernelsBench) many(n int, of selection) *command {
	file := b.config(n, of)
	home := filepath.Dir(file)
	text := "version: 1\ndlpack: \"1.3\"\nout: generated\ntargets: {" + of.targets + "}\nkernels:\n"
	for i := range n {
		text += fmt.Sprintf(described, i, i)
	}
	name := fmt.Sprintf("generate, %d kernels, %s", n, of.name)
	return &command{name: name, argv: []string{b.tool, "generate", "--config", file},
		prepare: func() error {
			if err := os.RemoveAll(home); err != nil {
				return err
			}
			if err := os.Mkdir(home, 0o700); err != nil {
				return err
			}
			return os.WriteFile(file, []byte(text), 0o600)
		}}
}

// axpyAndSoftmax contains a description and its C source.
const axpyAndSoftmax = "bench/testdata/kernels/axpy_softmax"

// module builds the two kernels.
func (b *kernelsBench) module() (*command, error) {
	home := filepath.Join(b.dir, "example")
	if err := os.CopyFS(home, os.DirFS(axpyAndSoftmax)); err != nil {
		return nil, err
	}
	generate := exec.Command(b.tool, "generate", "--config", filepath.Join(home, "dlpackgen.yaml"))
	if output, err := generate.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("generate: %w\n%s", err, output)
	}
	headers, err := query("import sysconfig; print(sysconfig.get_paths()['include'])")
	if err != nil {
		return nil, err
	}
	made := filepath.Join(home, "generated")
	script := projectScript(b.library(), filepath.Join(home, "kernels_impl.c"),
		[]string{made + "/python/_kernels.c", made + "/kernels/kernels.c"},
		[]string{"-I" + made + "/c", "-I" + made + "/python", "-I" + made + "/kernels", "-I" + headers[0]})
	return &command{name: "build, axpy and softmax", argv: []string{"sh", "-ec", script}}, nil
}

// Flags of setup.py in the projects that dlpackgen init --project writes: for all sources, and for
// generated sources. setuptools' own flags, such as -O3, precede them.
const (
	projectFlags = "-fvisibility=hidden -fexceptions"
	projectSmall = "-Os -g0"
)

// projectScript builds a module with these flags: generated sources for size, the author's for
// speed.
func projectScript(library, author string, generated, includes []string) string {
	compile := "gcc -c -std=c11 -DNDEBUG -O3 -fPIC -DPy_LIMITED_API=0x030B0000 -DDLPACKGEN_WITHOUT_CUDA " +
		strings.Join(includes, " ") + " " + projectFlags
	var script, objects string
	for i, source := range append(generated, author) {
		flags := ""
		if source != author {
			flags = " " + projectSmall
		}
		object := fmt.Sprintf("%s.%d.o", library, i)
		script += fmt.Sprintf("%s%s -o %s %s\n", compile, flags, object, source)
		objects += " " + object
	}
	return script + "gcc -shared -Wl,-s -o " + library + objects + " -lm\n"
}
