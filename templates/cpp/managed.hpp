/**
 * \file managed.hpp
 * An owned tensor, which is deleted exactly once.
 */
#ifndef DLPACKGEN_V0_0_MANAGED_HPP_
#define DLPACKGEN_V0_0_MANAGED_HPP_

#include "tensor_view.hpp"

#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

// The unversioned struct has no read-only flag, so it counts as read-only.
inline std::uint64_t flags_of(const DLManagedTensor&) noexcept { return flags::read_only; }
inline std::uint64_t flags_of(const DLManagedTensorVersioned& managed) noexcept { return managed.flags; }

// The unversioned struct has no version, so older rules may apply.
inline Error check_managed(const DLManagedTensor& managed, Accept accept) noexcept {
  return validate(&managed.dl_tensor, 0, accept | Accept::null_strides);
}

// Members after the version must not be read before the version is checked.
inline Error check_managed(const DLManagedTensorVersioned& managed, Accept accept) noexcept {
  if (managed.version.major != abi_version.major)
    return Error(ErrorCode::version, abi_version.major, managed.version.major);
  if (managed.version.minor < null_strides_before) accept = accept | Accept::null_strides;
  return validate(&managed.dl_tensor, managed.flags, accept);
}

}  // namespace detail

/**
 * Owns a managed tensor: Struct is DLManagedTensorVersioned or DLManagedTensor. It has the size of
 * a pointer, can be moved but not copied, and calls the deleter exactly once, on the thread that
 * destroys it. Like a std::unique_ptr, it may be passed between threads, but must not be used by
 * two threads at once.
 */
template <class Struct>
class BasicManaged {
  static_assert(std::is_same<Struct, DLManagedTensor>::value || std::is_same<Struct, DLManagedTensorVersioned>::value,
                "DLPack has these two structs");

 public:
  /** Owns nothing. */
  BasicManaged() noexcept = default;
  BasicManaged(BasicManaged&& other) noexcept : managed_(other.release()) {}
  BasicManaged(const BasicManaged&) = delete;
  ~BasicManaged() { reset(); }

  BasicManaged& operator=(BasicManaged&& other) noexcept {
    reset(other.release());
    return *this;
  }
  BasicManaged& operator=(const BasicManaged&) = delete;

  /**
   * Takes ownership of a tensor from any producer, and validates it. The deleter is always called:
   * later by the result, or at once if the tensor is rejected. If the major version differs, only
   * the deleter is used.
   *
   * \param accept  accepted exceptions from the rules of 1.2; NULL strides are always accepted from
   *                older producers.
   */
  static Result<BasicManaged> from_raw(Struct* managed, Accept accept = Accept::nothing) noexcept {
    if (managed == nullptr) return ErrorCode::null;
    BasicManaged owned = from_raw_unchecked(managed);
    const Error error = detail::check_managed(*managed, accept);
    if (error) return error;
    return static_cast<BasicManaged&&>(owned);
  }

  /** Takes ownership of a tensor that is known to be valid, without validation. */
  static BasicManaged from_raw_unchecked(Struct* managed) noexcept {
    BasicManaged owned;
    owned.managed_ = managed;
    return owned;
  }

  /** Whether a tensor is owned. */
  explicit operator bool() const noexcept { return managed_ != nullptr; }
  /** The struct, still owned; nullptr if there is none. */
  Struct* get() const noexcept { return managed_; }

  /** Transfers the struct to the caller, which must call its deleter. */
  [[nodiscard]] Struct* release() noexcept {
    Struct* const managed = managed_;
    managed_ = nullptr;
    return managed;
  }

  /** Deletes the tensor, and takes ownership of another one. */
  void reset(Struct* managed = nullptr) noexcept {
    Struct* const old = managed_;
    managed_ = managed;
    if (old != nullptr && old->deleter != nullptr) old->deleter(old);
  }

  /**
   * A view of the tensor, valid as long as this object owns it; an empty view if there is none. The
   * view of an unversioned struct is read-only, because producers before 1.0 also export immutable
   * memory in it, such as JAX. NumPy and target c apply the same rule. See writable_view().
   */
  TensorView view() const& noexcept {
    return managed_ == nullptr ? TensorView() : TensorView::from_raw_unchecked(managed_->dl_tensor, flags());
  }
  /** Deleted, because the temporary would free the tensor of the view. */
  TensorView view() const&& = delete;
  /**
   * A writable view of an unversioned struct, for a caller that knows that the memory is writable.
   */
  TensorView writable_view() const& noexcept {
    static_assert(std::is_same<Struct, DLManagedTensor>::value, "the versioned struct has a flag for read-only memory");
    return managed_ == nullptr ? TensorView() : TensorView::from_raw_unchecked(managed_->dl_tensor, 0);
  }
  TensorView writable_view() const&& = delete;
  /**
   * All 64 flag bits; flags::read_only for the unversioned struct, which has no flags.
   */
  std::uint64_t flags() const noexcept { return managed_ == nullptr ? 0 : detail::flags_of(*managed_); }

 private:
  Struct* managed_ = nullptr;
};

/** Owns a DLManagedTensorVersioned. */
using Managed = BasicManaged<DLManagedTensorVersioned>;
/** Owns a DLManagedTensor, from a legacy producer. */
using ManagedLegacy = BasicManaged<DLManagedTensor>;

static_assert(sizeof(Managed) == sizeof(void*) && sizeof(ManagedLegacy) == sizeof(void*), "owning costs no room");
static_assert(std::is_standard_layout<Managed>::value && std::is_standard_layout<TensorView>::value, "plain structs");
static_assert(std::is_nothrow_move_constructible<Managed>::value && std::is_nothrow_move_assignable<Managed>::value &&
                  !std::is_copy_constructible<Managed>::value && !std::is_copy_assignable<Managed>::value,
              "owners move and are not copied");
static_assert(std::is_trivially_copyable<TensorView>::value, "views are copied as bytes");

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_MANAGED_HPP_
