// Command module is the Python module gopy, with which the scripts in the parent folder test
// package dlpackpy.
package main

import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/gen/go/dlpack/dlpackpy"
)

var module = dlpackpy.Module{
	Name: "gopy",
	Doc:  "Functions in Go.",
	Functions: []dlpackpy.Function{
		{Name: "describe", Doc: "describe(x): what Go sees of a tensor", Call: describe},
		{Name: "describe_owned", Doc: "the same of a tensor that Go owns", Call: describeOwned},
		{Name: "sum", Doc: "sum(x): of float32 elements", Call: sum},
		{Name: "fill", Doc: "fill(x, value): float32 elements in place", Call: fill},
		{Name: "overwrite", Doc: "overwrite(x, value): fill by a tensor that is said to be writable", Call: overwrite},
		{Name: "add", Params: []string{"a", "b", "out"}, Doc: "Adds float32 elements.", Call: add},
		{Name: "counting", Doc: "counting(rows, columns, read_only): a float32 matrix of Go, 0 1 2 ...",
			Call: counting},
		{Name: "strided", Doc: "strided(): a float32 matrix of Go, transposed and with an offset", Call: strided},
		{Name: "forward", Doc: "forward(x): another object over the same memory", Call: forward},
		{Name: "outstanding", Params: []string{}, Doc: "Tensors of Go that are not released", Call: outstanding},
		{Name: "flags", Doc: "flags(x): those of DLPack", Call: flags},
		{Name: "hold", Doc: "hold(x): keeps a tensor, by a number", Call: hold},
		{Name: "held_sum", Doc: "held_sum(number): of float32 elements", Call: heldSum},
		{Name: "release", Doc: "release(number): on another thread, if told to", Call: release},
		{Name: "echo", Doc: "echo(x, kind): a value through Go", Call: echo},
		{Name: "fail", Doc: "fail(kind): an error of Go", Call: fail},
		{Name: "mishap", Doc: "mishap(kind): results that cannot be, and the GIL given up twice", Call: mishap},
		{Name: "meet", Doc: "meet(parties): without the GIL", Call: meet},
		{Name: "sleep", Doc: "sleep(seconds): without the GIL", Call: sleep},
		{Name: "probe", Doc: "probe(plan, *args): reads arguments in the order of a plan, then all elements",
			Call: probe},
		{Name: "tell", Params: []string{"text='nothing'"}, Doc: "On stdout, also when Python's own is gone.",
			Call: report},
		{Name: "count", Params: numbered(24), Doc: "of integers", Call: count},
		{Name: "stale", Doc: "stale(x): uses the Call of a function that has returned", Call: stale},
	},
}

//export PyInit_gopy
func PyInit_gopy() unsafe.Pointer { return module.Init() }

func main() {
	if module.Init() == nil {
		fmt.Println("no module")
	}
}

// numbered returns the names of optional parameters: n1, n2 and so on.
func numbered(count int) (all []string) {
	for i := range count {
		all = append(all, fmt.Sprintf("n%d=0", i+1))
	}
	return all
}

func count(call *dlpackpy.Call) (any, error) {
	for i := range call.Len() {
		if _, err := call.Int(i); err != nil {
			return nil, err
		}
	}
	return call.Len(), nil
}

func describe(call *dlpackpy.Call) (any, error) {
	t, err := call.Tensor(0)
	if err != nil {
		return nil, err
	}
	return description(t), nil
}

func describeOwned(call *dlpackpy.Call) (any, error) {
	m, err := call.Import(0)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	return description(m.Tensor()), nil
}

func description(t dlpack.Tensor) []any {
	return []any{int(t.Addr()), t.DataType().String(), tuple(t.Shape()), tuple(t.Strides()), t.Device().String(),
		t.IsReadOnly()}
}

func tuple(numbers []int64) []any {
	out := make([]any, len(numbers))
	for i, n := range numbers {
		out[i] = n
	}
	return out
}

func sum(call *dlpackpy.Call) (any, error) {
	values, err := dlpackpy.Data[float32](call, 0)
	return total(values), err
}

func total(values []float32) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return sum
}

func fill(call *dlpackpy.Call) (any, error) {
	value, err := call.Float(1)
	if err != nil {
		return nil, err
	}
	values, err := dlpackpy.WritableData[float32](call, 0)
	for i := range values {
		values[i] = float32(value)
	}
	return nil, err
}

func overwrite(call *dlpackpy.Call) (any, error) {
	value, err := call.Float(1)
	if err != nil {
		return nil, err
	}
	m, err := call.Import(0)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	values, err := dlpack.WritableData[float32](m.WritableTensor())
	for i := range values {
		values[i] = float32(value)
	}
	return nil, err
}

func add(call *dlpackpy.Call) (any, error) {
	tensors, err := call.Tensors(0, 3)
	if err != nil {
		return nil, err
	}
	a, errA := dlpack.Data[float32](tensors[0])
	b, errB := dlpack.Data[float32](tensors[1])
	out, errOut := dlpack.WritableData[float32](tensors[2])
	if err := errors.Join(errA, errB, errOut); err != nil {
		return nil, err
	}
	if len(a) != len(out) || len(b) != len(out) {
		return nil, &dlpackpy.Exception{Type: "ValueError", Message: "lengths differ"}
	}
	for i := range out {
		out[i] = a[i] + b[i]
	}
	return nil, nil
}

func counted(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	return values
}

func counting(call *dlpackpy.Call) (any, error) {
	rows, errRows := call.Int(0)
	columns, errColumns := call.Int(1)
	readOnly, errFlag := call.Int(2)
	if err := errors.Join(errRows, errColumns, errFlag); err != nil {
		return nil, err
	}
	options := dlpack.ExportOptions{Shape: []int64{rows, columns}}
	if readOnly != 0 {
		options.Flags = dlpack.FlagReadOnly
	}
	return dlpack.ExportWith(counted(int(rows*columns)), options)
}

func strided(*dlpackpy.Call) (any, error) {
	return dlpack.ExportWith(counted(13), dlpack.ExportOptions{Shape: []int64{4, 3}, Strides: []int64{1, 4}, Offset: 1})
}

func forward(call *dlpackpy.Call) (any, error) { return call.Import(0) }

func outstanding(*dlpackpy.Call) (any, error) {
	runtime.GC()
	return dlpack.Drain(), nil
}

func flags(call *dlpackpy.Call) (any, error) {
	m, err := call.Import(0)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	return int(m.Tensor().Flags()), nil
}

var (
	held    sync.Map // of int64 to *dlpack.Managed
	numbers atomic.Int64
)

func hold(call *dlpackpy.Call) (any, error) {
	m, err := call.Import(0)
	if err != nil {
		return nil, err
	}
	number := numbers.Add(1)
	held.Store(number, m)
	return number, nil
}

// gopyReleaseAll releases the held tensors, and prints their number to stdout: it runs after
// Python's own stdout is closed.
//
//export gopyReleaseAll
func gopyReleaseAll() {
	held.Range(func(_, m any) bool {
		m.(*dlpack.Managed).Release()
		fmt.Println("released after the end")
		return true
	})
}

func heldBy(call *dlpackpy.Call) (*dlpack.Managed, error) {
	number, err := call.Int(0)
	if err != nil {
		return nil, err
	}
	m, ok := held.Load(number)
	if !ok {
		return nil, &dlpackpy.Exception{Type: "KeyError", Message: fmt.Sprint(number)}
	}
	return m.(*dlpack.Managed), nil
}

func heldSum(call *dlpackpy.Call) (any, error) {
	m, err := heldBy(call)
	if err != nil {
		return nil, err
	}
	values, err := dlpack.Data[float32](m.Tensor())
	return total(values), err
}

// release releases the GIL for a release on another thread, whose deleter may need it.
func release(call *dlpackpy.Call) (any, error) {
	m, err := heldBy(call)
	if err != nil {
		return nil, err
	}
	elsewhere, err := call.Int(1)
	if err != nil {
		return nil, err
	}
	if elsewhere == 0 {
		m.Release()
		return nil, nil
	}
	call.WithoutGIL(func() {
		done := make(chan struct{})
		go func() {
			runtime.LockOSThread() // and end the thread with the goroutine
			m.Release()
			close(done)
		}()
		<-done
	})
	return nil, nil
}

func echo(call *dlpackpy.Call) (any, error) {
	kind, err := call.String(1)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "int":
		return call.Int(0)
	case "float":
		return call.Float(0)
	case "text":
		return call.String(0)
	case "bool":
		n, err := call.Int(0)
		return n != 0, err
	case "object":
		return call.Object(0), nil
	case "pair":
		return []any{call.Object(0), nil}, nil
	default:
		return struct{}{}, nil
	}
}

func fail(call *dlpackpy.Call) (any, error) {
	kind, err := call.String(0)
	switch {
	case err != nil:
		return nil, err
	case kind == "index":
		return []any{}[len(kind)], nil
	case kind == "nil pointer":
		var none *dlpackpy.Exception
		none.Type = kind
	case kind == "nil exception":
		var none *dlpackpy.Exception
		return nil, none
	case kind == "plain":
		return nil, errors.New("a plain error\x00 with \xff bytes")
	case kind == "wrapped":
		return nil, fmt.Errorf("while working: %w", &dlpackpy.Exception{Type: "KeyError", Message: "it"})
	case kind == "argument":
		return nil, fmt.Errorf("while working: %w", dlpack.ErrArgument)
	case kind == "dlpack":
		_, err := dlpack.Data[float32](dlpack.Tensor{})
		return nil, err
	}
	return nil, &dlpackpy.Exception{Type: kind, Message: "as asked"}
}

func mishap(call *dlpackpy.Call) (any, error) {
	kind, err := call.String(0)
	if err != nil {
		return nil, err
	}
	some, err := dlpack.Export([]int32{1})
	switch {
	case err != nil:
		return nil, err
	case kind == "both":
		return some, errors.New("as well as a result")
	case kind == "tuple":
		m, err := dlpack.Import(some)
		if err != nil {
			return nil, err
		}
		more, err := dlpack.Export([]int32{2})
		return []any{1, struct{}{}, m, []any{more}}, err
	}
	call.WithoutGIL(func() { call.WithoutGIL(func() { _, err = call.Int(0) }) })
	return []any{err.Error(), some}, nil
}

var (
	here  atomic.Int64
	alone atomic.Bool // a call has given up
)

// meet returns when as many calls are running concurrently, without the GIL. Its limit is CPU time,
// which the calls of other processes do not use.
func meet(call *dlpackpy.Call) (any, error) {
	parties, err := call.Int(0)
	last := (here.Add(1) + parties - 1) / parties * parties
	end := cpuTime() + 10*time.Second
	call.WithoutGIL(func() {
		for here.Load() < last && !alone.Load() {
			runtime.Gosched()
			alone.Store(alone.Load() || cpuTime() > end)
		}
	})
	if err == nil && alone.Load() {
		err = errors.New("no other call came")
	}
	return nil, err
}

// cpuTime is the time that this process has used a processor.
func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func sleep(call *dlpackpy.Call) (any, error) {
	seconds, err := call.Float(0)
	call.WithoutGIL(func() { time.Sleep(time.Duration(seconds * float64(time.Second))) })
	return nil, err
}

// probe executes a plan of steps, such as "t0 f1": a letter for the method, and the number of an
// argument after the plan. It reads elements only at the end, like functions that first read all of
// their arguments.
func probe(call *dlpackpy.Call) (any, error) {
	plan, err := call.String(0)
	if err != nil {
		return nil, err
	}
	var tensors []dlpack.Tensor
	for _, step := range strings.Fields(plan) {
		i := int(step[1]-'0') + 1
		more, err := read(call, step[0], i)
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", step, err)
		}
		tensors = append(tensors, more...)
	}
	seen := []any{}
	for _, t := range tensors {
		touched := 0.0
		if runs, err := dlpack.Runs[float32](t); err == nil {
			for run := range runs {
				touched += total(run)
			}
		}
		seen = append(seen, append(description(t), touched))
	}
	return seen, nil
}

// read executes one step of a plan. "b" reads all arguments from one on in a batch.
func read(call *dlpackpy.Call, method byte, i int) (tensors []dlpack.Tensor, err error) {
	var t dlpack.Tensor
	switch method {
	case 'i':
		_, err = call.Int(i)
		return nil, err
	case 'f':
		_, err = call.Float(i)
		return nil, err
	case 's':
		_, err = call.String(i)
		return nil, err
	case 'm':
		m, err := call.Import(i)
		if err == nil {
			m.Release()
		}
		return nil, err
	case 'x':
		_, _ = call.Tensor(i) // and continues
		return nil, nil
	case 'b':
		return call.Tensors(i, call.Len()-i)
	default:
		t, err = call.Tensor(i)
		return []dlpack.Tensor{t}, err
	}
}

func report(call *dlpackpy.Call) (any, error) {
	if call.Len() == 0 {
		return nil, nil
	}
	text, err := call.String(0)
	fmt.Println(text)
	return nil, err
}

var previous *dlpackpy.Call

func stale(call *dlpackpy.Call) (any, error) {
	old := previous
	previous = call
	if old == nil {
		return nil, nil
	}
	_, err := old.Tensor(0)
	return old.Len(), err
}
