/* The types and functions of the interface. Part of dlpackgen_python.h. */
#ifndef DLPACKGEN_PYTHON_API_H_
#define DLPACKGEN_PYTHON_API_H_

#include <Python.h>

#include <dlpackgen/parameter.h>
#include <dlpackgen/tensor.h>
#include "adopted.h"
#include "dlpackgen_backend.h"
#include "names.h"

#if PY_VERSION_HEX < 0x030B0000
#error "dlpackgen_python needs the headers of Python 3.11 or newer"
#endif

/* Hidden, so that two modules in one process keep each to its own state. */
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

/** What came for a parameter. */
struct dlpackgen_argument {
  PyObject* object; /**< borrowed; NULL where an optional one was left out */
  int64_t integer;  /**< of an int or bool */
  double real;      /**< of a float */
  /**
   * A tensor, good until dlpackgen_call_end(). data is NULL where it was left out or
   * has no elements; strides is NULL with ndim 0 alone. Not to be written to.
   */
  DLTensor tensor;
  uint64_t flags; /**< DLPack's; not known of tensors that a foreign table lends */
  /** Not to be used outside of this library. */
  struct {
    const struct dlpackgen_adopted *adopted, *rejecting, *streams;
    const DLPackExchangeAPI* api;
    int (*guard)(PyObject* object, const DLTensor* tensor);
    int (*plain)(PyObject* object);
    DLManagedTensorVersioned* versioned;
    DLManagedTensor* legacy;
    PyTypeObject* type;    /* by which its table was found */
    DLDevice declared;     /* by its __dlpack_device__, where declares is 1 */
    void* producer_stream; /* its library's current stream, where waits is 1 */
    uint8_t asks, trusted, yields, done, declares, waits;
  } private_;
};

/** A place that calls a function, for DLPACKGEN_CALL. */
struct dlpackgen_call_site {
  const struct dlpackgen_function* checked; /* whose description was checked last; or NULL */
  int room;                                 /* for so many arguments */
  int checks_itself;                        /* the caller checks what is demanded of tensors, all but their devices */
};

/** One call of a function. To be declared by DLPACKGEN_CALL or DLPACKGEN_CALL_OF. */
struct dlpackgen_call {
  PyObject* module;
  const struct dlpackgen_function* function;
  struct dlpackgen_argument* arguments; /**< one for each parameter */
  /**
   * Of the first tensor that is not on a CPU, or the CPU: where the function
   * works. Other tensors are there too, or belong to parameters for the CPU alone.
   */
  DLDevice device;
  /** The stream to work on, as a native handle; NULL on a CPU, and for the default stream. */
  void* stream;
  /** The extents that the symbols stand for, where they stood in an argument. */
  int64_t dims[DLPACKGEN_MAX_DIMS];
  /** Not to be used outside of this library. */
  struct {
    struct dlpackgen_call_site* site;
    int64_t* scratch;
    struct dlpackgen_state* state;
    long long number;
    DLDevice device; /* of the stream, which comes with argument `decides` */
    void* other;     /* the stream of a library that works on another one */
    int decides;
    uint8_t bound[DLPACKGEN_MAX_DIMS];
    uint64_t owns; /* a bit for each argument that has a managed tensor, and DLPACKGEN_OWES_ORDER */
    uint8_t has_stream, has_number, elsewhere;
  } private_;
};

/**
 * Declares a call of a function with these parameters, an array. Nothing is cleared, which would
 * take longer than the call.
 */
#define DLPACKGEN_CALL(call, parameters) DLPACKGEN_CALL_OF(call, sizeof(parameters) / sizeof((parameters)[0]))

/** Declares a call with room for a number of parameters, a constant. */
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
 * Checks all arguments of a METH_FASTCALL | METH_KEYWORDS function and unpacks
 * them: 0, or -1 with an exception about the first one that is wrong. After 0,
 * dlpackgen_call_end() must follow. Nothing is allocated for tensors that can be
 * borrowed. The description of the function is checked at the first call from each place:
 * a mistake in it is a SystemError that names function, parameter and field.
 *
 * \param module  the function's self.
 */
DLPACKGEN_PYTHON_API int dlpackgen_call_begin(struct dlpackgen_call* call, PyObject* module,
                                              const struct dlpackgen_function* function, PyObject* const* arguments,
                                              Py_ssize_t count, PyObject* keywords);

/**
 * Does what dlpackgen_call_begin() does, with the same errors, and in less time: its checks are
 * emitted where it is called, for the function at hand. That needs an optimizing compiler
 * that sees the function and its parameters (static const), and takes about 1 KiB of code
 * for each parameter. In a module of several files it is dlpackgen_call_begin() itself.
 */
#ifdef DLPACKGEN_PYTHON_IMPLEMENTATION
static inline int dlpackgen_call_begin_inline(struct dlpackgen_call* call, PyObject* module,
                                              const struct dlpackgen_function* function, PyObject* const* arguments,
                                              Py_ssize_t count, PyObject* keywords);
#else
#define dlpackgen_call_begin_inline dlpackgen_call_begin
#endif

/** Gives back what a call has taken. An exception that is set stays. */
DLPACKGEN_PYTHON_API void dlpackgen_call_end(struct dlpackgen_call* call);

/**
 * Makes a tensor for a result of the call: uninitialized, row-major, on the device
 * of the tensor argument number like (counted from 0) and by its library. Where that has no
 * allocator, or one that rejects for another reason than want of memory, as for an argument
 * that was left out: in memory of the module's own on the CPU, or by a backend on its
 * devices. To be given to dlpackgen_to_py_object() or dlpackgen_delete(). A library's allocator may
 * run any code: a BufferError tells of a tensor of the call that is no longer what was
 * checked, and none may be used then.
 */
DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_new_empty(struct dlpackgen_call* call, int like,
                                                                   DLDataType dtype, int32_t ndim,
                                                                   const int64_t* shape);

/**
 * Turns a tensor into an object of the library of the tensor argument number like:
 * by its exchange table, or by the from_dlpack of its array namespace or of its
 * package, else, or where the argument was left out, into an object of the module's
 * own type. Where the argument's type derives from a library's, the table and the
 * package are those of its nearest base that has one, and the object is of the
 * library's own type: a torch.Tensor for each kind of torch.Tensor. Takes the tensor
 * over, also when it fails. Gives a new reference.
 */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_to_py_object(struct dlpackgen_call* call, int like,
                                                      DLManagedTensorVersioned* tensor);

/**
 * Takes a tensor out of an object for longer than a call, without telling any
 * stream. The caller must dlpackgen_delete() it. With DLPACKGEN_WRITABLE, one that is
 * read-only, or may be, is a BufferError.
 */
DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_from_py_object_no_sync(PyObject* module, PyObject* object,
                                                                                uint32_t flags);

/**
 * Calls the deleter, if there is one. Any thread, with or without the GIL, which a
 * thread that Python knows takes for it; an exception that is set stays, and one that
 * the deleter leaves behind does not.
 */
DLPACKGEN_PYTHON_API void dlpackgen_delete(DLManagedTensorVersioned* tensor);

/**
 * Gives out a tensor as an object of the module's own type, which has __dlpack__,
 * __dlpack_device__ and the exchange table. Takes the tensor over, also when it
 * fails. What is not on a CPU must be finished. Strides that are NULL are written out
 * (DLPack 1.2, the comment on DLTensor.strides). Gives a new reference.
 */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_export_object(PyObject* module, DLManagedTensorVersioned* tensor);

/**
 * Gives out a tensor in a capsule that frees it unless a consumer takes it, strides as in
 * dlpackgen_export_object(). Takes it over, also when it fails. A "dltensor" capsule, or with
 * DLPACKGEN_VERSIONED a "dltensor_versioned" one.
 */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_export_capsule(DLManagedTensorVersioned* tensor, uint32_t flags);

/**
 * Makes a tensor of memory that a Python object keeps alive. shape and strides are
 * copied, strides may be NULL. Its deleter takes the GIL from any thread; where
 * Python has ended, or is ending, the reference leaks.
 */
DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_from_owner(PyObject* owner, const DLTensor* view,
                                                                    uint64_t flags);

/**
 * Makes an uninitialized row-major tensor in memory of its own on the CPU, its data aligned to 256
 * bytes. Needs no GIL unless it fails.
 */
DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_allocate(DLDataType dtype, int32_t ndim, const int64_t* shape);

/**
 * Lends an exchange table to a type that has none, for this module. It is used for
 * objects of exactly this type, before adopted tables and what the type itself
 * offers. Registered again, a type has the later table from then on. Both tables must
 * be kept as long as the process. It is not trusted to lend what may be written to,
 * nor to run no code of Python, unless the type, one of a known library, offers it, too.
 *
 * TypeError for what is no type, BufferError for a table that cannot be used,
 * RuntimeError when DLPACKGEN_MAX_REGISTERED types have one already.
 */
DLPACKGEN_PYTHON_API int dlpackgen_register_exchange_api(PyObject* module, PyObject* type,
                                                         const DLPackExchangeAPI* table);

/**
 * Lets the functions of a module use a backend for the devices of its type; the later
 * one where it did so twice. From then on the driver is asked whose memory a tensor there
 * is in, and a tensor that says otherwise, or reaches beyond that memory, is a
 * BufferError. Libraries that work on another stream than the call are waited for, and
 * wait for it from dlpackgen_call_end() on. dlpackgen_new_empty() allocates for libraries that
 * cannot be asked. Nothing of the driver is loaded before the first such tensor.
 *
 * \param source  the stream where no library tells one; NULL: stream= must be given then.
 *
 * ValueError for a table of another version, RuntimeError for more than
 * DLPACKGEN_MAX_BACKENDS. Table and source must be kept as long as the module.
 */
DLPACKGEN_PYTHON_API int dlpackgen_use_backend(PyObject* module, const dlpackgen_backend* table,
                                               const dlpackgen_stream_source* source);

/**
 * The backend that a module uses for a device, to copy for one; NULL, without an exception, for
 * none.
 */
DLPACKGEN_PYTHON_API const dlpackgen_backend* dlpackgen_backend_for(PyObject* module, DLDevice device);

/** The backend in a capsule named "dlpackgen_backend" that another module made. NULL with an
 * exception for any other object, and for a backend of another ABI version. */
DLPACKGEN_PYTHON_API const dlpackgen_backend* dlpackgen_backend_from_capsule(PyObject* capsule);

/** A capsule with a backend, for other modules. Returns a new reference. */
DLPACKGEN_PYTHON_API PyObject* dlpackgen_backend_to_capsule(const dlpackgen_backend* table);

/**
 * Sets an exception about an argument, counted from 0: "f(): argument 'b' (2nd): " and the text,
 * which is made as by PyErr_Format. Gives -1.
 */
DLPACKGEN_PYTHON_API int dlpackgen_argument_error(const struct dlpackgen_call* call, int argument, PyObject* kind,
                                                  const char* format, ...);

/** A module; a static one, cleared but for functions. */
struct dlpackgen_module {
  /**
   * NULL, or the functions whose descriptions are checked when the module is imported, up to a
   * NULL: a mistake is a SystemError then, instead of at the first call.
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
 * Makes a module in PyInit_NAME: multi-phase, its state its own, rejected by
 * interpreters other than the main one. exec, or NULL, adds to the module. The
 * module gets the type Tensor.
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
