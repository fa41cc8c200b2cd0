
/* One interface to the memory and the streams of every kind of device. A backend
 * is a table of functions, which C, C++, Go and Python call alike; its driver is
 * found at run time, when it is first asked for something, and stays loaded.
 *
 * Every function gives a code, 0 for success, and fills the caller's error, which
 * may be NULL. None of them aborts, keeps anything for the calling thread, or
 * changes which context is current there. All may be called from any thread. What
 * a function takes is checked; what the driver cannot check (a stream that was
 * destroyed) the caller answers for. A driver that cannot be used fails every call
 * with the first error. So it does in a child of fork: drivers do not survive it.
 *
 * Structs that begin with `size` can grow: new members are added at the end. The caller
 * sets `size` to the sizeof that it was compiled with. The callee reads and writes the
 * members within `size` alone, and takes the members beyond it for 0. A size below that
 * of the first version is an invalid argument. All other structs stay as they are. */
#ifndef DLPACKGEN_BACKEND_H_
#define DLPACKGEN_BACKEND_H_

#include "dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when the meaning of a function or a struct changes. New functions are
 * added at the end, and `size` tells whether they are there. */
#define DLPACKGEN_BACKEND_ABI_VERSION 1

/* How many bytes of a struct reach to the end of a member. */
#define DLPACKGEN_BACKEND_END(type, member) (offsetof(type, member) + sizeof(((type*)0)->member))

/* Tells whether a struct that begins with `size` has a member. */
#define DLPACKGEN_BACKEND_HAS(type, object, member) ((object)->size >= DLPACKGEN_BACKEND_END(type, member))

/* What went wrong. Each has texts of its own; `driver_code` has the driver's number. */
enum dlpackgen_backend_code {
  DLPACKGEN_BACKEND_OK = 0,
  DLPACKGEN_BACKEND_DRIVER_NOT_FOUND = 1,        /* the driver's library was not found, or does not load */
  DLPACKGEN_BACKEND_DRIVER_STUB = 2,             /* it is the stub that toolkits bring along for linkers */
  DLPACKGEN_BACKEND_DRIVER_TOO_OLD = 3,          /* it lacks a function, or is older than the oldest that is used */
  DLPACKGEN_BACKEND_NO_DEVICE = 4,               /* it sees no device */
  DLPACKGEN_BACKEND_UNAVAILABLE = 5,             /* it does not start, or the device is taken */
  DLPACKGEN_BACKEND_FORKED = 6,                  /* it was started before this process was forked off */
  DLPACKGEN_BACKEND_INVALID_ARGUMENT = 7,        /* NULL, a negative extent, a size beyond what is addressable */
  DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE = 8,     /* a type of device that the backend does not serve */
  DLPACKGEN_BACKEND_INVALID_DEVICE = 9,          /* an id that no device has */
  DLPACKGEN_BACKEND_INVALID_STREAM = 10,         /* a number that stands for no stream, a handle of none */
  DLPACKGEN_BACKEND_STREAM_DEVICE_MISMATCH = 11, /* a stream of another device */
  DLPACKGEN_BACKEND_CAPTURING = 12,              /* a capture into a graph is under way, and forbids that */
  DLPACKGEN_BACKEND_CONTEXT_MISMATCH = 13,       /* memory of another context than the one that libraries share */
  DLPACKGEN_BACKEND_NOT_MAPPED = 14, /* an address without memory: of a graph that does not run, or reserved only */
  DLPACKGEN_BACKEND_NOT_LINEAR = 15, /* an array of textures */
  DLPACKGEN_BACKEND_MEMORY_MISMATCH = 16,    /* freed, or of another device than the tensor says */
  DLPACKGEN_BACKEND_UNSUPPORTED_LAYOUT = 17, /* tensors that cannot be copied as one run of bytes */
  DLPACKGEN_BACKEND_NOT_ALLOCATED_HERE = 18, /* a tensor that this backend did not allocate */
  DLPACKGEN_BACKEND_OUT_OF_MEMORY = 19,      /* of the device or of the host */
  DLPACKGEN_BACKEND_UNSUPPORTED = 20,        /* the device or the driver cannot do it */
  DLPACKGEN_BACKEND_SHUTTING_DOWN = 21,      /* the driver shuts down, as at the end of a process */
  DLPACKGEN_BACKEND_DEVICE_LOST = 22,        /* a kernel failed, and the device is of no use until the process ends */
  DLPACKGEN_BACKEND_DRIVER_ERROR = 23,       /* any other error of the driver */
  DLPACKGEN_BACKEND_HOST_MEMORY = 24,        /* the host's, or shared with it, where a device's own alone is taken */
  DLPACKGEN_BACKEND_DEVICE_IDS_UNKNOWN = 25  /* how the library that numbers the devices does that is not known */
};

/* An error; the caller's. `text` ends with NUL and says where, what was expected,
 * what came and, where there is something to do, what. */
typedef struct dlpackgen_backend_error {
  int32_t code;        /* dlpackgen_backend_code */
  int32_t driver_code; /* of the driver; 0 where it was not asked */
  char text[504];
} dlpackgen_backend_error;

/* Flags of a stream: nothing is to be ordered on it, as -1 says in Python. */
enum { DLPACKGEN_STREAM_NO_SYNC = 1 };

/* A stream. `handle` is what the driver takes: NULL is the default stream. */
typedef struct dlpackgen_stream {
  void* handle;
  DLDevice device; /* of the backend's own type, with an ordinal */
  uint32_t flags;  /* DLPACKGEN_STREAM_NO_SYNC */
  uint32_t reserved;
} dlpackgen_stream;

/* Where streams come from: a callback of the program, or, where that is NULL, one
 * stream for each device. The program's, which keeps it as long as it is in use. */
typedef struct dlpackgen_stream_source {
  /* Gives 0 and the handle of the stream that is current for a device. */
  int (*current)(void* state, DLDevice device, void** handle);
  void* state;
  void* const* handles; /* by ordinal; NULL: the default stream everywhere */
  size_t count;
} dlpackgen_stream_source;

/* What the driver is. */
typedef struct dlpackgen_driver_info {
  size_t size;     /* sizeof(dlpackgen_driver_info) of the caller */
  int64_t version; /* of the driver, in its own counting */
  int32_t devices; /* at least 1 */
  int32_t reserved;
} dlpackgen_driver_info;
#define DLPACKGEN_DRIVER_INFO_INIT {sizeof(dlpackgen_driver_info), 0, 0, 0}

/* Whose memory an address is in. For what the driver does not know, the device is
 * kDLCPU, `ordinal` is -1, and `base` and `bytes` are 0. */
typedef struct dlpackgen_pointer_attributes {
  size_t size;     /* sizeof(dlpackgen_pointer_attributes) of the caller */
  DLDevice device; /* as DLPack wants it: id 0 for pinned and managed memory */
  int32_t ordinal; /* the device that the driver names for it */
  int32_t reserved;
  const void* base; /* of the allocation, which the address may lie inside of */
  size_t bytes;     /* of the allocation */
} dlpackgen_pointer_attributes;
#define DLPACKGEN_POINTER_ATTRIBUTES_INIT {sizeof(dlpackgen_pointer_attributes), {kDLCPU, 0}, -1, 0, NULL, 0}

/* Flags of a request. */
enum { DLPACKGEN_BACKEND_PEER_ACCESS = 1 }; /* other devices that can reach it may read and write it */

/* What to allocate: {sizeof request, device, dtype, ndim, shape, stream, flags}.
 * `shape` is read and not kept. */
typedef struct dlpackgen_allocation {
  size_t size; /* sizeof(dlpackgen_allocation) of the caller */
  DLDevice device;
  DLDataType dtype;
  int32_t ndim; /* 0 to 64 */
  const int64_t* shape;
  /* Handle of the stream that uses it first; NULL is the default stream. Pinned and
   * managed memory is taken where that stream is. */
  void* stream;
  uint64_t flags;
} dlpackgen_allocation;

/* The table. It is never freed and never changes. */
typedef struct dlpackgen_backend {
  size_t size;          /* sizeof(dlpackgen_backend) as the backend has it */
  uint32_t abi_version; /* DLPACKGEN_BACKEND_ABI_VERSION; read nothing else of a table with another one */
  int32_t device_type;  /* the type with ordinals */
  const char* name;     /* "cuda" */

  /* Loads the driver and starts it; `facts` may be NULL. */
  int (*probe)(dlpackgen_driver_info* facts, dlpackgen_backend_error* error);

  /* Devices have the ids from 0 on, unless the backend's own header says otherwise. */
  int (*device_count)(int32_t* count, dlpackgen_backend_error* error);

  /* Asks the driver whose memory an address is in; not for NULL, which is the
   * `data` of empty tensors. It starts no context on any device. */
  int (*pointer_attributes)(const void* pointer, dlpackgen_pointer_attributes* info, dlpackgen_backend_error* error);

  /* Allocates a compact tensor, uninitialized, with NULL for its data where it has
   * no elements. On its stream it may be used at once. The caller owns it; its
   * deleter may be called on any thread, at exit, in a child of fork, and while the
   * GPU still works on it, on the stream of the request or on those of keep_until.
   * The stream of the request must exist until then, unless keep_until named it. */
  int (*allocate)(const dlpackgen_allocation* request, DLManagedTensorVersioned** tensor,
                  dlpackgen_backend_error* error);

  /* Does what the deleter does, and tells how that went. NULL is fine. */
  int (*deallocate)(DLManagedTensorVersioned* tensor, dlpackgen_backend_error* error);

  /* Gives the stream that a source has for a device; of NULL, the default stream. */
  int (*current_work_stream)(const dlpackgen_stream_source* source, DLDevice device, dlpackgen_stream* stream,
                             dlpackgen_backend_error* error);

  /* Reads the number that `__dlpack__` takes; NULL is Python's None. */
  int (*stream_from_dlpack)(DLDevice device, const int64_t* number, dlpackgen_stream* stream,
                            dlpackgen_backend_error* error);

  /* Makes what is queued on `consumer` from now on wait for what `producer` has so
   * far. It waits for nothing itself. Two streams are ordered while both are captured
   * into one graph, or neither is. */
  int (*stream_wait)(const dlpackgen_stream* consumer, const dlpackgen_stream* producer,
                     dlpackgen_backend_error* error);

  /* Keeps the memory of a tensor of `alloc`, after its deleter was called, until the
   * work that the stream has so far is done. After a call with the stream of the
   * request, the deleter does not use that stream, which may be destroyed by then. */
  int (*keep_until)(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream, dlpackgen_backend_error* error);

  /* Copies all elements; both tensors compact, of one shape and dtype, one at least
   * on a device. Elements narrower than a byte are packed, as a DLTensor has no flags:
   * give padded ones as {kDLUInt, 8, bytes of an element}. It returns when the work is
   * queued, and when it is done where one of them is memory of the host that the
   * driver does not know. */
  int (*copy)(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream, dlpackgen_backend_error* error);

  /* Waits until the work of a stream is done. */
  int (*stream_synchronize)(const dlpackgen_stream* stream, dlpackgen_backend_error* error);
} dlpackgen_backend;

#ifdef __cplusplus
}
#endif

#endif /* DLPACKGEN_BACKEND_H_ */
