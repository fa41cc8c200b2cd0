//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

import (
	"sync"
	"testing"

	dlpack "dlpackgen.invalid/dlpack"
)

// testOwnership counts deleters: each one runs exactly once, whichever side owned the
// tensor last.
func testOwnership(t *testing.T) {
	t.Run("ReleaseOnce", testReleaseOnce)
	t.Run("Detach", testDetach)
	t.Run("NoDeleter", func(t *testing.T) {
		s := newForeign(t)
		s.versioned().Deleter, s.legacy().Deleter = 0, 0
		must[managed](t)(dlpack.Import(s.versioned())).Release()
		must[managed](t)(dlpack.ImportLegacy(s.legacy())).Release()
		equal(t, "deleters called", s.deleted(), 0)
	})
	t.Run("OtherMajorVersion", testOtherMajor)
	t.Run("DoubleRelease", testDoubleRelease)
}

func testReleaseOnce(t *testing.T) {
	s := newForeign(t)
	for i, m := range []*dlpack.Managed{
		must[managed](t)(dlpack.Import(s.versioned())),
		must[managed](t)(dlpack.ImportLegacy(s.legacy())),
	} {
		equal(t, "deleters called before Release", s.deleted(), i)
		var all sync.WaitGroup
		for range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				m.Release()
			}()
		}
		all.Wait()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		equal(t, "deleters called", s.deleted(), i+1)
		_, err := dlpack.Data[float32](m.Tensor())
		rejected(t, "Data after Release", err, dlpack.ErrReleased)
	}
}

func testDetach(t *testing.T) {
	s := newForeign(t)
	m := must[managed](t)(dlpack.Import(s.versioned()))
	versioned, legacy := m.Detach()
	equal(t, "versioned struct", versioned, s.versioned())
	equal(t, "legacy struct", legacy, nil)
	m.Release()
	equal(t, "deleters called", s.deleted(), 0)
	versioned, legacy = m.Detach()
	equal(t, "nothing left", versioned == nil && legacy == nil, true)

	m = must[managed](t)(dlpack.ImportLegacy(s.legacy()))
	versioned, legacy = m.Detach()
	equal(t, "versioned struct", versioned, nil)
	equal(t, "legacy struct", legacy, s.legacy())
}

// testOtherMajor fills every field with values that would crash a reader, except the fields that no
// version may move.
func testOtherMajor(t *testing.T) {
	for _, major := range []uint32{0, dlpack.MajorVersion + 1, 1<<32 - 1} {
		s := newForeign(t)
		s.versioned().Version.Major = major
		s.versioned().DLTensor = dlpack.DLTensor{Data: 1, NDim: 4, Shape: 9, Strides: 9}
		_, err := dlpack.Import(s.versioned())
		rejected(t, "another major version", err, dlpack.ErrVersion)
		equal(t, "deleters called", s.deleted(), 1)
	}
}

// testDoubleRelease releases a tensor twice, which no consumer may do. The second call must be
// counted, and must not assign one tensor's memory to two others.
func testDoubleRelease(t *testing.T) {
	if sanitized {
		t.Skip("the sanitizer itself ends a program that does this")
	}
	noLeak(t)
	before := dlpack.DoubleReleases()
	var twice []*dlpack.DLManagedTensorVersioned
	for range 64 {
		p := must[exported](t)(dlpack.Export([]int8{1}))
		twice = append(twice, p, p)
	}
	deleteOnThreads(4, twice...) // an equal part each, so threads do not share a tensor
	legacy := must[exportedLegacy](t)(dlpack.ExportLegacy([]int8{1}, dlpack.ExportOptions{}))
	deleteLegacyOnThread(legacy)
	deleteLegacyOnThread(legacy)
	equal(t, "double releases", dlpack.DoubleReleases()-before, 65)
}
