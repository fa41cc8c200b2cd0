package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pointerShare is the maximum ratio of a query through the table to a direct query of the driver.
// loadExtra is the maximum time that loading may add to the driver's own start, in milliseconds.
// borrowExtra is the number of additional crossings for a device tensor from Go.
const (
	pointerShare = 1.1
	loadExtra    = 1.0
	borrowExtra  = 1.0
)

// benchDevices measures the CUDA backend: with the machine's driver if there is a GPU, otherwise
// with the stand-in of tests/devices. Loading is also measured with NVIDIA's own library, if the
// tests have fetched it.
func benchDevices(out io.Writer, dir string, rounds int) ([]goal, error) {
	d := deviceBench{program: filepath.Join(dir, "measure"), driver: dir, what: "the stand-in"}
	if err := d.build(); err != nil {
		return nil, err
	}
	driver, table, err := d.pairs(rounds)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "devices: pointer_attributes with %s, %d rounds in turn: %s\n", d.what, rounds,
		spread("the driver's own call", driver))
	fmt.Fprintf(out, "devices: the same through the table: %s\n", spread("", table))
	extra, err := d.loading(out, rounds)
	if err != nil {
		return nil, err
	}
	crossings, err := d.borrow(dir)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "devices: a borrow of a device's tensor from Go adds %.0f crossing(s) into C\n", crossings)
	return []goal{{name: "devices.borrow", measured: crossings, limit: borrowExtra},
		{name: "devices.pointer_attributes", measured: middle(table) / middle(driver), limit: pointerShare},
		{name: "devices.load", measured: extra, limit: loadExtra, unit: " ms"}}, nil
}

// spread returns a median with its extremes.
func spread(what string, ns []float64) string {
	low, high := ns[0], ns[0]
	for _, n := range ns {
		low, high = min(low, n), max(high, n)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %.1f ns (%.1f to %.1f)", what, middle(ns), low, high))
}

// deviceBench is the C program and the driver that it loads.
type deviceBench struct{ program, driver, what string }

func (d *deviceBench) build() error {
	if _, err := os.Stat("/proc/driver/nvidia/version"); err == nil {
		d.driver, d.what = "", "the machine's driver"
	} else if err := compileDevices("gcc", "-std=gnu11", "-O2", "-DQUIET", "-fPIC", "-shared", "-o",
		filepath.Join(d.driver, "libcuda.so.1"),
		"tests/devices/testdata/standin.c", "-lpthread"); err != nil {
		return err
	}
	return compileDevices("gcc", "-std=gnu11", "-O2", "-Ibackends/cuda", "-o", d.program,
		"bench/testdata/devices/measure.c",
		"backends/cuda/dlpackgen_cuda.c", "-ldl")
}

func compileDevices(name string, args ...string) error {
	if output, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, output)
	}
	return nil
}

// run runs the program with a driver, and returns the printed numbers.
func (d *deviceBench) run(driver string, args ...string) ([][]float64, error) {
	var output bytes.Buffer
	cmd := exec.Command(d.program, args...)
	cmd.Stderr = &output
	cmd.Env = os.Environ()
	if driver != "" {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+driver)
	}
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", args, err, output.Bytes())
	}
	var rows [][]float64
	for line := range strings.Lines(string(text)) {
		var row []float64
		for _, word := range strings.Fields(line) {
			var n float64
			if _, err := fmt.Sscan(word, &n); err != nil {
				return nil, fmt.Errorf("%v: %w", args, err)
			}
			row = append(row, n)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// borrow counts the crossings with the Go program of tests/devices.
func (d *deviceBench) borrow(dir string) (float64, error) {
	program := filepath.Join(dir, "golang")
	if err := compileDevices("go", "build", "-o", program, "./tests/devices/testdata/golang"); err != nil {
		return 0, err
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+d.driver)
	text, err := cmd.Output()
	_, after, found := strings.Cut(string(text), "a borrow of a device's tensor adds ")
	var n float64
	if _, scan := fmt.Sscan(after, &n); err != nil || !found || scan != nil {
		return 0, fmt.Errorf("%s: %w, and it printed %q", program, err, text)
	}
	return n, nil
}

func (d *deviceBench) pairs(rounds int) (driver, table []float64, err error) {
	return d.columns("pairs", fmt.Sprint(rounds*10))
}

// columns runs the program, which prints two numbers per line.
func (d *deviceBench) columns(args ...string) (first, second []float64, err error) {
	rows, err := d.run(d.driver, args...)
	for _, row := range rows {
		first, second = append(first, row[0]), append(second, row[1])
	}
	return first, second, err
}

// loading alternates the first call of a process with a process that opens and starts the driver
// directly. It returns the larger overhead of the drivers, in ms. The driver's own start varies by
// more than the limit, so the minimum of each is used.
func (d *deviceBench) loading(out io.Writer, rounds int) (extra float64, err error) {
	const node = "/dev/nvidiactl" // root's driver creates one while it searches for a device
	if _, err := os.Stat(node); os.IsNotExist(err) {
		defer os.Remove(node)
	}
	drivers := map[string]string{d.what: d.driver}
	if real := ".cache/libcuda/root/usr/lib/x86_64-linux-gnu/nvidia/current"; d.driver != "" {
		if _, err := os.Stat(real + "/libcuda.so.1"); err == nil {
			drivers["NVIDIA's library without a GPU"] = real
		}
	}
	for what, driver := range drivers {
		times := map[string][]float64{}
		for range rounds {
			for _, side := range []string{"driver", "table"} {
				rows, err := d.run(driver, "load", side)
				if err != nil {
					return 0, err
				}
				times[side] = append(times[side], rows[0][0]/1e6)
			}
		}
		bare, ours := slices.Min(times["driver"]), slices.Min(times["table"])
		fmt.Fprintf(out, "devices: loading %s, opened and started, at best: %.3f ms; through the table: %.3f ms\n",
			what, bare, ours)
		extra = max(extra, ours-bare)
	}
	return extra, nil
}
