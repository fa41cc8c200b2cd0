/* The types and functions of the interface. Part of dlpackgen_python.h. */
#ifndef DLPACKGEN_PYTHON_API_H_
#define DLPACKGEN_PYTHON_API_H_

#include <Python.h>

#include <dlpackgen/parameter.h>
#include <dlpackgen/tensor.h>
#include "dlpackgen_backend.h"
#include "names.h"
#include "readers.h"

#if PY_VERSION_HEX < 0x030B0000
#error "dlpackgen_python needs the headers of Python 3.11 or newer"
#endif

/* Hidden, because two modules in one process must have separate states. */
#ifdef DLPACKGEN_PYTHON_IMPLEMENTATION
#ifdef _MSC_VER
#define DLPACKGEN_PYTHON_API static
#else
#define DLPACKGEN_PYTHON_API __attribute__((unused)) static
#endif
#elif defined(_WIN32)
#define DLPACKGEN_PYTHON_API
#else
#define DLPACKGEN_PYTHON_API __attribute__((visibility("hidden")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { DLPACKGEN_MAX_REGISTERED = 16, DLPACKGEN_MAX_BACKENDS = 4 };

/** Flags of dlpackgen_from_py_object_no_sync() and dlpackgen_export_capsule(). */
enum { DLPACKGEN_WRITABLE = 1, DLPACKGEN_VERSIONED = 2 };

/** The argument for a parameter. */
struct dlpackgen_argument {
  PyObject* object; /**< borrowed; NULL if an optional argument was omitted */
  int64_t integer;  /**< of an int or bool */
  double real;      /**< of a float */
  /**
   * A tensor, valid until dlpackgen_call_end(). data is NULL if the argument was omitted or has no
   * elements; strides is NULL only if ndim is 0. The struct must not be modified.
   */
  DLTensor tensor;
  uint64_t flags; /**< DLPack's flags; unknown for tensors that are borrowed through a table of
                   * another library */
  /** Not to be used outside of this library. */
  struct {
    const struct dlpackgen_native_reader *reader, *rejecting, *streams;
    const DLPackExchangeAPI* api;
    int (*guard)(PyObject* object, const DLTensor* tensor);
    int (*plain)(PyObject* object);
    DLManagedTensorVersioned* versioned;
    DLManagedTensor* legacy;
    PyTypeObject* type;    /* the type whose table was found */
    DLDevice declared;     /* from __dlpack_device__, if declares is 1 */
    void* producer_stream; /* the library's current stream, if waits is 1 */
    uint8_t queries, trusted, yields, done, declares, waits;
  } private_;
};

/** The state of a place that calls a function, for DLPACKGEN_CALL. */
struct dlpackgen_call_site {
  const struct dlpackgen_function* checked; /* the function whose description was checked last, or
                                             * NULL */
  int capacity;                             /* the number of arguments */
  int checks_itself;                        /* the caller itself checks tensors, except their
                                             * devices */
};

/** One call of a function. Declare it with DLPACKGEN_CALL or DLPACKGEN_CALL_OF. */
struct dlpackgen_call {
  PyObject* module;
  const struct dlpackgen_function* function;
  struct dlpackgen_argument* arguments; /**< one for each parameter */
  /**
   * The device of the call: that of the first tensor outside the CPU, or the CPU. All other tensors
   * are on it too, or belong to parameters that accept only the CPU.
   */
  DLDevice device;
  /** The stream of the call, as a native handle; NULL on a CPU, and for the default stream. */
  void* stream;
  /** The values of the symbols that were used in an argument. */
  int64_t dims[DLPACKGEN_MAX_DIMS];
  /** Not to be used outside of this library. */
  struct {
    struct dlpackgen_call_site* site;
    int64_t* scratch;
    struct dlpackgen_state* state;
    long long number;
    DLDevice device; /* of the stream, from the argument `decides` */
    void* other;     /* the stream of a library that differs from the call's */
    int decides;
    uint8_t bound[DLPACKGEN_MAX_DIMS];
    uint64_t owns; /* a bit for each argument with a managed tensor, and DLPACKGEN_ORDER_PENDING */
    uint8_t has_stream, has_number, elsewhere;
  } private_;
};

/**
 * Declares a call of a function with these parameters, an array. The struct is not cleared, because
 * this would take longer than the call.
 */
#define DLPACKGEN_CALL(call, parameters) DLPACKGEN_CALL_OF(call, sizeof(parameters) / sizeof((parameters)[0]))

/** Declares a call with room for a constant number of parameters. */
#define DLPACKGEN_CALL_OF(call, count) DLPACKGEN_CALL_AT(call, count, 0)

/* Not to be used outside of this library. */
#define DLPACKGEN_CALL_AT(call, count, checks_itself)                                  \
  static struct dlpackgen_call_site call##_site = {NULL, (int)(count), checks_itself}; \
  struct dlpackgen_argument call##_arguments[count];                                   \
  int64_t call##_scratch[(size_t)(count) * DLPACKGEN_SCRATCH];                         \
  struct dlpackgen_call call;                                                          \
  call.private_.site = &call##_site;                                                   \
  call.arguments = call##_arguments;                                                   \
  call.private_.scratch = call##_scratch

/**
 * Checks and unpacks all arguments of a METH_FASTCALL | METH_KEYWORDS function. Returns 0, or -1
 * with an exception for the first wrong argument. After 0, the caller must call
 * dlpackgen_call_end(). Tensors that can be borrowed need no allocation. The description of the
 * function is checked at the first call from each place: a mistake in it raises a SystemError that
 * names function, parameter and field.
 *
 * \param module  the self argument of the function.
 */
DLPACKGEN_PYTHON_API int dlpackgen_call_begin(struct dlpackgen_call* call, PyObject* module,
                                              const struct dlpackgen_function* function, PyObject* const* arguments,
                                              Py_ssize_t count, PyObject* keywords);

/**
 * The same as dlpackgen_call_begin(), with the same errors, but faster: the checks are inlined at
 * the call, specialized for the function. This requires an optimizing compiler, and a function and
 * parameters that are static const. It needs about 1 KiB of code per parameter. In a module with
 * several files, it is dlpackgen_call_begin() itself.
 */
#ifdef DLPACKGEN_PYTHON_IMPLEMENTATION
static inline int dlpackgen_call_begin_inline(struct dlpackgen_call* call, PyObject* module,
                                              const struct dlpackgen_function* function, PyObject* const* arguments,
                                              Py_ssize_t count, PyObject* keywords);
#else
#define dlpackgen_call_begin_inline dlpackgen_call_begin
#endif

/** Releases all resources of a call. Keeps the current exception. */
DLPACKGEN_PYTHON_API void dlpackgen_call_end(struct dlpackgen_call* call);

/**
 * Allocates a tensor for a result of the call: uninitialized, row-major, on the device of the
 * tensor argument with index like (from 0), and by its library. If the library has no allocator, or
 * the allocator fails for another reason than lack of memory, or the argument was omitted, the
 * module allocates the memory on the CPU, or a backend on its devices. Pass the tensor to
 * dlpackgen_to_py_object() or dlpackgen_delete(). A library's allocator may run any code: if a
 * tensor of the call has changed, the function raises BufferError, and no tensor of the call may be
 * used.
 */
DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_new_empty(struct dlpackgen_call* call, int like,
                                                                   DLDataType dtype, int32_t ndim,
                                                                   const int64_t* shape);

/**
 * Converts a tensor to an object of the library of the tensor argument with index like, through its
 * exchange table, or through from_dlpack of its array namespace or of its package. Without these,
 * or if the argument was omitted, the result is an object of the module's own type. If the
 * argument's type derives from a library's type, the table and the package of the nearest base are
 * used, and the result has the library's own type: torch.Tensor for every subclass of torch.Tensor.
 * Takes ownership of the tensor, also on failure. Returns a new reference.
 */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_to_py_object(struct dlpackgen_call* call, int like,
                                                      DLManagedTensorVersioned* tensor);

/**
 * Returns a tensor of an object that may be kept longer than a call, without synchronizing a
 * stream. The caller must pass it to dlpackgen_delete(). With DLPACKGEN_WRITABLE, a tensor that is
 * or may be read-only raises BufferError.
 */
DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_from_py_object_no_sync(PyObject* module, PyObject* object,
                                                                                uint32_t flags);

/**
 * Calls the deleter, if there is one. May be called on any thread, with or without the GIL. A
 * thread with a Python thread state acquires the GIL for the deleter. The current exception is
 * kept, and an exception of the deleter is cleared.
 */
DLPACKGEN_PYTHON_API void dlpackgen_delete(DLManagedTensorVersioned* tensor);

/**
 * Exports a tensor as an object of the module's own type, which has __dlpack__, __dlpack_device__
 * and the exchange table. Takes ownership of the tensor, also on failure. Work on a tensor outside
 * the CPU must be finished. NULL strides are replaced with explicit ones (DLPack 1.2, the comment
 * on DLTensor.strides). Returns a new reference.
 */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_export_object(PyObject* module, DLManagedTensorVersioned* tensor);

/**
 * Exports a tensor in a capsule, which frees it unless a consumer takes it. Strides are handled as
 * in dlpackgen_export_object(). Takes ownership of the tensor, also on failure. The capsule is
 * named "dltensor", or with DLPACKGEN_VERSIONED "dltensor_versioned".
 */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_export_capsule(DLManagedTensorVersioned* tensor, uint32_t flags);

/**
 * Creates a tensor from memory that a Python object keeps alive. shape and strides are copied;
 * strides may be NULL. The deleter acquires the GIL, on any thread. During and after interpreter
 * shutdown, it leaks the reference.
 */
DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_from_owner(PyObject* owner, const DLTensor* view,
                                                                    uint64_t flags);

/**
 * Allocates an uninitialized row-major tensor on the CPU, with data aligned to 256 bytes. The GIL
 * is needed only on failure.
 */
DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_allocate(DLDataType dtype, int32_t ndim, const int64_t* shape);

/**
 * Registers an exchange table for a type, for this module. The table is used for objects of exactly
 * this type, in preference to native readers and the type's own table. A later registration
 * replaces an earlier one. Both tables must be valid until the process ends. The table is not
 * trusted to borrow only writable memory or to run no Python code, unless it is also the own table
 * of a type of a known library.
 *
 * Raises TypeError for an object that is not a type, BufferError for an unusable table, and
 * RuntimeError for more than DLPACKGEN_MAX_REGISTERED types.
 */
DLPACKGEN_PYTHON_API int dlpackgen_register_exchange_api(PyObject* module, PyObject* type,
                                                         const DLPackExchangeAPI* table);

/**
 * Sets the backend that the functions of a module use for the backend's device types; a later call
 * replaces it. The driver is then queried for the device that owns each tensor's memory, and a
 * tensor that declares another device, or extends beyond that memory, raises BufferError. The
 * call's stream waits for libraries on other streams, and after dlpackgen_call_end() these wait for
 * the call's stream. dlpackgen_new_empty() allocates for libraries without an allocator. The driver
 * is loaded for the first tensor on such a device.
 *
 * \param source  provides the stream if no library reports one; NULL: the caller must then pass
 *   stream=.
 *
 * Raises ValueError for a table of another version, and RuntimeError for more than
 * DLPACKGEN_MAX_BACKENDS backends. Table and source must be valid as long as the module.
 */
DLPACKGEN_PYTHON_API int dlpackgen_use_backend(PyObject* module, const dlpackgen_backend* table,
                                               const dlpackgen_stream_source* source);

/**
 * Returns the backend that a module uses for a device, for example to copy; NULL, without an
 * exception, if there is none.
 */
DLPACKGEN_PYTHON_API const dlpackgen_backend* dlpackgen_backend_for(PyObject* module, DLDevice device);

/** Returns the backend in a capsule named "dlpackgen_backend" of another module. Returns NULL with
 * an exception for any other object, and for a backend of another ABI version. */
DLPACKGEN_PYTHON_API const dlpackgen_backend* dlpackgen_backend_from_capsule(PyObject* capsule);

/** Returns a capsule with a backend, for other modules, as a new reference. */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_backend_to_capsule(const dlpackgen_backend* table);

/**
 * Sets an exception about an argument, counted from 0: "f(): argument 'b' (2nd): " and the text,
 * formatted as by PyErr_Format. Returns -1.
 */
DLPACKGEN_PYTHON_API int dlpackgen_argument_error(const struct dlpackgen_call* call, int argument, PyObject* kind,
                                                  const char* format, ...);

/** A module. Declare it static, and initialize only functions. */
struct dlpackgen_module {
  /**
   * NULL, or a NULL-terminated list of functions whose descriptions are checked when the module is
   * imported: a mistake then raises SystemError at import instead of at the first call.
   */
  const struct dlpackgen_function* const* functions;
  /** Not to be used outside of this library. */
  struct {
    PyModuleDef definition;
    PyModuleDef_Slot slots[5];
    int (*exec)(PyObject* module);
  } private_;
};

/**
 * Creates a module in PyInit_NAME, with multi-phase initialization and per-module state. Importing
 * it in a subinterpreter fails. exec, unless NULL, adds to the module. The module gets the type
 * Tensor.
 */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_module_init(struct dlpackgen_module* module, const char* name, const char* doc,
                                                     PyMethodDef* methods, int (*exec)(PyObject* module));

/** The PyMethodDef of a function that begins with dlpackgen_call_begin(). */
#define DLPACKGEN_METHOD(name, function, doc) \
  {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS, doc}

#ifdef __cplusplus
}
#endif

#endif /* DLPACKGEN_PYTHON_API_H_ */
