/* Texts of errors that several callers use. Part of message.h. */
#ifndef DLPACKGEN_TEXTS_H_
#define DLPACKGEN_TEXTS_H_

#define DLPACKGEN_TEXT_READ_ONLY "it is read-only, but the parameter is writable"
#define DLPACKGEN_TEXT_MISSING "it is missing"
#define DLPACKGEN_TEXT_INTS "a list of int"
#define DLPACKGEN_TEXT_FLOATS "a list of float"
#define DLPACKGEN_TEXT_NOT_BORROWED "it cannot be borrowed"
#define DLPACKGEN_TEXT_NUL "expected a string without NUL"
#define DLPACKGEN_TEXT_NEGATED "its memory holds the negated values: pass resolve_neg()"
#define DLPACKGEN_TEXT_CONJUGATED "its memory holds the conjugated values: pass resolve_conj()"
#define DLPACKGEN_TEXT_NOT_DENSE "it has no dense memory: pass to_dense()"
#define DLPACKGEN_TEXT_UNNAMED "its dtype has no DLPack equivalent"
#define DLPACKGEN_TEXT_OTHER_TYPE "its type changed during the call"
#define DLPACKGEN_TEXT_NO_CAPSULE "its __dlpack__() did not return an unconsumed DLPack capsule"
#define DLPACKGEN_TEXT_NO_DEVICE "its __dlpack_device__() did not return a device type and an id"
#define DLPACKGEN_TEXT_NO_STORAGE \
  "it has elements but no memory: its storage was freed, or it is a functionalized, fake or zero tensor"
#define DLPACKGEN_TEXT_NO_TENSOR "its exchange table returned no tensor"
#define DLPACKGEN_TEXT_NO_STREAM "its library does not report its current stream"
#define DLPACKGEN_TEXT_NONE "expected a tensor, got None"
#define DLPACKGEN_TEXT_NO_COPY "no memory for a contiguous copy"
#define DLPACKGEN_TEXT_NO_TORCH_DTYPE "PyTorch has no dtype "
#define DLPACKGEN_TEXT_MASKED "some of its elements may be masked, but DLPack has no masks"
#define DLPACKGEN_TEXT_LEGACY \
  "a read-only or padded tensor needs a consumer that passes max_version=" DLPACKGEN_VERSIONED_SINCE
#define DLPACKGEN_TEXT_FOREIGN_OBJECT "the object is not of the exchange table's type"
#define DLPACKGEN_TEXT_WHOLE_BYTES "only host memory with elements of whole bytes can be copied"
#define DLPACKGEN_TEXT_NO_PAIR "%s is not a tuple of two integers"
#define DLPACKGEN_TEXT_OTHER_DEVICE "the tensor is on device (%d, %d), requested (%lld, %lld)"
#define DLPACKGEN_TEXT_NO_FLAGS "a borrowed tensor cannot be marked read-only or padded"
#define DLPACKGEN_TEXT_UNREADABLE "it cannot be read"
#define DLPACKGEN_TEXT_BEYOND_STORAGE \
  "it extends beyond its storage, which was resized: resize it back, or pass a tensor that fits"
#define DLPACKGEN_TEXT_NO_BACKWARD                                                                                  \
  "an argument requires a gradient, but the kernel has no backward: call it under torch.no_grad(), pass detach(), " \
  "or describe `backward:` in dlpackgen.yaml"
#define DLPACKGEN_TEXT_NO_FORWARD_MODE \
  "an argument has a forward-mode derivative, which kernels do not support: use backward mode"
#define DLPACKGEN_TEXT_NO_MEMORY "no memory for it"
#define DLPACKGEN_TEXT_TOO_MANY_ARGUMENTS "too many arguments"
/** Parts of texts, to which callers add the subject, a number or the rest. */
#define DLPACKGEN_TEXT_NO_STRIDES "has no strided memory: pass to_dense()"
#define DLPACKGEN_TEXT_PASS_COPY ": pass a contiguous copy"
#define DLPACKGEN_TEXT_PASS_TENSOR ": pass a tensor"
/** The text between a dtype and a number. */
#define DLPACKGEN_TEXT_OUT_OF_RANGE " cannot represent "
/** Instead of a number of more than 1023 bits. */
#define DLPACKGEN_TEXT_LARGE "an integer of that size"

#endif /* DLPACKGEN_TEXTS_H_ */
