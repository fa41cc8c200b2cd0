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
	"sync"
	"time"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// staticcheck is pinned, so that new releases cannot break the checks.
const staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

// suite is one run over the tree in the current directory.
type suite struct {
	out      io.Writer
	tier     string
	fuzzTime time.Duration
	tally    tally
}

// run compiles for go vet before go test needs the same packages. In make quick, nearly all of them
// are compiled already, and the checks run concurrently with the tests.
func (s *suite) run() {
	if s.tier == tier.Quick {
		s.beside((*suite).goTest, (*suite).check)
		return
	}
	s.check()
	s.command("go vet of tools/release", "go", "-C", "tools/release", "vet", ".") // ./... omits that module
	s.staticcheck()
	s.goTest()
	if s.fuzzTime > 0 {
		s.fuzz()
	}
}

// check runs the checks that a change must pass before its tests.
func (s *suite) check() {
	s.gofmt()
	s.vet()
	s.command("generated files are up to date", "go", "run", "./cmd/dlpackgen", "check")
	s.command("the spec and our config are sound", "go", "run", "./cmd/dlpackgen", "vet")
}

// beside runs a step, which prints its output directly, concurrently with another one, whose output
// follows.
func (s *suite) beside(step, other func(*suite)) {
	var printed bytes.Buffer
	second := s.apart(&printed)
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

// apart returns a suite with the same settings, for steps that run concurrently with others.
func (s *suite) apart(out io.Writer) *suite {
	return &suite{out: out, tier: s.tier, fuzzTime: s.fuzzTime}
}

func (s *suite) say(format string, args ...any) { fmt.Fprintf(s.out, "== "+format+"\n", args...) }

// gofmt skips installed files in folders whose names begin with a dot, like ./...
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

// withCgo are the packages of this module of which some use cgo.
var withCgo = []string{"backends", "bench", "examples", "gen", "tests"}

// flags are the flags of each build. Packages with cgo are compiled with a flag that contains this
// folder. With -trimpath, the go command reuses cgo's output of the same files from another folder,
// where go vet would open files that may be deleted. go vet, staticcheck and go test have the same
// flags, so each package is built once.
func flags() (all []string) {
	flag, err := testtool.Checkout(".")
	if err != nil {
		return nil // no current folder; the next step reports it
	}
	for _, folder := range withCgo {
		all = append(all, "-gcflags=github.com/dlpackgen/dlpackgen/"+folder+"/...="+flag)
	}
	return all
}

func (s *suite) vet() {
	s.command("go vet", slices.Concat([]string{"go", "vet"}, flags(), []string{"./..."})...)
}

// command is a check that passes if the command succeeds.
func (s *suite) command(name string, argv ...string) {
	s.say("%s", strings.Join(argv, " "))
	var printed bytes.Buffer
	err := s.execute(io.MultiWriter(s.out, &printed), argv...)
	s.settle(name, err == nil, printed.String(), because(err))
}

// silent is a check that passes if the command succeeds without output.
func (s *suite) silent(name string, argv ...string) {
	s.say("%s", strings.Join(argv, " "))
	var printed bytes.Buffer
	err := s.execute(io.MultiWriter(s.out, &printed), argv...)
	s.settle(name, err == nil && printed.Len() == 0, printed.String(), because(err))
}

// because returns the error of a command that could not run, or had an exit status other than 0.
func because(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// settle records the result of a check, and its output if it failed.
func (s *suite) settle(name string, good bool, printed ...string) {
	r := result{Name: name, Outcome: passed}
	if !good {
		r.Outcome, r.Message = failed, strings.Join(printed, "\n")
	}
	s.tally.add(r)
}

func (s *suite) execute(out io.Writer, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// staticcheck is built once into .cache. If it is unavailable, the check is skipped instead of
// failing.
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
	// The go command that it starts reads flags from this variable.
	built := "GOFLAGS=" + strings.Join(append(flags(), os.Getenv("GOFLAGS")), " ")
	s.command("staticcheck", "env", built, filepath.Join(bin, "staticcheck"), "./...")
}

// goTest runs every Go test of the tier. Tests in other languages are started by Go tests.
func (s *suite) goTest() {
	rows, err := tier.Packages()
	if err != nil {
		s.tally.add(result{Name: err.Error(), Outcome: failed})
		return
	}
	// Two packages more than cores run at a time, so that waiting ones leave no core idle. All were
	// vetted before. Programs without debug information are linked faster.
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
	// The exit status decides, in case the events contained no failure.
	if s.tally.count(failed) == before && (runErr != nil || readErr != nil) {
		s.tally.add(result{Name: fmt.Sprintf("go test: %v", cmp.Or(readErr, runErr)), Outcome: failed})
	}
}

// metered runs a go command, and records the CPU time of its tests.
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

// fuzz runs each fuzz target for a short time with one worker, one package on each core. A failing
// input is stored under testdata/fuzz of its package, where the next plain run fails with it.
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
	packages := byPackage(fuzzTargets(".", rows))
	parts, printed := make([]*suite, len(packages)), make([]bytes.Buffer, len(packages))
	cores := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, targets := range packages {
		parts[i] = s.apart(&printed[i])
		all.Go(func() {
			cores <- struct{}{}
			defer func() { <-cores }()
			parts[i].fuzzPackage(targets, programs)
		})
	}
	all.Wait()
	for i, part := range parts {
		_, _ = printed[i].WriteTo(s.out)
		s.tally.add(part.tally.results...)
	}
}

// byPackage divides sorted targets.
func byPackage(targets []fuzzTarget) (packages [][]fuzzTarget) {
	for i, t := range targets {
		if i == 0 || t.Package != targets[i-1].Package {
			packages = append(packages, nil)
		}
		last := &packages[len(packages)-1]
		*last = append(*last, t)
	}
	return packages
}

// fuzzPackage runs the targets of one package in turn, because they share a program.
func (s *suite) fuzzPackage(targets []fuzzTarget, programs string) {
	for _, t := range targets {
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

// fuzzOne runs one target. The program of a package's targets is built once: "go test -fuzz"
// accepts one target, and would link it for each.
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
	// Otherwise, minimizing takes up to a minute for each input, and nothing else runs meanwhile.
	cmd := exec.Command(program, "-test.run=^$", "-test.fuzz=^"+t.Name+"$", "-test.fuzztime="+s.fuzzTime.String(),
		"-test.parallel=1", "-test.fuzzminimizetime=10x", "-test.fuzzcachedir="+found)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.Package, log, log
	return cmd.Run()
}

// fuzzBuild returns the build flags of a package's fuzz targets. Only make nightly instruments for
// coverage, which recompiles all imports and takes longer than a second of fuzzing.
func (s *suite) fuzzBuild(program, pkg string) []string {
	argv := append([]string{"go", "test", "-vet=off", "-ldflags=-w", "-c", "-o", program}, flags()...)
	if s.tier == tier.Nightly {
		argv = append(argv, "-fuzz=.")
	}
	return append(argv, pkg)
}

// endedByClock recognizes a spurious failure: sometimes go test reports the expiry of its own
// -fuzztime during an input, which it does not save.
func endedByClock(log string) bool {
	return strings.Contains(log, "\n    context deadline exceeded\n") && !strings.Contains(log,
		"Failing input written to")
}

// fuzzTargets finds fuzz functions in the sources: the go command would link each test binary to
// list them.
func fuzzTargets(root string, rows []tier.Package) (targets []fuzzTarget) {
	for _, row := range rows {
		files, _ := filepath.Glob(filepath.Join(root, row.Path, "*_test.go"))
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				continue // the package's tests failed earlier
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
