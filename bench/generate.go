package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// benchGenerate measures the command: all targets from nothing, a run without changes, and check.
// Each is measured for the spec and for specs of 10 and 100 times its size; bindgen runs on one
// header.
func benchGenerate(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := &generateBench{tool: filepath.Join(dir, "dlpackgen")}
	b.dir = inMemory(out, dir)
	defer os.RemoveAll(b.dir)
	if err := buildProgram(b.tool); err != nil {
		return nil, err
	}
	commands, err := b.commands()
	if err != nil {
		return nil, err
	}
	if err := measure(rounds, commands); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "generate: %d rounds in turn on %d cores, whole processes, medians and extremes\n", rounds,
		runtime.NumCPU())
	table(out, commands)
	return b.goals(), nil
}

type generateBench struct {
	dir, tool string
	fresh     map[int]*command // by size
	bindgen   *command         // nil if not installed
}

func (b *generateBench) commands() ([]*command, error) {
	spec, err := os.ReadFile("spec/dlpack.yaml")
	if err != nil {
		return nil, err
	}
	b.fresh = map[int]*command{}
	var all []*command
	for _, n := range []int{1, 10, 100} {
		sized, err := b.sized(spec, n)
		if err != nil {
			return nil, err
		}
		b.fresh[n] = sized[0]
		all = append(all, sized...)
	}
	if tool, err := exec.LookPath("bindgen"); err == nil {
		header := filepath.Join(b.out(1, "kept"), "c", "dlpack", "dlpack.h")
		b.bindgen = &command{name: "bindgen, one header",
			argv: []string{tool, header, "-o", filepath.Join(b.dir, "dlpack.rs")}}
		all = append(all, b.bindgen)
	}
	return all, nil
}

// sized returns the three commands for a spec of n times the size, the one from nothing first.
func (b *generateBench) sized(spec []byte, n int) ([]*command, error) {
	file := filepath.Join(b.dir, fmt.Sprintf("spec-%d.yaml", n))
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := scale(f, spec, n); err != nil {
		return nil, err
	}
	gone, kept := b.out(n, "fresh"), b.out(n, "kept")
	argv := func(verb, out string) []string {
		return []string{b.tool, verb, "--no-config", "--spec", file, "--out", out}
	}
	first := &command{argv: argv("generate", kept)}
	if _, err := first.once(); err != nil {
		return nil, err
	}
	return []*command{
		{name: fmt.Sprintf("generate all, %d x spec", n), argv: argv("generate", gone),
			prepare: aside(gone)},
		{name: fmt.Sprintf("generate again, %d x spec", n), argv: argv("generate", kept)},
		{name: fmt.Sprintf("check, %d x spec", n), argv: argv("check", kept)},
	}, nil
}

// inMemory returns an empty folder in memory. Without one, it says so and returns dir. On disk,
// the file system can take longer to create files than the program takes for all its work: ext4
// searches for inodes that were not deleted in the last minutes.
func inMemory(out io.Writer, dir string) string {
	folder, err := os.MkdirTemp("/dev/shm", "dlpackgen-bench-")
	if err != nil {
		fmt.Fprintf(out, "files are written to disk: %v\n", err)
		return dir
	}
	return folder
}

// aside moves the output of a round away. It is deleted at the end, because ext4 searches recently
// deleted inodes when it creates files.
func aside(made string) func() error {
	rounds := 0
	return func() error {
		rounds++
		err := os.Rename(made, fmt.Sprintf("%s-%d", made, rounds))
		if errors.Is(err, fs.ErrNotExist) { // in the first round
			return nil
		}
		return err
	}
}

func (b *generateBench) out(n int, name string) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d", name, n))
}

func (b *generateBench) goals() []goal {
	one := b.fresh[1]
	against := math.NaN()
	if b.bindgen != nil {
		against = ratio(one, b.bindgen)
	}
	return []goal{
		{name: "generate-time-over-bindgen", measured: against, limit: 0.25, needs: "bindgen: apt-get install bindgen"},
		{name: "generate-peak", measured: mib(middle(one.peaks())), limit: 40, unit: "MiB"},
		{name: "generate-growth-100-over-10", measured: b.growth(), limit: 13},
	}
}

// growth divides the cost of 99 more copies by the cost of 9 more. Proportional growth results in
// 11, and the fixed cost of a process cancels out. It is the median over the rounds. A round in
// which nine copies have no measurable cost counts as infinite.
func (b *generateBench) growth() float64 {
	var each []float64
	for i, one := range b.fresh[1].runs {
		ten := max(0, b.fresh[10].runs[i].wall-one.wall)
		each = append(each, float64(b.fresh[100].runs[i].wall-one.wall)/float64(ten))
	}
	return middle(each)
}
