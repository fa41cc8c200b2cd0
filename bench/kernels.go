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

// benchKernels measures what described kernels cost: lines of YAML, the module of two of them, and
// generate and vet for many.
func benchKernels(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := &kernelsBench{dir: dir, tool: filepath.Join(dir, "dlpackgen")}
	if said, err := exec.Command("go", "build", "-o", b.tool, "./cmd/dlpackgen").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, said)
	}
	module, size, err := b.module(rounds)
	if err != nil {
		return nil, err
	}
	few, many := b.many(100), b.many(1000)
	vet := &command{name: "vet, 1000 kernels", argv: []string{b.tool, "vet", b.config(1000)}}
	all := []*command{few, many, vet}
	if err := measure(rounds, all); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "kernels: %d rounds in turn on %d cores, whole processes, medians and extremes\n", rounds,
		runtime.NumCPU())
	table(out, append([]*command{module}, all...))
	lines, err := linesOf(axpyAndSoftmax + "/dlpackgen.yaml")
	return []goal{
		{name: "kernels-yaml-lines", measured: float64(lines), limit: 20},
		{name: "kernels-build-cpu", measured: middle(cpus(module)), limit: 0.15 * 19, unit: "s"},
		{name: "kernels-stripped-size", measured: float64(size) / 1000, limit: 60, unit: "KB"},
		{name: "kernels-generate-1000-cpu", measured: middle(cpus(many)), limit: 1, unit: "s"},
		{name: "kernels-generate-1000-peak", measured: mib(middle(many.peaks())), limit: 100, unit: "MiB"},
		{name: "kernels-generate-1000-over-100", measured: cpuRatio(many, few), limit: 11},
		{name: "kernels-vet-1000-cpu", measured: middle(cpus(vet)), limit: 1, unit: "s"},
	}, err
}

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

func (b *kernelsBench) config(n int) string {
	return filepath.Join(b.dir, fmt.Sprint(n), "dlpackgen.yaml")
}

// many generates so many kernels from nothing.
func (b *kernelsBench) many(n int) *command {
	file := b.config(n)
	home := filepath.Dir(file)
	text := "version: 1\ndlpack: \"1.3\"\nout: generated\ntargets: {c: {}, kernels: {}, python: {}}\nkernels:\n"
	for i := range n {
		text += fmt.Sprintf(described, i, i)
	}
	return &command{name: fmt.Sprintf("generate, %d kernels", n), argv: []string{b.tool, "generate", "--config", file},
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

// axpyAndSoftmax has a description and its C.
const axpyAndSoftmax = "bench/testdata/kernels/axpy_softmax"

// module builds that of two kernels, and tells its size without symbols.
func (b *kernelsBench) module(rounds int) (*command, int64, error) {
	home := filepath.Join(b.dir, "example")
	if err := os.CopyFS(home, os.DirFS(axpyAndSoftmax)); err != nil {
		return nil, 0, err
	}
	generate := exec.Command(b.tool, "generate", "--config", filepath.Join(home, "dlpackgen.yaml"))
	if said, err := generate.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("generate: %w\n%s", err, said)
	}
	const asked = "import sysconfig; print(sysconfig.get_paths()['include'])"
	headers, err := exec.Command(".venv/bin/python", "-c", asked).Output()
	if err != nil {
		return nil, 0, err
	}
	made, library := filepath.Join(home, "generated"), filepath.Join(home, "_kernels.so")
	build := &command{name: "build, axpy and softmax", argv: []string{"gcc", "-std=c11", "-O2", "-shared", "-fPIC", "-s",
		"-DPy_LIMITED_API=0x030B0000", "-I" + made + "/c", "-I" + made + "/python", "-I" + made + "/kernels",
		"-I" + strings.TrimSpace(string(headers)), "-o", library, made + "/python/_kernels.c",
		made + "/kernels/kernels.c", filepath.Join(home, "kernels_impl.c"), "-lm"}}
	if err := measure(min(rounds, 3), []*command{build}); err != nil {
		return nil, 0, err
	}
	info, err := os.Stat(library)
	if err != nil {
		return nil, 0, err
	}
	return build, info.Size(), nil
}
