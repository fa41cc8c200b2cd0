package cpp

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// mutants breaks each rule of a header once; the program must detect it.
var mutants = []struct{ program, header, old, new string }{
	{"core", "validate", "mismatch.expected, mismatch.got, mismatch.dimension", "0, 0, -1"},
	{"core", "validate", "limits{max_ndim, 0, 0, 0, 0};", "limits{INT32_MAX, 0, 0, 0, 0};"},
	{"core", "validate", "dlpackgen_nbytes_(&tensor, set,", "dlpackgen_nbytes_(&tensor, 0,"},
	{"agree", "validate", "dlpackgen_byte_range_(&tensor, set,", "dlpackgen_byte_range_(&tensor, 0,"},
	{"agree", "validate", "dlpackgen_check_tensor_(tensor, set,", "dlpackgen_check_tensor_(tensor, 0,"},
	{"agree", "validate", "!is_opaque(device)", "true"},
	{"core", "validate", "return dlpackgen_is_contiguous(&tensor) != 0;", "return true;"},
	{"core", "validate", "return dlpackgen_may_overlap(&tensor) != 0;", "return false;"},
	{"core", "validate", "limits.null_strides = detail::allows(accept, Accept::null_strides);",
		"limits.null_strides = 1;"},
	{"builder", "validate", "static_cast<std::uint64_t>(dlpackgen_alignment(dtype))", "1"},
	{"core", "validate", "limits.known_code = detail::is_known(tensor->dtype.code, accept);",
		"limits.known_code = 1;"},
	{"core", "validate", "|| detail::allows(accept, Accept::unknown_device)", ""},
	{"core", "validate", "|| allows(accept, Accept::unknown_code)", ""},
	{"core", "validate", "if (tensor == nullptr) return ErrorCode::null;", ""},
	{"core", "managed", "if (managed.version.major != abi_version.major)",
		"if (managed.version.major > abi_version.major)"},
	{"core", "managed", "managed.version.minor < null_strides_before", "managed.version.minor < 3"},
	{"core", "managed", "managed.version.minor < null_strides_before", "false"},
	{"core", "managed", "validate(&managed.dl_tensor, 0, accept | Accept::null_strides)",
		"validate(&managed.dl_tensor, 0, accept)"},
	{"core", "managed", "~BasicManaged() { reset(); }", "~BasicManaged() {}"},
	{"core", "managed", "managed_(other.release())", "managed_(other.get())"},
	{"core", "managed", "if (old != nullptr && old->deleter != nullptr)", "if (old != nullptr)"},
	{"core", "managed", "return managed.flags;", "return 0;"},
	{"core", "managed", "return flags::read_only;", "return 0;"},
	{"builder", "managed", "return flags::read_only;", "return 0;"},
	{"core", "managed", "from_raw_unchecked(managed_->dl_tensor, 0)",
		"from_raw_unchecked(managed_->dl_tensor, flags())"},
	{"core", "managed", "if (managed == nullptr) return ErrorCode::null;", ""},
	{"core", "tensor_view", "static_cast<std::uintptr_t>(tensor_.byte_offset)", "0U"},
	{"core", "tensor_view", "if (write && is_read_only()) return ErrorCode::read_only;", ""},
	{"core", "tensor_view", "if (write && may_overlap(tensor_)) return ErrorCode::overlap;", ""},
	{"eigen_map", "eigen", "if (fixed != Eigen::Dynamic && is != fixed)", "if (false)"},
	{"eigen_map", "eigen", "if (largest != Eigen::Dynamic && is > largest)", "if (false)"},
	{"eigen_map", "eigen", "columns == 1 ? by_row : by_column", "by_row"},
	{"eigen_map", "eigen", "Plain::IsRowMajor ? Steps(by_row, by_column) : Steps(by_column, by_row)",
		"Steps(by_column, by_row)"},
	{"eigen_map", "eigen", "Mapping::ndim == 1 || (Mapping::ndim < 0 && view.ndim() == 1)", "Mapping::ndim == 1"},
	{"eigen_map", "eigen", "Mapping::rows == 1 && Mapping::columns != 1 ? 1 : 0", "0"},
	{"eigen_map", "eigen", "Plain::MaxColsAtCompileTime, 1 - across)", "Plain::MaxColsAtCompileTime, across)"},
	{"eigen_map", "eigen", "::new (static_cast<void*>(static_cast<MapOf<T>*>(&other))) MapOf<T>();", ""},
	{"eigen_map", "eigen", "if (!tensor) return ErrorCode::null;", ""},
	{"eigen_map", "eigen", "tensor_(static_cast<Managed&&>(other.tensor_))", "tensor_()"},
	{"exchange", "exchange", "Managed tensor = static_cast<Managed&&>(owned);", "Managed& tensor = owned;"},
	{"attack", "exchange", "managed_tensor_allocator(like.get(), &managed",
		"managed_tensor_allocator(const_cast<DLTensor*>(&prototype), &managed"},
	{"attack", "exchange", "if (of.shape != nullptr) tensor_.shape = copy(shape_, of.shape);", ""},
	{"attack", "exchange", "if (of.strides != nullptr) tensor_.strides = copy(strides_, of.strides);", ""},
	{"attack", "exchange", "if (of.ndim < 0 || of.ndim > max_ndim) return;", ""},
	{"attack", "managed", "managed_ = managed;\nif (old != nullptr && old->deleter != nullptr) old->deleter(old);",
		"if (old != nullptr && old->deleter != nullptr) old->deleter(old);\nmanaged_ = managed;"},
	{"attack", "exchange", "inner_ = inner;\nif (state_.exchange(transferred) == dropped) destroy();",
		"inner_ = inner;\nstate_.exchange(transferred);"},
	{"attack", "exchange", "if (handover->state_.exchange(dropped) == transferred) handover->destroy();",
		"handover->destroy();"},
	{"attack", "exchange", "copy_text(report->message, message);", "static_cast<void>(message);"},
	{"core", "tensor_view", "is_read_only() ? nullptr : address()", "address()"},
	{"core", "tensor_view", "if (misfit != 0)", "if (false)"},
	{"core", "tensor_view", "if (!same_dtype(tensor_.dtype, wanted))", "if (false)"},
	{"core", "tensor_view",
		"if (tensor_.data == nullptr || is_opaque(tensor_.device.device_type)) return nullptr;", ""},
	{"core", "tensor_view", "if (is_opaque(tensor_.device.device_type)) return Error", "if (false) return Error"},
	{"core", "tensor_view", "if (tensor_.strides != nullptr) return", "return"},
	{"builder", "builder", "if (armed_) call_();", "call_();"},
	{"builder", "builder", "other.armed_ = false;", ""},
	{"builder", "builder", "block->~Block();", ""},
	{"builder", "builder", "deallocate(block);", ""},
	{"builder", "builder", "managed.version = abi_version;", ""},
	{"builder", "builder", "managed.flags = set;", ""},
	{"builder", "builder", "read_only(std::is_const<T>::value);", ""},
	{"builder", "builder", "b.tensor_.byte_offset = view.raw().byte_offset;", ""},
	{"builder", "builder", "b.flags_ = view.flags() & ~flags::is_copied;", ""},
	{"builder", "builder", "b.strides_[i] = view.stride(i);", "b.strides_[i] = 7;"},
	{"builder", "builder", "yes ? flags_ | bit : flags_ & ~bit", "flags_ | bit"},
	{"builder", "builder", "if (!error_) error_ = error;", ""},
	{"builder", "builder", "if (view.ndim() < 0 || view.ndim() > max_ndim) return", "if (false) return"},
	{"builder", "builder", "if (view.ndim() > 0 && view.raw().shape == nullptr) return", "if (false) return"},
	{"builder", "builder", "if (first(p.tensor) % align != 0) {", "if (false) {"},
	{"builder", "builder", "(named ? reinterpret_cast<std::uintptr_t>(tensor.data) : 0)", "0"},
	{"builder", "builder", "(named ? reinterpret_cast<std::uintptr_t>(tensor.data) : 0)",
		"reinterpret_cast<std::uintptr_t>(tensor.data)"},
	{"builder", "builder", "padded(dtype_of<T>.bits < DLPACKGEN_PACKED_BELOW);", ""},
	{"builder", "builder", "if (!has_dtype_ && dtype_of<Element>.bits < DLPACKGEN_PACKED_BELOW)", "if (false)"},
	{"builder", "builder", "if (!has_dtype_ && dtype_of<Element>.bits < DLPACKGEN_PACKED_BELOW)",
		"if (dtype_of<Element>.bits <= DLPACKGEN_PACKED_BELOW)"},
	{"builder", "builder", "Builder::from_view(tensor.writable_view())", "Builder::from_view(tensor.view())"},
	{"builder", "builder", "p.flags |= flags::read_only;", ""},
	{"builder", "builder", "if (!has_dtype_) p.tensor.dtype", "p.tensor.dtype"},
	{"builder", "builder", "if (has_data_) {", "if (false) {"},
	{"builder", "builder", "p.tensor.data = plan(block->owner).tensor.data;", ""},
	{"builder", "builder", "Error error = error_;", "Error error;"},
	{"builder", "builder", "number_of_strides_ != static_cast<std::size_t>(p.tensor.ndim)", "false"},
	{"builder", "builder", "if (unversioned && (p.flags", "if (false && (p.flags"},
	{"builder", "builder", "(p.flags & ~flags::is_copied) != 0",
		"(p.flags & (flags::read_only | flags::is_subbyte_type_padded)) != 0"},
	{"builder", "builder", "(p.flags & ~flags::is_copied) != 0", "p.flags != 0"},
	{"builder", "builder", "inside < width", "false"},
	{"builder", "builder", "if (touched.high == 0) {", "if (false) {"},
	{"builder", "builder", "p.before + p.tensor.byte_offset < dlpackgen_magnitude_(touched.low) ||", ""},
	{"builder", "builder", "p.before + p.tensor", "p.tensor"},
	{"builder", "builder", "if constexpr (In::sized) within(p, In::data(owner));", ""},
	{"builder", "builder", "if (p.own.ndim == 0 || has_data_) return ErrorCode::no_shape;",
		"if (p.own.ndim == 0) return ErrorCode::no_shape;"},
	{"builder", "builder", "if (p.own.ndim == 0 || has_data_) return ErrorCode::no_shape;",
		"if (has_data_) return ErrorCode::no_shape;"},
	{"builder", "builder", "line.row_major = !detail::has_own_layout<Owner>;", ""},
	{"builder", "builder", "if (has_strides_ || elsewhere || p.own.row_major)", "if (has_strides_ || p.own.row_major)"},
	{"builder", "builder", "if (has_strides_ || elsewhere || p.own.row_major)", "if (elsewhere || p.own.row_major)"},
	{"eigen", "builder", "p.tensor.strides = p.own.strides;", ""},
	{"eigen", "builder", "if (p.tensor.shape[i] != p.own.shape[i]) return false;", ""},
	{"eigen", "builder", "if (p.tensor.ndim != p.own.ndim) return false;",
		"if (p.tensor.ndim != p.own.ndim) return true;"},
	{"eigen", "builder", "by_rows ? outer : inner, by_rows ? inner : outer",
		"by_rows ? inner : outer, by_rows ? outer : inner"},
	{"eigen", "builder", "(columns < 2 || l.strides[1] == 1) && (rows < 2 || l.strides[0] == columns)", "true"},
	{"eigen", "builder", "if (Matrix::IsVectorAtCompileTime) {", "if (false) {"},
	{"eigen", "builder", "return !layout_of(*container).row_major;", "return false;"},
	{"eigen", "builder", "return !layout_of(*container).row_major;", "return true;"},
	{"eigen", "builder", "container == nullptr || ", ""},
	{"eigen", "builder", " || container->data() != data", ""},
	{"builder", "builder", "if (at >= all) return;", ""},
	{"builder", "builder", "p.capacity = all - at;", "p.capacity = all;"},
	{"builder", "builder",
		"inline Result<Managed> upgrade(ManagedLegacy&& tensor) noexcept {\n  if (!tensor) return ErrorCode::null;",
		"inline Result<Managed> upgrade(ManagedLegacy&& tensor) noexcept {"},
	{"builder", "builder",
		"upgrade_writable(ManagedLegacy&& tensor) noexcept {\n  if (!tensor) return ErrorCode::null;",
		"upgrade_writable(ManagedLegacy&& tensor) noexcept {"},
	{"builder", "builder", "downgrade(Managed&& tensor) noexcept {\n  if (!tensor) return ErrorCode::null;",
		"downgrade(Managed&& tensor) noexcept {"},
	{"builder", "builder", "b.flags_ = view.flags() & ~flags::is_copied;", "b.flags_ = view.flags();"},
	{"builder", "builder", "|| end > p.capacity", ""},
	{"builder", "builder", "return has_strides ? Error() : error;", "return Error();"},
	{"builder", "builder", "if (tensor.strides != nullptr) steps[i] = tensor.strides[i];", ""},
	{"builder", "builder", "alignof(Owner) > __STDCPP_DEFAULT_NEW_ALIGNMENT__", "false"},
	{"memory", "builder", "if (storage.memory == nullptr) return ErrorCode::no_memory;", ""},
	{"memory", "builder", "if (memory != nullptr) Block::deallocate(memory);", ""},
	{"memory", "exchange", "if (handover == nullptr) return ErrorCode::no_memory;", ""},
	{"memory", "producer", "if (handover == nullptr) return ErrorCode::no_memory;", ""},
	{"views", "array_view", "if (view.ndim() != static_cast<std::int32_t>(N))", "if (false)"},
	{"views", "array_view", "if (data && !view.is_on_host())", "if (false)"},
	{"views", "array_view", "strides_[i] = other.stride(i);", ""},
	{"views", "array_view", "shape_[i] = other.extent(i);", ""},
	{"views", "array_view", "FlatView(const FlatView<U>& other) noexcept : data_(other.data()), size_(other.size())",
		"FlatView(const FlatView<U>& other) noexcept : data_(other.data())"},
	{"views", "array_view", "if (!view.is_contiguous()) return ErrorCode::not_contiguous;", ""},
	{"views", "array_view", "if (index[i] < 0 || index[i] >= shape_[i]) return nullptr;", ""},
	{"views", "array_view", "index[i] * strides_[i]", "index[i]"},
	{"views", "array_view", "index * strides_[0], &shape_[1]", "index, &shape_[1]"},
	{"views", "packed", "if (view.is_padded()) return ErrorCode::packed;", ""},
	{"views", "packed", "!std::is_const<T>::value && view.is_read_only()", "false"},
	{"views", "packed", "data_[at / 8] & ~mask", "data_[at / 8]"},
	{"views", "packed", "bit(index, i) << i", "bit(index, width - 1 - i) << i"},
	{"views", "tensor_view", "if (is_packed()) return ErrorCode::packed;", ""},
	{"views", "message", "if (n < 0) *--first = '-';", ""},
	{"views", "message", "n < 0 ? 0U - static_cast<std::uint64_t>(n) :", ""},
	{"views", "message", "if (error.where >= 0) {", "if (false) {"},
	{"views", "exceptions", "if (error) throw Exception(error);", ""},
	{"views", "complex", "sizeof(C) == 2 * sizeof(T)", "true"},
	{"exchange", "exchange", "visited < max_exchange_tables", "true"},
	{"exchange", "exchange", "if (header->version.major == abi_version.major) return", "return"},
	{"exchange", "exchange", "header = header->prev_api;", "header = nullptr;"},
	{"exchange", "exchange", "if (newest == nullptr) return ErrorCode::null;", ""},
	{"exchange", "exchange", "api->managed_tensor_allocator == nullptr || ", ""},
	{"exchange", "exchange", "api->managed_tensor_from_py_object_no_sync == nullptr ||", ""},
	{"exchange", "exchange", "api->managed_tensor_to_py_object_no_sync == nullptr || ", ""},
	{"exchange", "exchange", " || api->current_work_stream == nullptr", ""},
	{"exchange", "exchange", "if (!can_borrow()) return ErrorCode::exchange_slot;", ""},
	{"exchange", "exchange", "if (managed == nullptr) return ErrorCode::no_result;\nreturn", "return"},
	{"exchange", "exchange", "if (managed == nullptr) return ErrorCode::no_result;\nResult", "Result"},
	{"exchange", "exchange", "if (report->calls++ != 0) return;", "report->calls++;"},
	{"exchange", "exchange", "if (is_host_memory(device.device_type)) return stream;", ""},
	{"exchange", "exchange", "if (state_.exchange(transferred) == dropped) destroy();", ""},
	{"exchange", "exchange", "if (state_.exchange(transferred) == dropped) destroy();", "destroy();"},
	{"exchange", "exchange", "handover->state_.exchange(dropped) == transferred", "true"},
	{"exchange", "exchange", "handover->keep();", ""},
	{"exchange", "exchange", "if (failed == 0 && object != nullptr)", "if (failed == 0)"},
	{"exchange", "exchange", "DLPACKGEN_DIFFERS_NDIM_: return fail(ErrorCode::ndim_mismatch);",
		"DLPACKGEN_DIFFERS_NDIM_: return Error();"},
	{"exchange", "exchange", "DLPACKGEN_DIFFERS_SHAPE_: return fail(ErrorCode::no_result);",
		"DLPACKGEN_DIFFERS_SHAPE_: return Error();"},
	{"exchange", "exchange", "case DLPACKGEN_DIFFERS_DTYPE_:", "case DLPACKGEN_DIFFERS_DTYPE_: return Error();"},
	{"exchange", "producer", "if (!reported) Derived::set_error(kind, text);", "Derived::set_error(kind, text);"},
	{"exchange", "producer", "if (set_error != nullptr) set_error", "set_error"},
	{"exchange", "producer", "if (!*made) return ErrorCode::no_result;\n          const", "const"},
	{"exchange", "producer", "if (!*made) return ErrorCode::no_result;\n      *out", "*out"},
	{"exchange", "producer", "if (tensor == nullptr) return ErrorCode::null;", ""},
	{"exchange", "producer", "detail::check_managed(*tensor, Accept::nothing)", "Error()"},
	{"exchange", "producer", "if (prototype == nullptr) return ErrorCode::null;", ""},
	{"exchange", "producer", "requested.strides = nullptr;", ""},
	{"exchange", "producer", "= detail::check_prototype(*like);", "= Error();"},
	{"exchange", "producer", "= detail::matches(made->view(), *like);", "= Error();"},
	{"exchange", "producer", "(view.flags() & ~flags::is_copied) != 0", "view.is_read_only()"},
	{"exchange", "producer", "(view.flags() & ~flags::is_copied) != 0", "view.flags() != 0"},
	{"exchange", "producer", "if (view.ndim() > 0 && view.raw().strides == nullptr) return ErrorCode::strides_null;",
		""},
	{"exchange", "producer", "if (view.ndim() > 0 && view.raw().strides", "if (view.raw().strides"},
	{"exchange", "exchange", "borrow_writable(object, set | flags::read_only, accept)",
		"borrow_writable(object, set, accept)"},
	{"exchange", "exchange", "return TensorView::from_raw(&tensor, set, accept);",
		"return TensorView::from_raw(&tensor, 0, accept);"},
	{"exchange", "exchange", "if (api_ == nullptr) return ErrorCode::null;\nif (api_->managed", "if (api_->managed"},
	{"exchange", "exchange", "if (api_ == nullptr) return ErrorCode::null;\nconst Error wrong", "const Error wrong"},
	{"exchange", "exchange", "if (api_ == nullptr) return ErrorCode::null;\nif (api_->current", "if (api_->current"},
	{"exchange", "exchange", "if (!tensor || api_ == nullptr)", "if (!tensor)"},
	{"exchange", "exchange", "= detail::check_prototype(prototype);", "= Error();"},
	{"exchange", "exchange", "if (prototype.ndim < 0 || prototype.ndim > max_ndim)", "if (false)"},
	{"exchange", "exchange", "return check_dtype(prototype.dtype, Accept::nothing);", "return Error();"},
	{"exchange", "exchange", "if (wanted.device_type != got.device_type)", "if (true)"},
	{"exchange", "exchange", "if (wanted.device_type != got.device_type)", "if (false)"},
	{"exchange", "exchange", "DLPACKGEN_DIFFERS_READ_ONLY_: return ErrorCode::read_only;",
		"DLPACKGEN_DIFFERS_READ_ONLY_: return Error();"},
	{"exchange", "exchange", "return Error(ErrorCode::no_result, 0, static_cast<std::int64_t>(made.flags()));",
		"return Error();"},
	{"exchange", "exchange", "DLPACKGEN_DIFFERS_STRIDES_: return fail(ErrorCode::strides);",
		"DLPACKGEN_DIFFERS_STRIDES_: return Error();"},
	{"exchange", "producer", "if (handover != nullptr && failed == 0) handover->give(tensor);", ""},
	{"exchange", "producer", "if (handover != nullptr && failed != 0) handover->keep();", ""},
	{"exchange", "producer", `report_safely(report, "MemoryError", out_of_memory);`, ""},
	{"exchange", "producer", "report_safely(report, kind_of(e.code()), e.what());", ""},
	{"exchange", "producer", `report_safely(report, "RuntimeError", e.what());`, ""},
	{"exchange", "producer", `"RuntimeError", unnamed_exception`, `"RuntimeError", ""`},
	{"exchange", "producer", "} catch (...) {  // the error cannot be reported", "} catch (const char*) {"},
	{"exchange", "producer", "if constexpr (borrows<Derived>(0)) {", "if constexpr (false) {"},
}

// built is a program of a source with all its mutants.
type built struct {
	program string
	apart   []int
}

// survives reports whether all checks of a program still pass: a crash, a leak or an endless loop
// counts as a failed check.
func survives(t *testing.T, program string, number int) bool {
	t.Helper()
	cmd := testkit.Limited(program)
	cmd.Env = append(os.Environ(), mutation.Env(number))
	return cmd.Run() == nil
}

// found are flags that detect errors and compile fast. The messages of the sanitizers are not used.
var found = []string{"-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// buildOf compiles a program with the given headers.
func buildOf(t *testing.T, dir, source string, flags ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	args := append([]string{"-std=c++17", "-w", "-pthread", "-I", dir, "-o", program, "testdata/" + source + ".cpp"},
		requireEigen(t, source)...)
	out, err := exec.Command(gcc.program, append(args, flags...)...).CombinedOutput()
	require.NoError(t, err, "the mutants do not compile: %s", out)
	return program
}

// buildMutants compiles a program with all mutants that it must detect. The sanitizers cover those
// that the program itself does not detect.
func buildMutants(t *testing.T, source string, all []mutation.Mutant) built {
	t.Helper()
	dir := headers(t, "1.3")
	written := mutation.Write(t, dir, all)
	program := buildOf(t, dir, source, slices.Concat(written.Flags, found)...)
	assert.True(t, survives(t, program, 0), "%s fails without a mutant", source)
	return built{program, written.Apart}
}

// survivesAlone is survives for a program with one mutant. The sanitizers, which compile several
// times as long, are used only if the program itself detects nothing.
func survivesAlone(t *testing.T, source string, m mutation.Mutant) bool {
	t.Helper()
	dir := headers(t, "1.3")
	m.Alone(t, dir)
	return survives(t, buildOf(t, dir, source), 0) && survives(t, buildOf(t, dir, source, found...), 0)
}

func TestMutantsAreNoticed(t *testing.T) {
	tier.OnlyNightly(t)
	testtool.Require(t, gcc.program, gcc.debian)
	bySource := map[string][]mutation.Mutant{}
	for _, m := range mutants {
		bySource[m.program] = append(bySource[m.program],
			mutation.Mutant{File: "dlpackgen/" + m.header + ".hpp", Old: m.old, New: m.new})
	}
	for source, all := range bySource {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			requireEigen(t, source+".cpp")
			b := buildMutants(t, source, all)
			for i, m := range all {
				t.Run(filepath.Base(m.File)+" "+m.Old, func(t *testing.T) {
					if slices.Contains(b.apart, i+1) {
						assert.False(t, survivesAlone(t, source, m), "nothing fails without this")
						return
					}
					assert.False(t, survives(t, b.program, i+1), "nothing fails without this")
				})
			}
		})
	}
}
