/**
 * \file managed.hpp
 * A tensor that one owns, and gives back once.
 */
#ifndef DLPACKGEN_V0_0_MANAGED_HPP_
#define DLPACKGEN_V0_0_MANAGED_HPP_

#include "tensor_view.hpp"

#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

// The unversioned struct cannot say that it must not be written to, so it is taken for that.
inline std::uint64_t flags_of(const DLManagedTensor&) noexcept { return flags::read_only; }
inline std::uint64_t flags_of(const DLManagedTensorVersioned& managed) noexcept { return managed.flags; }

// The unversioned struct does not say which rules it follows.
inline Error check_managed(const DLManagedTensor& managed, Accept accept) noexcept {
  return validate(&managed.dl_tensor, 0, accept | Accept::null_strides);
}

// Nothing behind the version may be read before it is known.
inline Error check_managed(const DLManagedTensorVersioned& managed, Accept accept) noexcept {
  if (managed.version.major != abi_version.major)
    return Error(ErrorCode::version, abi_version.major, managed.version.major);
  if (managed.version.minor < null_strides_before) accept = accept | Accept::null_strides;
  return validate(&managed.dl_tensor, managed.flags, accept);
}

}  // namespace detail

/**
 * Owns a managed tensor: Struct is DLManagedTensorVersioned or DLManagedTensor.
 * It is as large as a pointer, can be moved and not copied, and calls the deleter
 * exactly once, from whatever thread destroys it. Not to be used by two threads
 * at once; to be handed from one to another as a std::unique_ptr is.
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
   * Takes a tensor over from anywhere, and checks it. The deleter is called in
   * any case: by the result later, or at once when the tensor is rejected. When
   * the major version is another, nothing but the deleter is used.
   *
   * \param accept  what to accept beyond the rules of 1.2; NULL strides are
   *                always accepted from older producers.
   */
  static Result<BasicManaged> from_raw(Struct* managed, Accept accept = Accept::nothing) noexcept {
    if (managed == nullptr) return ErrorCode::null;
    BasicManaged owned = from_raw_unchecked(managed);
    const Error error = detail::check_managed(*managed, accept);
    if (error) return error;
    return static_cast<BasicManaged&&>(owned);
  }

  /** Takes over a tensor that is known to obey the rules: nothing is looked at. */
  static BasicManaged from_raw_unchecked(Struct* managed) noexcept {
    BasicManaged owned;
    owned.managed_ = managed;
    return owned;
  }

  /** Whether a tensor is owned. */
  explicit operator bool() const noexcept { return managed_ != nullptr; }
  /** The struct, still owned; nullptr when there is none. */
  Struct* get() const noexcept { return managed_; }

  /** Gives the struct to the caller, which must call its deleter. */
  [[nodiscard]] Struct* release() noexcept {
    Struct* const managed = managed_;
    managed_ = nullptr;
    return managed;
  }

  /** Gives the tensor back, and owns the other from then on. */
  void reset(Struct* managed = nullptr) noexcept {
    Struct* const old = managed_;
    managed_ = managed;
    if (old != nullptr && old->deleter != nullptr) old->deleter(old);
  }

  /**
   * The tensor, to be used as long as this object owns it; an empty view when
   * there is none. That of the unversioned struct is read-only, since producers
   * of before 1.0 give immutable memory in it too (JAX does); NumPy and the C
   * target read it so as well. See writable_view().
   */
  TensorView view() const& noexcept {
    return managed_ == nullptr ? TensorView() : TensorView::from_raw_unchecked(managed_->dl_tensor, flags());
  }
  /** Deleted: the temporary would free the tensor that the view points to. */
  TensorView view() const&& = delete;
  /**
   * The same of the unversioned struct, for a caller with other proof
   * that the memory may be written to.
   */
  TensorView writable_view() const& noexcept {
    static_assert(std::is_same<Struct, DLManagedTensor>::value, "the versioned struct says itself what it allows");
    return managed_ == nullptr ? TensorView() : TensorView::from_raw_unchecked(managed_->dl_tensor, 0);
  }
  TensorView writable_view() const&& = delete;
  /**
   * The flags, all 64 bits of them; flags::read_only for the unversioned struct, which has none.
   */
  std::uint64_t flags() const noexcept { return managed_ == nullptr ? 0 : detail::flags_of(*managed_); }

 private:
  Struct* managed_ = nullptr;
};

/** Owns a DLManagedTensorVersioned. */
using Managed = BasicManaged<DLManagedTensorVersioned>;
/** Owns a DLManagedTensor, as legacy producers give it. */
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
