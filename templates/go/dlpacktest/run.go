//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"errors"
	"slices"
	"testing"

	dlpack "dlpackgen.invalid/dlpack"
)

// Run tests the bindings, with a subtest for each area. It takes a few seconds, or less than one
// with -short.
func Run(t *testing.T) {
	for _, area := range []struct {
		name string
		test func(*testing.T)
	}{
		{"Layouts", testLayouts},
		{"RoundTrips", testRoundTrips},
		{"Strides", testStrides},
		{"Flags", testFlags},
		{"Ownership", testOwnership},
		{"Lifetimes", testLifetimes},
		{"Exchange", testExchange},
		{"Threads", testThreads},
		{"Hostile", testHostile},
	} {
		t.Run(area.name, area.test)
	}
}

// noLeak fails the test if more tensors are exported at its end than now.
func noLeak(t *testing.T) {
	t.Helper()
	before := dlpack.Drain()
	t.Cleanup(func() {
		if after := dlpack.Drain(); after != before {
			t.Errorf("%d tensors were exported before the test, %d after it", before, after)
		}
	})
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func equalSlices[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// rejected fails unless err is an [dlpack.Error] of that kind.
func rejected(t *testing.T, what string, err, kind error) {
	t.Helper()
	var failure *dlpack.Error
	if !errors.Is(err, kind) || !errors.As(err, &failure) || failure.Detail == "" {
		t.Errorf("%s: got %v, want %v with a detail", what, err, kind)
	}
}

// The results of calls of the bindings, besides an error.
type (
	exported       = *dlpack.DLManagedTensorVersioned
	exportedLegacy = *dlpack.DLManagedTensor
	managed        = *dlpack.Managed
)

// must returns the value; an error ends the test.
func must[V any](t *testing.T) func(V, error) V {
	t.Helper()
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// imported imports a tensor, and releases it at the end of the test.
func imported(t *testing.T, p *dlpack.DLManagedTensorVersioned) dlpack.Tensor {
	t.Helper()
	m := must[managed](t)(dlpack.Import(p))
	t.Cleanup(m.Release)
	return m.Tensor()
}
