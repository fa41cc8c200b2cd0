// Package calls calls every described kernel from Go.
package calls

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	_ "example.com/tried/author"
	"example.com/tried/go/dlpack"
	"example.com/tried/go/dlpack/kernels"
)

// sentences are the messages of plain C, by mistake: the status, then the text.
var sentences = func() map[string]string {
	text, err := os.ReadFile(os.Getenv("SENTENCES"))
	if err != nil {
		panic(err)
	}
	all := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if label, rest, ok := strings.Cut(line, ": "); ok && all[label] == "" {
			all[label] = rest
		}
	}
	return all
}()

var classes = map[string]string{"1": "TypeError", "2": "ValueError", "3": "BufferError", "5": "RuntimeError",
	"6": "IndexError", "7": "MemoryError", "8": "NotImplementedError"}

// same expects the error that C reports.
func same(t *testing.T, label string, err error) {
	t.Helper()
	number, text, _ := strings.Cut(sentences[label], " ")
	if text == "" {
		t.Fatalf("plain C says nothing of %q", label)
	}
	printed(t, err, classes[number], strings.Replace(text, "ADDRESS", "", 1))
}

// aboutArgument matches messages about one argument, but not an author's similar text.
var aboutArgument = regexp.MustCompile(`^[a-z_0-9]+\(\): argument '([^']*)' \(\d+[a-z]+\)`)

func printed(t *testing.T, err error, class, text string) {
	t.Helper()
	var e *kernels.KernelError
	if !errors.As(err, &e) {
		t.Fatalf("%v is not a KernelError, want %s", err, text)
	}
	if !strings.HasPrefix(e.Message, text) || e.Class != class || err.Error() != e.Message {
		t.Errorf("%s: %s\nwant %s: %s", e.Class, e.Message, class, text)
	}
	kernel, _, _ := strings.Cut(text, "(")
	argument := ""
	if about := aboutArgument.FindStringSubmatch(text); about != nil {
		argument = about[1]
	}
	if e.Kernel != kernel || e.Argument != argument {
		t.Errorf("kernel %q, argument %q of %s", e.Kernel, e.Argument, text)
	}
}

func fine(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func equal[T comparable](t *testing.T, want, got T) {
	t.Helper()
	if want != got {
		t.Errorf("%v, want %v", got, want)
	}
}

// of returns a tensor over new memory.
func of[T dlpack.Element](shape ...int64) dlpack.Tensor {
	n := int64(1)
	for _, extent := range shape {
		n *= extent
	}
	return over(make([]T, n), shape...)
}

func over[T dlpack.Element](data []T, shape ...int64) dlpack.Tensor {
	made, err := dlpack.TensorOf(data, shape...)
	if err != nil {
		panic(err)
	}
	return made
}

// strided changes the strides of a tensor from of.
func strided(x dlpack.Tensor, strides ...int64) dlpack.Tensor {
	copy(x.Strides(), strides)
	return x
}

// imported returns a tensor with flags, and its owner.
func imported(t *testing.T, flags dlpack.ExportOptions, data []float32, shape ...int64) dlpack.Tensor {
	t.Helper()
	flags.Shape = shape
	pointer, err := dlpack.ExportWith(data, flags)
	fine(t, err)
	managed, err := dlpack.Import(pointer)
	fine(t, err)
	t.Cleanup(managed.Release)
	return managed.Tensor()
}

func TestScale(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, 7}
	x := over(data, 2, 3)
	fine(t, kernels.Scale(x, kernels.ScaleOptions{By: kernels.Float(3)}))
	equal(t, 21, data[5])
	fine(t, kernels.Scale(x, kernels.ScaleOptions{}))
	equal(t, 42, data[5])
	fine(t, kernels.Scale(strided(over(data, 2, 3), 1, 2), kernels.ScaleOptions{By: kernels.Int(2)}))
	same(t, "elements on each other", kernels.Scale(strided(of[float32](2, 3), 0, 2), kernels.ScaleOptions{}))
	same(t, "missing", kernels.Scale(dlpack.Tensor{}, kernels.ScaleOptions{}))
	same(t, "dtype", kernels.Scale(of[int32](2, 3), kernels.ScaleOptions{}))
	same(t, "failure", kernels.Scale(of[float64](2, 3), kernels.ScaleOptions{By: kernels.Int(0)}))
	fixed := imported(t, dlpack.ExportOptions{Flags: dlpack.FlagReadOnly}, data, 2, 3)
	same(t, "read-only", kernels.Scale(fixed, kernels.ScaleOptions{}))
	wrong := of[float32](2, 3)
	wrong.Raw().Data += 2
	same(t, "misaligned", kernels.Scale(wrong, kernels.ScaleOptions{}))
	wrong = of[float32](2, 3)
	wrong.Raw().Data = 0
	same(t, "no memory", kernels.Scale(wrong, kernels.ScaleOptions{}))
	wrong = of[float32](2, 3)
	wrong.Raw().Device.Type = dlpack.DeviceCUDA
	same(t, "device", kernels.Scale(wrong, kernels.ScaleOptions{}))
	wrong = of[float32](2, 3)
	wrong.Shape()[0] = -1
	same(t, "invalid", kernels.Scale(wrong, kernels.ScaleOptions{}))
}

// joined are valid arguments of join.
type joined struct {
	bias, x, w, idx, y dlpack.Tensor
	q                  kernels.JoinOptions
}

func (j joined) call() error {
	_, err := kernels.Join(j.bias, j.x, j.w, j.idx, j.y, j.q)
	return err
}

func TestJoin(t *testing.T) {
	fits := func(change func(*joined)) joined {
		j := joined{bias: of[float32](4), x: of[float32](2, 3, 4), w: of[float32](4, 2, 3), idx: of[int64](2, 5),
			y: of[float32](2, 3, 4, 10)}
		change(&j)
		return j
	}
	q := func(value int64) kernels.JoinOptions { return kernels.JoinOptions{Q: kernels.Some(value)} }
	j := fits(func(*joined) {})
	rows, err := kernels.Join(j.bias, j.x, j.w, j.idx, j.y, j.q)
	fine(t, err)
	equal(t, 240, rows)
	rows, err = kernels.Join(j.bias, j.x, j.w, j.idx, j.y, q(9))
	fine(t, err)
	equal(t, 9, rows)
	rows, err = kernels.Join(j.bias, j.x, j.w, j.idx, j.y, kernels.JoinOptions{Q: kernels.None[int64]()})
	fine(t, err)
	equal(t, 240, rows)
	for label, change := range map[string]func(*joined){
		"another dtype before the one that decides": func(j *joined) { j.bias = of[float64](4) },
		"another dtype": func(j *joined) { j.w = of[int32](4, 2, 3) },
		"a dtype that a condition excludes": func(j *joined) {
			j.bias, j.x, j.w = of[int32](4), of[int32](2, 3, 4), of[int32](4, 2, 3)
		},
		"none of two dtypes":              func(j *joined) { j.idx = of[uint64](2, 5) },
		"a symbol":                        func(j *joined) { j.bias = of[float32](5) },
		"a symbol of the second argument": func(j *joined) { j.bias, j.w = dlpack.Tensor{}, of[float32](5, 2, 3) },
		"a number":                        func(j *joined) { j.w = of[float32](4, 2, 4) },
		"rank":                            func(j *joined) { j.w = of[float32](4, 2) },
		"least rank":                      func(j *joined) { j.x = of[float32]([]int64{}...) },
		"not solvable":                    func(j *joined) { j.w = of[float32](4, 3, 3) },
		"computed":                        func(j *joined) { j.idx = of[int64](3, 5) },
		"and": func(j *joined) {
			j.bias, j.x, j.w = of[float32](3), of[float32](2, 3, 3), of[float32](3, 2, 3)
		},
		"no result":                 func(j *joined) { j.y = dlpack.Tensor{} },
		"dtype of a result":         func(j *joined) { j.y = of[float64](2, 3, 4, 10) },
		"shape of a result":         func(j *joined) { j.y = of[float32](2, 3, 3, 10) },
		"rank of a result":          func(j *joined) { j.y = of[float32](2, 3, 40) },
		"layout of a result":        func(j *joined) { strided(j.y, 240, 40, 10, 1) },
		"device of a result":        func(j *joined) { j.y.Raw().Device.Type = dlpack.DeviceCUDA },
		"a result over an argument": func(j *joined) { j.y.Raw().Data = j.bias.Raw().Data },
	} {
		t.Run(label, func(t *testing.T) { same(t, label, fits(change).call()) })
	}
	fixed := imported(t, dlpack.ExportOptions{Flags: dlpack.FlagReadOnly}, make([]float32, 240), 2, 3, 4, 10)
	printed(t, fits(func(j *joined) { j.y = fixed }).call(), "BufferError",
		"join(): argument 'y' (6th): it is read-only")
}

func TestResultsAreAllocated(t *testing.T) {
	x := over([]float32{5, 1, 1, 1}, 1, 4)
	y, rows, err := kernels.JoinNew(dlpack.Tensor{}, x, of[float32](4, 2, 3), of[int64](2, 5), kernels.JoinOptions{})
	fine(t, err)
	equal(t, 40, rows)
	made := y.Tensor()
	equal(t, 3, made.NDim())
	equal(t, 10, made.Shape()[2])
	equal(t, dlpack.DTypeFloat32, made.DataType())
	equal(t, 0, made.Addr()%64)
	equal(t, false, made.IsReadOnly())
	values, err := dlpack.Data[float32](made)
	fine(t, err)
	equal(t, 5, values[0])
	y.Release()
	_, _, err = kernels.JoinNew(dlpack.Tensor{}, x, of[float32](5, 2, 3), of[int64](2, 5), kernels.JoinOptions{})
	same(t, "a symbol of the second argument", err)
	// A failing kernel returns nothing, and its allocations are freed.
	total, z, err := kernels.ScalarsNew("sum", []int64{50, 51, 1}, kernels.ScalarsOptions{Tiny: kernels.Some[int8](-3)})
	same(t, "errors", errorOf(z, total, err))
	none, err := kernels.GroupsNew(of[float32](3), of[float32](0, 3, 4), dlpack.Tensor{}, of[int8](5))
	fine(t, err)
	equal(t, 0, none.Tensor().Len())
	none.Release()
}

func errorOf(z *dlpack.Managed, total float64, err error) error {
	if z != nil || total != 0 {
		return errors.New("there are results beside the error")
	}
	return err
}

// Results are in the memory that the package allocates; elsewhere, the caller provides them.
func TestResultsOnDevices(t *testing.T) {
	x := of[float32](2, 3)
	x.Raw().Device.Type = dlpack.DeviceCUDA
	_, err := kernels.OnDeviceNew(x, kernels.OnDeviceOptions{})
	printed(t, err, "NotImplementedError",
		"on_device(): result 'y': the package allocates only on cpu, but the call is on cuda:0: pass a tensor")
	y := of[float32](2, 3)
	y.Raw().Device.Type = dlpack.DeviceCUDA
	printed(t, kernels.OnDevice(x, y, kernels.OnDeviceOptions{}), "RuntimeError",
		"on_device(): the kernel failed with status 42")
	printed(t, kernels.OnDevice(x, y, kernels.OnDeviceOptions{Stream: 7}), "RuntimeError",
		"on_device(): the kernel failed with status 41")
}

func TestLayouts(t *testing.T) {
	call := func(mask dlpack.Tensor, change func(rows, block, columns *dlpack.Tensor)) error {
		rows, block := of[float32](2, 3), strided(of[int16](2, 3), 1, 2)
		columns := strided(of[float64](2, 3), 1, 2)
		wide, err := dlpack.Alloc[uint8](64)
		fine(t, err)
		defer wide.Release()
		change(&rows, &block, &columns)
		return kernels.Layouts(rows, block, columns, wide.Tensor(), kernels.LayoutsOptions{Mask: mask})
	}
	fits := func(rows, block, columns *dlpack.Tensor) {}
	fine(t, call(dlpack.Tensor{}, fits))
	same(t, "status of a kernel without errors", call(of[bool](2), fits))
	same(t, "inner", call(dlpack.Tensor{}, func(rows, _, _ *dlpack.Tensor) { strided(*rows, 8, 2) }))
	same(t, "any order", call(dlpack.Tensor{}, func(_, block, _ *dlpack.Tensor) { strided(*block, 3, 2) }))
	same(t, "column-major", call(dlpack.Tensor{}, func(_, _, columns *dlpack.Tensor) { strided(*columns, 3, 1) }))
	same(t, "an optional argument", call(of[bool](3), fits))
}

func TestWritten(t *testing.T) {
	block := make([]float32, 64)
	a, b, c, d := over(block[:4]), over(block[8:12]), over(block[16:20]), over(block[32:44], 3, 4)
	fine(t, kernels.Written(a, b, c, d))
	fine(t, kernels.Written(a, c, c, dlpack.Tensor{}))
	same(t, "overlap of one element", kernels.Written(over(block[19:23]), over(block[16:20]), over(block[16:20]), d))
	same(t, "two that are written", kernels.Written(over(block[32:36]), b, c, d))
}

func TestScalars(t *testing.T) {
	z := of[float64](2, 3)
	total, err := kernels.Scalars("mean", []int64{1, 3, 3}, z, kernels.ScalarsOptions{Weights: []float64{0.5, 0.25},
		Flag: kernels.Some(true), Limit: kernels.Some(20.0)})
	fine(t, err)
	equal(t, 1123.75, total)
	total, err = kernels.Scalars("sum", []int64{1, 3, 3}, z, kernels.ScalarsOptions{})
	fine(t, err)
	equal(t, 3, total)
	failing := func(mode string, o kernels.ScalarsOptions, sizes ...int64) error {
		_, err := kernels.Scalars(mode, sizes, z, o)
		return err
	}
	var o kernels.ScalarsOptions
	same(t, "too few items", failing("sum", kernels.ScalarsOptions{Weights: []float64{1}}, 1, 3, 3))
	same(t, "a list that is too short", failing("sum", o, 1, 3))
	printed(t, failing("sum", o), "ValueError", "scalars(): argument 'sizes' (2nd): expected at least 3 items, got 0")
	same(t, "a text", failing("median", o, 1, 3, 3))
	printed(t, failing("me\x00n", o, 1, 3, 3), "ValueError",
		"scalars(): argument 'mode' (1st): expected a string without NUL")
	long := strings.Repeat("sum", 1000)
	printed(t, failing(long, o, 1, 3, 3), "ValueError",
		"scalars(): expected mode in \"sum\"|\"mean\", where mode = 'sumsum")
	printed(t, failing("", o, 1, 3, 3), "ValueError", "scalars(): expected mode in \"sum\"|\"mean\", where mode = ''")
	same(t, "a negative extent", failing("sum", o, 5, 3, 3))
	same(t, "overflow by one", failing("sum", o, -3037000500, 3, 3))
	printed(t, failing("sum", kernels.ScalarsOptions{Tiny: kernels.None[int8]()}, 1, 3, 3), "TypeError",
		"scalars(): argument 'tiny' (5th): expected int8, got None")
}

func TestNumbers(t *testing.T) {
	var o kernels.NumbersOptions
	twice, size, err := kernels.Numbers(of[int16](3), kernels.Int(-7), o)
	fine(t, err)
	equal(t, -14, twice.Int())
	equal(t, 3, size)
	twice, _, err = kernels.Numbers(of[uint64](3), kernels.Uint(math.MaxInt64), o)
	fine(t, err)
	equal(t, math.MaxUint64-1, twice.Uint())
	equal(t, "18446744073709551614", twice.String())
	half := of[dlpack.Float16](3)
	twice, size, err = kernels.Numbers(half, kernels.Float(1.5), o)
	fine(t, err)
	equal(t, 3, twice.Float())
	equal(t, 4, size)
	_, size, err = kernels.Numbers(half, kernels.Float(1.5), kernels.NumbersOptions{S: kernels.None[string]()})
	fine(t, err)
	equal(t, -1, size)
	_, size, err = kernels.Numbers(half, kernels.Float(1.5), kernels.NumbersOptions{
		S: kernels.Some(strings.Repeat("x", 500))})
	fine(t, err)
	equal(t, 500, size)
	twice, _, err = kernels.Numbers(of[bool](3), kernels.Bool(false), o)
	fine(t, err)
	equal(t, true, twice.Bool())
	twice, _, err = kernels.Numbers(of[bool](3), kernels.Int(1), o)
	fine(t, err)
	equal(t, false, twice.Bool())
	for want, call := range map[string]struct {
		x dlpack.Tensor
		a kernels.Number
	}{
		"OverflowError: int16 cannot represent 32768":                  {of[int16](3), kernels.Int(32768)},
		"OverflowError: int16 cannot represent -32769":                 {of[int16](3), kernels.Int(-32769)},
		"OverflowError: uint64 cannot represent -1":                    {of[uint64](3), kernels.Int(-1)},
		"OverflowError: float16 cannot represent 65505.0":              {half, kernels.Float(65505)},
		"OverflowError: float16 cannot represent 65505":                {half, kernels.Int(65505)},
		"OverflowError: float16 cannot represent 18446744073709551615": {half, kernels.Uint(math.MaxUint64)},
		"OverflowError: float16 cannot represent 1e+300":               {half, kernels.Float(1e300)},
		"TypeError: expected int16, got float":                         {of[int16](3), kernels.Float(1)},
		"OverflowError: bool cannot represent 2":                       {of[bool](3), kernels.Int(2)},
		"OverflowError: bool cannot represent -1":                      {of[bool](3), kernels.Int(-1)},
		"TypeError: expected bool, got float":                          {of[bool](3), kernels.Float(1)},
		"TypeError: expected int16, got bool":                          {of[int16](3), kernels.Bool(true)},
		"TypeError: it is missing":                                     {half, kernels.Number{}},
	} {
		class, text, _ := strings.Cut(want, ": ")
		_, _, err := kernels.Numbers(call.x, call.a, o)
		printed(t, err, class, "numbers(): argument 'a' (2nd): "+text)
	}
	_, _, err = kernels.Numbers(of[int32](3), kernels.Float(1), o)
	printed(t, err, "TypeError", "numbers(): argument 'x' (1st): expected float16, int16, uint64 or bool, got int32")
	_, _, _, err = kernels.Copies(of[float32](1, 1), of[float32](1, 1), kernels.CopiesOptions{
		Half: kernels.Some[float32](70000)})
	printed(t, err, "OverflowError", "copies(): argument 'half' (3rd): float16 cannot represent 70000.0")
}

// tensors have one element, by dtype.
var tensors = map[string]func() dlpack.Tensor{
	"bool": func() dlpack.Tensor { return of[bool](1) },
	"int8": func() dlpack.Tensor { return of[int8](1) }, "uint8": func() dlpack.Tensor { return of[uint8](1) },
	"int16": func() dlpack.Tensor { return of[int16](1) }, "uint16": func() dlpack.Tensor { return of[uint16](1) },
	"int32": func() dlpack.Tensor { return of[int32](1) }, "uint32": func() dlpack.Tensor { return of[uint32](1) },
	"int64": func() dlpack.Tensor { return of[int64](1) }, "uint64": func() dlpack.Tensor { return of[uint64](1) },
	"float16":  func() dlpack.Tensor { return of[dlpack.Float16](1) },
	"bfloat16": func() dlpack.Tensor { return of[dlpack.BFloat16](1) },
	"float32":  func() dlpack.Tensor { return of[float32](1) },
	"float64":  func() dlpack.Tensor { return of[float64](1) },
}

// Each kind of scalar for each dtype; there are no complex numbers.
func TestKindsOfScalars(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(filepath.Dir(os.Getenv("SENTENCES")), "kinds.txt"))
	fine(t, err)
	rows := 0
	for line := range strings.SplitSeq(strings.TrimSpace(string(table)), "\n") {
		cells := strings.Fields(line)
		if cells[0] == "#" {
			continue
		}
		rows++
		for i, number := range []struct {
			of           kernels.Number
			kind, digits string
		}{{kernels.Bool(true), "bool", ""}, {kernels.Int(1), "int", ""},
			{kernels.Uint(1 << 63), "int", "9223372036854775808"},
			{kernels.Float(1.5), "float", ""}} {
			name, kinds := "kinds_other", kernels.KindsOther
			if strings.HasPrefix(cells[0], "int") {
				name, kinds = "kinds_int", kernels.KindsInt
			} else if cells[0][0] == 'u' {
				name, kinds = "kinds_uint", kernels.KindsUint
			}
			err := kinds(tensors[cells[0]](), number.of)
			switch text := name + "(): argument 'a' (2nd): "; cells[1+i] {
			case "ok":
				fine(t, err)
			case "TypeError":
				printed(t, err, cells[1+i], text+"expected "+cells[0]+", got "+number.kind)
			default:
				printed(t, err, cells[1+i], text+cells[0]+" cannot represent "+number.digits)
			}
		}
	}
	equal(t, len(tensors), rows)
}

func TestKernelsWithoutTensors(t *testing.T) {
	fine(t, kernels.Divide(-7, 2, -4, 1))
	same(t, "by zero", kernels.Divide(3, 0, 0, 0))
	same(t, "a wrong quotient", kernels.Divide(-3, 2, -1, -1))
	y, err := kernels.AloneNew()
	fine(t, err)
	values, err := dlpack.Data[int64](y.Tensor())
	fine(t, err)
	equal(t, 5, values[2])
	y.Release()
}

// Calls from many goroutines do not run concurrently, unless the kernel permits it.
func TestGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			y := of[int64](3)
			for range 10 {
				fine(t, kernels.Alone(y))
				same(t, "missing", kernels.Scale(dlpack.Tensor{}, kernels.ScaleOptions{}))
			}
		}()
	}
	all.Wait()
}

// No call allocates, with any kinds of arguments.
func TestCallsAllocateNothing(t *testing.T) {
	x, y, z := of[float32](2, 3), of[float32](2, 3), of[float64](2, 3)
	sizes, weights := []int64{1, 3, 3}, []float64{0.5, 0.25}
	half, w, idx, j := of[dlpack.Float16](3), of[float32](4, 2, 3), of[int64](2, 5), of[float32](2, 3, 4, 10)
	jx := of[float32](2, 3, 4)
	for name, call := range map[string]func() error{
		"tensor and number": func() error { return kernels.Scale(x, kernels.ScaleOptions{By: kernels.Float(1)}) },
		"results": func() error {
			_, err := kernels.Join(dlpack.Tensor{}, jx, w, idx, j, kernels.JoinOptions{Q: kernels.Some[int64](2)})
			return err
		},
		"lists, texts and options": func() error {
			_, err := kernels.Scalars("mean", sizes, z,
				kernels.ScalarsOptions{Weights: weights, Flag: kernels.Some(true)})
			return err
		},
		"results of a variable": func() error {
			_, _, err := kernels.Numbers(half, kernels.Float(1.5), kernels.NumbersOptions{})
			return err
		},
		"copies": func() error {
			_, _, _, err := kernels.Copies(x, y, kernels.CopiesOptions{})
			return err
		},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := call(); err != nil {
				t.Fatal(name, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// crossings counts the calls into C.
func crossings(call func()) int64 {
	before := runtime.NumCgoCall()
	call()
	return runtime.NumCgoCall() - before
}

// A call crosses into C once. A failing call crosses again, to free the message. Two calls are
// counted separately.
func TestCallsCrossOnce(t *testing.T) {
	x, y, z := of[float32](2, 3), of[float32](2, 3), of[float64](2, 3)
	scale := func(by float64) { _ = kernels.Scale(x, kernels.ScaleOptions{By: kernels.Float(by)}) }
	equal(t, 1, crossings(func() { scale(1) }))
	equal(t, 2, crossings(func() { scale(1); scale(1) }))
	equal(t, 1, crossings(func() { _, _, _, _ = kernels.Copies(x, y, kernels.CopiesOptions{}) }))
	equal(t, 1, crossings(func() {
		_, _ = kernels.Scalars("mean", []int64{1, 3, 3}, z, kernels.ScalarsOptions{Weights: []float64{0.5, 0.25}})
	}))
	equal(t, 2, crossings(func() { _ = kernels.Scale(of[int32](2, 3), kernels.ScaleOptions{}) }))
	equal(t, 0, crossings(func() { scale(1e300) })) // Go detects that it does not fit in float32
}
