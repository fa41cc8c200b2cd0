package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/device"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// benchOneAPI measures the oneAPI backend over Level Zero: with Intel's driver and simulated cards,
// if the tests have fetched it, otherwise with the stand-in of tests/oneapi. The code of the
// simulated driver is the real driver's.
func benchOneAPI(out io.Writer, dir string, rounds int) ([]goal, error) {
	program := filepath.Join(dir, "measure")
	if err := writeParts(device.OneAPI, filepath.Join(dir, "parts")); err != nil {
		return nil, err
	}
	if err := compileDevices("gcc", "-std=gnu11", "-O2", "-I"+filepath.Join(dir, "parts"), "-Ibackends/oneapi", "-o",
		program,
		"bench/testdata/oneapi/measure.c",
		"backends/oneapi/dlpackgen_oneapi.c", "-ldl"); err != nil {
		return nil, err
	}
	b, err := levelZeroOf(program, dir)
	if err != nil {
		return nil, err
	}
	driver, table, err := b.pairs(rounds)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "devices: oneAPI's pointer_attributes with %s, %d rounds in turn: %s\n", b.what, rounds,
		spread("the driver's own two calls", driver))
	fmt.Fprintf(out, "devices: the same through the table: %s\n", spread("", table))
	extra, err := b.startOf(out, rounds)
	if err != nil {
		return nil, err
	}
	return []goal{
		{name: "devices.oneapi.pointer_attributes", measured: middle(table) / middle(driver), limit: pointerShare},
		{name: "devices.oneapi.load", measured: extra, limit: loadExtra, unit: " ms"}}, nil
}

// writeParts writes a target's files of the newest release, each part as a separate file, because
// the programs below include private parts of the target's source.
func writeParts(target emit.Target, dir string) error {
	release, err := spec.Embedded().Release("latest")
	if err != nil {
		return err
	}
	manifest, err := target.Manifest(&emit.Model{Release: release})
	if err != nil {
		return err
	}
	files, err := emit.Render(release.Version, manifest.Unfolded())
	if err != nil {
		return err
	}
	for _, f := range files {
		file := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// levelZeroOf returns the program and the driver that it loads.
func levelZeroOf(program, dir string) (deviceBench, error) {
	const fetched = ".cache/levelzero"
	if _, err := os.Stat(filepath.Join(fetched, "done")); err == nil {
		root, err := filepath.Abs(filepath.Join(fetched, "root"))
		wrapper := filepath.Join(dir, "run")
		text := fmt.Sprintf("#!/bin/sh\nL0ROOT='%s' exec tests/oneapi/run-level-zero.sh '%s' \"$@\"\n", root, program)
		if err == nil {
			err = os.WriteFile(wrapper, []byte(text), 0o700)
		}
		return deviceBench{program: wrapper, what: "Intel's driver, simulating"}, err
	}
	err := compileDevices("gcc", "-std=gnu11", "-O2", "-DQUIET", "-fPIC", "-shared", "-I"+filepath.Join(dir, "parts"),
		"-Ibackends/oneapi", "-o", filepath.Join(dir, "libze_loader.so.1"),
		"tests/oneapi/testdata/standin.c", "-lpthread")
	return deviceBench{program: program, driver: dir, what: "the stand-in"}, err
}

// startOf times the first call of a process, like loading for CUDA. The minimum is used, because
// the driver's own start varies by more than the limit.
func (d *deviceBench) startOf(out io.Writer, rounds int) (float64, error) {
	times := map[string][]float64{}
	for range 3 * rounds {
		for _, side := range []string{"driver", "table"} {
			rows, err := d.run(d.driver, "load", side)
			if err != nil {
				return 0, err
			}
			times[side] = append(times[side], rows[0][0]/1e6)
		}
	}
	bare, ours := slices.Min(times["driver"]), slices.Min(times["table"])
	fmt.Fprintf(out, "devices: loading %s, opened and started, at best: %.3f ms; through the table: %.3f ms\n",
		d.what, bare, ours)
	return ours - bare, nil
}
