//go:build ignore

// Package dlpack exchanges tensors with other languages and libraries in one
// process, without copying them, by the structs of DLPack.
//
// A consumer takes a tensor that a producer, such as NumPy or PyTorch, made:
//
//	managed, err := dlpack_package.Import((*dlpack_package.DLManagedTensorVersioned)(pointer))
//	if err != nil {
//		return err
//	}
//	defer managed.Release()
//	values, err := dlpack_package.Data[float32](managed.Tensor())
//
// [Data] gives contiguous elements as a slice, [Strided] those of a padded matrix as BLAS
// takes them; [Runs] serves any strides, [At] single elements, [PackedData] elements
// narrower than a byte, and [Copy] copies between any two layouts. Formats that Go lacks,
// such as float16 and the floats of 8 bits, have types of their own. Printed
// with %v a tensor shows its elements as NumPy does.
//
// A producer gives out the memory of a slice; the pointer goes to one consumer,
// whose last act is to call the deleter in it:
//
//	pointer, err := dlpack_package.Export(values, 2, 3)
//
// Where a type of objects offers an exchange table, as PyTorch's tensors do, one
// crossing into C borrows the tensors of many objects, and gives the stream to
// work on; [NewExchangeAPI] makes such a table for objects of Go's:
//
//	api, err := dlpack_package.FindExchangeAPI((*dlpack_package.DLPackExchangeAPIHeader)(pointer))
//	if err != nil {
//		return err
//	}
//	err = api.BorrowAll(views, object, other)
//
// The structs named DL... mirror those of C, with an integer in place of each
// pointer: they may lie in C memory, where Go's collector must not follow
// pointers. Compile-time guards hold them against dlpack.h, which stands beside
// the Go files, so the package needs neither flags nor an installed header.
//
// Without cgo only types, constants and the methods of [Tensor] remain. Other
// than 64-bit platforms are rejected at compile time.
package dlpack
