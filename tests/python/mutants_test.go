package python

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/trial"
)

// mutant makes the library wrong in one place, which the named test sees.
type mutant struct{ file, old, replacement, script string }

var mutants = map[string]mutant{
	"any dtype is taken":                 {"../dlpackgen/check.h", "if (DLPACKGEN_RARE(!dlpackgen_is_among(dtypes, most, dlpackgen_dtype_of(tensor))))", "if (0)", "rules.py test_dtypes"},
	"one more dtype is taken":            {"../dlpackgen/check.h", "if (dtypes[i] == dtype) return 1;", "return 1;", "rules.py test_dtypes"},
	"another's dtype is not compared":    {"../dlpackgen/check.h", "if (DLPACKGEN_RARE(dlpackgen_dtype_of(tensor) != expected))", "if (0)", "rules.py test_the_dtype_of_another"},
	"any rank is taken":                  {"../dlpackgen/check.h", "if (DLPACKGEN_RARE(tensor->ndim != rank) && ", "if (0 && ", "rules.py test_ranks"},
	"fewer dimensions are taken":         {"../dlpackgen/check.h", "more && tensor->ndim > rank", "more", "rules.py test_ranks"},
	"numbers in shapes are forgotten":    {"../dlpackgen/arguments.h", "if (wanted >= 0) status = dlpackgen_check_extent(&at, tensor, first + d, wanted, message);", "if (wanted >= 0) continue;", "rules.py test_extents"},
	"symbols are forgotten":              {"../dlpackgen/arguments.h", "if (tensor->shape[dimension] == to.extents[symbol]) return DLPACKGEN_STATUS_OK;", "return DLPACKGEN_STATUS_OK;", "rules.py test_extents"},
	"symbols stay from the last call":    {"begin.h", "\tmemset(call->bound, 0, sizeof call->bound);\n\tcall->owns = 0;", "\tmemset(call->bound, 2, sizeof call->bound);\n\tcall->owns = 0;", "rules.py test_extents"},
	"another's shape is not compared":    {"../dlpackgen/check.h", "if (tensor->shape[d] != like->shape[d]) return 0;", "", "rules.py test_the_shape_of_another"},
	"gaps are not seen":                  {"../dlpackgen/check.h", "return dlpack_row_major_count_(tensor, elements);", "return dlpack_row_major_count_(tensor, elements) | 1;", "rules.py test_densities"},
	"rows may have gaps":                 {"../dlpackgen/check.h", "dlpack_is_inner_contiguous(tensor)", "1", "rules.py test_densities"},
	"any device is taken":                {"../dlpackgen/check.h", "if (DLPACKGEN_RARE(!dlpackgen_is_served(devices, most, (int32_t)device.device_type)))", "if (0)", "rules.py test_devices"},
	"NULL data is taken":                 {"take.h", "if (error == DLPACK_OK) error = dlpack_validate(tensor, a->flags, 0);", "", "rules.py test_what_the_validator_finds"},
	"any extent fits":                    {"../dlpackgen/arguments.h", "if (DLPACKGEN_RARE(extent - 1 >= DLPACKGEN_USUAL_EXTENT)) return 0;", "", "rules.py test_what_the_validator_finds_in_named_dtypes"},
	"any stride fits":                    {"../dlpackgen/arguments.h", "if (DLPACKGEN_RARE(stride != (int64_t)*elements) && extent != 1) return 0;", "", "rules.py test_what_the_validator_finds_in_named_dtypes"},
	"addresses may wrap around":          {"../dlpackgen/arguments.h", "(uintptr_t)tensor->data - 1 >= UINTPTR_MAX / 2", "!tensor->data", "rules.py test_what_the_validator_finds_in_named_dtypes"},
	"offsets may wrap around":            {"../dlpackgen/arguments.h", "if (DLPACKGEN_RARE(tensor->byte_offset > DLPACKGEN_USUAL_SIZE)) return 0;", "", "rules.py test_what_the_validator_finds_in_named_dtypes"},
	"sizes may be anything":              {"../dlpackgen/arguments.h", "return *elements <= DLPACKGEN_USUAL_SIZE;", "return 1;", "rules.py test_what_the_validator_finds_in_named_dtypes"},
	"ndim may be anything":               {"take.h", "if (tensor->ndim < 0 || tensor->ndim > DLPACKGEN_MAX_NDIM) error = DLPACK_ERROR_NDIM;\n\telse ", "", "rules.py test_what_the_validator_finds"},
	"read-only is written":               {"../dlpackgen/arguments.h", "if (function->parameters[i].writes) status = dlpackgen_check_writable(&at, of.flags, message);", "", "rules.py test_what_is_written"},
	"what overlaps has another class":    {"../dlpackgen/check.h", "dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_OVERLAPPING", "dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, DLPACKGEN_OVERLAPPING", "rules.py test_what_is_refused_to_be_written_by_every_way"},
	"more dimensions break rules":        {"../dlpackgen/check.h", "if (error == DLPACK_ERROR_NDIM && tensor->ndim > DLPACKGEN_MAX_NDIM)", "if (0)", "rules.py test_more_dimensions_than_are_served"},
	"the CPU has several numbers":        {"take.h", "if (dlpackgen_is_numbered_cpu(tensor->device)) tensor->device.device_id = 0;", "", "rules.py test_the_cpu_has_one_number"},
	"the CPU has several numbers, held":  {"managed.h", "if (dlpackgen_is_numbered_cpu(view->device)) made->tensor.dl_tensor.device.device_id = 0;", "", "rules.py test_the_cpu_has_one_number"},
	"the CPU has several numbers, kept":  {"take.h", " || dlpackgen_is_numbered_cpu(view->device))", ")", "rules.py test_the_cpu_has_one_number"},
	"old tensors are written":            {"take.h", "a->flags = taken.versioned ? taken.versioned->flags : (uint64_t)DLPACK_FLAG_BITMASK_READ_ONLY;", "a->flags = 0;", "rules.py test_what_is_written"},
	"overlaps are written":               {"../dlpackgen/arguments.h", "if (!status && p->writes) status = dlpackgen_check_overlap(&at, tensor, message);", "", "rules.py test_what_overlaps_is_not_written"},
	"names are told alone":               {"given.h", "if (!name || PyUnicode_CompareWithASCIIString(name, expected) != 0) return name;", "if (module == full) return name;", "scalars.py test_types_of_the_same_name"},
	"modules are texts":                  {"given.h", "if (found > 0 && PyUnicode_Check(module)) full", "if (found > 0) full", "scalars.py test_types_of_the_same_name"},
	"any room is enough":                 {"described.h", "if (!status && function->count > site->room)", "if (0)", "rules.py test_functions_that_are_misdescribed"},
	"any number of parameters":           {"../dlpackgen/described.h", "if (function->count > DLPACKGEN_MAX_PARAMETERS)", "if (0)", "rules.py test_functions_that_are_misdescribed"},
	"a table may be missing":             {"../dlpackgen/described.h", "if (function->count && !function->parameters)", "if (0)", "rules.py test_functions_that_are_misdescribed"},
	"functions need no name":             {"../dlpackgen/described.h", "if (!function->name) {", "if (0) {", "rules.py test_functions_that_are_misdescribed"},
	"parameters need no name":            {"../dlpackgen/described.h", "if (!name || !*name) {", "if (0) {", "rules.py test_functions_that_are_misdescribed"},
	"names come twice":                   {"../dlpackgen/described.h", "if (strcmp(function->parameters[j].name, name) == 0)", "if (0)", "rules.py test_descriptions"},
	"two arguments are stream":           {"../dlpackgen/described.h", "if (function->takes_stream && strcmp", "if (0 && strcmp", "rules.py test_descriptions"},
	"kinds have no end":                  {"../dlpackgen/described.h", "if (p->kind > dlpackgen_bool)", "if (0)", "rules.py test_descriptions"},
	"densities have no end":              {"../dlpackgen/described.h", "if (p->density > dlpackgen_rows)", "if (0)", "rules.py test_descriptions"},
	"ranks have no end":                  {"../dlpackgen/described.h", "if (p->rank > DLPACKGEN_MAX_NDIM)", "if (0)", "rules.py test_descriptions"},
	"later parameters decide":            {"../dlpackgen/described.h", "if (number > i)", "if (0)", "rules.py test_descriptions"},
	"scalars have dtypes":                {"../dlpackgen/described.h", "if (function->parameters[number - 1].kind == dlpackgen_tensor) return DLPACKGEN_STATUS_OK;", "return DLPACKGEN_STATUS_OK;", "rules.py test_descriptions"},
	"symbols have no end":                {"../dlpackgen/described.h", "if (p->shape[n] <= DLPACKGEN_SYMBOL(DLPACKGEN_MAX_SYMBOLS))", "if (0)", "rules.py test_descriptions"},
	"dtypes are any number":              {"../dlpackgen/described.h", "if (p->dtypes[n] >> 16 == 0 || (p->dtypes[n] >> 8 & 0xff) == 0)", "if (0)", "rules.py test_descriptions"},
	"devices are any number":             {"../dlpackgen/described.h", "if (p->devices[n] < DLPACKGEN_ANY_DEVICE)", "if (0)", "rules.py test_descriptions"},
	"descriptions are not looked at":     {"begin.h", "if (dlpackgen_check_site(call->site, call->function)) return -1;", "", "rules.py test_descriptions"},
	"descriptions are looked at by name": {"begin.h", " || !dlpackgen_is_checked(call, function)))", "))", "rules.py test_descriptions"},
	"inlined, they are not looked at":    {"begin_inline.h", " || !dlpackgen_is_checked(call, function)))", "))", "rules.py test_descriptions"},
	"one description is that of all":     {"described.h", "return DLPACKGEN_LOAD(&call->site->checked) == function;", "return function && DLPACKGEN_LOAD(&call->site->checked);", "rules.py test_descriptions"},
	"bools are anything":                 {"given.h", "if (!is_theirs && !PyBool_Check(a->object)) return dlpackgen_wrong_scalar(call, i, \"bool\");", "", "scalars.py test_scalars"},
	"bools of NumPy are none":            {"given.h", "const int is_theirs = theirs == (PyObject *)Py_TYPE(a->object);", "const int is_theirs = 0;", "scalars.py test_bools_of_numpy"},
	"twice by name":                      {"given.h", "is_stream ? call->named_stream : given[i] != NULL", "is_stream && call->named_stream", "scalars.py test_names_and_numbers"},
	"defaults are lost":                  {"given.h", "\ta->integer = p->int_default;\n", "", "scalars.py test_names_and_numbers"},
	"11 becomes 11st":                    {"../dlpackgen/message.h", "endings[teen || last > 3 ? 0 : last]", "endings[0]", "scalars.py test_ordinals"},
	"strides stay NULL":                  {"managed.h", "const dlpack_error error = dlpack_compact_strides(tensor->ndim, numbers, strides);", "const dlpack_error error = DLPACK_OK;", "rules.py test_null_strides_are_written_out"},
	"any dtype fits":                     {"../dlpackgen/arguments.h", "if (DLPACKGEN_RARE(p->dtypes[0] == 0 || !dlpackgen_takes_dtype(p, dtype))) return 0;", "", "rules.py test_what_fits_at_once"},
	"any rank fits":                      {"../dlpackgen/arguments.h", " || !p->more) return 0;", ") return 0;", "rules.py test_what_fits_at_once"},
	"any symbol fits":                    {"../dlpackgen/arguments.h", "if (to.bound[symbol]) return to.extents[symbol] == extent;", "if (to.bound[symbol]) return 1;", "rules.py test_what_fits_at_once"},
	"any number fits":                    {"../dlpackgen/arguments.h", "return wanted == extent || wanted == DLPACKGEN_ANY;", "return 1;", "rules.py test_what_fits_at_once"},
	"another's dtype fits":               {"../dlpackgen/arguments.h", "if (of.typed && dlpackgen_dtype_of(of.typed) != dlpackgen_dtype_of(of.tensor)) return 0;", "", "rules.py test_what_fits_at_once"},
	"another's shape fits":               {"../dlpackgen/arguments.h", "return !of.shaped || dlpackgen_has_shape(of.tensor, of.shaped);", "return 1;", "rules.py test_what_fits_at_once"},
	"any device fits":                    {"../dlpackgen/arguments.h", "if (DLPACKGEN_RARE(tensor->device.device_type != kDLCPU || ", "if (DLPACKGEN_RARE(", "rules.py test_what_fits_at_once"},
	"the CPU fits anywhere":              {"../dlpackgen/arguments.h", "!= kDLCPU || !dlpackgen_takes_device(p, kDLCPU))) return 0;", "!= kDLCPU)) return 0;", "rules.py test_what_fits_at_once"},
	"read-only fits":                     {"../dlpackgen/arguments.h", "if (DLPACKGEN_RARE((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) && p->writes) return 0;", "", "rules.py test_what_fits_at_once"},
	"no memory fits":                     {"../dlpackgen/arguments.h", "(uintptr_t)tensor->data - 1 >= UINTPTR_MAX / 2", "(uintptr_t)tensor->data > UINTPTR_MAX / 2", "rules.py test_what_fits_at_once"},
	"symbols stay of what does not fit":  {"../dlpackgen/arguments.h", "if (to.bound[symbol] == i + 1) to.bound[symbol] = 0;", ";", "rules.py test_what_fits_at_once"},
	"fewer dimensions fit":               {"../dlpackgen/arguments.h", "if (tensor->ndim < p->rank || ", "if (", "rules.py test_what_fits_at_once"},
	"what lies elsewhere is forgotten":   {"begin.h", "call->elsewhere |= a->tensor.device.device_type != kDLCPU;", "", "rules.py test_what_fits_at_once"},
	"the first type is that of all":      {"begin.h", "(PyObject *)Py_TYPE(object) == means->type", "means->type", "rules.py test_arguments_of_several_types"},
	"tables have shapes and strides":     {"call.h", " || !tensor->shape || !tensor->strides) return 0;", ") return 0;", "rules.py test_a_trusted_table_without_strides"},
	"what is misaligned fits":            {"../dlpackgen/arguments.h", "return !dlpackgen_is_misaligned(tensor);", "return 1;", "rules.py test_what_fits_at_once"},

	"inherited tables are used":           {"routes.h", "int found = dlpackgen_defines(own, name);", "int found = own != NULL;", "routes.py test_a_table_is_for_one_type"},
	"the older attribute is forgotten":    {"routes.h", "if (!failed && !*table) failed", "if (0) failed", "routes.py test_a_table_comes_before_the_capsule"},
	"registered tables are not used":      {"routes.h", "\tdlpackgen_forget(state, type);\n", "", "routes.py test_a_registered_table_comes_first"},
	"tables of any version are used":      {"routes.h", "dlpack_find_exchange_api((const DLPackExchangeAPIHeader *)address, &table) == DLPACK_OK ? table : NULL", "(const DLPackExchangeAPI *)address", "routes.py test_versions_of_tables"},
	"all tables are trusted":              {"routes.h", "route->trusted = (uint8_t)trusted;", "route->trusted = 1;", "routes.py test_what_is_owned"},
	"what a table leaves is ignored":      {"take.h", "out) == 0 && (trusted || !PyErr_Occurred()))", "out) == 0)", "routes.py test_tables_that_fail"},
	"tables of major 2 are read":          {"take.h", "if ((*out)->version.major == DLPACK_MAJOR_VERSION) return 0;", "return 0;", "routes.py test_tables_that_fail"},
	"silent tables stay silent":           {"errors.h", "if (!PyErr_Occurred()) PyErr_SetString(kind, otherwise);", "(void)kind, (void)otherwise;", "routes.py test_tables_that_fail"},
	"capsules of major 2 are read":        {"capsules.h", "if (taken->versioned && taken->versioned->version.major != DLPACK_MAJOR_VERSION)", "if (0)", "routes.py test_what_dlpack_answers"},
	"old producers are refused":           {"capsules.h", "if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;", "return capsule;", "routes.py test_what_dlpack_is_asked"},
	"keywords are those of all calls":     {"capsules.h", "PyObject *keywords = PyDict_Copy(state->keywords); /*", "PyObject *keywords = Py_NewRef(state->keywords); /*", "routes.py test_keywords_are_fresh"},
	"capsules are not renamed":            {"capsules.h", "if (PyCapsule_SetName(capsule, used)) tensor = NULL;", "if (used == dlpackgen_legacy_used && PyCapsule_SetName(capsule, used)) tensor = NULL;", "routes.py test_what_dlpack_answers"},
	"old capsules are not renamed":        {"capsules.h", "if (PyCapsule_SetName(capsule, used)) tensor = NULL;", "if (used == dlpackgen_versioned_used && PyCapsule_SetName(capsule, used)) tensor = NULL;", "leaks.py test_what_succeeds"},
	"causes are lost":                     {"errors.h", "if (fits && cause) PyException_SetCause(made.value, Py_NewRef(cause));", "", "routes.py test_what_a_producer_raises"},
	"contexts are lost":                   {"errors.h", "if (fits && context) PyException_SetContext(made.value, Py_NewRef(context));", "", "routes.py test_the_first_error_of_c_stays"},
	"names are asked for in Python":       {"errors.h", "PyObject *name = text ? PyType_GetName(Py_TYPE(object)) : NULL;", "PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), \"__name__\");", "routes.py test_exceptions_that_cannot_be_told"},
	"texts must be there":                 {"errors.h", "return dlpackgen_pass_over() ? NULL : PyType_GetName(Py_TYPE(exception));", "return NULL;", "routes.py test_exceptions_that_cannot_be_told"},
	"what tells a text may raise nothing": {"errors.h", "return dlpackgen_pass_over() ? NULL : PyType_GetName(Py_TYPE(exception));", "return PyErr_Clear(), PyType_GetName(Py_TYPE(exception));", "routes.py test_exceptions_that_cannot_be_told"},
	"foreign classes are about nothing":   {"errors.h", "return PyErr_GivenExceptionMatches(exception, PyExc_Exception) ? PyExc_RuntimeError : NULL;", "return NULL;", "routes.py test_what_a_producer_raises"},
	"a want of memory is about a tensor":  {"errors.h", "if (PyErr_GivenExceptionMatches(exception, PyExc_MemoryError)) return NULL;", "", "routes.py test_what_a_producer_raises"},
	"recursion is about a tensor":         {"errors.h", "if (PyErr_GivenExceptionMatches(exception, PyExc_RecursionError)) return NULL;", "", "routes.py test_what_a_producer_raises"},
	"causes come twice":                   {"errors.h", "const int adds = former->trace || ", "const int adds = 1 || ", "routes.py test_a_message_is_printed_once"},
	"causes are skipped":                  {"errors.h", "const int adds = former->trace || ", "const int adds = 0 && ", "routes.py test_what_a_producer_raises"},
	"producers raise what they like":      {"capsules.h", "if (!capsule) dlpackgen_not_exported(object);", "", "routes.py test_what_a_producer_raises"},
	"tables raise what they like":         {"take.h", "*out = NULL;\n\t\treturn dlpackgen_not_exported(object);", "*out = NULL;\n\t\treturn -1;", "routes.py test_tables_that_fail"},
	"attributes raise what they like":     {"capsules.h", "dlpackgen_not_exported(object);\n\t\t\treturn NULL;", "return NULL;", "routes.py test_what_is_no_tensor"},
	"answers raise what they like":        {"take.h", "? dlpackgen_not_exported(object) : 0;", "? -1 : 0;", "asked.py test_questions"},
	"devices raise what they like":        {"place.h", "return failed ? dlpackgen_not_exported(object) : 1;", "return failed ? -1 : 1;", "streams.py test_device_answers"},
	"enumerations are no numbers":         {"place.h", "if (!PyIndex_Check(part) && ", "if (0 && ", "streams.py test_device_answers"},
	"the CPU has an id":                   {"place.h", "if (part == Py_None && is_id_of_cpu) return 0;", "", "streams.py test_device_answers"},
	"None is an id anywhere":              {"place.h", "if (part == Py_None && is_id_of_cpu) return 0;", "if (part == Py_None) return 0;", "streams.py test_device_answers"},
	"a list is no pair":                   {"place.h", "PyTuple_Check(answer) || PyList_Check(answer);", "PyTuple_Check(answer);", "streams.py test_device_answers"},
	"a class is no producer":              {"errors.h", "PyType_Check(object) ? NULL : dlpackgen_kind_of(former.value);", "dlpackgen_kind_of(former.value);", "routes.py test_what_is_no_tensor"},
	"interrupts become refusals":          {"errors.h", "PyType_Check(object) ? NULL : dlpackgen_kind_of(former.value);", "PyType_Check(object) ? NULL : former.kind;", "routes.py test_what_a_producer_raises"},
	"deleters clear the error":            {"managed.h", "if (legacy && legacy->deleter) legacy->deleter(legacy);\n\tdlpackgen_resume(pending);", "if (legacy && legacy->deleter) legacy->deleter(legacy);\n\tPy_XDECREF(pending.kind);", "routes.py test_a_careless_deleter_keeps_the_error"},
	"who deletes loses the error":         {"managed.h", "if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) {", "if (1) {", "lives.py test_a_careless_deleter_keeps_the_error"},
	"the first module dies of another":    {"object.h", "if (*place) *place = state->older;", "if (*place) dlpackgen_newest = NULL;", "lives.py test_modules_come_and_go"},
	"a dead module is still listed":       {"module.h", "dlpackgen_unlist_module(state);", "", "lives.py test_a_table_without_a_module"},
	"known types are not visited":         {"module.h", "if (state->cache[i]) Py_VISIT(state->cache[i]->type);", ";", "lives.py test_types_that_are_known_are_visited"},
	"registered types are not visited":    {"module.h", "if (state->registered[i]) Py_VISIT(state->registered[i]->type);", ";", "lives.py test_types_that_are_known_are_visited"},
	"the first table stays":               {"routes.h", "DLPACKGEN_STORE(&state->registered[place]->api, ours);", ";", "routes.py test_a_table_that_is_registered_again"},
	"a table that is replaced is used":    {"routes.h", "else if (dlpackgen_enter(state, place, type, ours)) return -1;\n\tdlpackgen_forget(state, type);", "else { if (dlpackgen_enter(state, place, type, ours)) return -1; dlpackgen_forget(state, type); }", "routes.py test_a_table_that_is_registered_again"},
	"a type has several places":           {"routes.h", "&& state->registered[i]->type != type) i++;", ") i++;", "routes.py test_as_many_tables_as_there_is_room_for"},
	"room is without end":                 {"routes.h", "if (place == DLPACKGEN_MAX_REGISTERED) {", "if (0) {", "routes.py test_as_many_tables_as_there_is_room_for"},
	"tables of bases make nothing":        {"routes.h", "if (dlpackgen_maker_of(route->type, &route->makes)) return -1;", "", "give.py test_new_tensors_like_a_derived_type"},
	"packages of bases make nothing":      {"result.h", "for (Py_ssize_t i = 0; i < count && result == 0; i++)", "for (Py_ssize_t i = 0; i < 1 && result == 0; i++)", "give.py test_new_tensors_like_a_derived_type"},
	"tensors are kept":                    {"begin.h", "\tif (DLPACKGEN_RARE(failed)) dlpackgen_end(call);\n", "", "routes.py test_capsules_are_freed_on_every_way"},
	"negated values are taken":            {"take.h", "if (asks & dlpackgen_asks_neg &&", "if (0 &&", "asked.py test_questions"},
	"conjugated values are taken":         {"take.h", "if (asks & dlpackgen_asks_conj &&", "if (0 &&", "asked.py test_questions"},
	"gradients are forgotten":             {"take.h", "if (asks & dlpackgen_asks_grad && dlpackgen_refuse_grad(state, object)) return -1;", "", "asked.py test_questions"},
	"masks are forgotten":                 {"take.h", "if (asks & dlpackgen_asks_mask)", "if (0)", "asked.py test_questions"},
	"the default stream is 0":             {"place.h", "*stream = call->stream ? PyLong_FromVoidPtr(call->stream) : PyLong_FromLongLong(dlpackgen_default_stream(streams));", "*stream = PyLong_FromVoidPtr(call->stream);", "streams.py test_streams"},
	"no stream is told":                   {"capsules.h", "if (!stream || PyDict_SetItem(keywords, state->stream, stream) == 0)", "if (1)", "streams.py test_streams"},
	"no stream is no error":               {"place.h", "return told < 0 ? -1 : dlpackgen_no_stream(call, i, device);", "return told < 0 ? -1 : 0;", "streams.py test_streams"},
	"any number is a stream":              {"place.h", "dlpackgen_stream_is_refused(streams, call->number)", "0", "streams.py test_a_stream_that_is_given"},
	"1 is a handle":                       {"place.h", "call->number == dlpackgen_default_stream(streams);", "0;", "streams.py test_a_stream_that_is_given"},
	"devices are mixed":                   {"../dlpackgen/check.h", "if (DLPACKGEN_RARE(!dlpackgen_same_device(device, expected)))", "if (0)", "streams.py test_devices_are_not_mixed"},
	"ids are not compared":                {"../dlpackgen/check.h", "&& (!numbered || a.device_id == b.device_id);", ";", "streams.py test_devices_are_not_mixed"},
	"what runs comes when it comes":       {"begin.h", "return route && !route->yields ? route : NULL;", "return route;", "order.py"},
	"metadata is used where it is":        {"begin.h", "if (!dlpackgen_copies(&a->tensor, scratch)) return 0;", "(void)scratch;", "with_torch.py test_metadata_of_torchs_own_table_is_copied"},
	"metadata is never copied":            {"take.h", "else if (copy) error", "else if (!tensor->strides) error", "order.py test_metadata_is_copied_where_others_run"},
	"types are kept for ever":             {"routes.h", "\tdlpackgen_free_route(old);\n#endif", "\t(void)old;\n#endif", "routes.py test_types_are_kept_and_driven_out"},
	"types are not kept":                  {"routes.h", "\tPy_INCREF(type);\n\tmade->type = type;\n\tif", "\tmade->type = type;\n\tif", "routes.py"},
	"what is held may not be written":     {"take.h", "else if (want_write && flags & DLPACK_FLAG_BITMASK_READ_ONLY)", "else if (0)", "routes.py test_taking"},

	"guards are not asked":                    {"begin.h", "return means->guard && DLPACKGEN_RARE(means->guard(a->object, &a->tensor)) ? -1 : 1;", "return 1;", "with_torch.py test_the_table_of_torch"},
	"guards are not asked for good":           {"take.h", "if (made && how.guard && how.guard(object, &made->dl_tensor)) {", "if (0) {", "with_torch.py test_the_table_of_torch"},
	"tables come when they come":              {"routes.h", "else route->yields = !route->trusted ||", "else route->yields = !route->api ||", "order.py test_what_a_table_runs_comes_first"},
	"what may be freed is borrowed":           {"call.h", "if (!owned && (a->plain || dlpackgen_runs_after(call, i)))", "if (!owned && a->plain)", "order.py test_what_may_be_taken_away_is_owned"},
	"streams run no code":                     {"call.h", "if ((j <= i || a->done || !a->yields) && dlpackgen_is_elsewhere(call, j)) return 1;", "", "order.py test_what_a_stream_runs_comes_first"},
	"streams come last":                       {"call.h", "if (!fault.is_found) disagree = dlpackgen_agree_on_stream(call);", "", "order.py test_what_a_stream_runs_comes_first"},
	"streams come before faults":              {"call.h", "\tdlpackgen_check_all(call, &fault);\n", "\tif (!streams.kind) dlpackgen_check_all(call, &fault);\n", "streams.py test_libraries_on_two_streams"},
	"registered tables are trusted":           {"routes.h", "return own == route->api ? dlpackgen_is_trusted(route) : 0;", "return dlpackgen_is_trusted(route);", "routes.py test_a_registered_table_is_not_trusted"},
	"ints are tables":                         {"routes.h", "\tif (PyCapsule_IsValid(value, dlpackgen_table_capsule))\n", "\tif (PyLong_Check(value)) address = (void *)(uintptr_t)PyLong_AsLongLong(value);\n\tif (PyCapsule_IsValid(value, dlpackgen_table_capsule))\n", "routes.py test_attributes_that_are_no_tables"},
	"guards ask for no storage":               {"adopt_torch.h", "return dlpackgen_torch_check_storage(handle, plain, tensor);", "return 0;", "with_torch.py test_the_table_of_torch"},
	"strangers' guards are not asked":         {"call.h", "return a->guard && a->guard(a->object, &a->tensor) ? dlpackgen_unreadable(call, i) : 0;", "return 0;", "with_torch.py test_a_strangers_table_for_torch"},
	"a mode may give any object":              {"adopt_torch.h", "return dlpackgen_refuse(DLPACKGEN_TORCH_NO_ALIAS);", "return 0;", "with_torch.py test_what_a_mode_detaches"},
	"a mode may give any tensor":              {"adopt_torch.h", "return same ? 0 :", "return 1 ? 0 :", "with_torch.py test_what_a_mode_detaches"},
	"a mode may give any shape":               {"adopt_torch.h", "same = own.shape[i] == alias->shape[i] && own.strides[i] == alias->strides[i];", ";", "with_torch.py test_what_a_mode_detaches"},
	"torch's numbers are used where they are": {"adopt_torch.h", "\tdlpackgen_copy_numbers(out, scratch);\n", "", "with_torch.py test_metadata_is_copied"},
	"steps back need no storage":              {"adopt_torch.h", "if (signs < 0) return UINT64_MAX;", "", "with_torch.py test_a_strangers_table_for_torch"},
	"what was looked at is used":              {"call.h", "if (!failed && !a->done) failed = dlpackgen_fetch(", "if (0) failed = dlpackgen_fetch(", "attackers.py test_numpy_and_torch"},
	"what runs is read with the others":       {"routes.h", "else route->yields = !route->trusted || (route->asks && !route->plain) || route->refusing;", "else route->yields = 0;", "attackers.py test_numpy_and_torch"},
	"allocators change nothing":               {"result.h", "else if (makes && dlpackgen_check_again(call)) {", "else if (0) {", "attackers.py test_allocators"},
	"allocators change no numbers":            {"result.h", "\tdlpackgen_copy_all(call);\n", "", "attackers.py test_allocators"},
	"libraries share a stream":                {"place.h", "if (told && dlpackgen_plain_stream", "if (0 && dlpackgen_plain_stream", "streams.py test_libraries_on_two_streams"},
	"a stream that is given is all":           {"place.h", "if (call->has_number)\n\t\treturn dlpackgen_fault", "if (0)\n\t\treturn dlpackgen_fault", "streams.py test_a_stream_that_is_given"},
	"1 is not NULL":                           {"place.h", "return known && (uintptr_t)stream", "return 0 && known && (uintptr_t)stream", "streams.py test_a_stream_that_is_given"},
	"known libraries share a stream":          {"place.h", "return agreed ? dlpackgen_moved(call, other) : 1;", "return 0;", "streams.py test_libraries_on_two_streams"},
	"who cannot be told is asked":             {"place.h", "if (asks && dlpackgen_streams_of((int32_t)call->place.device_type) != dlpackgen_streams_none) return 0;", "if (asks) return 0;", "streams.py test_libraries_on_two_streams"},
	"a tensor may move":                       {"place.h", "if (!dlpackgen_same_device(call->place, call->device)) return dlpackgen_moved(call, first);", "", "streams.py test_a_tensor_that_moves_after_its_stream_was_asked_for"},

	"65 dimensions fit":             {"call.h", "(uint32_t)tensor->ndim > DLPACKGEN_MAX_NDIM || ", "", "rules.py test_what_the_validator_finds_in_named_dtypes"},
	"extents are of the first ones": {"../dlpackgen/arguments.h", "if (DLPACKGEN_RARE(p->rank > DLPACKGEN_MAX_EXTENTS)) return 0;", "", "rules.py test_more_dimensions_than_extents"},
	"a call makes an object":        {"begin.h", "call->has_stream = call->has_number = call->elsewhere = 0;", "call->has_stream = call->has_number = call->elsewhere = 0; Py_XDECREF(PyLong_FromLong(1 << 20));", "failing.py test_what_is_borrowed_allocates_nothing"},
	"a call allocates":              {"begin.h", "call->has_stream = call->has_number = call->elsewhere = 0;", "call->has_stream = call->has_number = call->elsewhere = 0; free(malloc(8));", "failing.py test_what_is_borrowed_allocates_nothing"},

	"no memory, and a tensor is lost":  {"take.h", "\tif (!made) dlpackgen_delete_quietly(taken.versioned, taken.legacy);\n", "", "failing.py test_its_own_allocations"},
	"no capsule, and a tensor is lost": {"capsules.h", "else if (!capsule) dlpackgen_delete_quietly(whole ? whole : tensor, NULL);", "", "failing.py test_those_of_python"},
	"no memory, and it is used":        {"managed.h", "if (!made) return NULL;\n\tmemset", "memset", "failing.py test_its_own_allocations"},

	"strides may be missing":             {"result.h", "dlpack_validate_versioned(made, 0)", "dlpack_validate_versioned(made, DLPACK_ACCEPT_NULL_STRIDES)", "give.py test_new_tensors_by_a_table"},
	"who was left out is asked":          {"result.h", "if (!object) made = dlpackgen_give(call->module, tensor);\n\telse if", "if", "give.py test_new_tensors_like_what_was_left_out"},
	"objects of any rank are taken":      {"managed.h", "if (view->ndim < 0 || view->ndim > DLPACKGEN_MAX_NDIM) {", "if (0) {", "give.py test_tensors_of_objects"},
	"anything allocated is written":      {"result.h", "*made && dlpackgen_is_as_asked(*made, asked)", "*made", "give.py test_new_tensors_by_a_table"},
	"ours go by their table":             {"routes.h", "\t\troute->adopted = &dlpackgen_adopted_own;\n\t\tif (!registered) route->api = NULL;", "\t\t;", "give.py test_what_a_call_takes_of_ours"},
	"ours are written to":                {"object.h", "if (want_write && *flags & DLPACK_FLAG_BITMASK_READ_ONLY)", "if (0)", "give.py test_what_a_call_takes_of_ours"},
	"ours stay copies":                   {"object.h", "*flags = own->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED;", "*flags = own->flags;", "give.py test_what_a_call_takes_of_ours"},
	"any dtype allocated is written":     {"result.h", "dlpackgen_dtype_of(got) == dlpackgen_dtype_of(asked)", "1", "give.py test_new_tensors_by_a_table"},
	"prototypes are compared as changed": {"result.h", "prototype.shape = shape;", "", "give.py test_new_tensors_by_a_table"},
	"who refuses is not replaced":        {"result.h", "if (left <= 0 || !is_possible || dlpackgen_pass_over()) return made;", "return made;", "give.py test_new_tensors_of_a_library_that_has_no_allocator"},
	"want of memory is a refusal":        {"result.h", "!is_possible || dlpackgen_pass_over()) return made;", "!is_possible) return made;\n\t\tPyErr_Clear();", "give.py test_new_tensors_by_a_table"},
	"the reason of a refusal is lost":    {"result.h", "left <= 0 || !is_possible || ", "left <= 0 || ", "give.py test_new_tensors_of_a_library_that_has_no_allocator"},
	"allocators may leave exceptions":    {"result.h", "if (!PyErr_Occurred() && *made && ", "if (*made && ", "give.py test_new_tensors_by_a_table"},
	"tables may leave exceptions":        {"result.h", "if (!PyErr_Occurred()) return (PyObject *)made;", "return (PyObject *)made;", "give.py test_new_tensors_of_a_library_that_has_no_allocator"},
	"any number is an argument":          {"result.h", "like < 0 || like >= call->function->count || ", "", "give.py test_new_tensors_like_no_argument"},
	"any argument is a tensor":           {"result.h", " || call->function->parameters[like].kind != dlpackgen_tensor) {", ") {", "give.py test_new_tensors_like_no_argument"},
	"gaps are allocated":                 {"result.h", "dlpack_is_row_major(got)", "1", "give.py test_new_tensors_by_a_table"},
	"any device is allocated on":         {"result.h", "dlpackgen_same_device(got->device, asked->device)", "1", "give.py test_new_tensors_by_a_table"},
	"any id of a device fits":            {"object.h", " && want[1] == device.device_id", "", "give.py test_copies"},
	"what is not wrapped is lost":        {"result.h", "dlpackgen_delete_quietly(tensor, NULL); /* who", "/* who", "give.py test_new_tensors_by_a_table"},
	"the offset is lost":                 {"object.h", "view.data = (char *)view.data + view.byte_offset;", "", "give.py test_copies"},

	"flags are lost":                  {"object.h", "tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED);", "0);", "give.py test_flags_stay"},
	"copies stay copies":              {"object.h", "tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED);", "tensor->flags);", "give.py test_flags_stay"},
	"flags are lost with the old":     {"capsules.h", "if (tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED) {", "if (0) {", "give.py test_flags_stay"},
	"any stream fits":                 {"object.h", "if (number == -1 || !dlpackgen_stream_is_refused(streams, number)) return 1;", "return 1;", "give.py test_arguments_of_dlpack"},
	"copies ignore strides":           {"object.h", "from + i * t->strides[dimension] * (int64_t)item", "from + i * (int64_t)item", "give.py test_copies"},
	"copies say nothing":              {"object.h", "made->flags = DLPACK_FLAG_BITMASK_IS_COPIED |", "made->flags =", "give.py test_copies"},
	"copies of devices":               {"object.h", "if (bits % 8 || !dlpack_device_is_host_readable((int32_t)from->device.device_type)) {", "if (bits % 8) {", "give.py test_copies"},
	"copies though forbidden":         {"object.h", "&& !wish->in_place)", "&& 1)", "give.py test_copies"},
	"a capsule keeps its tensor":      {"capsules.h", "dlpackgen_delete_quietly(\n\t    (DLManagedTensorVersioned *)PyCapsule_GetPointer(capsule, dlpackgen_versioned_fresh), NULL);", ";", "give.py test_a_capsule_that_nobody_takes"},
	"a capsule loses the error":       {"capsules.h", "dlpackgen_delete_quietly(NULL, (DLManagedTensor *)PyCapsule_GetPointer(capsule, dlpackgen_legacy_fresh));", "dlpackgen_delete_quietly(NULL, (DLManagedTensor *)PyCapsule_GetPointer(capsule, dlpackgen_legacy_fresh)), PyErr_Clear();", "give.py test_a_capsule_that_dies_of_an_exception"},
	"a capsule frees what was taken":  {"capsules.h", "if (PyCapsule_IsValid(capsule, dlpackgen_versioned_fresh))\n\t\tdlpackgen_delete_quietly(", "if (1)\n\t\tdlpackgen_delete_quietly(", "give.py test_an_object_gives_capsules"},
	"an object dies before its views": {"managed.h", "\tPy_INCREF(owner);\n", "", "give.py test_an_exported_tensor_outlives_its_object"},
	"a table takes any object":        {"object.h", "if (ends == dlpackgen_object_dealloc) return", "return", "give.py test_the_table"},
	"a view loses its flags":          {"object.h", "if (tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED)\n\t\treturn dlpackgen_refuse(\"a borrowed", "if (0)\n\t\treturn dlpackgen_refuse(\"a borrowed", "give.py test_the_table"},
	"anything is wrapped":             {"object.h", "if (error != DLPACK_OK) dlpackgen_refuse_error(tensor ? &tensor->dl_tensor : NULL, error);\n\telse if (!dlpackgen_newest)", "if (!dlpackgen_newest)", "give.py test_the_table"},
	"devices are allocated on":        {"object.h", "const int fits = prototype->device.device_type == kDLCPU;", "const int fits = 1;", "give.py test_the_allocator"},
	"given without strides":           {"object.h", "= dlpackgen_with_strides(tensor);\n\tPyObject", "= tensor;\n\tPyObject", "give.py test_strides_are_written_out"},
	"wrapped without strides":         {"object.h", "made->tensor = dlpackgen_with_strides(tensor);", "made->tensor = tensor;", "give.py test_strides_are_written_out"},
	"capsules without strides":        {"capsules.h", "versioned ? dlpackgen_with_strides(tensor) : NULL;", "versioned ? tensor : NULL;", "give.py test_strides_are_written_out"},
	"any strides are written out":     {"managed.h", "if (error == DLPACK_OK) return dlpackgen_modern(tensor, NULL);", "return dlpackgen_modern(tensor, NULL);", "give.py test_strides_are_written_out"},
	"data is not aligned":             {"managed.h", "DLPACKGEN_ALIGNMENT = 256", "DLPACKGEN_ALIGNMENT = 1", "give.py test_tensors_in_own_memory"},
	"other interpreters are let in":   {"module.h", "if (dlpackgen_refuse_subinterpreter()) return -1;", "", "threads.py test_other_interpreters_are_refused"},
	"the GIL is not taken":            {"managed.h", "PyGILState_STATE gil = PyGILState_Ensure();\n\tstruct dlpackgen_pending pending = dlpackgen_suspend();\n\tPy_DECREF(object);\n\tdlpackgen_resume(pending);\n\tPyGILState_Release(gil);", "Py_DECREF(object);", "threads.py test_deleters_on_other_threads"},
	"the end is not seen":             {"managed.h", "if (!Py_IsInitialized()) return;", "", "ending.py after"},
	"the ending is not seen":          {"managed.h", "if (!Py_IsInitialized()) return;", "", "ending.py while"},

	"the last table decides, asking":          {"place.h", "for (int i = 0; i < call->function->count && !call->has_stream; i++) {", "for (int i = call->function->count - 1; i >= 0 && !call->has_stream; i--) {", "streams.py test_the_first_table_decides"},
	"the last table decides":                  {"place.h", "for (int i = first; i < call->function->count && !call->has_stream; i++)", "for (int i = call->function->count - 1; i >= 0 && !call->has_stream; i--)", "streams.py test_the_first_table_decides"},
	"a tensor on the CPU decides":             {"place.h", "if (seen && !dlpackgen_is_on_host(there) && ", "if (seen && ", "streams.py test_a_tensor_on_the_cpu_does_not_decide"},
	"what is looked at is lost":               {"place.h", "if (!a->adopted && found == 1) dlpackgen_delete_quietly(seen.versioned, NULL);", "", "streams.py test_what_is_owned_by_a_look_is_freed"},
	"what became another is looked at":        {"place.h", " || Py_TYPE(a->object) != a->type) return 0;", ") return 0;", "order.py test_a_tensor_that_becomes_another"},
	"a lie is believed":                       {"place.h", "if (a->says && dlpackgen_same_device(a->said, came)) return 0;", "if (a->says) return 0;", "streams.py test_a_lie_about_the_device_is_refused"},
	"who is silent is believed":               {"place.h", "if (a->says && dlpackgen_same_device(a->said, came)) return 0;", "if (!a->says || dlpackgen_same_device(a->said, came)) return 0;", "streams.py test_streams"},
	"ids of devices are cut off":              {"place.h", "(type != (int32_t)type || id != (int32_t)id))", "0)", "streams.py test_a_lie_about_the_device_is_refused"},
	"streams go to other devices":             {"place.h", "if (dlpackgen_same_device(device, call->place)) return 0;", "return 0;", "streams.py test_a_producer_on_another_device_is_not_asked"},
	"a stream stays on the CPU":               {"place.h", "call->stream = NULL; /*", "/*", "streams.py test_a_stream_that_nobody_needs_in_the_end"},
	"pinned memory has streams":               {"../dlpackgen/check.h", "return dlpack_device_is_host((int32_t)device.device_type);", "return device.device_type == kDLCPU || device.device_type == kDLROCMHost;", "streams.py test_pinned_memory_is_the_hosts"},
	"pinned memory of ROCm has them":          {"../dlpackgen/check.h", "return dlpack_device_is_host((int32_t)device.device_type);", "return device.device_type == kDLCPU || device.device_type == kDLCUDAHost;", "streams.py test_pinned_memory_is_the_hosts"},
	"managed memory has none":                 {"../dlpackgen/check.h", "return dlpack_device_is_host((int32_t)device.device_type);", "return dlpack_device_is_host((int32_t)device.device_type) || device.device_type == kDLCUDAManaged;", "streams.py test_pinned_memory_is_the_hosts"},
	"True is a stream":                        {"given.h", "if (PyBool_Check(stream)) return dlpackgen_wrong_stream(call, stream);", "", "streams.py test_a_stream_that_is_given"},
	"a stream may come twice":                 {"given.h", "is_stream ? call->named_stream : given[i] != NULL", "!is_stream && given[i] != NULL", "streams.py test_a_stream_that_is_given_twice"},
	"what is lent is used where it is":        {"call.h", "if (dlpackgen_admit(a, dlpackgen_scratch_of(call, i), 1)) return", "if (dlpackgen_admit(a, dlpackgen_scratch_of(call, i), 0)) return", "order.py test_metadata_is_copied_where_others_run"},
	"types stay what they were":               {"call.h", "if (Py_TYPE(a->object) == a->type) return 0;", "return 0;", "order.py test_a_tensor_that_becomes_another"},
	"types stay what they were, taken":        {"take.h", "if (Py_TYPE(object) != type) {", "if (0) {", "order.py test_a_tensor_that_becomes_another"},
	"the first error is lost":                 {"capsules.h", "PyException_SetContext(second.value, Py_NewRef(first.value));", ";", "routes.py test_the_first_error_stays"},
	"what is unreadable comes first":          {"call.h", "\tdlpackgen_check_all(call, &fault);\n", "\tif (!fault.pending.kind) dlpackgen_check_all(call, &fault);\n", "rules.py test_the_first_fault_is_told_by_every_route"},
	"scalars come first":                      {"call.h", "\tdlpackgen_read_some(call, 1, &fault);\n", "\tif (!fault.pending.kind) dlpackgen_read_some(call, 1, &fault);\n", "rules.py test_the_first_fault_is_told_by_every_route"},
	"devices come last":                       {"call.h", "dlpackgen_compare_devices(call, i) < -1)", "0)", "rules.py test_the_first_fault_may_be_a_device"},
	"an interrupt is put off":                 {"call.h", "const int is_final = !dlpackgen_kind_of(newer.value);", "const int is_final = 0;", "rules.py test_what_is_no_fault_of_an_argument_is_told_first"},
	"what was left out is not cleared":        {"given.h", "\tmemset(a, 0, sizeof *a);\n", "\ta->object = NULL, a->yields = 0, a->done = 1, a->type = NULL;\n", "scalars.py test_left_out_tensors"},
	"any device fits at once":                 {"../dlpackgen/arguments.h", "if (DLPACKGEN_RARE(tensor->device.device_type != kDLCPU || ", "if (DLPACKGEN_RARE(", "rules.py test_devices"},
	"elements lie anywhere":                   {"../dlpackgen/check.h", "if (dlpackgen_is_misaligned(tensor)) return dlpackgen_misaligned(at, tensor, message);", "", "rules.py test_alignment"},
	"elements lie anywhere, taken":            {"take.h", "if (dlpackgen_is_misaligned(tensor))", "if (0)", "rules.py test_alignment"},
	"every element aligns as 2 bytes":         {"../dlpackgen/check.h", "% (uintptr_t)dlpack_alignment(tensor->dtype) != 0", "% 2 != 0", "rules.py test_alignment"},
	"what is empty is aligned":                {"../dlpackgen/check.h", "(tensor->dtype) != 0 && !dlpackgen_is_empty(tensor);", "(tensor->dtype) != 0;", "rules.py test_alignment"},
	"offsets are aligned":                     {"../dlpackgen/check.h", "tensor->data | (uintptr_t)tensor->byte_offset) % 16", "tensor->data) % 16", "rules.py test_alignment"},
	"handles are addresses":                   {"../dlpackgen/check.h", "(has_address ? (uintptr_t)tensor->data : 0)", "(uintptr_t)tensor->data", "rules.py test_alignment"},
	"nothing overlaps":                        {"../dlpackgen/check.h", "return dlpack_may_overlap(tensor);", "return 0;", "rules.py test_what_overlaps_is_not_written"},
	"what is empty overlaps":                  {"../dlpackgen/check.h", "return dlpack_may_overlap(tensor);", "return dlpack_may_overlap(tensor) || dlpackgen_is_empty(tensor);", "rules.py test_what_overlaps_is_not_written"},
	"what overlaps is taken to write":         {"take.h", "return want_write && dlpackgen_may_overlap(tensor) ? ", "return 0 ? ", "rules.py test_what_overlaps_is_not_written"},
	"what a guard refuses is lost":            {"take.h", "&made->dl_tensor)) {\n\t\tdlpackgen_delete_quietly(made, NULL);\n", "&made->dl_tensor)) {\n", "with_torch.py test_what_a_guard_refuses_is_given_back"},
	"parameters are not trusted":              {"adopt_torch_shim.h", "type == *known->tensor || type == *known->parameter ?", "type == *known->tensor ?", "with_torch.py test_parameters_are_trusted"},
	"inlined, anything fits":                  {"begin_inline.h", "return dlpackgen_is_steady(a, copies_all, means, scratch) > 0 && dlpackgen_fits(call, i, p, a);", "return dlpackgen_is_steady(a, copies_all, means, scratch) > 0;", "inlined.py test_the_same_outcome"},
	"inlined, errors come twice":              {"begin_inline.h", "\tPyErr_Clear();\n", "", "inlined.py test_names_and_numbers"},
	"inlined, names are not looked at":        {"begin_inline.h", "keywords != NULL || count != function->count", "count != function->count", "inlined.py test_names_and_numbers"},
	"inlined, any number will do":             {"begin_inline.h", "keywords != NULL || count != function->count", "keywords != NULL", "inlined.py test_names_and_numbers"},
	"tables that may run code are read":       {"begin.h", "dlpackgen_quiet(state, object);", "dlpackgen_route_of(state, object);", "order.py"},
	"inlined, strides may be missing":         {"begin_inline.h", "return dlpackgen_is_steady(a, copies_all, means, scratch) > 0 && dlpackgen_fits(call, i, p, a);", "return dlpackgen_fits(call, i, p, a);", "inlined.py test_the_same_outcome"},
	"inlined, metadata stays where it is":     {"begin_inline.h", "return dlpackgen_is_steady(a, copies_all, means, scratch) > 0 && dlpackgen_fits(call, i, p, a);", "return dlpackgen_fits(call, i, p, a);", "with_torch.py test_metadata_of_torchs_own_table_is_copied"},
	"inlined, what fails is taken":            {"begin_inline.h", "return means->api->dltensor_from_py_object_no_sync(a->object, &a->tensor) == 0;", "means->api->dltensor_from_py_object_no_sync(a->object, &a->tensor);\n\treturn 1;", "inlined.py test_the_same_outcome"},
	"inlined, tables must lend":               {"begin_inline.h", "if (!means->api->dltensor_from_py_object_no_sync || ", "if (", "inlined.py test_what_cannot_be_lent"},
	"inlined, scalars are anything":           {"begin_inline.h", "return dlpackgen_begin_other(call, i, object) == 0;", "return dlpackgen_begin_other(call, i, object), 1;", "inlined.py test_the_same_outcome"},
	"inlined, guards are not asked":           {"begin_inline.h", "return dlpackgen_is_steady(a, copies_all, means, scratch) > 0 && dlpackgen_fits(call, i, p, a);", "return dlpackgen_is_steady(a, copies_all, means, scratch) != 0 && dlpackgen_fits(call, i, p, a);", "with_torch.py test_the_table_of_torch"},
	"gradients of Paddle are forgotten":       {"take.h", "if (asks & dlpackgen_asks_stop && dlpackgen_refuse_no_stop(state, object)) return -1;", "", "asked.py test_gradients_of_paddle"},
	"Paddle records what torch does":          {"take.h", "dlpackgen_grad_is_recorded(\"paddle\")", "dlpackgen_grad_is_recorded(\"torch\")", "asked.py test_gradients_of_paddle"},
	"tables are asked for what has no memory": {"take.h", "asks & dlpackgen_asks_dense ? dlpackgen_is_dense(state, object) : 1;", "1;", "asked.py test_a_table_is_not_asked_for_what_has_no_memory"},
	"all producers are asked for memory":      {"routes.h", "route->api ? dlpackgen_has(type, \"is_dense\") : 0;", "dlpackgen_has(type, \"is_dense\");", "asked.py test_a_table_is_not_asked_for_what_has_no_memory"},
	"looks ask tables for anything":           {"place.h", "if (!(a->asks & dlpackgen_asks_dense)) return 1;", "return 1;", "asked.py test_a_look_asks_for_memory_too"},
	"what became another is looked at later":  {"place.h", "return dense && Py_TYPE(a->object) == a->type;", "return dense;", "asked.py test_a_look_asks_for_memory_too"},
	"looks that fail end the call":            {"place.h", "if (dense < 0) return dlpackgen_pass_over();", "if (dense < 0) return -1;", "asked.py test_a_look_asks_for_memory_too"},
	"what was cleared is read again":          {"result.h", "if (route->plain && !route->plain(a->object)) return 0;", "", "with_paddle.py test_what_an_allocator_clears"},
	"what is not plain is borrowed":           {"call.h", "a->plain || ", "", "with_paddle.py test_what_an_allocator_clears"},
	"inlined, nothing needs memory":           {"begin_inline.h", " || (means->plain && !means->plain(a->object))", "", "with_paddle.py test_what_has_no_memory"},
	"chains end in nested calls":              {"managed.h", "if (ends->nested == DLPACKGEN_MOST_ENDS) {", "if (0) {", "depth.py test_long_chains_end"},
	"what waits is forgotten":                 {"managed.h", "while (ends->nested == 1 && ends->waiting) {", "while (0) {", "depth.py test_long_chains_end"},
	"chains of all threads are one":           {"depth.h", "#define DLPACKGEN_OF_THREAD static __thread", "#define DLPACKGEN_OF_THREAD static", "depth.py test_a_chain_does_not_wait_for_another_thread"},
	"calls are nested without end":            {"depth.h", "if (DLPACKGEN_RARE(*nested == DLPACKGEN_MOST_CALLS)) return dlpackgen_too_deep();", "", "depth.py test_calls_without_end"},
	"what failed counts for ever":             {"call.h", "\tdlpackgen_ascend(nested);\n", "\tif (!failed) dlpackgen_ascend(nested);\n", "depth.py test_calls_without_end"},
	"producers come back without end":         {"call.h", "int *const nested = dlpackgen_descend();", "int room = 0, *const nested = &room;", "depth.py test_calls_without_end"},
	"takers come back without end":            {"take.h", "int *const nested = dlpackgen_descend();", "int room = 0, *const nested = &room;", "depth.py test_calls_without_end"},
	"allocators come back without end":        {"result.h", "int *const nested = dlpackgen_descend();\n\tif (!nested) return NULL;", "int room = 0, *const nested = &room;\n\tif (!nested) return NULL;", "depth.py test_calls_without_end_by_tables"},
	"results come back without end":           {"result.h", "int *const nested = dlpackgen_descend();\n\tif (!nested) {", "int room = 0, *const nested = &room;\n\tif (!nested) {", "depth.py test_calls_without_end"},
	"what lies badly is lost":                 {"take.h", "want_write)) {\n\t\tdlpackgen_delete_quietly(made, NULL);\n\t\treturn NULL;", "want_write)) {\n\t\treturn NULL;", "rules.py test_alignment"},
}

// A mistake is keyed by the text that it replaces, which changes with the library.
func TestEveryMistakeHasItsText(t *testing.T) {
	parts := trial.Parts(t)
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			m.mutation().Require(t, parts)
		})
	}
}

func TestTheScriptsFindWhatIsWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the module with all mistakes, and -short was given")
	}
	mistakes(t, mutants)
}

func (m mutant) mutation() mutation.Mutant {
	return mutation.Mutant{File: filepath.Join("dlpackgen_python", m.file), Old: m.old, New: m.replacement}
}

// kind is how the module is built for a mutant, and what its script imports.
type kind struct{ flags, imports string }

func (m mutant) kind() kind {
	var k kind
	if strings.HasPrefix(m.script, "failing.py") {
		k.flags = "-include module/failing.h"
	} else if m.file == "begin_inline.h" {
		k.flags = inlined
	}
	switch file, _, _ := strings.Cut(m.script, " "); file {
	case "with_torch.py", "attackers.py":
		k.imports = "numpy,torch"
	case "with_paddle.py":
		k.imports = "paddle"
	case "with_cupy.py":
		k.imports = "cupy"
	}
	return k
}

// mistakes makes each of them, and has its script fail, which succeeds without it. All
// mistakes of a kind are in one build.
func mistakes(t *testing.T, mutants map[string]mutant) {
	t.Helper()
	names := map[kind][]string{}
	for _, name := range slices.Sorted(maps.Keys(mutants)) {
		k := mutants[name].kind()
		names[k] = append(names[k], name)
	}
	for k, names := range names {
		headers, all := trial.Parts(t), []mutation.Mutant(nil)
		for _, name := range names {
			all = append(all, mutants[name].mutation())
		}
		written := mutation.Write(t, headers, all)
		var pairs []string
		baselines := map[string]bool{}
		for i, name := range names {
			if script := mutants[name].script; !slices.Contains(written.Apart, i+1) {
				pairs = append(pairs, fmt.Sprint(i+1), script)
				if !baselines[script] {
					baselines[script] = true
					pairs = append(pairs, "0", script)
				}
			}
		}
		out := k.try(t, headers, written.Flags, pairs)
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				if slices.Contains(written.Apart, i+1) {
					k.tryAlone(t, mutants[name])
					return
				}
				assert.Contains(t, out, fmt.Sprintf("missed 0 %s\n", mutants[name].script), "it fails without the mistake")
				assert.Contains(t, out, fmt.Sprintf("caught %d %s\n", i+1, mutants[name].script), "nobody noticed")
			})
		}
	}
}

// try builds the module with mutants, and runs a script for each pair of a number and a script.
func (k kind) try(t *testing.T, headers string, flags, pairs []string) string {
	t.Helper()
	b, dir := newBuilder(t), t.TempDir()
	b.headers = headers
	b.flags = append(append([]string{"-std=c11", "-O0", stable, "-w"}, flags...), strings.Fields(k.flags)...)
	b.build(t, dir, "checked", "module/checked.c")
	require.NoError(t, os.Symlink(filepath.Join(modules(t), "stranger.abi3.so"), filepath.Join(dir, "stranger.abi3.so")))
	out, err := script(t, b.python, dir, []string{"ROUNDS=2000"}, append([]string{"../mutants.py", k.imports}, pairs...)...)
	require.NoError(t, err, out)
	return out
}

// tryAlone does so for a mutant that is no other statement.
func (k kind) tryAlone(t *testing.T, m mutant) {
	t.Helper()
	headers := trial.Parts(t)
	m.mutation().Alone(t, headers)
	assert.Contains(t, k.try(t, headers, nil, []string{"0", m.script}), "caught 0 ", "nobody noticed")
}
