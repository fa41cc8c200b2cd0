package mutant

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

const goProgram = `package main

import "fmt"

func sum(n int) int {
	made := 0
	for i := range n {
		square := i * i
		if square > 100 {
			return -1
		}
		made += square
	}
	switch n {
	case 1:
		return 10
	case 2:
		made++
	default:
		made += 5
	}
	return made
}

var most = 3

func main() {
	for n := range most {
		fmt.Print(sum(n), " ")
	}
	fmt.Println()
}
`

var goMutants = []Mutant{
	{"main.go", "range n {", "range n + 1 {"}, // the head of a loop
	{"main.go", "square := i * i",
		"square := 2*i"}, // a declaration that others need
	{"main.go", "\t\tmade += square\n", ""},                                                  // a statement
	{"main.go", "return 10", "return 11"},                                                    // a case of a switch
	{"main.go", "case 2:\n\t\tmade++\n\tdefault:\n\t\tmade += 5", "default:\n\t\tmade += 6"}, // several cases
	{"main.go", "made := 0", "made := 100"},                                                  // the first of all
	{"main.go", "return made", "return 7"},                                                   // the last
	{"main.go", "most = 3",
		"most = 2"}, // no statement of a function
	{"main.go", "sum(n), \" \"", "sum(n)+1"}, // an argument
}

var goPrinted = []string{"5 10 2 \n", "5 10 6 \n", "5 10 3 \n", "5 10 1 \n", "5 11 2 \n", "6 10 7 \n",
	"105 10 102 \n", "7 10 7 \n", "5 10 \n", "6113\n"}

// builtGo returns a program of the source, with only that mutant if it is one, else with all.
func builtGo(t *testing.T, alone int) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": goProgram, "go.mod": "module example.org/x\n\ngo 1.24\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if alone > 0 {
		goMutants[alone-1].Alone(t, dir)
	} else {
		assert.Equal(t, []int{8}, Write(t, dir, goMutants).Apart)
	}
	cmd := exec.Command(testtool.Require(t, "go", "golang"), "build", "-trimpath", "-o", "x", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(dir, "x")
}

func TestOneBuildHasAllMutantsOfGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for each mutant, and -short was given")
	}
	all := builtGo(t, 0)
	assert.Equal(t, goPrinted[0], output(t, all, 0))
	for i := range goMutants {
		alone := output(t, builtGo(t, i+1), 0)
		assert.Equal(t, goPrinted[i+1], alone, "%v", goMutants[i])
		if i != 7 {
			assert.Equal(t, alone, output(t, all, i+1), "%v", goMutants[i])
		}
	}
}

const goLimitSource = `package main

import (
	"fmt"
	"syscall"
)

func main() {
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(0, &limit)
	fmt.Print(limit.Cur)
}
`

// A mutant in Go may run forever.
func TestTheTimeOfMutantsOfGoIsLimited(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: the limit is set there alone")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": goLimitSource, "go.mod": "module example.org/x\n\ngo 1.24\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.Empty(t, Write(t, dir, []Mutant{{"main.go", "fmt.Print(limit.Cur)", "fmt.Print(1)"}}).Apart)
	cmd := exec.Command(testtool.Require(t, "go", "golang"), "build", "-trimpath", "-o", "x", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	program := filepath.Join(dir, "x")
	assert.Equal(t, "18446744073709551615", output(t, program, 0))
	assert.Equal(t, "120", output(t, program, 2))
	assert.Equal(t, "20", output(t, testtool.Require(t, "prlimit", "util-linux"), 2, "--cpu=20", program))
}

func TestATextOfGoMustStandOnceAsItIs(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(goProgram), 0o600))
	for _, old := range []string{"made", "nowhere to be found", "return\nmade"} {
		m := Mutant{"main.go", old, ""}
		assert.Panics(t, func() { m.Alone(failing{t}, dir) })
		assert.Panics(t, func() { Write(failing{t}, dir, []Mutant{m}) })
	}
}
