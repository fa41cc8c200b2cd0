package gobind

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// program creates a module with the bindings and a main function.
func program(t *testing.T, body string) module {
	t.Helper()
	m := bindings(t)
	m.write(t,
		map[string]string{"main.go": "package main\n\nimport " +
			"(\n\t\"fmt\"\n\t\"os\"\n\t\"runtime\"\n\t\"time\"\n\n\t\"example.org/bindings/dlpack\"\n)\n\n" +
			"var _, _, _, _ = runtime.GC, time.Sleep, fmt.Println, os.Args\n\nfunc check(err error) {\n\tif err != nil " +
			"{\n\t\tpanic(err)\n\t}\n}\n\n" + body})
	return m
}

const exportsOne = `
func main() {
	_, err := dlpack.Export(make([]int64, 8))
	check(err)
	b, err := dlpack.Alloc[int64](8)
	check(err)
	_, err = b.ExportWith(dlpack.ExportOptions{Offset: 1, Shape: []int64{7}})
	check(err)
	fmt.Println("exported")
}
`

// cgocheck2 detects pointers by their type, and the mirrors contain numbers.
func TestTheCheckTagShowsPointersThatAreNotPinned(t *testing.T) {
	tier.OnlyNightly(t)
	m := program(t, exportsOne).with("GOEXPERIMENT=cgocheck2")
	assert.Equal(t, "exported\n", m.mustRun(t, "run", "-tags=dlpackcheck", "."))
	text := readFile(t, m, "dlpack/slots.go")
	m.write(t, map[string]string{"dlpack/slots.go": mutant.Once(t, text, "in.pins[s.number-in.first].Pin(object)",
		"_ = in")})
	assert.Equal(t, "exported\n", m.mustRun(t, "run", "."), "which is why there is the tag")
	out, err := m.run("run", "-tags=dlpackcheck", ".")
	require.Error(t, err)
	assert.Contains(t, out, "unpinned Go pointer stored into non-Go memory")
}

// afterTheEnd are uses of released objects, which the sanitizer reports.
var afterTheEnd = map[string]struct{ body, report string }{
	"a tensor's struct": {`
		p, err := dlpack.Export(make([]int64, 8))
		check(err)
		m, err := dlpack.Import(p)
		check(err)
		m.Release()
		fmt.Println(p.DLTensor.NDim)`, "heap-use-after-free"},
	"a tensor's shape": {`
		p, err := dlpack.Export(make([]int64, 8))
		check(err)
		m, err := dlpack.Import(p)
		check(err)
		shape := m.Tensor().Shape()
		m.Release()
		fmt.Println(shape[0])`, "heap-use-after-free"},
	"a second release": {`
		p, err := dlpack.Export(make([]int64, 8))
		check(err)
		for range 2 {
			m, err := dlpack.Import(p)
			check(err)
			m.Release()
		}`, "heap-use-after-free"},
	"the memory of a Buffer": {`
		b, err := dlpack.Alloc[int64](8)
		check(err)
		values := b.Slice()
		b.Release()
		fmt.Println(values[3])`, "heap-use-after-free"},
	"past the end of a Buffer": {`
		b, err := dlpack.Alloc[int64](8)
		check(err)
		p, err := b.Export()
		check(err)
		p.DLTensor.ByteOffset = 512
		m, err := dlpack.Import(p)
		check(err)
		values, err := dlpack.Data[int64](m.Tensor())
		check(err)
		fmt.Println(values[0])`, "heap-buffer-overflow"},
	"nothing wrong": {`
		b, err := dlpack.Alloc[int64](8)
		check(err)
		p, err := b.Export()
		check(err)
		b.Release()
		m, err := dlpack.Import(p)
		check(err)
		fmt.Println(m.Tensor().Len())
		m.Release()`, ""},
}

// All bodies are in one program, which runs one by name: a build takes longer than a run.
func TestPoolsHideNothingFromTheAddressSanitizer(t *testing.T) {
	tier.OnlyNightly(t)
	skipShort(t)
	text := "func main() {\nswitch os.Args[1] {\n"
	for name, test := range afterTheEnd {
		text += fmt.Sprintf("case %q:\n%s\n", name, test.body)
	}
	built := filepath.Join(t.TempDir(), "program")
	program(t, text+"}\n}\n").mustRun(t, "build", "-asan", "-o", built, ".")
	for name, test := range afterTheEnd {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(built, name).CombinedOutput()
			if test.report == "" {
				require.NoError(t, err, "%s", out)
				return
			}
			require.Error(t, err, "%s", out)
			assert.Contains(t, string(out), "AddressSanitizer: "+test.report)
		})
	}
}

const leaksSome = `
func forgetImport() {
	p, err := dlpack.Export([]int8{1})
	check(err)
	_, err = dlpack.Import(p)
	check(err)
}

func forgetBuffer() {
	_, err := dlpack.Alloc[float32](4)
	check(err)
}

func forgetBatch() {
	p, err := dlpack.Export([]int8{1})
	check(err)
	b := new(dlpack.Batch)
	_, err = b.Import(p)
	check(err)
}

func keepsNothing() {
	p, err := dlpack.Export([]int8{1})
	check(err)
	var m dlpack.Managed
	check(m.Init(p))
	m.Release()
	m.Release()
	p, err = dlpack.Export([]int8{1})
	check(err)
	check(m.Init(p))
	versioned, _ := m.Detach()
	var b dlpack.Batch
	_, err = b.Import(versioned)
	check(err)
	b.Release()
	buffer, err := dlpack.Alloc[float32](4)
	check(err)
	buffer.Release()
}

func main() {
	keepsNothing()
	fmt.Println("none:", len(dlpack.Leaks()))
	forgetImport()
	forgetBuffer()
	forgetBatch()
	for _, leak := range dlpack.Leaks() {
		fmt.Println("left:", leak.What)
	}
	for round := 0; round < 5 || len(dlpack.Leaks()) > 0 && reports.Load() < 3; round++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
}
`

// watchesReports counts log messages, which are late on a busy machine.
const watchesReports = `package main

import (
	"log"
	"os"
	"sync/atomic"
)

var reports atomic.Int64

type counter struct{}

func (counter) Write(p []byte) (int, error) {
	defer reports.Add(1)
	return os.Stderr.Write(p)
}

func init() { log.SetOutput(counter{}) }
`

func TestTheDebugTagReportsLeaksWithTheirStacks(t *testing.T) {
	skipShort(t)
	m := program(t, leaksSome).shared(t)
	m.write(t, map[string]string{"watch.go": watchesReports})
	m.mustRun(t, "vet", "-tags=dlpackdebug", "./...")
	assert.Equal(t, "none: 0\n", m.mustRun(t, "run", "."), "in another build nothing is kept")
	out := m.mustRun(t, "run", "-tags=dlpackdebug", ".")
	assert.Contains(t, out,
		"none: 0\nleft: exported tensor\nleft: imported tensor\nleft: Buffer\nleft: exported tensor\nleft: Batch\n")
	for what, where := range map[string]string{"imported tensor": "main.forgetImport", "Buffer": "main.forgetBuffer",
		"Batch": "main.forgetBatch"} {
		report := regexp.MustCompile(`dlpack: leak: ` + what + ` made by\n(?s:.*?)` + regexp.QuoteMeta(where))
		assert.Regexp(t, report, out)
	}
	assert.Equal(t, 3, strings.Count(out, "dlpack: leak: "), "each once, and not what a consumer still has")
}

func TestConformanceInADebugBuild(t *testing.T) {
	skipShort(t)
	bindings(t).mustRun(t, "test", "-short", "-tags=dlpackdebug", "./dlpack/dlpacktest")
}
