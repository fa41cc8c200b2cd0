/*
 * torch.Tensor and torch.nn.Parameter, by libtorch's stable C shim. Its symbols are
 * looked up in the torch that the program has already loaded, so one binary serves
 * many versions. What the shim does not tell, and PyTorch's own exchange table does
 * not look at, is asked of libtorch's functions by their exported names, or of the
 * object in Python where a version lacks one.
 */
#ifndef DLPACKGEN_PYTHON_ADOPT_TORCH_H_
#define DLPACKGEN_PYTHON_ADOPT_TORCH_H_

#include <dlpackgen_python/adopt_elements.h>
#include <dlpackgen_python/adopt_torch_subclass.h>
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
	/* The rest may be NULL. */
	int32_t (*get_layout)(void *handle, int32_t *layout);
	int32_t (*get_const_data)(void *handle, const void **data);
	int32_t (*get_storage_size)(void *handle, int64_t *bytes);
	int32_t (*get_storage_offset)(void *handle, int64_t *elements);
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
	{"aoti_torch_get_layout", DLPACKGEN_TORCH_SLOT(get_layout), true},
	{"torch_get_const_data_ptr", DLPACKGEN_TORCH_SLOT(get_const_data), true},
	{"aoti_torch_get_storage_size", DLPACKGEN_TORCH_SLOT(get_storage_size), true},
	{"aoti_torch_get_storage_offset", DLPACKGEN_TORCH_SLOT(get_storage_offset), true},
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

/* Looks for what dlpackgen_torch.install() has put onto the type. */
static void dlpackgen_torch_find_reader(PyObject *type) {
	PyObject *capsule = PyObject_GetAttrString(type, "__dlpackgen_read__");
	void *address = NULL;
	if (capsule && PyCapsule_IsValid(capsule, "dlpackgen_read_1"))
		address = PyCapsule_GetPointer(capsule, "dlpackgen_read_1");
	memcpy(&dlpackgen_torch.read, &address, sizeof address);
	Py_XDECREF(capsule);
	if (!capsule && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
}

static int dlpackgen_torch_open(PyObject *type) {
	void *library = dlpackgen_torch_find();
	dlpackgen_torch_find_reader(type);
	if (!library || !dlpackgen_torch_guess_handle() || !dlpackgen_torch_link(library)) return PyErr_Occurred() ? -1 : 0;
	dlpackgen_torch_learn_dtypes(library);
	dlpackgen_torch.cpu = dlpackgen_torch.call.device_cpu();
	dlpackgen_torch.cuda = dlpackgen_torch.call.device_cuda();
	dlpackgen_torch.strided = dlpackgen_torch.call.layout_strided();
	dlpackgen_torch.gpu = dlpackgen_torch_is_rocm() ? kDLROCM : kDLCUDA;
	return PyErr_Occurred() ? -1 : 1;
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

/* Whether the values differ from those in memory: 1 with the reason set, 0, -1 with
 * an exception. The conjugate bit is only on complex numbers; the negative one, since
 * x.conj().imag has it, on all. */
DLPACKGEN_FAST int dlpackgen_torch_check_bits(PyObject *object, void *handle, DLDataType dtype) {
	const struct dlpackgen_torch_functions *call = &dlpackgen_torch.call;
	int bit = call->is_neg ? call->is_neg(handle) : dlpackgen_torch_ask(object, "is_neg");
	if (bit != 0) return bit < 0 ? -1 : dlpackgen_refuse(DLPACKGEN_TORCH_NEGATED);
	if (dtype.code != kDLComplex) return 0;
	bit = call->is_conj ? call->is_conj(handle) : dlpackgen_torch_ask(object, "is_conj");
	return bit > 0 ? dlpackgen_refuse(DLPACKGEN_TORCH_CONJUGATED) : bit;
}

/* Most tensors do not require grad, so that comes before the mode. */
DLPACKGEN_FAST int dlpackgen_torch_check_grad(PyObject *object, void *handle) {
	const struct dlpackgen_torch_functions *call = &dlpackgen_torch.call;
	void *impl = *(void **)handle;
	int required = 0;
	if (DLPACKGEN_TORCH_REFUSES_GRAD == DLPACKGEN_NEVER) return 0;
	required = call->requires_grad ? call->requires_grad(impl) : dlpackgen_torch_attribute(object, "requires_grad");
	if (required <= 0) return required;
	if (DLPACKGEN_TORCH_REFUSES_GRAD == DLPACKGEN_ALWAYS) return dlpackgen_refuse(DLPACKGEN_TORCH_GRAD);
	return call->grad_mode() ? dlpackgen_refuse(DLPACKGEN_TORCH_GRAD_ON) : 0;
}

/* Refuses what has no strides: by the shim, or before 2.9 by the object's word. */
DLPACKGEN_FAST int dlpackgen_torch_check_layout(PyObject *object, void *handle) {
	int32_t layout = 0;
	if (!dlpackgen_torch.call.get_layout) return dlpackgen_torch_check_strided(object);
	if (dlpackgen_torch.call.get_layout(handle, &layout) == 0 && layout == dlpackgen_torch.strided) return 0;
	return dlpackgen_torch_refuse_attribute(object, "layout", "has no strided memory: call to_dense()");
}

/* 1 for a device that other routes know, which meta is not. */
DLPACKGEN_FAST int dlpackgen_torch_read_device(PyObject *object, void *handle, DLTensor *out) {
	int32_t type = -1, index = 0;
	if (dlpackgen_torch.call.get_device_type(handle, &type) != 0) return dlpackgen_refuse(DLPACKGEN_TORCH_WRAPPED);
	out->device.device_type = kDLCPU;
	out->device.device_id = 0;
	if (type == dlpackgen_torch.cpu) return 0;
	if (type != dlpackgen_torch.cuda) return dlpackgen_torch_refuse(object) < 0 ? -1 : 1;
	if (dlpackgen_torch.call.get_device_index(handle, &index) != 0) return dlpackgen_refuse(DLPACKGEN_TORCH_WRAPPED);
	out->device.device_type = dlpackgen_torch.gpu;
	out->device.device_id = index;
	return 0;
}

DLPACKGEN_FAST int dlpackgen_torch_read_dtype(PyObject *object, void *handle, DLTensor *out) {
	int32_t number = -1;
	if (dlpackgen_torch.call.get_dtype(handle, &number) == 0 && number >= 0 && number < DLPACKGEN_TORCH_DTYPES) {
		out->dtype = dlpackgen_torch.dtypes[number];
		if (out->dtype.lanes != 0) return 0;
	}
	return dlpackgen_torch_refuse_attribute(object, "dtype", "is none that DLPack can name");
}

/* Wrappers of vmap, grad and jvp fail here, and so does a nested tensor. */
DLPACKGEN_FAST int dlpackgen_torch_read_shape(void *handle, DLTensor *out) {
	const struct dlpackgen_torch_functions *call = &dlpackgen_torch.call;
	int64_t dim = 0;
	if (call->get_dim(handle, &dim) != 0 || call->get_sizes(handle, &out->shape) != 0 ||
	    call->get_strides(handle, &out->strides) != 0)
		return dlpackgen_refuse(DLPACKGEN_TORCH_WRAPPED);
	if (dim > DLPACKGEN_MAX_NDIM)
		return dlpackgen_refuse("its %lld dimensions are more than the %d that are served", (long long)dim,
					DLPACKGEN_MAX_NDIM);
	out->ndim = (int32_t)dim;
	return 0;
}

/* Functionalized and zero tensors have elements and no memory, and so has one whose
 * storage was resized to 0. */
DLPACKGEN_SLOW static int dlpackgen_torch_check_memory(const DLTensor *out) {
	for (int32_t i = 0; i < out->ndim; i++)
		if (out->shape[i] == 0) return 0;
	return dlpackgen_refuse("it has elements and no memory: its storage was freed, or it stands for a tensor "
				"(functionalized, fake or all zeros)");
}

/* Reading must not separate memory that is shared until one of its tensors is
 * written to, and writing must. */
DLPACKGEN_FAST int dlpackgen_torch_read_data(void *handle, int want_write, DLTensor *out) {
	const struct dlpackgen_torch_functions *call = &dlpackgen_torch.call;
	const void *data = NULL;
	int32_t result;
	if (want_write || !call->get_const_data) {
		result = call->get_data(handle, &out->data);
	} else {
		result = call->get_const_data(handle, &data);
		out->data = (void *)data;
	}
	out->byte_offset = 0;
	if (result != 0) return dlpackgen_refuse(DLPACKGEN_TORCH_WRAPPED);
	return out->data ? 0 : dlpackgen_torch_check_memory(out);
}

static int dlpackgen_torch_read_by_shim(PyObject *object, int want_write, DLTensor *out) {
	void *handle = dlpackgen_torch_handle(object);
	int result;
	if (!handle) return dlpackgen_torch_refuse(object) < 0 ? -1 : 1;
	if (dlpackgen_torch_check_layout(object, handle) < 0) return -1;
	result = dlpackgen_torch_read_device(object, handle, out);
	if (result != 0) return result;
	if (dlpackgen_torch_read_dtype(object, handle, out) < 0) return -1;
	if (dlpackgen_torch_check_bits(object, handle, out->dtype) < 0) return -1;
	if (dlpackgen_torch_check_grad(object, handle) < 0) return -1;
	if (dlpackgen_torch_read_shape(handle, out) < 0) return -1;
	return dlpackgen_torch_read_data(handle, want_write, out);
}

static int dlpackgen_torch_borrow(PyObject *object, int want_write, DLTensor *out, int64_t *scratch, uint64_t *flags) {
	(void)scratch;
	(void)flags;
	if (dlpackgen_torch.read && dlpackgen_torch.read(object, want_write, out) == 0 && out->ndim <= DLPACKGEN_MAX_NDIM)
		return 0;
	return dlpackgen_torch_read_by_shim(object, want_write, out);
}

/* Refuses a tensor whose storage was resized to less than it needs. Too slow for what
 * every call asks. */
static int dlpackgen_torch_check_storage(PyObject *object, const DLTensor *view) {
	const struct dlpackgen_torch_functions *call = &dlpackgen_torch.call;
	void *handle = dlpackgen_torch_handle(object);
	int64_t bytes = 0, offset = 0;
	uint64_t end;
	if (!handle || !call->get_storage_size || !call->get_storage_offset) return 0;
	if (call->get_storage_size(handle, &bytes) != 0 || call->get_storage_offset(handle, &offset) != 0)
		return dlpackgen_refuse(DLPACKGEN_TORCH_WRAPPED);
	end = (uint64_t)offset + 1;
	for (int32_t i = 0; i < view->ndim; i++) {
		if (view->shape[i] == 0) return 0;
		end += (uint64_t)(view->shape[i] - 1) * (uint64_t)view->strides[i];
	}
	end *= ((uint64_t)view->dtype.bits * view->dtype.lanes + 7) / 8;
	if (end <= (uint64_t)bytes) return 0;
	return dlpackgen_refuse("it needs %llu bytes of storage, which was resized to %lld", (unsigned long long)end,
				(long long)bytes);
}

#define DLPACKGEN_TORCH_NO_ALIAS \
	"its detach() gave no alias of it, as under a TorchFunctionMode that answers in torch's place: call this outside of it"

/* Refuses what the shim cannot look into: detach() of a tensor and of a parameter is a
 * plain torch.Tensor, which Parameter derives from. */
static int dlpackgen_torch_check_kind(PyObject *object, PyObject *alias) {
	PyTypeObject *const type = Py_TYPE(object);
	if (Py_TYPE(alias) == type || (void *)Py_TYPE(alias) == PyType_GetSlot(type, Py_tp_base)) return 0;
	return dlpackgen_refuse(DLPACKGEN_TORCH_NO_ALIAS);
}

/* Refuses the view of an alias that is not what the object itself is by now: an alias
 * has its storage, so memory that was separated is the object's, too. */
static int dlpackgen_torch_check_alias(PyObject *object, const DLTensor *alias, int64_t *scratch, uint64_t *flags) {
	DLTensor own;
	const int result = dlpackgen_torch_borrow(object, 0, &own, scratch, flags);
	int same = result == 0 && own.data == alias->data && own.ndim == alias->ndim &&
		   own.device.device_type == alias->device.device_type && own.device.device_id == alias->device.device_id &&
		   own.dtype.code == alias->dtype.code && own.dtype.bits == alias->dtype.bits;
	for (int32_t i = 0; same && i < own.ndim; i++)
		same = own.shape[i] == alias->shape[i] && own.strides[i] == alias->strides[i];
	if (result < 0) return -1;
	return same ? 0 : dlpackgen_refuse(DLPACKGEN_TORCH_NO_ALIAS);
}

/* What is kept may be written to later, by whoever it is handed on to, so memory
 * that is shared until then is separated now. An alias of its own holds the memory:
 * `t.data = other` takes it away from the object, as module.half() does it. */
static int dlpackgen_torch_hold(PyObject *object, int want_write, DLTensor *out, int64_t *scratch, uint64_t *flags,
				PyObject **keep) {
	int result = dlpackgen_torch_borrow(object, 0, out, scratch, flags);
	(void)want_write;
	*keep = NULL;
	if (result != 0) return result;
	*keep = PyObject_CallMethod(object, "detach", NULL);
	result = *keep ? dlpackgen_torch_check_kind(object, *keep) : -1;
	if (result == 0) result = dlpackgen_torch_borrow(*keep, 1, out, scratch, flags);
	if (result == 0) result = dlpackgen_torch_check_alias(object, out, scratch, flags);
	if (result == 0) result = dlpackgen_torch_check_storage(*keep, out);
	if (result != 0) Py_CLEAR(*keep);
	return result;
}

/* What PyTorch's own exchange table does not look at. It fails by itself for what has
 * no strides. */
static int dlpackgen_torch_guard(PyObject *object, const DLTensor *tensor) {
	void *handle = dlpackgen_torch_handle(object);
	if (!handle) return dlpackgen_torch_refuse(object);
	if (dlpackgen_torch_check_bits(object, handle, tensor->dtype) < 0) return -1;
	return dlpackgen_torch_check_grad(object, handle);
}

static const struct dlpackgen_adopted dlpackgen_adopted_torch = {
	"torch",
	"Tensor",
	dlpackgen_torch_open,
	dlpackgen_torch_borrow,
	dlpackgen_torch_refuse,
	NULL,
	dlpackgen_torch_hold,
	0,
	dlpackgen_torch_guard,
};

static const struct dlpackgen_adopted dlpackgen_adopted_torch_parameter = {
	"torch.nn.parameter",
	"Parameter",
	dlpackgen_torch_open,
	dlpackgen_torch_borrow,
	dlpackgen_torch_refuse,
	NULL,
	dlpackgen_torch_hold,
	0,
	dlpackgen_torch_guard,
};

#endif /* DLPACKGEN_PYTHON_ADOPT_TORCH_H_ */
