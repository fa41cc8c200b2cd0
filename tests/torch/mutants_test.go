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
	"any owner is taken": {"device.hpp",
		"if (info.device.device_type != declared.device_type || info", "if (false && info",
		"device.py test_whose_memory_it_is"},
	"pinned memory has no owner": {"device.hpp", "tensor.device.device_type == kDLCPU) return;",
		"tensor.device.device_type != kDLCUDA) return;", "device.py test_pinned_memory"},
	"memory has no end": {"device.hpp", "if (info.bytes != 0 && before + bytes > info.bytes)",
		"if (false && before)", "device.py test_byte_ranges_of_elements"},
	"nothing is asked about": {"device.hpp", "  if (covered == 0) return;\n", "",
		"device.py test_what_is_not_asked_about"},
	"backends of any version": {"device.hpp", "if (table != nullptr &&\n      (table->abi_version",
		"if (false &&\n      (table->abi_version", "device.py test_tables_that_are_rejected"},
	"backends of any device": {"device.hpp",
		"if (table != nullptr && table->device_type != detail::gpu())", "if (false)",
		"device.py test_tables_that_are_rejected"},
	"memory is not kept": {"device.hpp",
		"static_cast<void>(table->keep_until(managed, &stream, nullptr));", "static_cast<void>(stream);",
		"device.py test_memory_is_kept_until_the_work_is_done"},
	"memory needs a stream": {"device.hpp", "} catch (...) {  // the deleter then waits",
		"} catch (const std::bad_alloc&) {  // the deleter then waits", "device.py test_a_stream_that_is_not_reported"},
	"streams are always told": {"device.hpp", "    return -1;\n", "    return 0;\n",
		"device.py test_the_streams_of_torch"},
	"negative bits are not looked at": {"read.hpp", "if (impl.key_set().has(c10::DispatchKey::Negative))",
		"if (false)", "table.py test_rejections"},
	"conjugate bits are not looked at": {"read.hpp", "if (impl.key_set().has(c10::DispatchKey::Conjugate))",
		"if (false)", "table.py test_rejections"},
	"zeros have memory": {"read.hpp", "  reject_without_memory(out);\n", "",
		"table.py test_rejections"},
	"owned tensors need no memory": {"owned.hpp", "  reject_without_memory(made.get()->dl_tensor);\n",
		"", "table.py test_rejections"},
	"dense tensors fit": {"read.hpp", "out.covered = out.elements;", "out.covered = 0;",
		"table.py test_tensors_beyond_their_storage"},
	"strided tensors fit": {"read.hpp",
		"* out.strides[i];\n    out.covered = static_cast<std::size_t>(covered);", "* out.strides[i];\n    out.covered = 0;",
		"table.py test_tensors_beyond_their_storage"},
	"offsets need no room": {"read.hpp", "(offset + covered) * size", "covered * size",
		"table.py test_tensors_beyond_their_storage"},
	"borrowed tensors may exceed their storage": {"read.hpp",
		"  reject_without_memory(out);\n  reject_outside(*tensor.unsafeGetTensorImpl(), out);",
		"  reject_without_memory(out);", "table.py test_tensors_beyond_their_storage"},
	"owned tensors may exceed their storage": {"owned.hpp",
		"  reject_outside(*tensor.unsafeGetTensorImpl(), made.get()->dl_tensor);\n", "",
		"table.py test_tensors_beyond_their_storage"},
	"pools have no end": {"pool.hpp", "if (kept_.count >= pool_limit)", "if (false)",
		"table.py test_threads_keep_few_blocks"},
	"pools stay open": {"pool.hpp", "if (kept_.state == State::closed) return false;", "",
		"table.py test_blocks_that_come_after_the_end_of_a_thread"},
	"pools do not close": {"pool.hpp", "kept_.state = State::closed;", "",
		"table.py test_blocks_that_come_after_the_end_of_a_thread"},
	"nothing is an object": {"table.hpp",
		"if (tensor == nullptr) throw Exception(Error(ErrorCode::null));", "", "exports.py test_no_tensor_at_all"},
	"halves are whole": {"checked.hpp", "if (!dlpackgen_is_misaligned(&tensor)) return;",
		"if (dlpackgen_address(&tensor) % bytes_of(tensor.dtype) == 0) return;",
		"exports.py test_complex_elements_stand_where_their_halves_may"},
	"modes are included": {"import.hpp", "  const BelowModes below;\n  return wrap",
		"  return wrap", "consume.py test_copies_are_made_below_the_modes"},
	"modes allocate": {"table.hpp", "  const BelowModes below;\n", "",
		"exports.py test_new_tensors_are_made_below_the_modes"},
	"objects of devices are not kept": {"table.hpp",
		"source.device.is_cpu() ? deleter : delete_after_work<deleter>", "deleter",
		"device.py test_the_table_keeps_memory_as_well"},
	"a type has another name": {"dtype.hpp", "return number < detail::scalar_types ?",
		"if (scalar == c10::ScalarType::UInt64) return DLDataType{kDLInt, 64, 1};\n  return number < " +
			"detail::scalar_types ?", "table.py test_what_pytorch_exports_is_exported"},
	"deleters meet errors": {"checked.hpp", "if (owned) delete_managed<Struct>(owned.release());",
		"owned.reset();", "consume.py test_deleters_do_not_meet_errors"},
	"deleters leave errors": {"checked.hpp", "if (has_the_gil()) error.emplace();", "",
		"consume.py test_errors_of_others_that_succeed_are_not_kept"},
	"errors beside success are kept": {"foreign.hpp", "  PyErr_Clear();\n  if (managed == nullptr)",
		"  if (managed == nullptr)", "consume.py test_errors_of_others_that_succeed_are_not_kept"},
	"streams may differ": {"foreign.hpp", "if (*theirs != Torch::current_stream(device))",
		"if (false)", "errors.py test_tables_must_work_on_the_stream"},
	"devices are not looked at": {"foreign.hpp",
		"  if (declared) return declared;\n  throw BufferError(DLPACKGEN_TEXT_NO_DEVICE",
		"  return DLDevice{kDLCPU, 0};\n  throw BufferError(DLPACKGEN_TEXT_NO_DEVICE",
		"consume.py test_devices_that_are_none"},
	"tensors without elements have strides": {"checked.hpp",
		"  if (is_empty(tensor)) return Elements{begin, *scalar};\n", "",
		"consume.py test_strides_that_lead_nowhere"},
	"strides of no elements count": {"checked.hpp", "extent < 2 || empty;", "extent < 2;",
		"consume.py test_strides_that_lead_nowhere"},
	"outer strides wrap around": {"checked.hpp",
		"return fits ? static_cast<std::int64_t>(outer) : stride;", "return static_cast<std::int64_t>(outer);",
		"consume.py test_strides_that_lead_nowhere"},
	"NULL strides are rejected": {"checked.hpp", "check_managed(*managed, Accept::null_strides)",
		"check_managed(*managed, Accept::nothing)", "consume.py test_null_strides_of_any_version"},
	"masks are dropped": {"queries.hpp",
		"if (has(type, names().mask) && has(type, names().filled))", "if (false)",
		"rules.py test_values_that_memory_does_not_tell"},
	"a mask alone is a masked array": {"queries.hpp",
		"if (has(type, names().mask) && has(type, names().filled))", "if (has(type, names().mask))",
		"rules.py test_values_that_memory_does_not_tell"},
	"negated values are not asked about": {"queries.hpp",
		"if (ask(object, names().is_neg)) throw BufferError(negated);", "",
		"rules.py test_values_that_memory_does_not_tell"},
	"conjugated values are not asked about": {"queries.hpp",
		"if (ask(object, names().is_conj)) throw BufferError(conjugated);", "",
		"rules.py test_values_that_memory_does_not_tell"},
	"gradients are not asked about": {"queries.hpp",
		"if (grad && is_true(grad) && Torch::records_gradients()) throw BufferError(recording);", "",
		"rules.py test_values_that_memory_does_not_tell"},
	"gradients are always recorded": {"queries.hpp", "is_true(grad) && Torch::records_gradients())",
		"is_true(grad))", "rules.py test_values_that_memory_does_not_tell"},
	"gradients of Paddle are dropped": {"queries.hpp",
		"if (!is_true(made(PyObject_GetAttr(object, names().stop_gradient))) && paddle_records())", "if (false)",
		"rules.py test_what_is_like_paddle"},
	"sparse tensors of Paddle are read": {"queries.hpp",
		"if (has(Py_TYPE(object), names().is_dense) && !ask(object, names().is_dense))", "if (false)",
		"rules.py test_what_is_like_paddle"},
	"anything is an exchange table": {"foreign.hpp",
		"if (!capsule || !PyCapsule_IsValid(capsule.ptr(), \"dlpack_exchange_api\"))", "if (!capsule)",
		"rules.py test_attributes_that_are_no_tables"},
	"exceptions of producers keep their class": {"queries.hpp",
		"if (PyType_Check(object) != 0 || !is_about_the_tensor(error)) throw error;", "throw error;",
		"rules.py test_exceptions_of_producers"},
	"all exceptions are about tensors": {"queries.hpp",
		"if (PyType_Check(object) != 0 || !is_about_the_tensor(error)) throw error;",
		"if (PyType_Check(object) != 0) throw error;", "rules.py test_exceptions_of_producers"},
	"exceptions have a text": {"queries.hpp",
		"if (!PyErr_ExceptionMatches(PyExc_Exception)) throw py::error_already_set();",
		"throw py::error_already_set();", "rules.py test_exceptions_of_producers"},
	"causes are dropped": {"queries.hpp",
		"  PyException_SetCause(rejected.value().ptr(), py::object(error.value()).release().ptr());\n", "",
		"rules.py test_exceptions_of_producers"},
	"types may change": {"foreign.hpp",
		"if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == type.ptr()) return;", "return;",
		"rules.py test_objects_that_change_their_type"},
	"members of enumerations are no numbers": {"foreign.hpp",
		"PyIndex_Check(item) ? py::object() : optional(item, names().value)", "py::object()",
		"consume.py test_devices_that_are_members_of_enumerations"},
	"None is no id": {"foreign.hpp", "if (item == Py_None && is_id_of_cpu) return 0;", "",
		"consume.py test_devices_that_are_members_of_enumerations"},
	"None is any id": {"foreign.hpp", "if (item == Py_None && is_id_of_cpu) return 0;",
		"if (item == Py_None) return 0;", "consume.py test_devices_that_are_none"},
	"lists are no devices": {"foreign.hpp",
		"if (!PyTuple_Check(answer.ptr()) && !PyList_Check(answer.ptr()))", "if (!PyTuple_Check(answer.ptr()))",
		"consume.py test_devices_that_are_members_of_enumerations"},
	"strings are devices": {"foreign.hpp",
		"if (!PyTuple_Check(answer.ptr()) && !PyList_Check(answer.ptr())) return std::nullopt;", "",
		"consume.py test_devices_that_are_none"},
	"devices need not be said": {"foreign.hpp", "  if (!declared) {\n    throw",
		"  if (false) {\n    throw", "errors.py test_devices_that_were_not_declared"},
	"another device may be said": {"foreign.hpp",
		"if (declared->device_type != device.device_type || declared->device_id != device.device_id)", "if (false)",
		"errors.py test_devices_that_were_not_declared"},
	"pinned memory has a stream": {"checked.hpp", "return is_host_memory(device.device_type);",
		"return device.device_type == kDLCPU;", "consume.py test_other_streams"},
	"gradients are dropped": {"object.hpp",
		"if (at::GradMode::is_enabled() && tensor.requires_grad())", "if (false)",
		"consume.py test_tensors_of_torch_become_an_alias"},
	"bits of aliases are rejected": {"object.hpp", "  reject_unreadable(tensor, kept_bits);",
		"  reject_unreadable(tensor, c10::DispatchKeySet());", "consume.py test_tensors_of_torch_become_an_alias"},
	"aliases of anything are made": {"object.hpp", "  reject_unreadable(tensor, kept_bits);\n", "",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"aliases are of any type": {"object.hpp",
		"if (dtype_of(tensor.scalar_type()).lanes == 0) throw BufferError(unnamed);", "",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"derived types dispatch": {"object.hpp", "  reject_dispatch(type, THPVariableClass);\n", "",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"derived types have values of their own": {"object.hpp",
		"  reject_unreadable(tensor, c10::DispatchKeySet());\n}", "}",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"derived types keep their memory": {"object.hpp",
		"  reject_unreadable(THPVariable_Unpack(object), c10::DispatchKeySet());\n", "",
		"rules.py test_derived_types_are_queried_by_their_own_method"},
	"derived types keep their type": {"object.hpp", "  typed.require_same_type();\n", "",
		"rules.py test_derived_types_are_queried_by_their_own_method"},
	"objects are what they say": {"object_owned.hpp",
		"return PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;",
		"return PyObject_IsInstance(object, THPVariableClass) == 1;",
		"rules.py test_what_only_says_that_it_is_a_tensor"},
	"readers stay with the table": {"install.hpp",
		"  detail::remove_reader(detail::tensor_type(), replaced.tensor_reader);",
		"  if (is_installed()) detail::remove_reader(detail::tensor_type(), replaced.tensor_reader);",
		"install.py test_the_reader_goes_without_the_table"},
	"readers are there": {"install.hpp",
		"if (is_of(own_attribute(type, reader_attribute), reader_capsule, reader())) restore",
		"if (before == nullptr) restore", "install.py test_the_reader_may_be_gone"},
	"readers of others go": {"install.hpp",
		"before, found.is_none() ? nullptr : found.release().ptr());", "before, nullptr);",
		"install.py test_two_copies"},
	"keys may be any": {"read.hpp", "return keys - usual_cpu == plain_cpu ||",
		"return true ||", "table.py test_rejections"},
	"no memory is read": {"read.hpp",
		"    if (data == nullptr) return false;\n  }\n  out.data", "  }\n  out.data", "table.py test_rejections"},
	"dtypes without a name are read": {"read.hpp", "if (dtype.lanes == 0) return false;", "",
		"table.py test_types_without_a_name"},
	"offsets are lost": {"read.hpp", "const_cast<void*>(begin)) + offset * size",
		"const_cast<void*>(begin)) + 0 * size", "table.py test_what_is_borrowed_and_exported"},
	"writing separates nothing": {"read.hpp", "begin = storage.mutable_data();",
		"begin = storage.data();", "table.py test_shared_memory_is_separated_by_writing_alone"},
	"reading separates memory": {"read.hpp", "    begin = storage.data();",
		"    begin = storage.mutable_data();", "table.py test_shared_memory_is_separated_by_writing_alone"},
	"any object is a tensor": {"object_owned.hpp",
		"if (object == nullptr || !derives_from_tensor(object)) throw TypeError", "if (false) throw TypeError",
		"table.py test_what_is_no_tensor"},
	"borrows throw": {"table.hpp",
		"int table_borrow(void* object, DLTensor* out) noexcept {\n  try {\n    " +
			"borrow<access>(tensor_in(object), *out);\n    return 0;\n  } catch (...) {\n    return " +
			"report_to_python();\n  }",
		"int table_borrow(void* object, DLTensor* out) noexcept {\n  borrow<access>(tensor_in(object), *out);\n  " +
			"return 0;", "table.py test_wrappers_are_rejected"},
	"exports throw": {"table.hpp",
		"    *out = own_it(static_cast<PyObject*>(object));\n    return 0;\n  } catch (...) {",
		"    *out = own_it(static_cast<PyObject*>(object));\n    return 0;\n  } catch (const std::bad_alloc&) {",
		"table.py test_wrappers_are_rejected"},
	"allocators throw": {"table.hpp",
		"    *out = own(allocate(*prototype));\n    return 0;\n  } catch (...) {",
		"    *out = own(allocate(*prototype));\n    return 0;\n  } catch (const std::bad_alloc&) {",
		"exports.py test_new_tensors_that_cannot_be"},
	"streams throw": {"table.hpp",
		"    *out = current_stream(DLDevice{type, id});\n    return 0;\n  } catch (...) {",
		"    *out = current_stream(DLDevice{type, id});\n    return 0;\n  } catch (const std::bad_alloc&) {",
		"exports.py test_streams"},
	"objects throw": {"table.hpp",
		"move_to_python(*tensor, source);\n    return 0;\n  } catch (...) {",
		"move_to_python(*tensor, source);\n    return 0;\n  } catch (const std::bad_alloc&) {",
		"exports.py test_what_is_rejected_stays_the_callers"},
	"reports are not optional": {"table.hpp", "if (set_error != nullptr) report", "report",
		"exports.py test_new_tensors_that_cannot_be"},
	"messages have the stack": {"errors.hpp",
		"} catch (const c10::Error& e) {  // rejected by ATen\n    set(context, \"BufferError\", " +
			"e.what_without_backtrace());",
		"} catch (const c10::Error& e) {\n    set(context, \"BufferError\", e.what());", "table.py test_rejections"},
	"exceptions of Python are lost": {"errors.hpp",
		"  if (PyErr_Occurred() != nullptr) return -1;\n  try {\n    throw;\n  } catch (python_error& e) {\n    " +
			"e.restore();\n", "  try {\n    throw;\n", "table.py test_exceptions_of_python_keep_their_class"},
	"lent shapes are given": {"owned.hpp", "  owned.managed.dl_tensor.shape = numbers;\n", "",
		"table.py test_exports_do_not_change"},
	"many dimensions have no room": {"owned.hpp", "if (view.ndim > roomy_dimensions)", "if (false)",
		"table.py test_exports_do_not_change"},
	"the storage is not held": {"owned.hpp",
		"return make_export<c10::Storage>([&] { return shared ? share_lazily(storage) : storage; });",
		"return make_export<c10::Storage>([] { return c10::Storage(); });", "table.py test_deleters_release_once"},
	"deleters do nothing": {"owned.hpp", "if (Py_IsInitialized() != 0) drop", "if (false) drop",
		"table.py test_deleters_release_once"},
	"deleters run after the end": {"owned.hpp", "if (Py_IsInitialized() != 0) drop", "if (true) drop",
		"ending.py memory of NumPy after the end"},
	"objects need no GIL": {"object_owned.hpp",
		"  if (!has_the_gil()) return delete_from_afar(owner);\n", "", "object_owned.py test_deleters_wait_for_the_gil"},
	"somebody has the GIL": {"gil.hpp",
		"return current != nullptr && current == PyGILState_GetThisThreadState();", "return current != nullptr;",
		"object_owned.py test_deleters_wait_for_the_gil"},
	"objects are not held": {"object_owned.hpp", "  Py_INCREF(object);\n", "",
		"object_owned.py test_the_last_reference"},
	"objects are not given back": {"object_owned.hpp",
		"  Py_DECREF(owner->kept);\n  drop(owner);\n}\n\n// The reference", "  drop(owner);\n}\n\n// The reference",
		"object_owned.py test_objects_are_retained_once"},
	"threads give no object back": {"object_owned.hpp", "  Py_DECREF(owner->kept);\n  PyGILState_Release",
		"  PyGILState_Release", "object_owned.py test_deleters_without_the_gil"},
	"objects go after the end": {"object_owned.hpp", "  if (Py_IsInitialized() == 0) return;",
		"  if (false) return;", "ending.py an object deleted after the end"},
	"threads cannot be taken": {"object_owned.hpp", "return delete_from_afar(owner);",
		"return [owner]() noexcept { delete_from_afar(owner); }();",
		"ending.py a thread that waits to delete an object"},
	"installed tables hold objects": {"table.hpp",
		"return &detail::exchange_table<access, detail::own_memory<access>>;",
		"return &detail::exchange_table<access, own_object>;", "table.py test_deleters_release_once"},
	"the module goes": {"module.cpp",
		"  Py_INCREF(module);  // never released: consumers keep the table and the objects that it points to\n", "",
		"ending.py the module after the end"},
	"rooms are lost": {"owned.hpp", "    Pool<Export<Kept>>::give(buffer);\n    throw;",
		"    throw;", "failing.py test_lazy_exports"},
	"lazy memory is not held": {"owned.hpp", "shared ? share_lazily(storage) : storage",
		"shared ? storage : storage", "table.py test_read_only_exports_outlive_the_others"},
	"read-only is not said": {"owned.hpp",
		"access == Access::read ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;", "0;", "table.py test_what_is_borrowed_and_exported"},
	"read-only is written to": {"table.hpp", "*out = is_read_only(*tensor) ?", "*out = false ?",
		"exports.py test_what_is_read_only_is_copied"},
	"failures delete": {"table.hpp",
		"wrap(managed.dl_tensor, source, &managed, keep_managed);",
		"wrap(managed.dl_tensor, source, &managed, delete_managed<DLManagedTensorVersioned>);\n  if " +
			"(managed.flags == 0) throw BufferError(\"stays\");", "exports.py test_objects_over_the_memory_of_others"},
	"successes do not delete": {"table.hpp",
		"keep_managed, source.device.is_cpu() ? deleter : delete_after_work<deleter>)",
		"deleter, source.device.is_cpu() ? keep_managed : delete_after_work<deleter>)",
		"exports.py test_objects_over_the_memory_of_others"},
	"objects are of any version": {"table.hpp",
		"    throw_if_error(dlpackgen::v1_3::detail::check_managed(*tensor, Accept::nothing));\n", "",
		"exports.py test_what_is_rejected_stays_the_callers"},
	"padding is not looked at": {"checked.hpp", "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0",
		"DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) == 77", "exports.py test_what_is_rejected_stays_the_callers"},
	"negative strides are taken": {"checked.hpp", "if (tensor.strides[i] < 0 && tensor.shape[i] > 1)",
		"if (false)", "exports.py test_what_is_rejected_stays_the_callers"},
	"alignment does not matter": {"checked.hpp", "if (!dlpackgen_is_misaligned(&tensor)) return;",
		"if (dlpackgen_is_misaligned(&tensor) < 2) return;", "exports.py test_what_is_rejected_stays_the_callers"},
	"strides of one element count": {"checked.hpp", "tensor.strides == nullptr || extent < 2 || empty",
		"tensor.strides == nullptr || empty", "exports.py test_strides_and_extents_of_others"},
	"offsets of others are lost": {"checked.hpp", "begin + tensor.byte_offset",
		"begin + 0 * tensor.byte_offset", "exports.py test_objects_over_the_memory_of_others"},
	"a producer's copy is taken": {"checked.hpp", "if (!how.may_copy) reject_copied(managed);", "",
		"consume.py test_copies_that_are_not_allowed"},
	"a copy is made that is not allowed": {"foreign.hpp",
		"return How(read_only == ReadOnly::copy ? ReadOnly::raise : read_only, false);",
		"return How(read_only, false);", "consume.py test_copies_that_are_not_allowed"},
	"a copy that is asked for is not made": {"foreign.hpp",
		"if (!copy && wanted.copy == Py_True) copy", "if (false) copy", "consume.py test_copies_that_are_requested"},
	"read-only memory is not copied": {"foreign.hpp", "if (copy == Py_True) return How(ReadOnly::allow);", "",
		"consume.py test_copies_that_are_requested"},
	"a device that is asked for is not looked at": {"foreign.hpp", "if (wanted.device != Py_None) {", "if (false) {",
		"consume.py test_devices_that_are_requested"},
	"memory is moved without leave": {"foreign.hpp", "if (wanted.copy == Py_False) {", "if (false) {",
		"consume.py test_devices_that_are_requested"},
	"read-only is taken": {"checked.hpp", "if (how.read_only == ReadOnly::raise) {", "if (false) {",
		"consume.py test_read_only_memory"},
	"old tensors may be written to": {"checked.hpp",
		"is_read_only(const DLManagedTensor&) noexcept { return true; }",
		"is_read_only(const DLManagedTensor&) noexcept { return false; }", "consume.py test_read_only_memory"},
	"rejections leak": {"checked.hpp", "if (owned) delete_managed<Struct>(owned.release());",
		"static_cast<void>(owned.release());", "consume.py test_rejections_delete_once"},
	"any number is a device": {"stream.hpp", "if (device.device_id < 0 || device.device_id >=",
		"if (false && device.device_id >=", "exports.py test_streams"},
	"stand-ins have streams": {"stream.hpp",
		"throw BufferError(\"this torch has no streams for its device\");", "throw;", "exports.py test_streams"},
	"capsules are not renamed": {"foreign.hpp", "|| PyCapsule_SetName(capsule, used) != 0",
		"|| used == nullptr", "consume.py test_capsules"},
	"inherited tables are used": {"foreign.hpp",
		"if (!has_own(type, names().table)) return ExchangeAPI();", "", "consume.py test_tables"},
	"old producers are rejected": {"foreign.hpp",
		"  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();\n  PyErr_Clear();\n  " +
			"return made(", "  throw py::error_already_set();\n  return made(",
		"consume.py test_the_newest_version_is_requested"},
	"silence is success": {"foreign.hpp",
		"if (managed == nullptr) throw BufferError(DLPACKGEN_TEXT_NO_TENSOR);", "",
		"consume.py test_tables_that_fail"},
	"aliases require grad": {"object.hpp", "return at::Tensor(tensor.tensor_data());",
		"return tensor;", "consume.py test_tensors_of_torch_become_an_alias"},
	"uninstall() removes the table of a later owner": {"install.hpp", "if (is_installed()) detail::restore(",
		"detail::restore(", "install.py test_another_that_came_later_stays"},
	"nothing is given back": {"install.hpp", "  py::setattr(type, name, py::handle(before));\n",
		"", "install.py test_once_and_twice"},
	"any torch is taken": {"module.cpp", "if (!is_for_this_torch()) return nullptr;", "",
		"install.py test_versions"},
	"the package takes any torch": {"__init__.py", "if wanted not in versions:", "if not versions:",
		"install.py test_versions"},
	"modules read what requires grad": {"native_reader.hpp",
		"if (impl.autograd_meta() != nullptr && impl.requires_grad()) return 1;", "", "native_reader.py test_gradients"},
	"modules copy nothing": {"native_reader.hpp",
		"read_plain<Access::read>(impl, *out, Copied{numbers})", "read_plain<Access::read>(impl, *out)",
		"native_reader.py test_shape_and_strides_are_copied"},
	"copies fit": {"read.hpp", "covered += (size - 1) * stride;", "",
		"native_reader.py test_shape_and_strides_are_copied"},
	"copies have no end": {"read.hpp", "if (count > most) return false;", "",
		"native_reader.py test_what_is_too_large"},
	"native readers stay on": {"install.hpp",
		"if (is_installed() || !native_readers_are_on()) return;", "if (is_installed()) return;",
		"install.py test_native_readers_that_are_off"},
	"a pre-release is its release": {"module.cpp", "text.substr(0, text.find('+')) == version;",
		"text.substr(0, version.size()) == version;", "install.py test_versions"},
	"shared memory is separated": {"native_reader.hpp",
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
		assert.Contains(t, out, fmt.Sprintf("caught %d %s\n", number, all[name].script), "no test detected that %s", name)
		assert.Contains(t, out, fmt.Sprintf("missed 0 %s\n", all[name].script), "it fails with all guards in place")
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
	// The module itself detects at import that it reads tensors differently from torch.
	for _, name := range []string{"keys may be any", "offsets are lost"} {
		out, err := script(to, dir, []string{mutation.Env(numbered(mutants)[name])}, "-c", "import dlpackgen_torch")
		assert.Error(t, err)
		assert.Contains(t, out, "ImportError: this module does not match the tensors of torch ", name)
	}
}
