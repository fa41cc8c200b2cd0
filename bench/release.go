package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// The download sizes and waiting times of users.
const (
	wheelLimit   = 4.0 // MB
	installLimit = 5.0 // seconds
	firstLimit   = 60  // seconds
)

// benchRelease builds the wheels of the commit for all platforms, and measures the largest one. It
// also measures pip install of this machine's wheel and a first generate, in an existing
// environment.
func benchRelease(out io.Writer, dir string, rounds int) ([]goal, error) {
	published := filepath.Join(dir, "published")
	make := exec.Command("go", "run", ".", "-root", "../..", "-out", published)
	make.Dir = filepath.Join("tools", "release")
	if output, err := make.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("tools/release: %w\n%s", err, output)
	}
	size, err := wheelSize(published)
	if err != nil {
		return nil, err
	}
	install, err := installing(dir, published)
	if err != nil {
		return nil, err
	}
	if err := measure(min(rounds, 5), []*command{install}); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "release: the wheel for %s/%s, from a folder, without a network\n", runtime.GOOS, runtime.GOARCH)
	table(out, []*command{install})
	var busy []time.Duration
	for _, u := range install.runs {
		busy = append(busy, u.cpu)
	}
	fmt.Fprintf(out, "  of which %.1f s on the processor\n", middle(busy).Seconds())
	return []goal{
		{name: "release.wheel", measured: size, limit: wheelLimit, unit: "MB"},
		{name: "release.install", measured: ms(middle(install.walls())) / 1000, limit: installLimit, unit: "s"},
	}, nil
}

// benchFirstResults runs the commands of docs/how-to/first-result.md for each kind of reader, like
// the tests of releases, with an empty Go cache.
func benchFirstResults(out io.Writer, _ string, _ int) ([]goal, error) {
	tests := exec.Command("go", "test", "./tests/release", "-run", "^TestFirstResults$", "-count=1", "-v")
	tests.Env = append(os.Environ(), "FRESH=1")
	printed, err := tests.CombinedOutput()
	goals := firstGoals(string(printed))
	if err != nil || len(goals) == 0 {
		return nil, fmt.Errorf("tests/release: %w\n%s", err, printed)
	}
	fmt.Fprintf(out, "first results: whole runs of commands, without a network, on %d cores\n", runtime.NumCPU())
	return goals, nil
}

var firstGoal = regexp.MustCompile(`(?m)^goal (first-success\S+) measured ([0-9.]+)s`)

// firstGoals parses the output of the test.
func firstGoals(printed string) (goals []goal) {
	for _, m := range firstGoal.FindAllStringSubmatch(printed, -1) {
		seconds, _ := strconv.ParseFloat(m[2], 64) // of digits
		goals = append(goals, goal{name: m[1], measured: seconds, limit: firstLimit, unit: "s"})
	}
	return goals
}

// wheelSize returns the size of the largest wheel in a folder, in MB.
func wheelSize(dir string) (float64, error) {
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err == nil && len(wheels) == 0 {
		err = errors.New("tools/release built no wheel")
	}
	largest := int64(0)
	for _, name := range wheels {
		info, statErr := os.Stat(name)
		if statErr != nil {
			return 0, statErr
		}
		largest = max(largest, info.Size())
	}
	return float64(largest) / 1e6, err
}

// installing runs pip install and generate, each time without files of the last round.
func installing(dir, published string) (*command, error) {
	env := filepath.Join(dir, "env")
	if output, err := exec.Command("python3", "-m", "venv", env).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("python3 -m venv: %w\n%s", err, output)
	}
	project := filepath.Join(dir, "project")
	pip := filepath.Join(env, "bin", "pip")
	script := `"$1" -q --disable-pip-version-check install --no-index --find-links "$2" dlpackgen && cd "$3" && ` +
		`"${1%pip}dlpackgen" init && "${1%pip}dlpackgen" generate --quiet`
	return &command{name: "pip install, init, generate",
		argv: []string{"sh", "-ec", script, "sh", pip, published, project},
		prepare: func() error {
			_ = exec.Command(pip, "-q", "uninstall", "--yes", "dlpackgen").Run() // missing in the first round
			return errors.Join(os.RemoveAll(project), os.Mkdir(project, 0o755))
		}}, nil
}
