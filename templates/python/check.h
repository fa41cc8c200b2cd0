/* What a parameter demands of its tensor. The tests are short and their failures
 * stand apart, since the tests run in every call. Part of exchange.c. */
#ifndef DLPACKGEN_PYTHON_CHECK_H_
#define DLPACKGEN_PYTHON_CHECK_H_

#include <dlpackgen_python/take.h>

/* By its parts: libraries write them one by one, and to read them as one number then
 * waits until all are in the cache. */
DLPACKGEN_FAST uint32_t dlpackgen_dtype_of(const DLTensor *tensor) {
	return DLPACKGEN_DTYPE(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes);
}

static const char *dlpackgen_symbol_text(const struct dlpackgen_function *function, int symbol, char room[16]) {
	if (function->symbols[symbol]) return function->symbols[symbol];
	snprintf(room, 16, "s%d", symbol);
	return room;
}

/* The failures: each gives -1 with an exception */

DLPACKGEN_SLOW static int dlpackgen_bad_dtype(const struct dlpackgen_call *call, int i) {
	const struct dlpackgen_parameter *p = &call->function->parameters[i];
	char expected[DLPACKGEN_MAX_DTYPES * 64], one[64], got[64];
	int count = 0;
	expected[0] = 0;
	while (count < DLPACKGEN_MAX_DTYPES && p->dtypes[count]) count++;
	for (int n = 0; n < count; n++)
		dlpackgen_list(expected, sizeof expected, n, count, dlpackgen_dtype_text(p->dtypes[n], one));
	dlpackgen_dtype_text(dlpackgen_dtype_of(&call->arguments[i].tensor), got);
	return dlpackgen_fault(call, i, PyExc_TypeError, "expected %s, got %s", expected, got);
}

DLPACKGEN_SLOW static int dlpackgen_other_dtype(const struct dlpackgen_call *call, int i, int like) {
	char expected[64], got[64];
	PyObject *which = dlpackgen_argument_text(call->function, like);
	dlpackgen_dtype_text(dlpackgen_dtype_of(&call->arguments[like].tensor), expected);
	dlpackgen_dtype_text(dlpackgen_dtype_of(&call->arguments[i].tensor), got);
	if (which) dlpackgen_fault(call, i, PyExc_TypeError, "expected %s, the dtype of %U, got %s", expected, which, got);
	Py_XDECREF(which);
	return -1;
}

DLPACKGEN_SLOW static int dlpackgen_bad_rank(const struct dlpackgen_call *call, int i) {
	const struct dlpackgen_parameter *p = &call->function->parameters[i];
	return dlpackgen_fault(call, i, PyExc_ValueError, "expected %s%d dimension%s, got %d", p->more ? "at least " : "",
	    p->rank, p->rank == 1 ? "" : "s", (int)call->arguments[i].tensor.ndim);
}

DLPACKGEN_SLOW static int dlpackgen_bad_extent(
    const struct dlpackgen_call *call, int i, int dimension, int64_t expected) {
	return dlpackgen_fault(call, i, PyExc_ValueError, "expected %lld in dimension %d, got %lld", (long long)expected,
	    dimension, (long long)call->arguments[i].tensor.shape[dimension]);
}

DLPACKGEN_SLOW static int dlpackgen_other_extent(const struct dlpackgen_call *call, int i, int dimension, int symbol) {
	char room[16];
	PyObject *which = dlpackgen_argument_text(call->function, call->bound[symbol] - 1);
	if (which)
		dlpackgen_fault(call, i, PyExc_ValueError, "expected %s = %lld in dimension %d, as in %U, got %lld",
		    dlpackgen_symbol_text(call->function, symbol, room), (long long)call->symbols[symbol], dimension, which,
		    (long long)call->arguments[i].tensor.shape[dimension]);
	Py_XDECREF(which);
	return -1;
}

/* Gives "(2, 3)"; a new reference. */
static PyObject *dlpackgen_shape_text(const DLTensor *tensor) {
	PyObject *tuple = PyTuple_New(tensor->ndim), *text = NULL;
	for (int32_t d = 0; tuple && d < tensor->ndim; d++) {
		PyObject *extent = PyLong_FromLongLong(tensor->shape[d]);
		if (!extent || PyTuple_SetItem(tuple, d, extent)) Py_CLEAR(tuple);
	}
	if (tuple) text = PyObject_Str(tuple);
	Py_XDECREF(tuple);
	return text;
}

DLPACKGEN_SLOW static int dlpackgen_other_shape(const struct dlpackgen_call *call, int i, int like) {
	PyObject *which = dlpackgen_argument_text(call->function, like);
	PyObject *expected = which ? dlpackgen_shape_text(&call->arguments[like].tensor) : NULL;
	PyObject *got = expected ? dlpackgen_shape_text(&call->arguments[i].tensor) : NULL;
	if (got) dlpackgen_fault(call, i, PyExc_ValueError, "expected shape %U, that of %U, got %U", expected, which, got);
	Py_XDECREF(which);
	Py_XDECREF(expected);
	Py_XDECREF(got);
	return -1;
}

DLPACKGEN_SLOW static int dlpackgen_bad_density(const struct dlpackgen_call *call, int i) {
	static const char *const expected[] = {
	    "", "row-major elements without gaps", "elements without gaps", "rows without gaps"};
	DLTensor strides = call->arguments[i].tensor;
	strides.shape = strides.strides;
	PyObject *got = dlpackgen_shape_text(&strides),
	         *shape = got ? dlpackgen_shape_text(&call->arguments[i].tensor) : NULL;
	if (shape)
		dlpackgen_fault(call, i, PyExc_ValueError, "expected %s, got strides %U of shape %U",
		    expected[call->function->parameters[i].density], got, shape);
	Py_XDECREF(shape);
	Py_XDECREF(got);
	return -1;
}

DLPACKGEN_SLOW static int dlpackgen_overlapping(const struct dlpackgen_call *call, int i) {
	DLTensor strides = call->arguments[i].tensor;
	strides.shape = strides.strides;
	PyObject *got = dlpackgen_shape_text(&strides),
	         *shape = got ? dlpackgen_shape_text(&call->arguments[i].tensor) : NULL;
	if (shape)
		dlpackgen_fault(call, i, PyExc_BufferError, DLPACKGEN_OVERLAPPING ": got strides %U of shape %U", got, shape);
	Py_XDECREF(shape);
	Py_XDECREF(got);
	return -1;
}

DLPACKGEN_SLOW static int dlpackgen_misaligned(const struct dlpackgen_call *call, int i) {
	const DLTensor *tensor = &call->arguments[i].tensor;
	return dlpackgen_fault(call, i, PyExc_BufferError, DLPACKGEN_MISALIGNED, (void *)dlpackgen_address(tensor),
	    dlpack_alignment(tensor->dtype));
}

DLPACKGEN_SLOW static int dlpackgen_bad_device(const struct dlpackgen_call *call, int i) {
	const struct dlpackgen_parameter *p = &call->function->parameters[i];
	char expected[DLPACKGEN_MAX_DEVICES * 32] = "", got[32];
	int count = 1; /* where nothing is said, the CPU */
	while (count < DLPACKGEN_MAX_DEVICES && p->devices[count]) count++;
	for (int n = 0; n < count; n++) {
		const char *name = p->devices[0] ? dlpackgen_device_name(p->devices[n]) : dlpackgen_device_name(kDLCPU);
		dlpackgen_list(expected, sizeof expected, n, count, name ? name : "a device of another kind");
	}
	dlpackgen_device_text(call->arguments[i].tensor.device, got);
	return dlpackgen_fault(call, i, PyExc_ValueError, "expected a tensor on %s, got one on %s", expected, got);
}

DLPACKGEN_SLOW static int dlpackgen_other_device(
    const struct dlpackgen_call *call, int i, DLDevice device, int like, DLDevice wanted) {
	char expected[32], got[32];
	PyObject *which = dlpackgen_argument_text(call->function, like);
	dlpackgen_device_text(wanted, expected);
	dlpackgen_device_text(device, got);
	if (which)
		dlpackgen_fault(
		    call, i, PyExc_ValueError, "expected a tensor on %s, as %U is, got one on %s", expected, which, got);
	Py_XDECREF(which);
	return -1;
}

/* The tests */

DLPACKGEN_FAST int dlpackgen_takes_dtype(const struct dlpackgen_parameter *p, uint32_t dtype) {
	if (p->dtypes[0] == dtype || p->dtypes[0] == 0) return 1;
	for (int i = 1; i < DLPACKGEN_MAX_DTYPES && p->dtypes[i]; i++)
		if (p->dtypes[i] == dtype) return 1;
	return 0;
}

DLPACKGEN_FAST int dlpackgen_takes_device(const struct dlpackgen_parameter *p, int32_t device_type) {
	if (p->devices[0] == device_type) return 1;
	if (p->devices[0] == 0) return device_type == kDLCPU;
	for (int i = 0; i < DLPACKGEN_MAX_DEVICES && p->devices[i]; i++)
		if (p->devices[i] == device_type || p->devices[i] == DLPACKGEN_ANY_DEVICE) return 1;
	return 0;
}

/* Tells whether a parameter is for the CPU alone, and may be there while the
 * function works elsewhere. */
DLPACKGEN_FAST int dlpackgen_takes_cpu_alone(const struct dlpackgen_parameter *p) {
	return p->devices[0] == 0 || (p->devices[0] == kDLCPU && p->devices[1] == 0);
}

/* Binds a symbol, or compares with what it is bound to. */
DLPACKGEN_FAST int dlpackgen_check_symbol(
    struct dlpackgen_call *call, int i, int dimension, int symbol, int64_t extent) {
	if (call->bound[symbol]) {
		if (DLPACKGEN_RARE(call->symbols[symbol] != extent)) return dlpackgen_other_extent(call, i, dimension, symbol);
		return 0;
	}
	call->bound[symbol] = (uint8_t)(i + 1);
	call->symbols[symbol] = extent;
	return 0;
}

DLPACKGEN_FAST int dlpackgen_check_extents(
    struct dlpackgen_call *call, const struct dlpackgen_parameter *p, const DLTensor *tensor, int i) {
	const int count = p->rank < DLPACKGEN_MAX_EXTENTS ? p->rank : (int)DLPACKGEN_MAX_EXTENTS;
	const int first = tensor->ndim - count;
	for (int d = 0; d < count; d++) {
		const int64_t wanted = p->shape[d], extent = tensor->shape[first + d];
		if (wanted == extent || wanted == DLPACKGEN_ANY) continue;
		if (DLPACKGEN_RARE(wanted >= 0)) return dlpackgen_bad_extent(call, i, first + d, wanted);
		if (dlpackgen_check_symbol(call, i, first + d, (int)(-2 - wanted), extent)) return -1;
	}
	return 0;
}

static int dlpackgen_has_shape(const DLTensor *tensor, const DLTensor *like) {
	if (tensor->ndim != like->ndim) return 0;
	for (int32_t d = 0; d < tensor->ndim; d++)
		if (tensor->shape[d] != like->shape[d]) return 0;
	return 1;
}

static int dlpackgen_rows_are_dense(const DLTensor *tensor) {
	const int32_t last = tensor->ndim - 1;
	int64_t count = 0;
	if (last < 0 || tensor->shape[last] < 2 || tensor->strides[last] == 1) return 1;
	return dlpack_count(tensor->ndim, tensor->shape, &count) == DLPACK_OK && count == 0;
}

/* Counts the elements and tells whether they lie row-major. Strides of extents
 * below 2, and all of an empty tensor, mean nothing. */
DLPACKGEN_FAST int dlpackgen_is_row_major(const DLTensor *tensor, int64_t *elements) {
	int64_t expected = 1;
	int fine = 1;
	for (int32_t d = tensor->ndim; d-- > 0;) {
		fine &= tensor->strides[d] == expected || tensor->shape[d] == 1;
		expected = (int64_t)((uint64_t)expected * (uint64_t)tensor->shape[d]);
	}
	*elements = expected;
	return fine || expected == 0;
}

DLPACKGEN_FAST int dlpackgen_lies_well(const struct dlpackgen_parameter *p, const DLTensor *tensor, int row_major) {
	if (p->density == dlpackgen_strided || row_major) return 1;
	return p->density == dlpackgen_dense ? dlpack_is_dense(tensor)
	                                     : p->density == dlpackgen_rows && dlpackgen_rows_are_dense(tensor);
}

/* Tells whether an extent is what a parameter demands, and binds its symbol. */
DLPACKGEN_FAST int dlpackgen_extent_fits(struct dlpackgen_call *call, int i, int64_t wanted, int64_t extent) {
	const uint64_t symbol = (uint64_t)DLPACKGEN_SYMBOL(0) - (uint64_t)wanted;
	if (wanted >= DLPACKGEN_ANY) return wanted == extent || wanted == DLPACKGEN_ANY;
	if (call->bound[symbol]) return call->symbols[symbol] == extent;
	call->bound[symbol] = (uint8_t)(i + 1);
	call->symbols[symbol] = extent;
	return 1;
}

/* Tells whether a tensor is like the others that it must be like. */
static int dlpackgen_others_fit(
    const struct dlpackgen_call *call, const struct dlpackgen_parameter *p, const DLTensor *tensor, uint32_t dtype) {
	const struct dlpackgen_argument *typed = p->dtype_as ? &call->arguments[p->dtype_as - 1] : NULL;
	const struct dlpackgen_argument *shaped = p->shape_as ? &call->arguments[p->shape_as - 1] : NULL;
	if (typed && typed->object && dlpackgen_dtype_of(&typed->tensor) != dtype) return 0;
	return !shaped || !shaped->object || dlpackgen_has_shape(tensor, &shaped->tensor);
}

/* The product of both must fit in 64 bits, or a huge tensor would look empty. */
#define DLPACKGEN_USUAL_EXTENT (UINT64_C(1) << 24)
#define DLPACKGEN_USUAL_SIZE (UINTPTR_MAX >> 24)

/* Tells whether a dimension of some elements comes next in a row-major tensor, and counts
 * them in. */
DLPACKGEN_FAST int dlpackgen_dimension_fits(uint64_t extent, int64_t stride, uint64_t *elements) {
	if (DLPACKGEN_RARE(extent - 1 >= DLPACKGEN_USUAL_EXTENT)) return 0;
	if (DLPACKGEN_RARE(stride != (int64_t)*elements) && extent != 1) return 0;
	*elements *= extent;
	return *elements <= DLPACKGEN_USUAL_SIZE;
}

/* Tells the same of a tensor that has more dimensions than its parameter names. */
DLPACKGEN_SLOW static int dlpackgen_more_fit(
    struct dlpackgen_call *call, int i, const struct dlpackgen_parameter *p, const DLTensor *tensor) {
	uint64_t elements = 1;
	if (tensor->ndim < p->rank || !p->more) return 0;
	const int32_t more = tensor->ndim - p->rank;
	for (int32_t d = tensor->ndim; d-- > 0;) {
		if (!dlpackgen_dimension_fits((uint64_t)tensor->shape[d], tensor->strides[d], &elements)) return 0;
		if (d >= more && !dlpackgen_extent_fits(call, i, p->shape[d - more], tensor->shape[d])) return 0;
	}
	return 1;
}

/* Tells whether shape and strides are those of a row-major tensor that fits, with
 * elements in it, and of which no address or size is near an edge. */
DLPACKGEN_FAST int dlpackgen_shape_fits(
    struct dlpackgen_call *call, int i, const struct dlpackgen_parameter *p, const DLTensor *tensor) {
	const int64_t *const shape = tensor->shape, *const strides = tensor->strides;
	uint64_t elements = 1;
	if (DLPACKGEN_RARE(p->rank > DLPACKGEN_MAX_EXTENTS)) return 0;
	if (DLPACKGEN_RARE(tensor->ndim != p->rank)) return dlpackgen_more_fit(call, i, p, tensor);
	for (int64_t d = (int64_t)p->rank - 1; d >= 0; d--) {
		if (DLPACKGEN_RARE(!dlpackgen_dimension_fits((uint64_t)shape[d], strides[d], &elements))) return 0;
		if (DLPACKGEN_RARE(!dlpackgen_extent_fits(call, i, p->shape[d], shape[d]))) return 0;
	}
	return 1;
}

/* Tells of most tensors in one pass that the validator would accept them and that they
 * are what their parameter demands: row-major ones of named dtypes in the memory of the
 * host, with shape and strides of at most DLPACKGEN_MAX_NDIM dimensions. 0 says nothing, and
 * may have bound symbols. */
DLPACKGEN_FAST int dlpackgen_fits(
    struct dlpackgen_call *call, int i, const struct dlpackgen_parameter *p, const struct dlpackgen_argument *a) {
	const DLTensor *const tensor = &a->tensor;
	const uint32_t dtype = dlpackgen_dtype_of(tensor);
	uint16_t like; /* dtype_as and shape_as, in one load */
	memcpy(&like, &p->dtype_as, sizeof like);
	if (DLPACKGEN_RARE(p->dtypes[0] == 0 || !dlpackgen_takes_dtype(p, dtype))) return 0;
	if (DLPACKGEN_RARE(tensor->device.device_type != kDLCPU || !dlpackgen_takes_device(p, kDLCPU))) return 0;
	if (like && !dlpackgen_others_fit(call, p, tensor, dtype)) return 0;
	if (DLPACKGEN_RARE(!dlpackgen_shape_fits(call, i, p, tensor))) return 0;
	if (DLPACKGEN_RARE((uintptr_t)tensor->data - 1 >= UINTPTR_MAX / 2)) return 0;
	if (DLPACKGEN_RARE(tensor->byte_offset > DLPACKGEN_USUAL_SIZE)) return 0;
	if (DLPACKGEN_RARE(a->flags & DLPACK_FLAG_BITMASK_READ_ONLY) && p->writes) return 0;
	return !dlpackgen_is_misaligned(tensor);
}

/* Frees the symbols that an argument has bound. */
static void dlpackgen_unbind(struct dlpackgen_call *call, int i) {
	for (int symbol = 0; symbol < DLPACKGEN_MAX_SYMBOLS; symbol++)
		if (call->bound[symbol] == i + 1) call->bound[symbol] = 0;
}

/* Checks one tensor, which is validated, or comes from a library that is trusted. */
DLPACKGEN_FAST int dlpackgen_check(
    struct dlpackgen_call *call, int i, const struct dlpackgen_parameter *p, const struct dlpackgen_argument *a) {
	const DLTensor *const tensor = &a->tensor;
	const uint32_t dtype = dlpackgen_dtype_of(tensor);
	int64_t elements = 1;
	if (DLPACKGEN_RARE(p->writes && a->flags & DLPACK_FLAG_BITMASK_READ_ONLY)) /* first, as the native readers do */
		return dlpackgen_fault(
		    call, i, PyExc_BufferError, "it is read-only, or cannot say that it is not, and the function writes to it");
	if (DLPACKGEN_RARE(!dlpackgen_takes_dtype(p, dtype))) return dlpackgen_bad_dtype(call, i);
	if (p->dtype_as && call->arguments[p->dtype_as - 1].object) {
		if (DLPACKGEN_RARE(dlpackgen_dtype_of(&call->arguments[p->dtype_as - 1].tensor) != dtype))
			return dlpackgen_other_dtype(call, i, p->dtype_as - 1);
	}
	if (DLPACKGEN_RARE(tensor->ndim != p->rank) && !(p->more && tensor->ndim > p->rank))
		return dlpackgen_bad_rank(call, i);
	if (dlpackgen_check_extents(call, p, tensor, i)) return -1;
	if (p->shape_as && call->arguments[p->shape_as - 1].object &&
	    !dlpackgen_has_shape(tensor, &call->arguments[p->shape_as - 1].tensor))
		return dlpackgen_other_shape(call, i, p->shape_as - 1);
	const int row_major = dlpackgen_is_row_major(tensor, &elements);
	if (DLPACKGEN_RARE(!dlpackgen_lies_well(p, tensor, row_major))) return dlpackgen_bad_density(call, i);
	if (DLPACKGEN_RARE(!row_major && p->writes && dlpackgen_may_overlap(tensor))) return dlpackgen_overlapping(call, i);
	if (DLPACKGEN_RARE(!dlpackgen_takes_device(p, (int32_t)tensor->device.device_type)))
		return dlpackgen_bad_device(call, i);
	if (DLPACKGEN_RARE(!tensor->data && elements != 0))
		return dlpackgen_fault(call, i, PyExc_BufferError, "it has elements but no memory: its data is NULL");
	if (dlpackgen_is_misaligned(tensor)) return dlpackgen_misaligned(call, i);
	return 0;
}

#endif
