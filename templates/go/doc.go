//go:build ignore

// Package dlpack exchanges tensors with other languages and libraries in one process, without
// copying them, through the structs of DLPack.
//
// A consumer imports a tensor from a producer, such as NumPy or PyTorch:
//
//	managed, err := dlpack_package.Import((*dlpack_package.DLManagedTensorVersioned)(pointer))
//	if err != nil {
//		return err
//	}
//	defer managed.Release()
//	values, err := dlpack_package.Data[float32](managed.Tensor())
//
// [Data] returns contiguous elements as a slice, and [Strided] the elements of a padded matrix in
// the form for BLAS. [Runs] supports any strides, [At] single elements, and [PackedData] elements
// narrower than a byte. [Copy] copies between any two layouts. The package defines types for
// formats that Go lacks, such as float16 and 8-bit floats. The verb %v prints the elements of a
// tensor like NumPy.
//
// A producer exports the memory of a slice. It passes the pointer to one consumer, which calls its
// deleter at the end:
//
//	pointer, err := dlpack_package.Export(values, 2, 3)
//
// If a type has an exchange table, such as PyTorch's tensors, one crossing into C borrows the
// tensors of several objects and returns the current stream. [NewExchangeAPI] creates such a table
// for Go objects:
//
//	api, err := dlpack_package.FindExchangeAPI((*dlpack_package.DLPackExchangeAPIHeader)(pointer))
//	if err != nil {
//		return err
//	}
//	err = api.BorrowAll(views, object, other)
//
// The structs named DL... mirror those of C, with an integer in place of each pointer, because they
// may be in C memory, where Go's garbage collector must not follow pointers. Compile-time guards
// compare them with dlpack.h, which is in the same folder as the Go files, so the package needs
// neither flags nor an installed header.
//
// Without cgo, only types, constants and the methods of [Tensor] are available. Only 64-bit
// platforms are supported; on others, the package does not compile.
package dlpack
