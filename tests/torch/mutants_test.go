package torch

import (
	"cmp"
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
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// mutant is a replaced text of a source, and the test that detects it.
type mutant struct{ file, old, replacement, script string }

// Each of these breaks the package in one place, which the named test detects.
var mutants = map[string]mutant{
	"the owner of memory is not compared": {"device.hpp",
		"if (info.device.device_type != declared.device_type || info", "if (false && info",
		"device.py test_whose_memory_it_is"},
	"the driver is not queried about pinned memory": {"device.hpp", "tensor.device.device_type == kDLCPU) return;",
		"tensor.device.device_type != kDLCUDA) return;", "device.py test_pinned_memory"},
	"the size of an allocation is not compared": {"device.hpp", "if (info.bytes != 0 && before + bytes > info.bytes)",
		"if (false && before)", "device.py test_byte_ranges_of_elements"},
	"the driver is queried about empty tensors": {"device.hpp", "  if (covered == 0) return;\n", "",
		"device.py test_what_is_not_asked_about"},
	"the version of a backend is not checked": {"device.hpp", "if (table != nullptr &&\n      (table->abi_version",
		"if (false &&\n      (table->abi_version", "device.py test_tables_that_are_rejected"},
	"the device type of a backend is not checked": {"device.hpp",
		"if (table != nullptr && table->device_type != detail::gpu())", "if (false)",
		"device.py test_tables_that_are_rejected"},
	"keep_until is not called": {"device.hpp",
		"static_cast<void>(table->keep_until(managed, &stream, nullptr));", "static_cast<void>(stream);",
		"device.py test_memory_is_kept_until_the_work_is_done"},
	"errors of the current stream are not handled by deleters": {"device.hpp",
		"} catch (...) {  // the deleter then waits",
		"} catch (const std::bad_alloc&) {  // the deleter then waits", "device.py test_a_stream_that_is_not_reported"},
	"the stream -1 is passed as 0": {"device.hpp", "    return -1;\n", "    return 0;\n",
		"device.py test_the_streams_of_torch"},
	"the negative bit is ignored": {"read.hpp", "if (impl.key_set().has(c10::DispatchKey::Negative))",
		"if (false)", "table.py test_rejections"},
	"the conjugate bit is ignored": {"read.hpp", "if (impl.key_set().has(c10::DispatchKey::Conjugate))",
		"if (false)", "table.py test_rejections"},
	"borrowed tensors without memory are accepted": {"read.hpp", "  reject_without_memory(out);\n", "",
		"table.py test_rejections"},
	"owned tensors without memory are accepted": {"owned.hpp", "  reject_without_memory(made.get()->dl_tensor);\n",
		"", "table.py test_rejections"},
	"storage sizes of contiguous tensors are not checked": {"read.hpp", "out.covered = out.elements;",
		"out.covered = 0;",
		"table.py test_tensors_beyond_their_storage"},
	"storage sizes of strided tensors are not checked": {"read.hpp",
		"* out.strides[i];\n    out.covered = static_cast<std::size_t>(covered);",
		"* out.strides[i];\n    out.covered = 0;",
		"table.py test_tensors_beyond_their_storage"},
	"storage offsets are not included in the required size": {"read.hpp", "(offset + covered) * size", "covered * size",
		"table.py test_tensors_beyond_their_storage"},
	"borrowed tensors may exceed their storage": {"read.hpp",
		"  reject_without_memory(out);\n  reject_outside(*tensor.unsafeGetTensorImpl(), out);",
		"  reject_without_memory(out);", "table.py test_tensors_beyond_their_storage"},
	"owned tensors may exceed their storage": {"owned.hpp",
		"  reject_outside(*tensor.unsafeGetTensorImpl(), made.get()->dl_tensor);\n", "",
		"table.py test_tensors_beyond_their_storage"},
	"pools keep any number of blocks": {"pool.hpp", "if (kept_.count >= pool_limit)", "if (false)",
		"table.py test_threads_keep_few_blocks"},
	"closed pools keep blocks": {"pool.hpp", "if (kept_.state == State::closed) return false;", "",
		"table.py test_blocks_that_come_after_the_end_of_a_thread"},
	"pools are not closed when their thread ends": {"pool.hpp", "kept_.state = State::closed;", "",
		"table.py test_blocks_that_come_after_the_end_of_a_thread"},
	"null tensors are not rejected": {"table.hpp",
		"if (tensor == nullptr) throw Exception(Error(ErrorCode::null));", "", "exports.py test_no_tensor_at_all"},
	"complex numbers must be aligned to their full size": {"checked.hpp",
		"if (!dlpackgen_is_misaligned(&tensor)) return;",
		"if (dlpackgen_address(&tensor) % bytes_of(tensor.dtype) == 0) return;",
		"exports.py test_complex_elements_stand_where_their_halves_may"},
	"imports run under torch function modes": {"import.hpp", "  const BelowModes below;\n  return wrap",
		"  return wrap", "consume.py test_copies_are_made_below_the_modes"},
	"allocations run under torch function modes": {"table.hpp", "  const BelowModes below;\n", "",
		"exports.py test_new_tensors_are_made_below_the_modes"},
	"deleters of imports do not wait for the device": {"table.hpp",
		"source.device.is_cpu() ? deleter : delete_after_work<deleter>", "deleter",
		"device.py test_the_table_keeps_memory_as_well"},
	"uint64 is exported as int64": {"dtype.hpp", "return number < detail::scalar_types ?",
		"if (scalar == c10::ScalarType::UInt64) return DLDataType{kDLInt, 64, 1};\n  return number < " +
			"detail::scalar_types ?", "table.py test_what_pytorch_exports_is_exported"},
	"deleters run with an exception set": {"checked.hpp", "if (owned) delete_managed<Struct>(owned.release());",
		"owned.reset();", "consume.py test_deleters_do_not_meet_errors"},
	"exceptions of deleters are not cleared": {"checked.hpp", "if (has_the_gil()) error.emplace();", "",
		"consume.py test_errors_of_others_that_succeed_are_not_kept"},
	"exceptions of calls that succeed are not cleared": {"foreign.hpp", "  PyErr_Clear();\n  if (managed == nullptr)",
		"  if (managed == nullptr)", "consume.py test_errors_of_others_that_succeed_are_not_kept"},
	"the stream of a table is not compared": {"foreign.hpp", "if (*theirs != Torch::current_stream(device))",
		"if (false)", "errors.py test_tables_must_work_on_the_stream"},
	"invalid devices count as the CPU": {"foreign.hpp",
		"  if (declared) return declared;\n  throw BufferError(DLPACKGEN_TEXT_NO_DEVICE",
		"  return DLDevice{kDLCPU, 0};\n  throw BufferError(DLPACKGEN_TEXT_NO_DEVICE",
		"consume.py test_devices_that_are_none"},
	"byte ranges of empty tensors are computed": {"checked.hpp",
		"  if (is_empty(tensor)) return Elements{begin, *scalar};\n", "",
		"consume.py test_strides_that_lead_nowhere"},
	"strides of empty tensors are used": {"checked.hpp", "extent < 2 || empty;", "extent < 2;",
		"consume.py test_strides_that_lead_nowhere"},
	"outer strides wrap around": {"checked.hpp",
		"return fits ? static_cast<std::int64_t>(outer) : stride;", "return static_cast<std::int64_t>(outer);",
		"consume.py test_strides_that_lead_nowhere"},
	"NULL strides are rejected": {"checked.hpp", "check_managed(*managed, Accept::null_strides)",
		"check_managed(*managed, Accept::nothing)", "consume.py test_null_strides_of_any_version"},
	"masks are ignored": {"queries.hpp",
		"if (has(type, names().mask) && has(type, names().filled))", "if (false)",
		"rules.py test_values_that_memory_does_not_tell"},
	"objects with a mask count as masked arrays": {"queries.hpp",
		"if (has(type, names().mask) && has(type, names().filled))", "if (has(type, names().mask))",
		"rules.py test_values_that_memory_does_not_tell"},
	"is_neg() of other types is not called": {"queries.hpp",
		"if (ask(object, names().is_neg)) throw BufferError(negated);", "",
		"rules.py test_values_that_memory_does_not_tell"},
	"is_conj() of other types is not called": {"queries.hpp",
		"if (ask(object, names().is_conj)) throw BufferError(conjugated);", "",
		"rules.py test_values_that_memory_does_not_tell"},
	"requires_grad of other types is ignored": {"queries.hpp",
		"if (grad && is_true(grad) && Torch::records_gradients()) throw BufferError(recording);", "",
		"rules.py test_values_that_memory_does_not_tell"},
	"requires_grad is rejected without grad mode": {"queries.hpp", "is_true(grad) && Torch::records_gradients())",
		"is_true(grad))", "rules.py test_values_that_memory_does_not_tell"},
	"stop_gradient of Paddle is ignored": {"queries.hpp",
		"if (!is_true(made(PyObject_GetAttr(object, names().stop_gradient))) && paddle_records())", "if (false)",
		"rules.py test_what_is_like_paddle"},
	"is_dense of Paddle is ignored": {"queries.hpp",
		"if (has(Py_TYPE(object), names().is_dense) && !ask(object, names().is_dense))", "if (false)",
		"rules.py test_what_is_like_paddle"},
	"the capsule of an exchange table is not checked": {"foreign.hpp",
		"if (!capsule || !PyCapsule_IsValid(capsule.ptr(), DLPACKGEN_CAPSULE_EXCHANGE_API))", "if (!capsule)",
		"rules.py test_attributes_that_are_no_tables"},
	"exceptions of producers keep their class": {"queries.hpp",
		"if (PyType_Check(object) != 0 || !is_about_the_tensor(error)) throw error;", "throw error;",
		"rules.py test_exceptions_of_producers"},
	"all exceptions of producers are converted": {"queries.hpp",
		"if (PyType_Check(object) != 0 || !is_about_the_tensor(error)) throw error;",
		"if (PyType_Check(object) != 0) throw error;", "rules.py test_exceptions_of_producers"},
	"exceptions without a text keep their class": {"queries.hpp",
		"if (!PyErr_ExceptionMatches(PyExc_Exception)) throw py::error_already_set();",
		"throw py::error_already_set();", "rules.py test_exceptions_of_producers"},
	"exceptions have no cause": {"queries.hpp",
		"  PyException_SetCause(rejected.value().ptr(), py::object(error.value()).release().ptr());\n", "",
		"rules.py test_exceptions_of_producers"},
	"types that change during an import are accepted": {"foreign.hpp",
		"if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == type.ptr()) return;", "return;",
		"rules.py test_objects_that_change_their_type"},
	"members of enumerations are rejected as device types": {"foreign.hpp",
		"PyIndex_Check(item) ? py::object() : optional(item, names().value)", "py::object()",
		"consume.py test_devices_that_are_members_of_enumerations"},
	"None is rejected as the id of the CPU": {"foreign.hpp", "if (item == Py_None && is_id_of_cpu) return 0;", "",
		"consume.py test_devices_that_are_members_of_enumerations"},
	"None is accepted as the id of any device": {"foreign.hpp", "if (item == Py_None && is_id_of_cpu) return 0;",
		"if (item == Py_None) return 0;", "consume.py test_devices_that_are_none"},
	"lists are rejected as devices": {"foreign.hpp",
		"if (!PyTuple_Check(answer.ptr()) && !PyList_Check(answer.ptr()))", "if (!PyTuple_Check(answer.ptr()))",
		"consume.py test_devices_that_are_members_of_enumerations"},
	"strings are accepted as devices": {"foreign.hpp",
		"if (!PyTuple_Check(answer.ptr()) && !PyList_Check(answer.ptr())) return std::nullopt;", "",
		"consume.py test_devices_that_are_none"},
	"an undeclared device is accepted": {"foreign.hpp", "  if (!declared) {\n    throw",
		"  if (false) {\n    throw", "errors.py test_devices_that_were_not_declared"},
	"the declared device is not compared": {"foreign.hpp",
		"if (declared->device_type != device.device_type || declared->device_id != device.device_id)", "if (false)",
		"errors.py test_devices_that_were_not_declared"},
	"pinned memory is synchronized with a stream": {"checked.hpp", "return is_host_memory(device.device_type);",
		"return device.device_type == kDLCPU;", "consume.py test_other_streams"},
	"requires_grad of torch's tensors is ignored": {"object.hpp",
		"if (at::GradMode::is_enabled() && tensor.requires_grad())", "if (false)",
		"consume.py test_tensors_of_torch_become_an_alias"},
	"aliases with the negative or conjugate bit are rejected": {"object.hpp", "  reject_unreadable(tensor, kept_bits);",
		"  reject_unreadable(tensor, c10::DispatchKeySet());", "consume.py test_tensors_of_torch_become_an_alias"},
	"aliases of tensors without readable memory are made": {"object.hpp", "  reject_unreadable(tensor, kept_bits);\n",
		"",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"aliases of dtypes without a DLPack equivalent are made": {"object.hpp",
		"if (dtype_of(tensor.scalar_type()).lanes == 0) throw BufferError(unnamed);", "",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"subclasses with __torch_dispatch__ are accepted": {"object.hpp", "  reject_dispatch(type, THPVariableClass);\n",
		"",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"the negative and conjugate bits of subclasses are ignored": {"object.hpp",
		"  reject_unreadable(tensor, c10::DispatchKeySet());\n}", "}",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"subclasses without readable memory are accepted": {"object.hpp",
		"  reject_unreadable(THPVariable_Unpack(object), c10::DispatchKeySet());\n", "",
		"rules.py test_derived_types_are_queried_by_their_own_method"},
	"subclasses that change their type are accepted": {"object.hpp", "  typed.require_same_type();\n", "",
		"rules.py test_derived_types_are_queried_by_their_own_method"},
	"__class__ is believed": {"object_owned.hpp",
		"return PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;",
		"return PyObject_IsInstance(object, THPVariableClass) == 1;",
		"rules.py test_what_only_says_that_it_is_a_tensor"},
	"uninstall() keeps the reader if the table was replaced": {"install.hpp",
		"  detail::remove_reader(detail::tensor_type(), replaced.tensor_reader);",
		"  if (is_installed()) detail::remove_reader(detail::tensor_type(), replaced.tensor_reader);",
		"install.py test_the_reader_goes_without_the_table"},
	"a reader that was removed is restored": {"install.hpp",
		"if (is_of(own_attribute(type, reader_attribute), reader_capsule, reader())) restore",
		"if (before == nullptr) restore", "install.py test_the_reader_may_be_gone"},
	"uninstall() removes the reader of another copy": {"install.hpp",
		"before, found.is_none() ? nullptr : found.release().ptr());", "before, nullptr);",
		"install.py test_two_copies"},
	"every dispatch key set is accepted": {"read.hpp", "return keys - usual_cpu == plain_cpu ||",
		"return true ||", "table.py test_rejections"},
	"null pointers to data are accepted": {"read.hpp",
		"    if (data == nullptr) return false;\n  }\n  out.data", "  }\n  out.data", "table.py test_rejections"},
	"dtypes without a DLPack equivalent are read": {"read.hpp", "if (dtype.lanes == 0) return false;", "",
		"table.py test_types_without_a_name"},
	"storage offsets are ignored": {"read.hpp", "const_cast<void*>(begin)) + offset * size",
		"const_cast<void*>(begin)) + 0 * size", "table.py test_what_is_borrowed_and_exported"},
	"written tensors are not separated from lazy clones": {"read.hpp", "begin = storage.mutable_data();",
		"begin = storage.data();", "table.py test_shared_memory_is_separated_by_writing_alone"},
	"reading separates a tensor from its lazy clones": {"read.hpp", "    begin = storage.data();",
		"    begin = storage.mutable_data();", "table.py test_shared_memory_is_separated_by_writing_alone"},
	"the type of an object is not checked": {"object_owned.hpp",
		"if (object == nullptr || !derives_from_tensor(object)) throw TypeError", "if (false) throw TypeError",
		"table.py test_what_is_no_tensor"},
	"the slot for borrowing throws C++ exceptions": {"table.hpp",
		"int table_borrow(void* object, DLTensor* out) noexcept {\n  try {\n    " +
			"borrow<access>(tensor_in(object), *out);\n    return 0;\n  } catch (...) {\n    return " +
			"report_to_python();\n  }",
		"int table_borrow(void* object, DLTensor* out) noexcept {\n  borrow<access>(tensor_in(object), *out);\n  " +
			"return 0;", "table.py test_wrappers_are_rejected"},
	"the slot for export throws C++ exceptions": {"table.hpp",
		"    *out = own_it(static_cast<PyObject*>(object));\n    return 0;\n  } catch (...) {",
		"    *out = own_it(static_cast<PyObject*>(object));\n    return 0;\n  } catch (const std::bad_alloc&) {",
		"table.py test_wrappers_are_rejected"},
	"the allocator throws C++ exceptions": {"table.hpp",
		"    *out = own(allocate(*prototype));\n    return 0;\n  } catch (...) {",
		"    *out = own(allocate(*prototype));\n    return 0;\n  } catch (const std::bad_alloc&) {",
		"exports.py test_new_tensors_that_cannot_be"},
	"the slot for the stream throws C++ exceptions": {"table.hpp",
		"    *out = current_stream(DLDevice{type, id});\n    return 0;\n  } catch (...) {",
		"    *out = current_stream(DLDevice{type, id});\n    return 0;\n  } catch (const std::bad_alloc&) {",
		"exports.py test_streams"},
	"the slot for import throws C++ exceptions": {"table.hpp",
		"move_to_python(*tensor, source);\n    return 0;\n  } catch (...) {",
		"move_to_python(*tensor, source);\n    return 0;\n  } catch (const std::bad_alloc&) {",
		"exports.py test_what_is_rejected_stays_the_callers"},
	"the callback for errors may not be null": {"table.hpp", "if (set_error != nullptr) report", "report",
		"exports.py test_new_tensors_that_cannot_be"},
	"messages contain the C++ stack": {"errors.hpp",
		"} catch (const c10::Error& e) {  // rejected by ATen\n    set(context, \"BufferError\", " +
			"e.what_without_backtrace());",
		"} catch (const c10::Error& e) {\n    set(context, \"BufferError\", e.what());", "table.py test_rejections"},
	"exceptions of Python lose their class": {"errors.hpp",
		"  if (PyErr_Occurred() != nullptr) return -1;\n  try {\n    throw;\n  } catch (python_error& e) {\n    " +
			"e.restore();\n", "  try {\n    throw;\n", "table.py test_exceptions_of_python_keep_their_class"},
	"exports share the shape of their tensor": {"owned.hpp", "  owned.managed.dl_tensor.shape = numbers;\n", "",
		"table.py test_exports_do_not_change"},
	"exports have a limited number of dimensions": {"owned.hpp", "if (view.ndim > roomy_dimensions)", "if (false)",
		"table.py test_exports_do_not_change"},
	"exports do not retain the storage": {"owned.hpp",
		"return make_export<c10::Storage>([&] { return shared ? share_lazily(storage) : storage; });",
		"return make_export<c10::Storage>([] { return c10::Storage(); });", "table.py test_deleters_release_once"},
	"deleters do not release": {"owned.hpp", "if (Py_IsInitialized() != 0) drop", "if (false) drop",
		"table.py test_deleters_release_once"},
	"deleters release after Python's end": {"owned.hpp", "if (Py_IsInitialized() != 0) drop", "if (true) drop",
		"ending.py memory of NumPy after the end"},
	"objects are released without the GIL": {"object_owned.hpp",
		"  if (!has_the_gil()) return delete_from_afar(owner);\n", "",
		"object_owned.py test_deleters_wait_for_the_gil"},
	"the GIL of another thread counts as held": {"gil.hpp",
		"return current != nullptr && current == PyGILState_GetThisThreadState();", "return current != nullptr;",
		"object_owned.py test_deleters_wait_for_the_gil"},
	"objects are not retained": {"object_owned.hpp", "  Py_INCREF(object);\n", "",
		"object_owned.py test_the_last_reference"},
	"objects are not released": {"object_owned.hpp",
		"  Py_DECREF(owner->kept);\n  drop(owner);\n}\n\n// The reference", "  drop(owner);\n}\n\n// The reference",
		"object_owned.py test_objects_are_retained_once"},
	"objects are not released on other threads": {"object_owned.hpp", "  Py_DECREF(owner->kept);\n  PyGILState_Release",
		"  PyGILState_Release", "object_owned.py test_deleters_without_the_gil"},
	"objects are released after Python's end": {"object_owned.hpp", "  if (Py_IsInitialized() == 0) return;",
		"  if (false) return;", "ending.py an object deleted after the end"},
	"threads that wait for the GIL throw through noexcept": {"object_owned.hpp", "return delete_from_afar(owner);",
		"return [owner]() noexcept { delete_from_afar(owner); }();",
		"ending.py a thread that waits to delete an object"},
	"the installed table retains objects instead of storages": {"table.hpp",
		"return &detail::exchange_table<access, detail::own_memory<access>>;",
		"return &detail::exchange_table<access, own_object>;", "table.py test_deleters_release_once"},
	"the module is unloaded": {"module.cpp",
		"  Py_INCREF(module);  // never released: consumers keep the table and the objects that it points to\n", "",
		"ending.py the module after the end"},
	"memory of exports leaks after an exception": {"owned.hpp", "    Pool<Export<Kept>>::give(buffer);\n    throw;",
		"    throw;", "failing.py test_lazy_exports"},
	"exports of shared memory are not lazy clones": {"owned.hpp", "shared ? share_lazily(storage) : storage",
		"shared ? storage : storage", "table.py test_read_only_exports_outlive_the_others"},
	"exports lack the read-only flag": {"owned.hpp",
		"access == Access::read ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;", "0;",
		"table.py test_what_is_borrowed_and_exported"},
	"read-only tensors are not copied": {"table.hpp", "*out = is_read_only(*tensor) ?", "*out = false ?",
		"exports.py test_what_is_read_only_is_copied"},
	"failed imports delete the caller's tensor": {"table.hpp",
		"wrap(managed.dl_tensor, source, &managed, keep_managed);",
		"wrap(managed.dl_tensor, source, &managed, delete_managed<DLManagedTensorVersioned>);\n  if " +
			"(managed.flags == 0) throw BufferError(\"stays\");", "exports.py test_objects_over_the_memory_of_others"},
	"successful imports do not delete the tensor": {"table.hpp",
		"keep_managed, source.device.is_cpu() ? deleter : delete_after_work<deleter>)",
		"deleter, source.device.is_cpu() ? keep_managed : delete_after_work<deleter>)",
		"exports.py test_objects_over_the_memory_of_others"},
	"versions of imported tensors are not checked": {"table.hpp",
		"    throw_if_error(dlpackgen::v1_3::detail::check_managed(*tensor, Accept::nothing));\n", "",
		"exports.py test_what_is_rejected_stays_the_callers"},
	"the flag of padded elements is ignored": {"checked.hpp", "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0",
		"DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) == 77", "exports.py test_what_is_rejected_stays_the_callers"},
	"negative strides are accepted": {"checked.hpp", "if (tensor.strides[i] < 0 && tensor.shape[i] > 1)",
		"if (false)", "exports.py test_what_is_rejected_stays_the_callers"},
	"alignment is not checked": {"checked.hpp", "if (!dlpackgen_is_misaligned(&tensor)) return;",
		"if (dlpackgen_is_misaligned(&tensor) < 2) return;", "exports.py test_what_is_rejected_stays_the_callers"},
	"strides of dimensions of size 1 are used": {"checked.hpp", "tensor.strides == nullptr || extent < 2 || empty",
		"tensor.strides == nullptr || empty", "exports.py test_strides_and_extents_of_others"},
	"byte_offset is ignored": {"checked.hpp", "begin + tensor.byte_offset",
		"begin + 0 * tensor.byte_offset", "exports.py test_objects_over_the_memory_of_others"},
	"copies of producers are accepted with copy=False": {"checked.hpp", "if (!how.may_copy) reject_copied(managed);",
		"",
		"consume.py test_copies_that_are_not_allowed"},
	"copies are made with copy=False": {"foreign.hpp",
		"return How(read_only == ReadOnly::copy ? ReadOnly::raise : read_only, false);",
		"return How(read_only, false);", "consume.py test_copies_that_are_not_allowed"},
	"copy=True is ignored": {"foreign.hpp",
		"if (!copy && wanted.copy == Py_True) copy", "if (false) copy", "consume.py test_copies_that_are_requested"},
	"read-only memory is not copied": {"foreign.hpp", "if (copy == Py_True) return How(ReadOnly::allow);", "",
		"consume.py test_copies_that_are_requested"},
	"device= is ignored": {"foreign.hpp", "if (wanted.device != Py_None) {", "if (false) {",
		"consume.py test_devices_that_are_requested"},
	"copy=False is ignored for other devices": {"foreign.hpp", "if (wanted.copy == Py_False) {", "if (false) {",
		"consume.py test_devices_that_are_requested"},
	"read-only memory is accepted": {"checked.hpp", "if (how.read_only == ReadOnly::raise) {", "if (false) {",
		"consume.py test_read_only_memory"},
	"unversioned tensors are writable": {"checked.hpp",
		"is_read_only(const DLManagedTensor&) noexcept { return true; }",
		"is_read_only(const DLManagedTensor&) noexcept { return false; }", "consume.py test_read_only_memory"},
	"rejected tensors leak": {"checked.hpp", "if (owned) delete_managed<Struct>(owned.release());",
		"static_cast<void>(owned.release());", "consume.py test_rejections_delete_once"},
	"negative device ids are accepted": {"stream.hpp", "if (device.device_id < 0 || device.device_id >=",
		"if (false && device.device_id >=", "exports.py test_streams"},
	"devices without streams are not reported as such": {"stream.hpp",
		"throw BufferError(\"this torch has no streams for its device\");", "throw;", "exports.py test_streams"},
	"capsules are not renamed": {"foreign.hpp", "|| PyCapsule_SetName(capsule, used) != 0",
		"|| used == nullptr", "consume.py test_capsules"},
	"inherited tables are used": {"foreign.hpp",
		"if (!has_own(type, names().table)) return ExchangeAPI();", "", "consume.py test_tables"},
	"old producers are rejected": {"foreign.hpp",
		"  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();\n  PyErr_Clear();\n  " +
			"return made(", "  throw py::error_already_set();\n  return made(",
		"consume.py test_the_newest_version_is_requested"},
	"a missing tensor is not reported": {"foreign.hpp",
		"if (managed == nullptr) throw BufferError(DLPACKGEN_TEXT_NO_TENSOR);", "",
		"consume.py test_tables_that_fail"},
	"aliases are not detached": {"object.hpp", "return at::Tensor(tensor.tensor_data());",
		"return tensor;", "consume.py test_tensors_of_torch_become_an_alias"},
	"uninstall() removes the table of a later owner": {"install.hpp", "if (is_installed()) detail::restore(",
		"detail::restore(", "install.py test_another_that_came_later_stays"},
	"uninstall() does not restore the former table": {"install.hpp", "  py::setattr(type, name, py::handle(before));\n",
		"", "install.py test_once_and_twice"},
	"the module accepts every version of torch": {"module.cpp", "if (!is_for_this_torch()) return nullptr;", "",
		"install.py test_versions"},
	"the package accepts every version of torch": {"__init__.py", "if wanted not in versions:", "if not versions:",
		"install.py test_versions"},
	"native readers ignore requires_grad": {"native_reader.hpp",
		"if (impl.autograd_meta() != nullptr && impl.requires_grad()) return 1;", "",
		"native_reader.py test_gradients"},
	"native readers do not copy shape and strides": {"native_reader.hpp",
		"read_plain<Access::read>(impl, *out, Copied{numbers})", "read_plain<Access::read>(impl, *out)",
		"native_reader.py test_shape_and_strides_are_copied"},
	"native readers do not include strides in the required size": {"read.hpp", "covered += (size - 1) * stride;", "",
		"native_reader.py test_shape_and_strides_are_copied"},
	"native readers do not limit the number of dimensions": {"read.hpp", "if (count > most) return false;", "",
		"native_reader.py test_what_is_too_large"},
	"native readers cannot be switched off": {"install.hpp",
		"if (is_installed() || !native_readers_are_on()) return;", "if (is_installed()) return;",
		"install.py test_native_readers_that_are_off"},
	"a pre-release counts as its release": {"module.cpp", "text.substr(0, text.find('+')) == version;",
		"text.substr(0, version.size()) == version;", "install.py test_versions"},
	"native readers separate lazy clones": {"native_reader.hpp",
		"read_plain<Access::read>(impl, *out, Copied{numbers})",
		"read_plain<Access::write>(impl, *out, Copied{numbers})", "native_reader.py test_reading_separates_nothing"},
}

// numbered assigns a number to each mutant, from 1 on: C++ mutants first.
func numbered(all map[string]mutant) map[string]int {
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[a].isPython(), all[b].isPython()), cmp.Compare(a, b))
	})
	numbers := map[string]int{}
	for i, name := range names {
		numbers[name] = i + 1
	}
	return numbers
}

// isPython returns 1 for a mutant of a Python file.
func (m mutant) isPython() int {
	if filepath.Ext(m.file) == ".py" {
		return 1
	}
	return 0
}

// withMutants writes the sources with all C++ mutants, of which a process activates at most one,
// and returns the required flags.
func withMutants(t *testing.T, headers string, all map[string]mutant) []string {
	t.Helper()
	unfolded(t, headers)
	numbers := numbered(all)
	mutations := make([]mutation.Mutant, 0, len(all))
	for _, name := range slices.SortedFunc(maps.Keys(all),
		func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) }) {
		m := mutation.Mutant{File: filepath.Join("dlpackgen_torch", all[name].file), Old: all[name].old,
			New: all[name].replacement}
		if all[name].isPython() == 1 {
			m.Require(t, headers)
			continue
		}
		mutations = append(mutations, m)
	}
	written := mutation.Write(t, headers, mutations)
	require.Empty(t, written.Apart, "mutants that change no statements")
	return append(written.Flags, "-O0", "-Wno-error")
}

// inPython returns a folder with the package and a mutant in its Python.
func inPython(t *testing.T, dir string, m mutant) string {
	t.Helper()
	other := t.TempDir()
	require.NoError(t, os.CopyFS(other, os.DirFS(dir)))
	mutation.OnceIn(t, filepath.Join(other, "dlpackgen_torch", m.file), m.old, m.replacement)
	return other
}

// alone runs the tests that need a separate process: Python's end, exhausted memory, and another
// package. It reports whether a mutant needs one.
func alone(t *testing.T, to torches, dir string, env []string, m mutant, number int) (bool, error) {
	t.Helper()
	env = append(slices.Clone(env), mutation.Env(number))
	switch name, _, _ := strings.Cut(m.script, " "); {
	case filepath.Ext(m.file) == ".py":
		dir = inPython(t, dir, m)
	case name == "failing.py":
		env = append(env, without(t)...)
	case name != "ending.py":
		return false, nil
	}
	name, test, _ := strings.Cut(m.script, " ")
	_, err := script(to, dir, env, name, test)
	return true, err
}

// areSeen runs the tests that must fail with each mutant, and pass without it.
func areSeen(t *testing.T, all map[string]mutant, to torches, dir string, env []string) {
	t.Helper()
	args, rest := []string{"../mutants.py", "torch"}, map[string]int{}
	var soundly []string // the runs without a mutant
	for name, number := range numbered(all) {
		m := all[name]
		isAlone, err := alone(t, to, dir, env, m, number)
		if isAlone {
			assert.Error(t, err, "no test detected that %s", name)
			continue
		}
		rest[name] = number
		args = append(args, fmt.Sprint(number), m.script)
		if !slices.Contains(soundly, m.script) {
			args = append(args, "0", m.script)
			soundly = append(soundly, m.script)
		}
	}
	out, err := script(to, dir, env, args...)
	require.NoError(t, err, out)
	for name, number := range rest {
		assert.Contains(t, out, fmt.Sprintf("caught %d %s\n", number, all[name].script), "no test detected that %s",
			name)
		assert.Contains(t, out, fmt.Sprintf("missed 0 %s\n", all[name].script), "it fails with all guards in place")
	}
}

// seenAtImport are mutants that the module itself detects at import: it reads tensors differently
// from torch.
var seenAtImport = []string{"every dispatch key set is accepted", "storage offsets are ignored"}

// A name without a row would run the module without a mutant, and only make nightly would fail.
func TestMutantsSeenAtImportExist(t *testing.T) {
	for _, name := range seenAtImport {
		assert.Contains(t, mutants, name)
	}
}

func TestMutantsAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	to, whole := modules(t)
	headers, dir := t.TempDir(), t.TempDir()
	require.NoError(t, to.build(t, headers, dir, withMutants(t, headers, mutants)...))
	for _, name := range []string{"clients.abi3.so", "helper.so", "faults.so"} {
		require.NoError(t, os.Symlink(filepath.Join(whole, name), filepath.Join(dir, name)))
	}
	areSeen(t, mutants, to, dir, nil)
	for _, name := range seenAtImport {
		out, err := script(to, dir, []string{mutation.Env(numbered(mutants)[name])}, "-c", "import dlpackgen_torch")
		assert.Error(t, err)
		assert.Contains(t, out, "ImportError: this module does not match the tensors of torch ", name)
	}
}
