package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// oneOfMany is a backend whose config generates 17 files. A config can contain many of them.
const oneOfMany = `  acme%[1]d:
    implementation: custom
    title: Acme%[1]d
    doc: Memory of Acme's devices.
    install_hint: Acme's driver
    status_type: int
    devices:
      - {type: kDLAcme%[1]d, value: %[2]d, memory: device, id: ordinal}
    streams: {none: 1, rejected: [0]}
    library: {linux: [libacme.so.1]}
    functions:
      init: {symbol: acmeInit, params: "int *version, int *devices"}
    errors:
      ACME_NO_MEMORY: {value: -2, kind: out_of_memory, text: the device does not have enough memory}
`

// benchMonorepo measures generate for all configs below a folder. It is compared with one config
// with the same files, with a tenth of the configs, and with one core. It also measures one config
// with ten times as many backends.
func benchMonorepo(out io.Writer, dir string, rounds int) ([]goal, error) {
	b := &monorepoBench{dir: inMemory(out, dir), tool: filepath.Join(dir, "dlpackgen")}
	b.inMemory = b.dir != dir
	defer os.RemoveAll(b.dir)
	if err := buildProgram(b.tool); err != nil {
		return nil, err
	}
	single, few, many, alone := b.one(100), b.many(100, 0), b.many(1000, 2), b.many(1000, 1)
	large := b.one(1000)
	all := []*command{single, few, many, alone, large}
	if !b.inMemory {
		rounds = min(rounds, roundsOnDisk)
	}
	if err := measure(rounds, all); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "monorepo: %d rounds in turn on %d cores, whole processes, medians and extremes\n", rounds,
		runtime.NumCPU())
	table(out, all)
	fmt.Fprintf(out, "CPU seconds: %.2f on two cores, %.2f on one\n", middle(cpus(many)), middle(cpus(alone)))
	return []goal{
		{name: "monorepo-cpu-over-one-config", measured: cpuRatio(few, single), limit: 2},
		{name: "monorepo-1000-over-100-cpu", measured: cpuRatio(many, few), limit: 11},
		{name: "one-config-1000-over-100-backends-cpu", measured: cpuRatio(large, single), limit: 13},
		{name: "monorepo-1000-peak", measured: mib(middle(many.peaks())), limit: 300, unit: "MiB"},
		{name: "monorepo-two-cores-over-one-wall", measured: ratio(many, alone), limit: 1 / 1.7},
		{name: "monorepo-two-cores-over-one-cpu", measured: cpuRatio(many, alone), limit: 2 / 1.7},
	}, nil
}

// roundsOnDisk keeps the output of all rounds below 2 GB, because nothing is deleted in between.
const roundsOnDisk = 5

type monorepoBench struct {
	dir, tool string
	inMemory  bool
}

// one generates the backends of one config from nothing.
func (b *monorepoBench) one(n int) *command {
	home := filepath.Join(b.dir, fmt.Sprint("one-", n))
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, oneOfMany, i, 1000+i)
	}
	file := filepath.Join(home, "dlpackgen.yaml")
	return &command{name: fmt.Sprintf("generate, 1 config with %d backends", n),
		argv:    []string{b.tool, "generate", "--quiet", "--config", file},
		prepare: b.writeConfigs(home, map[string]string{file: text.String()})}
}

// many generates the given number of configs with one backend each; 0 is any number of cores.
func (b *monorepoBench) many(n, cores int) *command {
	home := filepath.Join(b.dir, fmt.Sprint(n, "-", cores))
	configs := map[string]string{}
	for i := range n {
		file := filepath.Join(home, fmt.Sprintf("p%04d", i), "dlpackgen.yaml")
		configs[file] = fmt.Sprintf(oneOfMany, i, 1000+i)
	}
	name, argv := fmt.Sprintf("generate, %d configs", n), []string{b.tool, "generate", "--quiet", home + "/..."}
	if cores > 0 {
		name = fmt.Sprintf("%s, %d cores", name, cores)
		argv = append([]string{"env", fmt.Sprint("GOMAXPROCS=", cores)}, argv...)
	}
	return &command{name: name, argv: argv, prepare: b.writeConfigs(home, configs)}
}

// writeConfigs creates a folder that contains only configs. On disk, the previous contents are
// moved away: after files are deleted, ext4 spends two thirds of a run on searching inodes.
func (b *monorepoBench) writeConfigs(home string, backends map[string]string) func() error {
	old := aside(home)
	if b.inMemory {
		old = func() error { return os.RemoveAll(home) }
	}
	return func() error {
		if err := old(); err != nil {
			return err
		}
		for file, text := range backends {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte("version: 1\nbackends:\n"+text), 0o600); err != nil {
				return err
			}
		}
		return nil
	}
}
