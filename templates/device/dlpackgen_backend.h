
/* A common interface to the memory and the streams of every kind of device. A backend is a table of
 * functions for C, C++, Go and Python. Its driver is loaded at run time, when a function first
 * needs it, and stays loaded.
 *
 * Every function returns a code, 0 for success, and fills the caller's error, which may be NULL.
 * Functions do not abort, keep no state per thread, and do not change the current context. They may
 * be called from any thread. Arguments are checked; properties that the driver cannot check, such
 * as a destroyed stream, are the caller's responsibility. If the driver cannot be used, every call
 * fails with the first error. In a child of fork, every call fails, because drivers do not work
 * after a fork.
 *
 * Later versions may add members at the end of structs that begin with `size`. The caller sets
 * `size` to the sizeof of its compiled version. The callee reads and writes only the members within
 * `size`, and treats the members beyond it as 0. A size below that of the first version is an
 * invalid argument. All other structs remain unchanged. */
#ifndef DLPACKGEN_BACKEND_H_
#define DLPACKGEN_BACKEND_H_

#include "dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when the meaning of a function or a struct changes. New functions are added at the
 * end; `size` shows whether a table has them. */
#define DLPACKGEN_BACKEND_ABI_VERSION 1

/* The number of bytes from the start of a struct to the end of a member. */
#define DLPACKGEN_BACKEND_END(type, member) (offsetof(type, member) + sizeof(((type*)0)->member))

/* Whether a struct that begins with `size` has a member. */
#define DLPACKGEN_BACKEND_HAS(type, object, member) ((object)->size >= DLPACKGEN_BACKEND_END(type, member))

/* The kind of an error. `text` has the details, and `driver_code` the driver's code. */
enum dlpackgen_backend_code {
  DLPACKGEN_BACKEND_OK = 0,
  DLPACKGEN_BACKEND_DRIVER_NOT_FOUND = 1,        /* the driver's library was not found or cannot be
                                                  * loaded */
  DLPACKGEN_BACKEND_DRIVER_STUB = 2,             /* the library is a toolkit's stub for linkers */
  DLPACKGEN_BACKEND_DRIVER_TOO_OLD = 3,          /* a function is missing, or the driver is older
                                                  * than the minimum */
  DLPACKGEN_BACKEND_NO_DEVICE = 4,               /* no device is visible */
  DLPACKGEN_BACKEND_UNAVAILABLE = 5,             /* the driver does not start, or the device is
                                                  * busy */
  DLPACKGEN_BACKEND_FORKED = 6,                  /* the driver was started before this process was
                                                  * forked */
  DLPACKGEN_BACKEND_INVALID_ARGUMENT = 7,        /* NULL, a negative extent, a size beyond the
                                                  * address space */
  DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE = 8,     /* a device type that the backend does not
                                                  * support */
  DLPACKGEN_BACKEND_INVALID_DEVICE = 9,          /* an id that no device has */
  DLPACKGEN_BACKEND_INVALID_STREAM = 10,         /* a number or a handle that is not a stream */
  DLPACKGEN_BACKEND_STREAM_DEVICE_MISMATCH = 11, /* a stream of another device */
  DLPACKGEN_BACKEND_CAPTURING = 12,              /* forbidden during a capture into a graph */
  DLPACKGEN_BACKEND_CONTEXT_MISMATCH = 13,       /* memory of a context that libraries do not
                                                  * share */
  DLPACKGEN_BACKEND_NOT_MAPPED = 14,             /* an address without memory: of a graph, or only reserved */
  DLPACKGEN_BACKEND_NOT_LINEAR = 15,             /* an array of textures */
  DLPACKGEN_BACKEND_MEMORY_MISMATCH = 16,        /* freed, or of a device other than the declared one */
  DLPACKGEN_BACKEND_UNSUPPORTED_LAYOUT = 17,     /* tensors that cannot be copied as one block */
  DLPACKGEN_BACKEND_NOT_ALLOCATED_HERE = 18,     /* a tensor that this backend did not allocate */
  DLPACKGEN_BACKEND_OUT_OF_MEMORY = 19,          /* of the device or of the host */
  DLPACKGEN_BACKEND_UNSUPPORTED = 20,            /* not supported by the device or the driver */
  DLPACKGEN_BACKEND_SHUTTING_DOWN = 21,          /* the driver is shutting down, such as at exit */
  DLPACKGEN_BACKEND_DEVICE_LOST = 22,            /* a kernel failed, and the device cannot be used any
                                                  * more */
  DLPACKGEN_BACKEND_DRIVER_ERROR = 23,           /* any other error of the driver */
  DLPACKGEN_BACKEND_HOST_MEMORY = 24,            /* host or shared memory, where only device memory is
                                                  * accepted */
  DLPACKGEN_BACKEND_DEVICE_IDS_UNKNOWN = 25      /* the device ids of the library that numbers the
                                                  * devices are unknown */
};

/* An error, owned by the caller. `text` is terminated by NUL, and contains the call, the expected
 * value, the actual value and, if possible, a fix. */
typedef struct dlpackgen_backend_error {
  int32_t code;        /* dlpackgen_backend_code */
  int32_t driver_code; /* of the driver; 0 if the driver was not called */
  char text[504];
} dlpackgen_backend_error;

/* Flags of a stream: no synchronization, like -1 in Python. */
enum { DLPACKGEN_STREAM_NO_SYNC = 1 };

/* A stream. `handle` is the driver's handle; NULL is the default stream. */
typedef struct dlpackgen_stream {
  void* handle;
  DLDevice device; /* of the backend's own type, with an ordinal */
  uint32_t flags;  /* DLPACKGEN_STREAM_NO_SYNC */
  uint32_t reserved;
} dlpackgen_stream;

/* A source of current streams: a callback of the program or, if that is NULL, one stream for each
 * device. The program owns it, and must keep it as long as it is used. */
typedef struct dlpackgen_stream_source {
  /* Returns 0 and the handle of the current stream of a device. */
  int (*current)(void* state, DLDevice device, void** handle);
  void* state;
  void* const* handles; /* by ordinal; NULL: the default stream everywhere */
  size_t count;
} dlpackgen_stream_source;

/* Properties of the driver. */
typedef struct dlpackgen_driver_info {
  size_t size;     /* sizeof(dlpackgen_driver_info) of the caller */
  int64_t version; /* of the driver, in the driver's own numbering */
  int32_t devices; /* at least 1 */
  int32_t reserved;
} dlpackgen_driver_info;
#define DLPACKGEN_DRIVER_INFO_INIT {sizeof(dlpackgen_driver_info), 0, 0, 0}

/* The owner of the memory at an address. If the driver does not know the memory, the device is
 * kDLCPU, `ordinal` is -1, and `base` and `bytes` are 0. */
typedef struct dlpackgen_pointer_attributes {
  size_t size;     /* sizeof(dlpackgen_pointer_attributes) of the caller */
  DLDevice device; /* as in DLPack: id 0 for pinned and managed memory */
  int32_t ordinal; /* the device that the driver reports */
  int32_t reserved;
  const void* base; /* of the allocation, which contains the address */
  size_t bytes;     /* of the allocation */
} dlpackgen_pointer_attributes;
#define DLPACKGEN_POINTER_ATTRIBUTES_INIT {sizeof(dlpackgen_pointer_attributes), {kDLCPU, 0}, -1, 0, NULL, 0}

/* Flags of an allocation. PEER_ACCESS: other devices with peer access may read and write the
 * memory. */
enum { DLPACKGEN_BACKEND_PEER_ACCESS = 1 };

/* Describes an allocation: {sizeof allocation, device, dtype, ndim, shape, stream, flags}. `shape`
 * is not retained. */
typedef struct dlpackgen_allocation {
  size_t size; /* sizeof(dlpackgen_allocation) of the caller */
  DLDevice device;
  DLDataType dtype;
  int32_t ndim; /* 0 to 64, the limit of valid tensors */
  const int64_t* shape;
  /* Handle of the stream that uses the memory first; NULL is the default stream. Pinned and managed
   * memory is allocated on the device of that stream. */
  void* stream;
  uint64_t flags;
} dlpackgen_allocation;

/* The table. It is never freed and never changes. */
typedef struct dlpackgen_backend {
  size_t size;          /* sizeof(dlpackgen_backend) in the backend */
  uint32_t abi_version; /* DLPACKGEN_BACKEND_ABI_VERSION; if it differs, read nothing else of the table */
  int32_t device_type;  /* the device type whose ids are ordinals */
  const char* name;     /* "cuda" */

  /* Loads and starts the driver; `info` may be NULL. */
  int (*probe)(dlpackgen_driver_info* info, dlpackgen_backend_error* error);

  /* Returns the number of devices. Their ids start at 0, unless the backend's own header specifies
   * otherwise. */
  int (*device_count)(int32_t* count, dlpackgen_backend_error* error);

  /* Queries the driver for the owner of the memory at an address, except NULL, which is the `data`
   * of empty tensors. Creates no context on any device. */
  int (*pointer_attributes)(const void* pointer, dlpackgen_pointer_attributes* info, dlpackgen_backend_error* error);

  /* Allocates an uninitialized C-contiguous tensor, whose data is NULL if it has no elements.
   * The tensor may be used at once on the stream of the allocation. The caller owns it. The
   * deleter may be called on any thread, at exit, in a child of fork, and while the GPU still
   * uses the memory on the stream of the allocation or on streams passed to keep_until. The
   * stream of the allocation must exist until then, unless it was passed to keep_until. */
  int (*allocate)(const dlpackgen_allocation* allocation, DLManagedTensorVersioned** tensor,
                  dlpackgen_backend_error* error);

  /* Frees the tensor and returns a status. NULL is allowed. */
  int (*deallocate)(DLManagedTensorVersioned* tensor, dlpackgen_backend_error* error);

  /* Returns the stream of a source for a device; for NULL, the default stream. */
  int (*current_work_stream)(const dlpackgen_stream_source* source, DLDevice device, dlpackgen_stream* stream,
                             dlpackgen_backend_error* error);

  /* Converts a stream number as for `__dlpack__`; NULL is Python's None. */
  int (*stream_from_dlpack)(DLDevice device, const int64_t* number, dlpackgen_stream* stream,
                            dlpackgen_backend_error* error);

  /* Makes later work on `consumer` wait for the work that is queued on `producer`, without blocking
   * the host. Both streams must be captured into the same graph, or neither. */
  int (*stream_wait)(const dlpackgen_stream* consumer, const dlpackgen_stream* producer,
                     dlpackgen_backend_error* error);

  /* Delays freeing the memory of a tensor from `allocate`, after its deleter was called, until the
   * work that is now queued on the stream has finished. After a call with the stream of the
   * allocation, the deleter does not use that stream, which may then be destroyed earlier. */
  int (*keep_until)(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream, dlpackgen_backend_error* error);

  /* Copies all elements. Both tensors must be C-contiguous, with the same shape and dtype, and
   * at least one must be on a device. A DLTensor has no flags, so elements narrower than a byte
   * count as packed: pass padded ones as {kDLUInt, 8, bytes of an element}. The function returns
   * when the copy is queued or, if one tensor is host memory that the driver does not know, when
   * the copy is done. */
  int (*copy)(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream, dlpackgen_backend_error* error);

  /* Waits until the work on a stream is done. */
  int (*stream_synchronize)(const dlpackgen_stream* stream, dlpackgen_backend_error* error);
} dlpackgen_backend;

#ifdef __cplusplus
}
#endif

#endif /* DLPACKGEN_BACKEND_H_ */
