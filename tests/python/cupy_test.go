package python

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func requireCuPy(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("loads CuPy, and -short was given")
	}
	if !testtool.Has(testtool.RequirePython(t), "cupy") {
		t.Skip("needs CuPy: pip install -r tests/requirements-frameworks.txt")
	}
}

// CuPy is the real one; without a GPU, stand-ins replace the driver.
func TestTheArraysOfCuPy(t *testing.T) {
	requireCuPy(t)
	runs(t, testtool.RequirePython(t), modules(t), "with_cupy.py")
}

var cupyMutants = map[string]mutant{
	"arrays of CuPy go by their capsule": {"reader_tables.h", "&dlpackgen_reader_cupy,", "",
		"with_cupy.py test_shapes_and_strides"},
	"extents are strides": {"reader_cupy.h", `dlpackgen_cupy_numbers(object, "strides", strides)`,
		`dlpackgen_cupy_numbers(object, "shape", strides)`, "with_cupy.py test_shapes_and_strides"},
	"the shape does not last": {"reader_elements.h", "out->shape = scratch;",
		"out->shape = (int64_t *)(void *)(uintptr_t)memory->shape;", "with_cupy.py test_shapes_and_strides"},
	"the other order is read": {"reader_cupy.h",
		"else if (!is_native) dlpackgen_np_reject(object, DLPACKGEN_NP_SWAPPED);", "",
		"with_cupy.py test_what_cupys_own_export_gets_wrong"},
	"types without a name are left to CuPy": {"reader_cupy.h", "which >= DLPACKGEN_NP_EXTENSIONS) result = 1;",
		"1) result = 1;", "with_cupy.py test_what_cupys_own_export_gets_wrong"},
	"extension types are not left to CuPy": {"reader_cupy.h", "which >= DLPACKGEN_NP_EXTENSIONS) result = 1;",
		"0) result = 1;", "with_cupy.py test_types_of_other_packages_are_left_to_cupy"},
	"whoever wants a stream has none": {"stream.h", "i == wanting ? device : a->tensor.device", "a->tensor.device",
		"with_cupy.py test_types_of_other_packages_are_left_to_cupy"},
	"all is on the GPU": {"reader_cupy.h", "return dlpackgen_cupy_device(object, &out->device);",
		"return out->device.device_type = kDLCUDA, 0;", "with_cupy.py test_devices"},
	"views by native readers are not validated": {"call.h",
		"return dlpackgen_validate_argument(a, scratch, 0) ? dlpackgen_about(call->function, i) : 0;", "return 0;",
		"with_cupy.py test_more_elements_than_can_be_counted"},
	"any pair is a device": {"reader_cupy.h", "if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)",
		"if (0)", "with_cupy.py test_devices"},
	"managed memory has an ordinal": {"reader_cupy.h", "dlpackgen_device_id_is_zero(type) ? 0 : id;", "id;",
		"with_cupy.py test_devices"},
	"ids of managed memory are compared": {"../dlpackgen/check.h",
		"dlpackgen_same_device_(a, b, dlpackgen_device_is_managed((int32_t)a.device_type))",
		"dlpackgen_same_device_(a, b, 0)",
		"with_cupy.py test_managed_memory_on_two_streams"},
	"managed memory is of device 0": {"reader_cupy.h",
		"dlpackgen_device_is_managed((int32_t)device.device_type) ? -1 : ", "", "with_cupy.py test_devices"},
	"CuPy works on the default stream": {"reader_cupy.h", "*stream = handle ? PyLong_AsVoidPtr(handle) : NULL;",
		"*stream = NULL;", "with_cupy.py test_cupys_stream_is_that_of_the_call"},
	"a stream is always told": {"reader_cupy.h", "return reported ? 0 : -1;",
		"return PyErr_Clear(), reported * 0;", "with_cupy.py test_a_stream_that_is_not_reported"},
	"streams of CuPy are not compared": {"stream.h",
		"return a->private_.streams ? (const void *)a->private_.streams : (const void *)a->private_.api;",
		"return a->private_.api;",
		"with_cupy.py test_two_streams"},
	"results are on the current device": {"reader_cupy.h",
		`entered = current ? PyObject_CallMethod(current, "__enter__", NULL) : NULL;`,
		"entered = current ? Py_NewRef(current) : NULL;", "with_cupy.py test_results"},
	"results are on any stream": {"result.h",
		"if (dlpackgen_plain_stream(requested->device, stream) != dlpackgen_plain_stream(requested->device, call->stream)) {", "if (0) {",
		"with_cupy.py test_results_on_another_stream"},
	"the device stays current": {"reader_cupy.h",
		`PyObject_CallMethod(current, "__exit__", "OOO", Py_None, Py_None, Py_None);`, "Py_NewRef(Py_None);",
		"with_cupy.py test_results_that_cannot_be_made"},
	"managed memory is the device's": {"reader_cupy.h", `is_managed ? "malloc_managed" : "alloc"`, `"alloc"`,
		"with_cupy.py test_results_in_managed_memory"},
	"nothing keeps a result's memory": {"managed.h", "  Py_INCREF(owner);\n  made->object = owner;",
		"  made->object = NULL;",
		"with_cupy.py test_what_keeps_the_memory_of_results"},
	"an address is not looked at": {"reader_cupy.h", "if (memory && PyErr_Occurred()) Py_CLEAR(memory);", "",
		"with_cupy.py test_results_that_cannot_be_made"},
	"types that derive have no allocator": {"result.h", "access->reader ? access->reader : access->rejecting;",
		"access->reader;",
		"with_cupy.py test_results"},
	"subclasses of CuPy arrays are not checked": {"reader_cupy.h", "dlpackgen_cupy_borrow, dlpackgen_cupy_reject,",
		"dlpackgen_cupy_borrow, NULL,", "with_cupy.py test_a_type_that_derives"},
}

func TestTheScriptFindsWhatIsWrongWithCuPy(t *testing.T) {
	tier.OnlyNightly(t)
	requireCuPy(t)
	mistakes(t, cupyMutants)
}
