/**
 * \file exchange.hpp
 * Converts between Python objects and tensors through the exchange table of a type. This header
 * does not use Python: the caller reads the table from the attribute of the type and its capsule.
 */
#ifndef DLPACKGEN_V0_0_EXCHANGE_HPP_
#define DLPACKGEN_V0_0_EXCHANGE_HPP_

#include "managed.hpp"

#include <atomic>
#include <cstdint>
#include <new>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** The maximum number of tables that are visited, because a chain may be circular. */
inline constexpr int max_exchange_tables = DLPACKGEN_MAX_EXCHANGE_APIS;

/** The report of a failed allocator: its first kind and message, truncated to fit. */
struct AllocatorError {
  char kind[32] = {};
  char message[224] = {};
  int calls = 0;  ///< How often it reported; a correct allocator reports once.
};

namespace detail {

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) noexcept {
  std::size_t i = 0;
  for (; from != nullptr && from[i] != '\0' && i + 1 < N; ++i) to[i] = from[i];
  to[i] = '\0';
}

inline void keep_report(void* context, const char* kind, const char* message) noexcept {
  auto* const report = static_cast<AllocatorError*>(context);
  if (report->calls++ != 0) return;
  copy_text(report->kind, kind);
  copy_text(report->message, message);
}

/*
 * A proxy for a tensor that is passed to a function which takes ownership. Implementations differ
 * about which side frees the tensor after a failure. The function therefore receives this proxy,
 * whose deleter only records the call until the function returns.
 */
class Handover {
 public:
  static Handover* of(const DLManagedTensorVersioned& inner) noexcept { return new (std::nothrow) Handover(inner); }

  DLManagedTensorVersioned* get() noexcept { return &managed_; }

  // The call has succeeded: the inner tensor is freed with the proxy, possibly now.
  void give(DLManagedTensorVersioned* inner) noexcept {
    inner_ = inner;
    if (state_.exchange(transferred) == dropped) destroy();
  }

  // The call has failed: the inner tensor is kept, whether or not the proxy was freed.
  void keep() noexcept { delete this; }

 private:
  enum State : int { held, transferred, dropped };

  explicit Handover(const DLManagedTensorVersioned& inner) noexcept : managed_(inner) {
    managed_.manager_ctx = this;
    managed_.deleter = drop;
  }

  static void drop(DLManagedTensorVersioned* self) noexcept {
    auto* const handover = static_cast<Handover*>(self->manager_ctx);
    if (handover->state_.exchange(dropped) == transferred) handover->destroy();
  }

  void destroy() noexcept {
    Managed::from_raw_unchecked(inner_).reset();
    delete this;
  }

  DLManagedTensorVersioned managed_;
  DLManagedTensorVersioned* inner_ = nullptr;
  std::atomic<int> state_{held};
};

// An allocator reads dtype, shape and device of a prototype; strides are for the caller.
inline Error check_prototype(const DLTensor& prototype) noexcept {
  if (prototype.ndim < 0 || prototype.ndim > max_ndim) return Error(ErrorCode::ndim, max_ndim, prototype.ndim);
  const Result<std::int64_t> size = nbytes(prototype);
  if (!size) return size.error();
  return check_dtype(prototype.dtype, Accept::nothing);
}

/*
 * A copy of a prototype and its numbers, because the allocator or the caller may change the
 * original. A prototype that check_prototype() rejects is not copied.
 */
class Prototype {
 public:
  explicit Prototype(const DLTensor& of) noexcept : tensor_(of) {
    if (of.ndim < 0 || of.ndim > max_ndim) return;
    if (of.shape != nullptr) tensor_.shape = copy(shape_, of.shape);
    if (of.strides != nullptr) tensor_.strides = copy(strides_, of.strides);
  }
  Prototype(const Prototype&) = delete;
  Prototype& operator=(const Prototype&) = delete;

  DLTensor* get() noexcept { return &tensor_; }
  const DLTensor& operator*() const noexcept { return tensor_; }

 private:
  std::int64_t* copy(std::int64_t* to, const std::int64_t* from) const noexcept {
    for (std::int32_t i = 0; i < tensor_.ndim; ++i) to[i] = from[i];
    return to;
  }

  DLTensor tensor_;
  std::int64_t shape_[max_ndim], strides_[max_ndim];
};

// Checks that a tensor has the dtype, shape, device and strides of the prototype, and can be
// written.
inline Error matches(const TensorView& made, const DLTensor& prototype) noexcept {
  const DLDevice wanted = prototype.device, got = made.device();
  dlpackgen_mismatch_ mismatch{-1, 0, 0};
  const int managed = is_managed_memory(wanted.device_type) ? 1 : 0;
  const auto fail = [&](ErrorCode code) { return Error(code, mismatch.expected, mismatch.got, mismatch.dimension); };
  switch (dlpackgen_differs_(&made.raw(), made.flags(), &prototype, managed, &mismatch)) {
    case DLPACKGEN_DIFFERS_NOT_: return Error();
    case DLPACKGEN_DIFFERS_DTYPE_:
      return Error(ErrorCode::dtype_mismatch, as_number(prototype.dtype), as_number(made.dtype()));
    case DLPACKGEN_DIFFERS_NDIM_: return fail(ErrorCode::ndim_mismatch);
    case DLPACKGEN_DIFFERS_SHAPE_: return fail(ErrorCode::no_result);
    case DLPACKGEN_DIFFERS_DEVICE_:
      if (wanted.device_type != got.device_type) return Error(ErrorCode::device, wanted.device_type, got.device_type);
      return Error(ErrorCode::device_mismatch, wanted.device_id, got.device_id);
    case DLPACKGEN_DIFFERS_READ_ONLY_: return ErrorCode::read_only;
    case DLPACKGEN_DIFFERS_PADDED_: return Error(ErrorCode::no_result, 0, static_cast<std::int64_t>(made.flags()));
    case DLPACKGEN_DIFFERS_STRIDES_: return fail(ErrorCode::strides);
  }
  return ErrorCode::no_result;
}

}  // namespace detail

/**
 * An exchange table of this major version, with all required functions. It has the size of a
 * pointer, and is valid until the process ends. Functions with a Python object need the GIL, and an
 * object of exactly the type of the table. After ErrorCode::callee_failed, a Python exception is
 * set.
 *
 * A table does not report every property of an object, and this class does not use Python to query
 * them. PyTorch's table exports tensors with a pending negation or conjugation (is_neg(),
 * is_conj()), tensors that require gradients (requires_grad), and tensors whose storage was made
 * smaller; Paddle's table exports sparse tensors. dlpackgen_python rejects all of these. A C++
 * binding for such objects must call those methods first.
 */
class ExchangeAPI {
 public:
  /** No table: all functions return ErrorCode::null or ErrorCode::exchange_slot. */
  ExchangeAPI() noexcept = default;

  /**
   * Finds the table of this major version. The search starts at the newest table, which a type
   * provides, and follows prev_api.
   *
   * \return ErrorCode::no_exchange_api, or ErrorCode::exchange_slot.
   */
  static Result<ExchangeAPI> find(const DLPackExchangeAPIHeader* newest) noexcept {
    if (newest == nullptr) return ErrorCode::null;
    const DLPackExchangeAPIHeader* header = newest;
    for (int visited = 0; header != nullptr && visited < max_exchange_tables; ++visited) {
      if (header->version.major == abi_version.major)
        return checked(reinterpret_cast<const DLPackExchangeAPI*>(header));
      header = header->prev_api;
    }
    return Error(ErrorCode::no_exchange_api, abi_version.major, newest->version.major);
  }

  /** Whether a table was found. */
  explicit operator bool() const noexcept { return api_ != nullptr; }
  const DLPackExchangeAPI* get() const noexcept { return api_; }
  /** Whether the table can borrow; this is the only optional function of a table. */
  bool can_borrow() const noexcept { return api_ != nullptr && api_->dltensor_from_py_object_no_sync != nullptr; }

  /** A tensor that retains the object's memory. No stream is synchronized. */
  Result<Managed> from_py_object(void* object, Accept accept = Accept::nothing) const noexcept {
    DLManagedTensorVersioned* managed = nullptr;
    if (api_ == nullptr) return ErrorCode::null;
    if (api_->managed_tensor_from_py_object_no_sync(object, &managed) != 0) return ErrorCode::callee_failed;
    if (managed == nullptr) return ErrorCode::no_result;
    return Managed::from_raw(managed, accept);
  }

  /**
   * A view that is valid until the object's library is called again, and retains nothing. Borrowed
   * tensors have no flags (in 1.3 they are a DLTensor), so the view is read-only. Tables without
   * this function return ErrorCode::exchange_slot: use from_py_object(), whose tensors have flags.
   *
   * \param set  additional known flags, such as flags::is_subbyte_type_padded.
   */
  Result<TensorView> borrow(void* object, std::uint64_t set = 0, Accept accept = Accept::nothing) const noexcept {
    return borrow_writable(object, set | flags::read_only, accept);
  }

  /**
   * The same for writing, for libraries whose tensors are always writable: PyTorch and Paddle.
   * Typed access (data_as(), array_of()) rejects elements that share memory with
   * ErrorCode::overlap; void * access does not check this.
   */
  Result<TensorView> borrow_writable(void* object, std::uint64_t set = 0,
                                     Accept accept = Accept::nothing) const noexcept {
    if (!can_borrow()) return ErrorCode::exchange_slot;
    DLTensor tensor{};
    if (api_->dltensor_from_py_object_no_sync(object, &tensor) != 0) return ErrorCode::callee_failed;
    return TensorView::from_raw(&tensor, set, accept);
  }

  /**
   * Creates an object of the library's type. As in C and Go, the tensor is consumed: after an error
   * it has been freed exactly once.
   *
   * \return a new reference to the object.
   */
  Result<void*> to_py_object(Managed&& owned) const noexcept {
    Managed tensor = static_cast<Managed&&>(owned);  // freed when this returns, in every case
    if (!tensor || api_ == nullptr) return ErrorCode::null;
    detail::Handover* const handover = detail::Handover::of(*tensor.get());
    if (handover == nullptr) return ErrorCode::no_memory;
    void* object = nullptr;
    const int failed = api_->managed_tensor_to_py_object_no_sync(handover->get(), &object);
    if (failed == 0 && object != nullptr) {
      handover->give(tensor.release());
      return object;
    }
    handover->keep();
    return failed != 0 ? ErrorCode::callee_failed : ErrorCode::no_result;
  }

  /**
   * Allocates a tensor in the library, with the dtype, shape and device of the prototype. The
   * result is compared with the prototype, including the device id and the strides, which must be
   * compact and row-major if the prototype has NULL. Allocators do not read strides, so leave them
   * NULL.
   *
   * \param report  receives the allocator's report; may be nullptr. No Python exception is set.
   * \return a mismatch (ErrorCode::dtype_mismatch, ndim_mismatch, device, device_mismatch, strides,
   *         no_result), ErrorCode::read_only for a read-only result, or an error of the prototype.
   */
  Result<Managed> allocate(const DLTensor& prototype, AllocatorError* report = nullptr) const noexcept {
    AllocatorError unread;
    if (api_ == nullptr) return ErrorCode::null;
    const Error wrong = detail::check_prototype(prototype);
    if (wrong) return wrong;
    detail::Prototype like(prototype);
    DLManagedTensorVersioned* managed = nullptr;
    void* const context = report == nullptr ? &unread : report;
    if (api_->managed_tensor_allocator(like.get(), &managed, context, detail::keep_report) != 0)
      return ErrorCode::callee_failed;
    if (managed == nullptr) return ErrorCode::no_result;
    Result<Managed> made = Managed::from_raw(managed);
    if (!made) return made;
    const Error error = detail::matches(made->view(), prototype);
    if (error) return error;
    return made;
  }

  /**
   * The current stream of the library, as a native handle; nullptr for host memory, pinned or not,
   * without a query.
   */
  Result<void*> current_work_stream(DLDevice device) const noexcept {
    void* stream = nullptr;
    if (is_host_memory(device.device_type)) return stream;
    if (api_ == nullptr) return ErrorCode::null;
    if (api_->current_work_stream(device.device_type, device.device_id, &stream) != 0) return ErrorCode::callee_failed;
    return stream;
  }

 private:
  static Result<ExchangeAPI> checked(const DLPackExchangeAPI* api) noexcept {
    if (api->managed_tensor_allocator == nullptr || api->managed_tensor_from_py_object_no_sync == nullptr ||
        api->managed_tensor_to_py_object_no_sync == nullptr || api->current_work_stream == nullptr) {
      return ErrorCode::exchange_slot;
    }
    ExchangeAPI table;
    table.api_ = api;
    return table;
  }

  const DLPackExchangeAPI* api_ = nullptr;
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_EXCHANGE_HPP_
