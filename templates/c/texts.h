/* Texts of errors that several callers use. Part of message.h. */
#ifndef DLPACKGEN_TEXTS_H_
#define DLPACKGEN_TEXTS_H_

#define DLPACKGEN_TEXT_READ_ONLY "it is read-only, and this argument is written to"
#define DLPACKGEN_TEXT_MISSING "it is missing"
#define DLPACKGEN_TEXT_INTS "a list of int"
#define DLPACKGEN_TEXT_FLOATS "a list of float"
#define DLPACKGEN_TEXT_NOT_BORROWED "it cannot be borrowed"
#define DLPACKGEN_TEXT_NUL "expected a text without NUL"
#define DLPACKGEN_TEXT_NEGATED "its memory holds the negated values: pass resolve_neg()"
#define DLPACKGEN_TEXT_CONJUGATED "its memory holds the conjugated values: pass resolve_conj()"
#define DLPACKGEN_TEXT_NOT_DENSE "it has no dense memory: pass to_dense()"
#define DLPACKGEN_TEXT_UNNAMED "its elements are of a type that DLPack has no name for"
#define DLPACKGEN_TEXT_OTHER_TYPE "it became an object of another type during the call"
#define DLPACKGEN_TEXT_NO_CAPSULE "its __dlpack__() did not return an unconsumed DLPack capsule"
#define DLPACKGEN_TEXT_NO_TENSOR "its exchange table gave no tensor"
#define DLPACKGEN_TEXT_NO_STREAM "its library does not tell its stream"
#define DLPACKGEN_TEXT_NONE "expected a tensor, got None"
#define DLPACKGEN_TEXT_NO_COPY "no memory for a contiguous copy"
#define DLPACKGEN_TEXT_NO_TORCH_DTYPE "PyTorch has no dtype "
#define DLPACKGEN_TEXT_MASKED "some of its elements may be masked, which a tensor cannot say"
#define DLPACKGEN_TEXT_LEGACY "a tensor that is read-only or padded is for consumers that ask for max_version=(1, 0)"
#define DLPACKGEN_TEXT_FOREIGN_OBJECT "an object of another type than the exchange table is for"
#define DLPACKGEN_TEXT_WHOLE_BYTES "copies are made of whole bytes in memory of the host"
#define DLPACKGEN_TEXT_NO_PAIR "%s is not a tuple of two integers"
#define DLPACKGEN_TEXT_OTHER_DEVICE "the tensor is on device (%d, %d), asked for on (%lld, %lld)"
#define DLPACKGEN_TEXT_NO_FLAGS "a borrowed view cannot say that the tensor is read-only or padded"
/** The text between a dtype and a number. */
#define DLPACKGEN_TEXT_OUT_OF_RANGE " does not hold "
/** Instead of a number of more than 1023 bits. */
#define DLPACKGEN_TEXT_LARGE "an integer of that size"

#endif /* DLPACKGEN_TEXTS_H_ */
