package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// staticcheck is pinned, so that a new release of it never breaks a landing.
const staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

// suite is one run over the tree in the current directory.
type suite struct {
	out      io.Writer
	tier     string
	fuzzTime time.Duration
	tally    tally
}

// run compiles for go vet before go test needs the same packages. In make quick, nearly all of them
// are compiled already, and the checks run beside the tests.
func (s *suite) run() {
	if s.tier == tier.Quick {
		s.beside((*suite).goTest, (*suite).check)
		return
	}
	s.check()
	s.command("go vet of tools/release", "go", "-C", "tools/release", "vet", ".") // ./... leaves that module out
	s.staticcheck()
	s.goTest()
	if s.fuzzTime > 0 {
		s.fuzz()
	}
}

// check is what a change must pass before its tests matter.
func (s *suite) check() {
	s.gofmt()
	s.vet()
	s.command("generated files are up to date", "go", "run", "./cmd/dlpackgen", "check")
	s.command("the spec and our config are sound", "go", "run", "./cmd/dlpackgen", "vet")
}

// beside runs a step, which prints as it goes, and at the same time another one, whose output
// follows.
func (s *suite) beside(step, other func(*suite)) {
	var printed bytes.Buffer
	second := &suite{out: &printed, tier: s.tier, fuzzTime: s.fuzzTime}
	ended := make(chan struct{})
	go func() {
		other(second)
		close(ended)
	}()
	step(s)
	<-ended
	_, _ = printed.WriteTo(s.out)
	s.tally.add(second.tally.results...)
}

func (s *suite) say(format string, args ...any) { fmt.Fprintf(s.out, "== "+format+"\n", args...) }

// gofmt leaves out what is installed in folders whose names start with a dot, as ./... does.
func (s *suite) gofmt() {
	entries, err := os.ReadDir(".")
	if err != nil {
		s.settle("gofmt", false, err.Error())
		return
	}
	argv := []string{"gofmt", "-l"}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, ".") && (entry.IsDir() || strings.HasSuffix(name, ".go")) {
			argv = append(argv, name)
		}
	}
	s.silent("gofmt", argv...)
}

// withCgo are those of our packages among which some use cgo.
var withCgo = []string{"backends", "bench", "examples", "gen", "tests"}

// flags are those of each build. Packages with cgo are compiled with a flag that names this folder.
// With -trimpath, the go command takes what cgo made of the same files in another folder from its
// cache, and go vet would open them there, where they may be gone. The flags are the same for go
// vet, staticcheck and go test: each package is built once.
func flags() (all []string) {
	flag, err := testtool.Checkout(".")
	if err != nil {
		return nil // there is no current folder, which the next step reports
	}
	for _, folder := range withCgo {
		all = append(all, "-gcflags=github.com/dlpackgen/dlpackgen/"+folder+"/...="+flag)
	}
	return all
}

func (s *suite) vet() {
	s.command("go vet", slices.Concat([]string{"go", "vet"}, flags(), []string{"./..."})...)
}

// command is one check that passes when the command does.
func (s *suite) command(name string, argv ...string) {
	s.say("%s", strings.Join(argv, " "))
	var printed bytes.Buffer
	err := s.execute(io.MultiWriter(s.out, &printed), argv...)
	s.settle(name, err == nil, printed.String(), because(err))
}

// silent is one check that passes when the command does and prints nothing.
func (s *suite) silent(name string, argv ...string) {
	s.say("%s", strings.Join(argv, " "))
	var printed bytes.Buffer
	err := s.execute(io.MultiWriter(s.out, &printed), argv...)
	s.settle(name, err == nil && printed.Len() == 0, printed.String(), because(err))
}

// because is the error of a command that could not run, or ended with a status other than 0.
func because(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// settle notes how a check ended, and what it printed if it failed.
func (s *suite) settle(name string, good bool, printed ...string) {
	r := result{Name: name, Outcome: passed}
	if !good {
		r.Outcome, r.Said = failed, strings.Join(printed, "\n")
	}
	s.tally.add(r)
}

func (s *suite) execute(out io.Writer, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// staticcheck is built once into .cache; where it cannot be had, the check is
// skipped rather than failed, since the tree is not to blame.
func (s *suite) staticcheck() {
	s.say("go install %s", staticcheck)
	bin, err := filepath.Abs(".cache/bin")
	if err == nil {
		cmd := exec.Command("go", "install", staticcheck)
		cmd.Env = append(os.Environ(), "GOBIN="+bin)
		cmd.Stderr = s.out
		err = cmd.Run()
	}
	if err != nil {
		s.tally.add(result{Name: "staticcheck", Outcome: skipped,
			Reason: "needs " + staticcheck + " from the module proxy: " + err.Error()})
		return
	}
	// The go command it starts takes flags from this variable. A larger heap spares staticcheck
	// a third of its time.
	built := "GOFLAGS=" + strings.Join(append(flags(), os.Getenv("GOFLAGS")), " ")
	s.command("staticcheck", "env", built, "GOGC=400", filepath.Join(bin, "staticcheck"), "./...")
}

// goTest runs every Go test of the tier, which is every test there is: what other languages prove
// is started from a Go test.
func (s *suite) goTest() {
	rows, err := tier.Packages()
	if err != nil {
		s.tally.add(result{Name: err.Error(), Outcome: failed})
		return
	}
	// Two packages more than there are cores, so that those that wait leave no core idle.
	// All were vetted before. Programs without debug information are linked faster.
	argv := append([]string{"go", "test", "-json", "-vet=off", "-ldflags=-w", "-timeout=0",
		"-p=" + strconv.Itoa(runtime.NumCPU()+2)}, flags()...)
	if s.tier == tier.Quick {
		argv = append(argv, "-short")
	}
	argv = append(argv, packages(rows, s.tier)...)
	s.say("%s", strings.Join(argv, " "))
	reader, writer := io.Pipe()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = writer, s.out
	cmd.Env = append(os.Environ(), environment(s.tier)...)
	ended := make(chan error, 1)
	go func() {
		err := s.metered(cmd)
		writer.Close()
		ended <- err
	}()
	before := s.tally.count(failed)
	readErr := newTestReader(s.out, &s.tally).read(reader)
	runErr := <-ended
	// The exit status is the last word, should the events have said nothing.
	if s.tally.count(failed) == before && (runErr != nil || readErr != nil) {
		s.tally.add(result{Name: fmt.Sprintf("go test: %v", cmp.Or(readErr, runErr)), Outcome: failed})
	}
}

// metered runs a go command, and notes what CPU time the tests took that it started.
func (s *suite) metered(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	root, _ := filepath.Abs(".")
	m := meter{root: root, seconds: map[string]float64{}}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		m.watch(cmd.Process.Pid, ended)
		close(done)
	}()
	err := cmd.Wait()
	close(ended)
	<-done
	s.tally.cpu = m.seconds
	return err
}

// fuzzTarget is one fuzz function.
type fuzzTarget struct{ Package, Name string }

// fuzz runs each fuzz target for a short while. A failing input is left under
// testdata/fuzz of its package, where the next plain run fails on it as well.
func (s *suite) fuzz() {
	rows, err := tier.Packages()
	if err != nil {
		s.settle("list the fuzz targets", false, err.Error())
		return
	}
	programs, err := os.MkdirTemp("", "dlpackgen-fuzz")
	if err != nil {
		s.settle("a folder for the fuzz targets", false, err.Error())
		return
	}
	defer os.RemoveAll(programs)
	for _, t := range fuzzTargets(".", rows) {
		s.say("fuzz %s.%s for %s", strings.TrimPrefix(t.Package, "./"), t.Name, s.fuzzTime)
		var log bytes.Buffer
		err := s.fuzzOne(t, programs, &log)
		good := err == nil || endedByClock(log.String())
		if !good {
			fmt.Fprint(s.out, log.String())
		}
		s.settle("fuzzing "+strings.TrimPrefix(t.Package, "./")+"."+t.Name, good, log.String())
	}
}

// fuzzOne runs one target. The program that a package's targets share is built into a folder once:
// "go test -fuzz" takes one target, and would link it for each.
func (s *suite) fuzzOne(t fuzzTarget, programs string, log io.Writer) error {
	program := filepath.Join(programs, strings.ReplaceAll(t.Package, "/", "_")+".test")
	if _, err := os.Stat(program); err != nil {
		if err := s.execute(log, s.fuzzBuild(program, t.Package)...); err != nil {
			return err
		}
	}
	found, err := filepath.Abs(filepath.Join(".cache", "fuzz", t.Package))
	if err != nil {
		return err
	}
	// Minimising takes up to a minute an input otherwise, in which nothing else runs.
	cmd := exec.Command(program, "-test.run=^$", "-test.fuzz=^"+t.Name+"$", "-test.fuzztime="+s.fuzzTime.String(),
		"-test.fuzzminimizetime=10x", "-test.fuzzcachedir="+found)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.Package, log, log
	return cmd.Run()
}

// fuzzBuild is how a package's fuzz targets are built. Only make nightly counts coverage, for which
// all imported packages are compiled again: that takes longer than the second of fuzzing.
func (s *suite) fuzzBuild(program, pkg string) []string {
	argv := append([]string{"go", "test", "-vet=off", "-ldflags=-w", "-c", "-o", program}, flags()...)
	if s.tier == tier.Nightly {
		argv = append(argv, "-fuzz=.")
	}
	return append(argv, pkg)
}

// endedByClock tells a failure that is none: now and then go test reports that
// its own -fuzztime ran out in the middle of an input, which it leaves unsaved.
func endedByClock(log string) bool {
	return strings.Contains(log, "\n    context deadline exceeded\n") && !strings.Contains(log,
		"Failing input written to")
}

// fuzzTargets reads the names of fuzz functions from the sources: the go command would link each
// test binary to list them.
func fuzzTargets(root string, rows []tier.Package) (targets []fuzzTarget) {
	for _, row := range rows {
		files, _ := filepath.Glob(filepath.Join(root, row.Path, "*_test.go"))
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				continue // the package's tests have failed before
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
					targets = append(targets, fuzzTarget{"./" + row.Path, f.Name.Name})
				}
			}
		}
	}
	slices.SortFunc(targets, func(a, b fuzzTarget) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name))
	})
	return targets
}
