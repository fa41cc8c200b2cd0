/*
 * libtorch's stable C shim. Its symbols are looked up in the torch that the program has
 * already loaded, so one binary serves many versions. What the shim does not tell, and
 * PyTorch's own exchange table does not look at, is asked of libtorch's functions by
 * their exported names, or of the object in Python where a version lacks one.
 */
#ifndef DLPACKGEN_PYTHON_ADOPT_TORCH_SHIM_H_
#define DLPACKGEN_PYTHON_ADOPT_TORCH_SHIM_H_

#include <dlpackgen_python/adopt_elements.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifndef _WIN32
#include <dlfcn.h>
#endif

/* A dtype of torch has a number below this one. */
#define DLPACKGEN_TORCH_DTYPES 128

/* Functions of libtorch. A handle is the address of an at::Tensor, whose only member
 * points to the TensorImpl. Those that give int32_t give 0 where they succeed. */
struct dlpackgen_torch_functions {
	int32_t (*get_data)(void *handle, void **data); /* separates memory that is shared until written to */
	int32_t (*get_dim)(void *handle, int64_t *dim);
	int32_t (*get_sizes)(void *handle, int64_t **sizes);
	int32_t (*get_strides)(void *handle, int64_t **strides);
	int32_t (*get_dtype)(void *handle, int32_t *dtype);
	int32_t (*get_device_type)(void *handle, int32_t *type);
	int32_t (*get_device_index)(void *handle, int32_t *index);
	int32_t (*device_cpu)(void);
	int32_t (*device_cuda)(void);
	int32_t (*layout_strided)(void);
	bool (*grad_mode)(void);
	int32_t (*get_storage_size)(void *handle, int64_t *bytes);
	int32_t (*get_storage_offset)(void *handle, int64_t *elements);
	/* The rest may be NULL. */
	int32_t (*get_layout)(void *handle, int32_t *layout);
	int32_t (*get_const_data)(void *handle, const void **data);
	bool (*is_neg)(const void *handle);
	bool (*is_conj)(const void *handle);
	bool (*requires_grad)(const void *impl);
};

static struct {
	struct dlpackgen_torch_functions call;
	DLDataType dtypes[DLPACKGEN_TORCH_DTYPES]; /* lanes is 0 for what DLPack cannot name */
	int32_t cpu, cuda, strided;
	DLDeviceType gpu; /* what cuda is called here: ROCm's torch has the same name for its devices */
	ptrdiff_t handle; /* where in the object the at::Tensor lies */
	bool is_maybe_owned; /* before it stands whether the object owns it, as before 2.10 */
	bool is_proven;
	/* What dlpackgen_torch has installed, or NULL: compiled against this torch, so quicker
	 * than the shim. 0 where it has read the tensor, 1 for what the shim must look at. */
	int (*read)(void *object, int want_write, DLTensor *out);
} dlpackgen_torch;

struct dlpackgen_torch_name {
	const char *name;
	size_t slot;
	bool is_optional;
};

#define DLPACKGEN_TORCH_SLOT(member) offsetof(struct dlpackgen_torch_functions, member)

static const struct dlpackgen_torch_name dlpackgen_torch_symbols[] = {
	{"aoti_torch_get_data_ptr", DLPACKGEN_TORCH_SLOT(get_data), false},
	{"aoti_torch_get_dim", DLPACKGEN_TORCH_SLOT(get_dim), false},
	{"aoti_torch_get_sizes", DLPACKGEN_TORCH_SLOT(get_sizes), false},
	{"aoti_torch_get_strides", DLPACKGEN_TORCH_SLOT(get_strides), false},
	{"aoti_torch_get_dtype", DLPACKGEN_TORCH_SLOT(get_dtype), false},
	{"aoti_torch_get_device_type", DLPACKGEN_TORCH_SLOT(get_device_type), false},
	{"aoti_torch_get_device_index", DLPACKGEN_TORCH_SLOT(get_device_index), false},
	{"aoti_torch_device_type_cpu", DLPACKGEN_TORCH_SLOT(device_cpu), false},
	{"aoti_torch_device_type_cuda", DLPACKGEN_TORCH_SLOT(device_cuda), false},
	{"aoti_torch_layout_strided", DLPACKGEN_TORCH_SLOT(layout_strided), false},
	{"aoti_torch_grad_mode_is_enabled", DLPACKGEN_TORCH_SLOT(grad_mode), false},
	{"aoti_torch_get_storage_size", DLPACKGEN_TORCH_SLOT(get_storage_size), false},
	{"aoti_torch_get_storage_offset", DLPACKGEN_TORCH_SLOT(get_storage_offset), false},
	{"aoti_torch_get_layout", DLPACKGEN_TORCH_SLOT(get_layout), true},
	{"torch_get_const_data_ptr", DLPACKGEN_TORCH_SLOT(get_const_data), true},
	{"_ZN2at6native6is_negERKNS_6TensorE", DLPACKGEN_TORCH_SLOT(is_neg), true},
	{"_ZN2at6native7is_conjERKNS_6TensorE", DLPACKGEN_TORCH_SLOT(is_conj), true},
	{"_ZNK3c1010TensorImpl13requires_gradEv", DLPACKGEN_TORCH_SLOT(requires_grad), true},
};

/* The functions that give the number of a dtype. What is not listed, such as a
 * quantized type, is refused. */
static const struct {
	const char *name;
	DLDataType dtype;
} dlpackgen_torch_dtypes[] = {
	{"aoti_torch_dtype_bool", {kDLBool, 8, 1}},
	{"aoti_torch_dtype_int8", {kDLInt, 8, 1}},
	{"aoti_torch_dtype_int16", {kDLInt, 16, 1}},
	{"aoti_torch_dtype_int32", {kDLInt, 32, 1}},
	{"aoti_torch_dtype_int64", {kDLInt, 64, 1}},
	{"aoti_torch_dtype_uint8", {kDLUInt, 8, 1}},
	{"aoti_torch_dtype_uint16", {kDLUInt, 16, 1}},
	{"aoti_torch_dtype_uint32", {kDLUInt, 32, 1}},
	{"aoti_torch_dtype_uint64", {kDLUInt, 64, 1}},
	{"aoti_torch_dtype_float16", {kDLFloat, 16, 1}},
	{"aoti_torch_dtype_float32", {kDLFloat, 32, 1}},
	{"aoti_torch_dtype_float64", {kDLFloat, 64, 1}},
	{"aoti_torch_dtype_bfloat16", {kDLBfloat, 16, 1}},
	{"aoti_torch_dtype_complex32", {kDLComplex, 32, 1}},
	{"aoti_torch_dtype_complex64", {kDLComplex, 64, 1}},
	{"aoti_torch_dtype_complex128", {kDLComplex, 128, 1}},
	{"aoti_torch_dtype_float8_e5m2", {kDLFloat8_e5m2, 8, 1}},
	{"aoti_torch_dtype_float8_e4m3fn", {kDLFloat8_e4m3fn, 8, 1}},
	{"aoti_torch_dtype_float8_e5m2fnuz", {kDLFloat8_e5m2fnuz, 8, 1}},
	{"aoti_torch_dtype_float8_e4m3fnuz", {kDLFloat8_e4m3fnuz, 8, 1}},
	{"aoti_torch_dtype_float8_e8m0fnu", {kDLFloat8_e8m0fnu, 8, 1}},
	/* An element of torch's is two of these. */
	{"aoti_torch_dtype_float4_e2m1fn_x2", {kDLFloat4_e2m1fn, 4, 2}},
};

#ifdef _WIN32
static void *dlpackgen_torch_library(const char *file) {
	(void)file;
	return NULL;
}
static void *dlpackgen_torch_symbol(void *library, const char *name) {
	(void)library;
	(void)name;
	return NULL;
}
#else
/* Gives a library that is loaded already; it stays so as long as the process. */
static void *dlpackgen_torch_library(const char *file) { return dlopen(file, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL); }
static void *dlpackgen_torch_symbol(void *library, const char *name) { return dlsym(library, name); }
#endif

/* Finds all functions, or none. */
static bool dlpackgen_torch_link(void *library) {
	struct dlpackgen_torch_functions found;
	memset(&found, 0, sizeof found);
	for (size_t i = 0; i < sizeof dlpackgen_torch_symbols / sizeof *dlpackgen_torch_symbols; i++) {
		const struct dlpackgen_torch_name *symbol = &dlpackgen_torch_symbols[i];
		void *address = dlpackgen_torch_symbol(library, symbol->name);
		if (!address && !symbol->is_optional) return false;
		/* A copy, since C has no conversion of a pointer to data to one to a function. */
		memcpy((char *)&found + symbol->slot, &address, sizeof address);
	}
	dlpackgen_torch.call = found;
	return true;
}

static void dlpackgen_torch_learn_dtypes(void *library) {
	memset(dlpackgen_torch.dtypes, 0, sizeof dlpackgen_torch.dtypes);
	for (size_t i = 0; i < sizeof dlpackgen_torch_dtypes / sizeof *dlpackgen_torch_dtypes; i++) {
		int32_t (*number_of)(void) = NULL;
		void *address = dlpackgen_torch_symbol(library, dlpackgen_torch_dtypes[i].name);
		int32_t number;
		if (!address) continue;
		memcpy(&number_of, &address, sizeof address);
		number = number_of();
		if (number >= 0 && number < DLPACKGEN_TORCH_DTYPES)
			dlpackgen_torch.dtypes[number] = dlpackgen_torch_dtypes[i].dtype;
	}
}

/* Gives torch's own library, or NULL, with an exception only where memory is out. */
static void *dlpackgen_torch_find(void) {
	PyObject *file = dlpackgen_imported("torch._C", "__file__");
	PyObject *path = NULL;
	void *library = NULL;
	if (file && PyUnicode_FSConverter(file, &path)) library = dlpackgen_torch_library(PyBytes_AsString(path));
	Py_XDECREF(path);
	Py_XDECREF(file);
	if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_MemoryError)) PyErr_Clear();
	return library;
}

/* Whether this torch was built for ROCm. */
static bool dlpackgen_torch_is_rocm(void) {
	PyObject *hip = dlpackgen_imported("torch.version", "hip");
	const bool is_rocm = hip && hip != Py_None;
	Py_XDECREF(hip);
	return is_rocm;
}

/* Where the at::Tensor lies, by the size of the class that has it; to be proven. */
static bool dlpackgen_torch_guess_handle(void) {
	PyObject *base = dlpackgen_imported("torch._C", "TensorBase");
	PyObject *size = base ? dlpackgen_optional(base, "__basicsize__") : NULL;
	const long basic = size ? PyLong_AsLong(size) : -1;
	const long head = (long)sizeof(PyObject), word = (long)sizeof(void *);
	Py_XDECREF(size);
	Py_XDECREF(base);
	dlpackgen_torch.is_maybe_owned = basic == head + 4 * word;
	dlpackgen_torch.handle = head + (dlpackgen_torch.is_maybe_owned ? word : 0);
	return basic == head + 3 * word || basic == head + 4 * word;
}

/* Holds the word that may point to the TensorImpl against what the object says it is. */
DLPACKGEN_SLOW static bool dlpackgen_torch_prove(PyObject *object) {
	PyObject *address = PyObject_GetAttrString(object, "_cdata");
	void *impl = address ? PyLong_AsVoidPtr(address) : NULL;
	Py_XDECREF(address);
	PyErr_Clear();
	dlpackgen_torch.is_proven = impl && impl == *(void **)(void *)((char *)object + dlpackgen_torch.handle);
	return dlpackgen_torch.is_proven;
}

/* Gives the at::Tensor, or NULL where the other routes must be taken. */
DLPACKGEN_FAST void *dlpackgen_torch_handle(PyObject *object) {
	char *handle = (char *)object + dlpackgen_torch.handle;
	if (!dlpackgen_torch.is_proven && !dlpackgen_torch_prove(object)) return NULL;
	/* A tensor that only C++ owns is behind one more pointer. */
	if (dlpackgen_torch.is_maybe_owned && handle[-(ptrdiff_t)sizeof(void *)] != 0) return NULL;
	return *(void **)(void *)handle ? handle : NULL;
}

#endif /* DLPACKGEN_PYTHON_ADOPT_TORCH_SHIM_H_ */
