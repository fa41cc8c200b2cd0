//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"slices"
	"sync"
)

// ReleaseAll releases all tensors with one crossing into C, each exactly once, like
// [Managed.Release]. Released tensors and nil are skipped.
//
// Each tensor needs one atomic operation. A [Batch] has one owner for all its tensors, and needs
// none.
func ReleaseAll(all ...*Managed) {
	lists := batches.Get().(*[]uintptr)
	list, legacy := slices.Grow((*lists)[:0], len(all))[:len(all)], uintptr(0)
	count := 0
	for _, m := range all {
		if m == nil {
			continue
		}
		if address := m.take(); address != 0 {
			list[count] = tagged(address, m.legacy)
			legacy |= list[count]
			count++
		}
	}
	deleteAll(list[:count], legacy&1)
	*lists = list
	batches.Put(lists)
}

// batches caches the lists of ReleaseAll. They cannot be on the stack, because a deleter may call
// back into Go, and the stack may then grow and move.
var batches = sync.Pool{New: func() any { return new([]uintptr) }}

func tagged(address uintptr, legacy bool) uintptr {
	if legacy {
		address |= 1
	}
	return address
}

// Batch owns several tensors, such as the arguments of a call, and releases all of them at once.
// The zero Batch is empty and ready to use. A Batch keeps its capacity, so reusing it allocates
// nothing.
//
// Its methods may be called from several goroutines at once. The tensors from Import are valid
// until Release is called. A Batch must not be copied.
type Batch struct {
	mu     sync.Mutex
	list   []uintptr // addresses, tagged
	legacy uintptr   // 1 if one of them is a legacy tensor
	trace  trace
}

// Import takes ownership of a tensor, also on error, like the function [Import]. It returns a view
// that is valid until Release.
func (b *Batch) Import(p *DLManagedTensorVersioned) (Tensor, error) {
	var m Managed
	if err := m.Init(p); err != nil {
		return Tensor{}, err
	}
	return b.add(&m), nil
}

// ImportLegacy is [Batch.Import] for the struct without version and flags, like the function
// [ImportLegacy].
func (b *Batch) ImportLegacy(p *DLManagedTensor) (Tensor, error) {
	var m Managed
	if err := m.InitLegacy(p); err != nil {
		return Tensor{}, err
	}
	return b.add(&m), nil
}

// add adds the tensor of a Managed without other references.
func (b *Batch) add(m *Managed) Tensor {
	m.untrack()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		b.track()
	}
	address := tagged(m.address, m.legacy)
	b.list = append(b.list, address)
	b.legacy |= address & 1
	return m.tensor
}

// Len returns the number of tensors.
func (b *Batch) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list)
}

// Release calls the deleters of all tensors, in the order of their import, with one crossing into
// C. Afterwards the Batch is empty. Each tensor is released exactly once, even if several
// goroutines call Release.
func (b *Batch) Release() {
	b.mu.Lock()
	list, legacy := b.list, b.legacy
	b.list, b.legacy = nil, 0 // a deleter may call this method
	b.untrack()
	b.mu.Unlock()
	deleteAll(list, legacy)
	b.mu.Lock()
	if b.list == nil {
		b.list = list[:0]
	}
	b.mu.Unlock()
}

// Close calls [Batch.Release]. It implements io.Closer and never fails.
func (b *Batch) Close() error {
	b.Release()
	return nil
}
