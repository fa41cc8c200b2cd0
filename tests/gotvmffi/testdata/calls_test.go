// Package calls calls tvm-ffi functions from Go.
package calls

import (
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"example.com/tried/dlpack"
	"example.com/tried/dlpack/tvmffi"
)

func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func same[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// raised expects an error of a function.
func raised(t testing.TB, err error, kind, message string) {
	t.Helper()
	var e *tvmffi.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Message != message || err.Error() != kind+": "+message {
		t.Fatalf("got %v, want %s: %s", err, kind, message)
	}
}

// rejected expects an error of the package.
func rejected(t testing.TB, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want %v: %s", err, kind, text)
	}
}

func open(t testing.TB, variable string) *tvmffi.Library {
	t.Helper()
	l, err := tvmffi.Open(os.Getenv(variable))
	must(t, l, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func function(t testing.TB, name string) *tvmffi.Func {
	t.Helper()
	f, err := open(t, "PLAIN").Func(name)
	return must(t, f, err)
}

func global(t testing.TB, name string) *tvmffi.Func {
	t.Helper()
	withRuntime(t)
	if strings.HasPrefix(name, "testing.") {
		testing_.Do(func() { must(t, 0, second(tvmffi.Open(os.Getenv("TESTING")))) })
	}
	f, err := tvmffi.Global(name)
	must(t, f, err)
	t.Cleanup(f.Release)
	return f
}

var testing_ sync.Once

func second[T any](_ T, err error) error { return err }

func withRuntime(t testing.TB) {
	t.Helper()
	if err := tvmffi.LoadRuntime(os.Getenv("RUNTIME")); err != nil {
		t.Fatal(err)
	}
}

func tensor[T dlpack.Element](t testing.TB, data []T, shape ...int64) dlpack.Tensor {
	t.Helper()
	x, err := dlpack.TensorOf(data, shape...)
	return must(t, x, err)
}

// refs returns the number of references to an object.
func refs(t testing.TB, v tvmffi.Value) int64 {
	t.Helper()
	n, err := global(t, "testing.object_use_count").Call(v)
	must(t, n, err)
	count, err := n.Int()
	return must(t, count, err)
}

// A library without libtvm_ffi: this test runs in a separate process.
func TestPlain(t *testing.T) {
	x := []float32{1, 2, 3}
	scale := function(t, "scale")
	v, err := scale.Call(tvmffi.Tensor(tensor(t, x, 1, 3)), tvmffi.Float(3))
	must(t, v, err)
	same(t, v.IsNone(), true)
	same(t, x[2], 9)
	_, err = scale.Call(tvmffi.None())
	raised(t, err, "RuntimeError", "the function failed; its message needs libtvm_ffi: call LoadRuntime first")
	for _, err := range []error{second(tvmffi.Global("ffi.Array")), second(tvmffi.NewFunc(echo)),
		second(tvmffi.NewTensor(managed(t))), second(tvmffi.LoadModule("x")), second(tvmffi.Array()),
		second(scale.Object()), tvmffi.SetGlobal("x", scale, 0), tvmffi.SetAllocator(nil)} {
		rejected(t, err, tvmffi.ErrRuntime, "call LoadRuntime first")
	}
	rejected(t, tvmffi.LoadRuntime(os.Getenv("PLAIN")), tvmffi.ErrOpen, "it is not libtvm_ffi")
	rejected(t, tvmffi.LoadRuntime("/nowhere/libtvm_ffi.so"), tvmffi.ErrOpen, "/nowhere/libtvm_ffi.so")
}

func echo(args []tvmffi.Value) (tvmffi.Value, error) { return args[0], nil }

func managed(t testing.TB) *dlpack.Managed {
	t.Helper()
	p, err := dlpack.Export([]float32{1, 2, 3})
	must(t, p, err)
	m, err := dlpack.Import(p)
	return must(t, m, err)
}

// libtvm_ffi installs a handler of SIGSEGV that ends the process.
func TestNilPointersPanic(t *testing.T) {
	withRuntime(t)
	defer func() {
		if cause, ok := recover().(runtime.Error); !ok || !strings.Contains(cause.Error(), "nil pointer") {
			t.Errorf("got %v, not a panic of a nil pointer", cause)
		}
	}()
	var nothing *tvmffi.Library
	t.Fatal(nothing.Close())
}

func TestScalarsAndTexts(t *testing.T) {
	withRuntime(t)
	divide := function(t, "divide")
	must(t, 0, second(divide.Call(tvmffi.Int(7), tvmffi.Int(2), tvmffi.Int(3), tvmffi.Int(1))))
	_, err := divide.Call(tvmffi.Int(20), tvmffi.Int(10), tvmffi.Int(2), tvmffi.Int(0))
	raised(t, err, "ValueError", "divide(): expected a + b != 30, where a = 20, b = 10")

	numbers := function(t, "numbers")
	v, err := numbers.Call(tvmffi.Tensor(tensor(t, make([]dlpack.Float16, 2))), tvmffi.Float(-3), tvmffi.String("four"))
	must(t, v, err)
	defer v.Release()
	items, err := v.Items()
	must(t, items, err)
	twice, _ := items[0].Float()
	size, _ := items[1].Int()
	same(t, twice, -6)
	same(t, size, 4) // the letters of the text
	_, err = numbers.Call(tvmffi.Tensor(tensor(t, []int16{1, 2})), tvmffi.String("a"))
	raised(t, err, "TypeError", "numbers(): argument 'a' (2nd): expected int16, got str")
	_, err = numbers.Call(tvmffi.Tensor(tensor(t, []int16{1, 2})), tvmffi.Int(1), tvmffi.String("a\x00b"))
	rejected(t, err, tvmffi.ErrArgument, "argument 3: expected a string without NUL")

	scalars := function(t, "scalars")
	three, err := tvmffi.Array(tvmffi.Int(1), tvmffi.Int(3), tvmffi.Int(2))
	must(t, three, err)
	z := make([]float64, 4)
	v, err = scalars.Call(tvmffi.String("sum"), three, tvmffi.None(), tvmffi.Bool(true), tvmffi.Int(5), tvmffi.None(),
		tvmffi.Tensor(tensor(t, z, 2, 2))) // more than four arguments
	must(t, v, err)
	if total, err := v.Float(); err != nil || total == 0 {
		t.Fatal(total, err)
	}
	same(t, refs(t, three), 1)
	three.Release()
	_, err = scalars.Call(tvmffi.String("sum"), three)
	rejected(t, err, tvmffi.ErrClosed, "argument 2: the array was released")
}

// Every kind of value is returned unchanged by a callback, and by tvm-ffi.
func TestRoundTrips(t *testing.T) {
	ours, err := tvmffi.NewFunc(echo)
	withRuntime(t)
	if err != nil {
		ours, err = tvmffi.NewFunc(echo)
	}
	must(t, ours, err)
	defer ours.Release()
	long := strings.Repeat("long ", 100)
	for _, f := range []*tvmffi.Func{ours, global(t, "testing.echo")} {
		call := func(v tvmffi.Value) tvmffi.Value {
			t.Helper()
			r, err := f.Call(v)
			return must(t, r, err)
		}
		for _, n := range []int64{0, -1, 1 << 62} {
			got, err := call(tvmffi.Int(n)).Int()
			same(t, must(t, got, err), n)
		}
		fraction, err := call(tvmffi.Float(-0.5)).Float()
		same(t, must(t, fraction, err), -0.5)
		truth, err := call(tvmffi.Bool(true)).Bool()
		same(t, must(t, truth, err), true)
		same(t, call(tvmffi.None()).IsNone(), true)
		for _, text := range []string{"", "few", "sevenab", "eightabc", long} {
			got, err := call(tvmffi.String(text)).Text()
			same(t, must(t, got, err), text)
			raw, err := call(tvmffi.Bytes([]byte(text + "\x00"))).Bytes()
			same(t, string(must(t, raw, err)), text+"\x00")
		}
		dtype, err := call(tvmffi.DataType(dlpack.DTypeBFloat16)).DataType()
		same(t, must(t, dtype, err), dlpack.DTypeBFloat16)
		device, err := call(tvmffi.Device(dlpack.Device{Type: dlpack.DeviceCUDA, ID: 3})).Device()
		same(t, must(t, device, err), dlpack.Device{Type: dlpack.DeviceCUDA, ID: 3})
		address, err := call(tvmffi.Pointer(unsafe.Pointer(dlpack.ObjectRelease()))).Pointer()
		same(t, must(t, address, err), dlpack.ObjectRelease())
		array, err := tvmffi.Array(tvmffi.Int(1), tvmffi.String(long))
		must(t, array, err)
		back := call(array)
		same(t, back.Kind(), "array")
		same(t, refs(t, array), 2)
		items, err := back.Items()
		must(t, items, err)
		text, _ := items[1].Text()
		same(t, text, long)
		back.Release()
		back.Release()
		same(t, refs(t, array), 1)
		array.Release()
	}
	shape, err := global(t, "ffi.Shape").Call(tvmffi.Int(2), tvmffi.Int(5))
	must(t, shape, err)
	extents, err := shape.Shape()
	same(t, slices.Equal(must(t, extents, err), []int64{2, 5}), true)
	shape.Release()
	rejected(t, second(shape.Shape()), tvmffi.ErrClosed, "the shape was released")
}

func TestManyArguments(t *testing.T) {
	withRuntime(t)
	f, err := tvmffi.NewFunc(func(args []tvmffi.Value) (tvmffi.Value, error) {
		sum := int64(0)
		for _, arg := range args {
			n, err := arg.Int()
			if err != nil {
				return tvmffi.Value{}, err
			}
			sum = 10*sum + n
		}
		return tvmffi.Int(sum), nil
	})
	must(t, f, err)
	defer f.Release()
	for n, want := range []int64{0, 1, 12, 123, 1234, 12345, 123456, 1234567} {
		args := make([]tvmffi.Value, n)
		for i := range args {
			args[i] = tvmffi.Int(int64(i) + 1)
		}
		v, err := f.Call(args...)
		got, _ := must(t, v, err).Int()
		same(t, got, want)
	}
}

func TestWrongKinds(t *testing.T) {
	for _, err := range []error{second(tvmffi.Float(1).Int()), second(tvmffi.String("").Float()),
		second(tvmffi.Int(1).Bool()), second(tvmffi.None().Text()), second(tvmffi.String("").Bytes()),
		second(tvmffi.Int(1).Pointer()), second(tvmffi.Int(1).DataType()), second(tvmffi.Int(1).Device()),
		second(tvmffi.Int(1).Tensor()), second(tvmffi.Int(1).Managed()), second(tvmffi.Int(1).Items()),
		second(tvmffi.Int(1).Shape()), second(tvmffi.Int(1).Func())} {
		rejected(t, err, tvmffi.ErrKind, "expected ")
	}
	rejected(t, second(tvmffi.Bytes(nil).Text()), tvmffi.ErrKind, "expected str, got bytes")
	n, err := tvmffi.Int(3).Float()
	same(t, must(t, n, err), 3)
	x := tvmffi.Tensor(tensor(t, []int8{1}))
	rejected(t, second(x.Retain()), tvmffi.ErrKind, "a DLTensor, which cannot be kept")
}

func TestWrongTensors(t *testing.T) {
	withRuntime(t)
	scale := function(t, "scale")
	_, err := scale.Call(tvmffi.Tensor(dlpack.Tensor{}))
	rejected(t, err, tvmffi.ErrArgument, "argument 1: the Tensor is empty or was released")
	m := managed(t)
	m.SetReadOnly()
	_, err = scale.Call(tvmffi.Int(1), tvmffi.Tensor(m.Tensor()))
	rejected(t, err, tvmffi.ErrArgument, "argument 2: the tensor is read-only")
	_, err = scale.Call(tvmffi.ReadOnlyTensor(m.Tensor()))
	raised(t, err, "ValueError", "scale(): argument 'x' (1st): expected 2 dimensions, got 1")
	m.Release()
	_, err = scale.Call(tvmffi.Tensor(m.Tensor()))
	rejected(t, err, tvmffi.ErrArgument, "argument 1: the Tensor is empty or was released")

	// Without strides, which tvm-ffi functions rely on.
	data := []float32{1, 2, 3, 4, 5, 6}
	raw := *tensor(t, data, 2, 3).Raw()
	raw.Strides = 0
	bare, err := dlpack.BorrowTensor(&raw, 0)
	must(t, bare, err)
	seen, err := tvmffi.NewFunc(func(args []tvmffi.Value) (tvmffi.Value, error) {
		x, err := args[0].Tensor()
		if err != nil {
			return tvmffi.Value{}, err
		}
		return tvmffi.Array(tvmffi.Int(x.Strides()[0]), tvmffi.Int(x.Strides()[1]))
	})
	must(t, seen, err)
	defer seen.Release()
	v, err := seen.Call(tvmffi.Tensor(bare))
	must(t, v, err)
	items, err := v.Items()
	must(t, items, err)
	first, _ := items[0].Int()
	same(t, first, 3)
	v.Release()
	rejected(t, second(dlpack.BorrowTensor(nil, 0)), dlpack.ErrArgument, "nil")
	raw.NDim = -1
	rejected(t, second(dlpack.BorrowTensor(&raw, 0)), dlpack.ErrShape, "ndim is -1")
}

func TestLibraries(t *testing.T) {
	for _, path := range []string{"", "a\x00b"} {
		rejected(t, second(tvmffi.Open(path)), tvmffi.ErrArgument, "is not a path")
	}
	rejected(t, second(tvmffi.Open("/nowhere/x.so")), tvmffi.ErrOpen, "/nowhere/x.so")
	l, err := tvmffi.Open(os.Getenv("PLAIN"))
	must(t, l, err)
	rejected(t, second(l.Func("nothing")), tvmffi.ErrNotFound, "exports no __tvm_ffi_nothing")
	rejected(t, second(l.Func("scale\x00")), tvmffi.ErrNotFound, `"scale\x00"`)
	scale, err := l.Func("scale")
	must(t, scale, err)
	scale.Release() // no effect
	x := tvmffi.Tensor(tensor(t, []float32{1, 2}, 1, 2))
	must(t, 0, second(scale.Call(x)))
	l.Close()
	l.Close()
	rejected(t, second(scale.Call(x)), tvmffi.ErrClosed, "function scale")
	rejected(t, second(l.Func("scale")), tvmffi.ErrClosed, "library ")
	rejected(t, second(scale.Object()), tvmffi.ErrClosed, "function scale")
}

func TestCallbacks(t *testing.T) {
	withRuntime(t)
	type boxed struct{ error }
	for want, err := range map[string]error{
		"ValueError: not so":          &tvmffi.Error{Kind: "ValueError", Message: "not so"},
		"RuntimeError: plain":         errors.New("plain"),
		"KeyError: deep":              boxed{&tvmffi.Error{Kind: "KeyError", Message: "deep"}}.error,
		"RuntimeError: panic: broken": nil,
		"RuntimeError: tvmffi: invalid argument: a callback returns tensors that NewTensor made": dlpack.ErrShape,
	} {
		calls := 0
		f, failed := tvmffi.NewFunc(func(args []tvmffi.Value) (tvmffi.Value, error) {
			calls++
			switch {
			case err == nil:
				panic("broken")
			case err == dlpack.ErrShape:
				return args[0], nil
			}
			return tvmffi.Value{}, err
		})
		must(t, f, failed)
		got := second(f.Call(tvmffi.Tensor(tensor(t, []int8{1}))))
		if got == nil || got.Error() != want {
			t.Fatalf("got %v, want %s", got, want)
		}
		same(t, calls, 1)
		// Through tvm-ffi's own C++, whose frames it passes.
		passed := tvmffi.Function(f)
		got = second(global(t, "testing.apply").Call(passed, tvmffi.Tensor(tensor(t, []int8{1}))))
		if got == nil || got.Error() != want {
			t.Fatalf("got %v, want %s", got, want)
		}
		f.Release()
		f.Release()
		rejected(t, second(f.Call()), tvmffi.ErrClosed, "function of Go")
		rejected(t, second(global(t, "testing.echo").Call(passed)), tvmffi.ErrClosed, "the function was released")
		rejected(t, second(global(t, "testing.echo").Call(tvmffi.Function(f))), tvmffi.ErrArgument,
			"the Func was released")
	}
	rejected(t, second(tvmffi.NewFunc(nil)), tvmffi.ErrArgument, "nil")
}

// Other projects' libraries return values that ours do not.
func TestOddFunctions(t *testing.T) {
	withRuntime(t)
	l := open(t, "ODD")
	odd := func(name string) *tvmffi.Func {
		f, err := l.Func(name)
		return must(t, f, err)
	}
	_, err := odd("elsewhere").Call()
	raised(t, err, "RuntimeError", "status -2: the function left its error in another host, such as Python")
	_, err = odd("silent").Call()
	raised(t, err, "RuntimeError", "the function failed without an error")
	v, err := odd("names").Call()
	text, _ := must(t, v, err).Text()
	same(t, text, "a name")
	f, err := tvmffi.NewFunc(echo)
	must(t, f, err)
	defer f.Release()
	array, err := tvmffi.Array(tvmffi.Int(7))
	must(t, array, err)
	back, err := odd("moves").Call(tvmffi.Function(f), array)
	must(t, back, err)
	same(t, refs(t, array), 2)
	back.Release()
	array.Release()
}

// tvm-ffi also loads a library, and finds its functions.
func TestModules(t *testing.T) {
	withRuntime(t)
	m, err := tvmffi.LoadModule(os.Getenv("PLAIN"))
	must(t, m, err)
	scale, err := tvmffi.ModuleFunc(m, "scale")
	must(t, scale, err)
	x := []float32{1, 2}
	must(t, 0, second(scale.Call(tvmffi.Tensor(tensor(t, x, 2, 1)), tvmffi.Int(5))))
	same(t, x[1], 10)
	rejected(t, second(tvmffi.ModuleFunc(m, "nothing")), tvmffi.ErrNotFound, `no function "nothing"`)
	var e *tvmffi.Error
	if _, err = tvmffi.ModuleFunc(tvmffi.Int(1), "scale"); !errors.As(err, &e) || e.Kind != "TypeError" {
		t.Fatal(err)
	}
	if _, err = tvmffi.LoadModule("/nowhere/x.so"); !errors.As(err, &e) {
		t.Fatal(err)
	}
	scale.Release()
	m.Release()
}

// Arguments that a call takes over are released, also on failure.
func TestNothingLeaks(t *testing.T) {
	withRuntime(t)
	released := 0
	exported, err := dlpack.ExportPackedWith[dlpack.Uint4](make([]byte, 2), dlpack.ExportOptions{
		Flags: dlpack.FlagIsSubbyteTypePadded, OnRelease: func() { released++ }})
	must(t, exported, err)
	padded, err := dlpack.Import(exported)
	must(t, padded, err)
	var e *tvmffi.Error
	if _, err = tvmffi.NewTensor(padded); !errors.As(err, &e) || !strings.Contains(e.Message, "padded") {
		t.Fatal(err)
	}
	same(t, released, 1)

	freed := make(chan bool, 1)
	f := watched(t, freed)
	must(t, 0, second(f.Call()))
	f.Release()
	for end := cpuTime() + 10*time.Second; len(freed) == 0; runtime.GC() {
		if cpuTime() > end {
			t.Fatal("the callback lives on")
		}
	}
}

// cpuTime is the time that this process has used a processor: load does not add to it.
func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// watched creates a callback, and reports when the collector has freed it.
func watched(t *testing.T, freed chan bool) *tvmffi.Func {
	held := new([64]int64)
	runtime.AddCleanup(held, func(c chan bool) { c <- true }, freed)
	f, err := tvmffi.NewFunc(func([]tvmffi.Value) (tvmffi.Value, error) { return tvmffi.Int(held[3]), nil })
	return must(t, f, err)
}

func TestReleasedResults(t *testing.T) {
	withRuntime(t)
	f, err := tvmffi.NewFunc(func([]tvmffi.Value) (tvmffi.Value, error) {
		v, err := tvmffi.Array()
		v.Release()
		return v, err
	})
	must(t, f, err)
	defer f.Release()
	_, err = f.Call()
	raised(t, err, "RuntimeError", "tvmffi: closed or released: the result was released")
}

// A callback keeps an argument, returns one, and calls others, on a growing stack.
func TestCallbacksKeepAndReturn(t *testing.T) {
	withRuntime(t)
	var kept tvmffi.Value
	f, err := tvmffi.NewFunc(func(args []tvmffi.Value) (tvmffi.Value, error) {
		var err error
		kept, err = args[0].Retain()
		grow(200)
		return args[0], err
	})
	must(t, f, err)
	made, err := tvmffi.NewTensor(managed(t))
	must(t, made, err)
	back, err := f.Call(made, tvmffi.String("a text behind it"))
	must(t, back, err)
	same(t, refs(t, made), 3)
	back.Release()
	kept.Release()
	same(t, refs(t, made), 1)
	x, err := made.Tensor()
	must(t, x, err)
	values, err := dlpack.Data[float32](x)
	same(t, slices.Equal(must(t, values, err), []float32{1, 2, 3}), true)
	m, err := made.Managed()
	must(t, m, err)
	made.Release()
	rejected(t, second(made.Tensor()), tvmffi.ErrClosed, "the tensor was released")
	rejected(t, second(made.Retain()), tvmffi.ErrClosed, "the tensor was released")
	same(t, m.Tensor().Len(), 3)
	m.Release()
	legacy, err := dlpack.ExportLegacy([]float32{1}, dlpack.ExportOptions{})
	must(t, legacy, err)
	old, err := dlpack.ImportLegacy(legacy)
	must(t, old, err)
	rejected(t, second(tvmffi.NewTensor(old)), tvmffi.ErrArgument, "expected a versioned tensor")
	same(t, old.Tensor().Raw() == nil, true)

	// The function exists as long as there is a reference to it.
	object, err := f.Object()
	must(t, object, err)
	f.Release()
	v, err := object.Call(tvmffi.Int(1))
	must(t, v, err)
	object.Release()
}

//go:noinline
func grow(n int) [64]int64 {
	var room [64]int64
	if n > 0 {
		room = grow(n - 1)
	}
	room[n%64]++
	return room
}

// A call on a growing stack still finds its arguments.
func TestStackGrowsDuringACall(t *testing.T) {
	withRuntime(t)
	f, err := tvmffi.NewFunc(func(args []tvmffi.Value) (tvmffi.Value, error) {
		grow(2000)
		x, err := args[0].Tensor()
		if err != nil {
			return tvmffi.Value{}, err
		}
		values, err := dlpack.WritableData[int64](x)
		if err == nil {
			values[2] += values[0]
		}
		return tvmffi.Value{}, err
	})
	must(t, f, err)
	defer f.Release()
	done := make(chan int64)
	go func() { // with a small stack
		data := []int64{40, 1, 2}
		x, _ := dlpack.TensorOf(data)
		_, err := f.Call(tvmffi.Tensor(x))
		if err != nil {
			data[2] = -1
		}
		done <- data[2]
	}()
	same(t, <-done, 42)
}

func TestGlobals(t *testing.T) {
	withRuntime(t)
	_, err := tvmffi.Global("tried.nothing")
	rejected(t, err, tvmffi.ErrNotFound, `no global function "tried.nothing"`)
	scale := function(t, "scale")
	rejected(t, tvmffi.SetGlobal("tried.scale", scale, 0), tvmffi.ErrArgument, "pass the result of its Object")
	object, err := scale.Object()
	must(t, object, err)
	defer object.Release()
	must(t, 0, tvmffi.SetGlobal("tried.scale", object, 0))
	err = tvmffi.SetGlobal("tried.scale", object, 0)
	var e *tvmffi.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "tried.scale") {
		t.Fatal(err)
	}
	rejected(t, tvmffi.SetGlobal("tried.scale", object, 7), tvmffi.ErrArgument, "unknown flags 0x6")
	must(t, 0, tvmffi.SetGlobal("tried.scale", object, tvmffi.Replace))
	x := []float32{1, 2}
	must(t, 0, second(global(t, "tried.scale").Call(tvmffi.Tensor(tensor(t, x, 2, 1)), tvmffi.Int(5))))
	same(t, x[1], 10)
	gone, err := tvmffi.NewFunc(echo)
	must(t, gone, err)
	must(t, 0, tvmffi.SetGlobal("tried.scale", gone, tvmffi.Replace)) // before its library is closed
	gone.Release()
	_, err = global(t, "testing.test_raise_error").Call(tvmffi.String("KeyError"), tvmffi.String("the text"))
	raised(t, err, "KeyError", "the text")
	errors.As(err, &e)
	if !strings.Contains(e.Backtrace, "testing.cc") && e.Backtrace == "" {
		t.Fatalf("%q", e.Backtrace)
	}
}

// With an allocator a kernel returns its result.
func TestReturnedTensors(t *testing.T) {
	withRuntime(t)
	pair := function(t, "pair")
	x := tvmffi.Tensor(tensor(t, []float32{1, 2, 3}))
	_, err := pair.Call(x)
	var e *tvmffi.Error
	if !errors.As(err, &e) || e.Kind != "RuntimeError" || !strings.Contains(e.Message, "allocator") {
		t.Fatal(err)
	}
	rejected(t, tvmffi.SetAllocator(nil), tvmffi.ErrArgument, "no allocator")
	api, err := dlpack.NewExchangeAPI(dlpack.Producer{})
	must(t, api, err)
	must(t, 0, tvmffi.SetAllocator(api))
	v, err := pair.Call(x)
	must(t, v, err)
	items, err := v.Items()
	must(t, items, err)
	same(t, refs(t, items[1]), 2)
	v.Release()
	same(t, refs(t, items[1]), 1)
	made, err := items[1].Tensor()
	must(t, made, err)
	values, err := dlpack.Data[float32](made)
	same(t, slices.Equal(must(t, values, err), []float32{2, 4, 6}), true)
	for _, item := range items {
		item.Release()
	}
}

func TestFunctionsOfValues(t *testing.T) {
	withRuntime(t)
	f, err := tvmffi.NewFunc(echo)
	must(t, f, err)
	v, err := f.Call(tvmffi.Function(f))
	must(t, v, err)
	same(t, v.Kind(), "function")
	again, err := v.Func()
	must(t, again, err)
	v.Release()
	f.Release()
	n, err := again.Call(tvmffi.Int(4))
	got, _ := must(t, n, err).Int()
	same(t, got, 4)
	again.Release()
}

func TestCallsAllocateNothing(t *testing.T) {
	withRuntime(t)
	scale := function(t, "scale")
	x := tensor(t, []float32{1, 2}, 1, 2)
	words := map[string]func(){
		"few": func() { scale.Call(tvmffi.Tensor(x), tvmffi.Float(1)) },
		"texts": func() {
			global2.Call(tvmffi.String("a text that is not small"), tvmffi.Bytes(payload), tvmffi.Int(1), tvmffi.None(),
				tvmffi.Bool(true), tvmffi.Tensor(x))
		},
	}
	global2 = global(t, "testing.nop")
	for name, run := range words {
		if n := testing.AllocsPerRun(1000, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

var (
	global2 *tvmffi.Func
	payload = []byte("bytes")
)

// Many goroutines call, and receive callbacks.
func TestThreads(t *testing.T) {
	withRuntime(t)
	scale := function(t, "scale")
	f, err := tvmffi.NewFunc(func(args []tvmffi.Value) (tvmffi.Value, error) {
		n, err := args[0].Int()
		if n%3 == 0 {
			return tvmffi.Value{}, &tvmffi.Error{Kind: "ValueError", Message: "three"}
		}
		return tvmffi.Int(n + 1), err
	})
	must(t, f, err)
	defer f.Release()
	var all sync.WaitGroup
	for g := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			x := []float32{1, 2}
			value, _ := dlpack.TensorOf(x, 1, 2)
			for i := range 300 {
				if _, err := scale.Call(tvmffi.Tensor(value), tvmffi.Float(1)); err != nil {
					t.Error(err)
				}
				_, err := scale.Call(tvmffi.Int(int64(g)))
				var e *tvmffi.Error
				if !errors.As(err, &e) || e.Kind != "TypeError" {
					t.Error(err)
				}
				v, err := f.Call(tvmffi.Int(int64(i)))
				if n, _ := v.Int(); (i%3 == 0) != (err != nil) || err == nil && n != int64(i)+1 {
					t.Error(n, err)
				}
				if i%100 == 0 {
					runtime.GC()
				}
			}
		}()
	}
	all.Wait()
}

// apache-tvm's own library, and its compiled programs: one calls back into Go.
func TestTVM(t *testing.T) {
	folder := os.Getenv("TVM")
	if folder == "" {
		t.Skip("needs programs of TVM")
	}
	withRuntime(t)
	must(t, 0, second(tvmffi.Open(os.Getenv("TVM_RUNTIME"))))

	plain, err := tvmffi.Open(folder + "/add_one.so")
	must(t, plain, err)
	defer plain.Close()
	addOne, err := plain.Func("add_one")
	must(t, addOne, err)
	x, y := []float32{1, 2, 3}, make([]float32, 3)
	must(t, 0, second(addOne.Call(tvmffi.Tensor(tensor(t, x)), tvmffi.Tensor(tensor(t, y)))))
	same(t, slices.Equal(y, []float32{2, 3, 4}), true)
	_, err = addOne.Call(tvmffi.Tensor(tensor(t, x)))
	var e *tvmffi.Error
	if !errors.As(err, &e) || e.Kind != "TypeError" {
		t.Fatal(err)
	}

	ours, err := tvmffi.NewFunc(func(args []tvmffi.Value) (tvmffi.Value, error) {
		from, err := args[0].Tensor()
		if err != nil {
			return tvmffi.Value{}, err
		}
		to, err := args[1].Tensor()
		if err != nil {
			return tvmffi.Value{}, err
		}
		a, err := dlpack.Data[float32](from)
		if err != nil {
			return tvmffi.Value{}, err
		}
		b, err := dlpack.WritableData[float32](to)
		for i := range b {
			b[i] = a[i] * 10
		}
		return tvmffi.Value{}, err
	})
	must(t, ours, err)
	defer ours.Release()
	must(t, 0, tvmffi.SetGlobal("tried.go", ours, tvmffi.Replace))
	program, err := tvmffi.LoadModule(folder + "/program.so")
	must(t, program, err)
	_, err = tvmffi.ModuleFunc(program, "nothing")
	rejected(t, err, tvmffi.ErrNotFound, `no function "nothing"`)
	load, err := tvmffi.ModuleFunc(program, "vm_load_executable")
	must(t, load, err)
	machine, err := load.Call()
	must(t, machine, err)
	start, err := tvmffi.ModuleFunc(machine, "vm_initialization")
	must(t, start, err)
	must(t, 0, second(start.Call(tvmffi.Int(1), tvmffi.Int(0), tvmffi.Int(2))))
	main, err := tvmffi.ModuleFunc(machine, "main")
	must(t, main, err)
	argument, err := tvmffi.NewTensor(managed(t))
	must(t, argument, err)
	result, err := main.Call(argument)
	must(t, result, err)
	view, err := result.Tensor()
	must(t, view, err)
	values, err := dlpack.Data[float32](view)
	same(t, slices.Equal(must(t, values, err), []float32{20, 40, 60}), true)
	for _, v := range []tvmffi.Value{result, argument} {
		v.Release()
	}
	for _, f := range []*tvmffi.Func{main, start, load} {
		f.Release()
	}
	machine.Release()
	program.Release()
}

// Another project's wheel: xgrammar's CPU kernel, which it registers when it is loaded.
func TestForeignWheel(t *testing.T) {
	path := os.Getenv("XGRAMMAR")
	if path == "" {
		t.Skip("needs xgrammar")
	}
	withRuntime(t)
	must(t, 0, second(tvmffi.Open(path)))
	mask, err := tvmffi.Global("xgrammar.tvm_ffi_binding.kernels.apply_token_bitmask_inplace_cpu")
	must(t, mask, err)
	defer mask.Release()
	logits, bits := make([]float32, 40), []int32{0x5, 0x80}
	shapes := [][2]int64{{1, 40}, {40, 1}, {1, 2}, {2, 1}}
	arrays := make([]tvmffi.Value, len(shapes))
	for i, shape := range shapes {
		arrays[i], err = tvmffi.Array(tvmffi.Int(shape[0]), tvmffi.Int(shape[1]))
		must(t, arrays[i], err)
		defer arrays[i].Release()
	}
	call := func(size int64, dtype string) error {
		return second(mask.Call(tvmffi.Int(int64(uintptr(unsafe.Pointer(&logits[0])))), arrays[0], arrays[1],
			tvmffi.Int(int64(uintptr(unsafe.Pointer(&bits[0])))), arrays[2], arrays[3], tvmffi.Int(size),
			tvmffi.None(), tvmffi.String(dtype)))
	}
	must(t, 0, call(40, "float32"))
	for i, x := range logits {
		allowed := i == 0 || i == 2 || i == 39
		if allowed != (x == 0) || !allowed && !math.IsInf(float64(x), -1) {
			t.Errorf("logits[%d] = %v", i, x)
		}
	}
	if err := call(41, "float32"); err == nil || !strings.Contains(err.Error(), "vocab_size") {
		t.Error(err)
	}
	runtime.KeepAlive(bits)
}
