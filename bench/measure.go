package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"text/tabwriter"
	"time"
)

// command is a measured process.
type command struct {
	name    string
	argv    []string
	prepare func() error // runs before each round, outside the measured time; may be nil
	runs    []usage
}

// usage is the resources that a run of a process used.
type usage struct {
	wall time.Duration
	cpu  time.Duration // in user and system mode
	peak int64         // bytes of resident memory; at least that of this process
}

// measure runs the commands in turn, in rounds, so that all of them are affected by a slower
// machine. The first round fills the caches and is discarded.
func measure(rounds int, commands []*command) error {
	for round := range rounds + 1 {
		for _, c := range commands {
			u, err := c.once()
			if err != nil {
				return err
			}
			if round > 0 {
				c.runs = append(c.runs, u)
			}
		}
	}
	return nil
}

func (c *command) once() (usage, error) {
	if c.prepare != nil {
		if err := c.prepare(); err != nil {
			return usage{}, err
		}
	}
	var output bytes.Buffer
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Stderr = &output
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return usage{}, fmt.Errorf("%v: %w\n%s", c.argv, err, output.Bytes())
	}
	return usage{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak(cmd.ProcessState)}, nil
}

// benchDigest stands for the digest that tools/release computes.
const benchDigest = "0123456789abcdef"

// buildProgram builds dlpackgen as tools/release does. Any other build reads and hashes its sources
// in each run.
func buildProgram(path string) error {
	build := exec.Command("go", "build", "-tags=dlpackgen_release",
		"-ldflags=-s -w -X github.com/dlpackgen/dlpackgen/internal/tool.stamped="+benchDigest,
		"-o", path, "./cmd/dlpackgen")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}

func (c *command) walls() []time.Duration {
	var out []time.Duration
	for _, u := range c.runs {
		out = append(out, u.wall)
	}
	return out
}

func (c *command) peaks() []int64 {
	var out []int64
	for _, u := range c.runs {
		out = append(out, u.peak)
	}
	return out
}

// middle returns the median; for an even number, the larger of the two middle values.
func middle[T int64 | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// ratio returns the median over the rounds of a's time divided by b's. Both ran consecutively in
// each round, so drift cancels out.
func ratio(a, b *command) float64 {
	var each []float64
	for i := range a.runs {
		each = append(each, a.runs[i].wall.Seconds()/b.runs[i].wall.Seconds())
	}
	return middle(each)
}

// cpuRatio is like ratio with CPU time, which other load affects less.
func cpuRatio(a, b *command) float64 {
	var each []float64
	for i := range a.runs {
		each = append(each, a.runs[i].cpu.Seconds()/b.runs[i].cpu.Seconds())
	}
	return middle(each)
}

// table prints the medians with their spread.
func table(out io.Writer, commands []*command) {
	longest := 0
	for _, c := range commands {
		longest = max(longest, len(c.name))
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\ttime, ms\tfrom\tto\tpeak, MiB\tfrom\tto\t")
	for _, c := range commands {
		walls, peaks := c.walls(), c.peaks()
		fmt.Fprintf(w, "%-*s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", longest, c.name,
			ms(middle(walls)), ms(slices.Min(walls)), ms(slices.Max(walls)),
			mib(middle(peaks)), mib(slices.Min(peaks)), mib(slices.Max(peaks)))
	}
	w.Flush()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
