/**
 * \file builder.hpp
 * Creates managed tensors from memory with any kind of owner. The struct, its shape, its strides
 * and the owner share one allocation.
 */
#ifndef DLPACKGEN_V0_0_BUILDER_HPP_
#define DLPACKGEN_V0_0_BUILDER_HPP_

#include "container.hpp"
#include "managed.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/**
 * Extents or strides from a caller: a list, an array, or any class with data() and size().
 */
class Extents {
 public:
  // NOLINTBEGIN: arguments are written as they are
  Extents(std::initializer_list<std::int64_t> list) noexcept : Extents(list.begin(), list.size()) {}
  template <std::size_t N>
  Extents(const std::int64_t (&array)[N]) noexcept : Extents(&array[0], N) {}
  template <class Container, class = std::enable_if_t<std::is_same<decltype(detail::any<const Container>().data()),
                                                                   const std::int64_t*>::value>>
  Extents(const Container& container) noexcept : Extents(container.data(), container.size()) {}
  // NOLINTEND
  Extents(const std::int64_t* first, std::size_t number) noexcept : first_(first), number_(number) {}

  const std::int64_t* data() const noexcept { return first_; }
  std::size_t size() const noexcept { return number_; }

 private:
  const std::int64_t* first_;
  std::size_t number_;
};

/** Calls a function once, when the tensor is deleted; see on_delete(). */
template <class Callable>
class OnDelete {
 public:
  explicit OnDelete(Callable&& call) noexcept(std::is_nothrow_move_constructible<Callable>::value)
      : call_(static_cast<Callable&&>(call)) {}
  OnDelete(OnDelete&& other) noexcept(std::is_nothrow_move_constructible<Callable>::value)
      : call_(static_cast<Callable&&>(other.call_)), armed_(other.armed_) {
    other.armed_ = false;
  }
  OnDelete(const OnDelete&) = delete;
  OnDelete& operator=(OnDelete&&) = delete;
  OnDelete& operator=(const OnDelete&) = delete;
  ~OnDelete() {
    if (armed_) call_();
  }

 private:
  Callable call_;
  bool armed_ = true;
};

/**
 * Returns an owner that only calls a function when the tensor is deleted, from any thread. The
 * function must not throw, because no caller would catch the exception.
 */
template <class Callable>
OnDelete<std::decay_t<Callable>> on_delete(Callable&& call) {
  return OnDelete<std::decay_t<Callable>>(static_cast<Callable&&>(call));
}

namespace detail {

// There is no owner.
struct NoOwner {};

// One allocation: this, then ndim extents, then ndim strides.
template <class Struct, class Owner>
struct Block {
  Struct managed;
  Owner owner;

  // Where the extents begin.
  static constexpr std::size_t head() noexcept {
    return (sizeof(Block) + sizeof(std::int64_t) - 1) / sizeof(std::int64_t) * sizeof(std::int64_t);
  }
  static constexpr bool overaligned = alignof(Owner) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  static void* allocate(std::size_t bytes) noexcept {
    if constexpr (overaligned) {
      return ::operator new(bytes, std::align_val_t{alignof(Owner)}, std::nothrow);
    } else {
      return ::operator new(bytes, std::nothrow);
    }
  }

  static void deallocate(void* memory) noexcept {
    if constexpr (overaligned) {
      ::operator delete(memory, std::align_val_t{alignof(Owner)});
    } else {
      ::operator delete(memory);
    }
  }

  static void destroy(Struct* self) noexcept {
    auto* const block = static_cast<Block*>(self->manager_ctx);
    block->~Block();
    deallocate(block);
  }
};

// Memory for a block, freed if the owner's constructor throws.
template <class Block>
struct Storage {
  explicit Storage(std::size_t bytes) noexcept : memory(Block::allocate(bytes)) {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    if (memory != nullptr) Block::deallocate(memory);
  }
  void* memory;
};

inline void mark(DLManagedTensor&, std::uint64_t) noexcept {}
inline void mark(DLManagedTensorVersioned& managed, std::uint64_t set) noexcept {
  managed.version = abi_version;
  managed.flags = set;
}

}  // namespace detail

/**
 * Describes and creates tensors:
 *
 *     auto tensor = Builder().shape({2, 3}).build(std::move(vector));
 *     auto tensor = Builder(p).shape({n}).build(on_delete([p] { std::free(p); }));
 *
 * The first mistake is kept, and reported when the tensor is built. A builder may build several
 * tensors. Two threads must not use a builder at the same time.
 */
class Builder {
 public:
  /** The owner provides the data and its type. */
  Builder() noexcept { tensor_.device = DLDevice{kDLCPU, 0}; }

  /**
   * Data of a C++ type. Const data is exported as read-only. Elements narrower than a byte are
   * exported as padded, because each object occupies a byte.
   */
  template <class T, class = std::enable_if_t<is_element<T>>>
  explicit Builder(T* data) noexcept : Builder(const_cast<std::remove_const_t<T>*>(data), dtype_of<T>) {
    read_only(std::is_const<T>::value);
    padded(dtype_of<T>.bits < DLPACKGEN_PACKED_BELOW);
  }

  /** Data of any dtype; on devices without addresses it is a handle. */
  Builder(void* data, DLDataType type) noexcept : Builder() {
    tensor_.data = data;
    has_data_ = true;
    dtype(type);
  }

  /**
   * Exports the tensor of a view again, with its flags except flags::is_copied, because the memory
   * also has other users. An unchecked view may have too many dimensions: ErrorCode::ndim.
   */
  static Builder from_view(const TensorView& view) noexcept {
    Builder b(view.raw().data, view.dtype());
    if (view.ndim() < 0 || view.ndim() > max_ndim) return b.reject(Error(ErrorCode::ndim, max_ndim, view.ndim()));
    if (view.ndim() > 0 && view.raw().shape == nullptr) return b.reject(Error(ErrorCode::shape_null, 0, view.ndim()));
    b.shape(Extents(view.raw().shape, static_cast<std::size_t>(view.ndim())));
    for (std::int32_t i = 0; i < view.ndim(); ++i) b.strides_[i] = view.stride(i);
    b.has_strides_ = true;
    b.number_of_strides_ = static_cast<std::size_t>(view.ndim());
    b.tensor_.device = view.device();
    b.tensor_.byte_offset = view.raw().byte_offset;
    b.flags_ = view.flags() & ~flags::is_copied;
    return b;
  }

  /**
   * Sets the extents, at most max_ndim. By default, the shape is that of the Eigen matrix, or one
   * extent with the size of the container. Other owners need this call: ErrorCode::no_shape.
   */
  Builder& shape(Extents extents) noexcept {
    has_shape_ = true;
    copy(extents, shape_);
    tensor_.ndim = extents.size() > max_ndim ? 0 : static_cast<std::int32_t>(extents.size());
    return *this;
  }
  /**
   * Sets the strides, in elements, one per extent. By default, they are those of an Eigen matrix
   * whose shape is not changed; otherwise, they are compact and row-major. The call is required
   * (ErrorCode::layout) for a container with several dimensions whose order is unknown or does not
   * match the exported shape, and for the data of such a container that a smart pointer owns. If
   * the owner does not describe the data, the data is row-major.
   */
  Builder& strides(Extents steps) noexcept {
    has_strides_ = true;
    number_of_strides_ = steps.size();
    copy(steps, strides_);
    return *this;
  }
  Builder& dtype(DLDataType type) noexcept {
    has_dtype_ = true;
    tensor_.dtype = type;
    return *this;
  }
  Builder& device(DLDevice where) noexcept {
    tensor_.device = where;
    return *this;
  }
  /**
   * Sets the number of bytes from the data to the first element. The element must be aligned
   * (ErrorCode::misaligned), because most consumers read it through a pointer.
   */
  Builder& byte_offset(std::uint64_t bytes) noexcept {
    tensor_.byte_offset = bytes;
    return *this;
  }
  /** Declares that the consumer must not write. */
  Builder& read_only(bool yes = true) noexcept { return flag(flags::read_only, yes); }
  /** Declares that the data was copied for this consumer, and has no other users. */
  Builder& copied(bool yes = true) noexcept { return flag(flags::is_copied, yes); }
  /** Declares that elements narrower than a byte occupy one byte each. */
  Builder& padded(bool yes = true) noexcept { return flag(flags::is_subbyte_type_padded, yes); }
  /** Sets the exceptions from the rules that validate() accepts. */
  Builder& accept(Accept more) noexcept {
    accept_ = more;
    return *this;
  }

  /**
   * Creates a versioned tensor and moves the owner into it. The deleter destroys the owner, on any
   * thread. The owner may have any movable type: a container, a smart pointer, on_delete(), another
   * Managed.
   *
   * After an error, the caller still has the owner. Only the owner's constructor may throw; in this
   * case, nothing leaks.
   */
  template <class Owner>
  Result<Managed> build(Owner&& owner) const {
    static_assert(!std::is_lvalue_reference<Owner>::value, "move the owner in: a copy of it owns other data");
    return make<DLManagedTensorVersioned>(owner);
  }
  /** The same, for memory without an owner that outlives the tensor. */
  Result<Managed> build() const noexcept { return build(detail::NoOwner()); }

  /**
   * Creates a tensor for consumers before DLPack 1.0. This struct has no flags, so any flag except
   * flags::is_copied causes ErrorCode::flags.
   */
  template <class Owner>
  Result<ManagedLegacy> build_legacy(Owner&& owner) const {
    static_assert(!std::is_lvalue_reference<Owner>::value, "move the owner in: a copy of it owns other data");
    return make<DLManagedTensor>(owner);
  }
  /** The same, for memory without an owner that outlives the tensor. */
  Result<ManagedLegacy> build_legacy() const noexcept { return build_legacy(detail::NoOwner()); }

 private:
  Builder& flag(std::uint64_t bit, bool yes) noexcept {
    flags_ = yes ? flags_ | bit : flags_ & ~bit;
    return *this;
  }

  Builder& reject(Error error) noexcept {
    if (!error_) error_ = error;
    return *this;
  }

  void copy(Extents from, std::int64_t* to) noexcept {
    if (from.size() > max_ndim) {
      reject(Error(ErrorCode::ndim, max_ndim, static_cast<std::int64_t>(from.size())));
      return;
    }
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from.data()[i];
  }

  // The tensor to build, from the builder and the owner.
  struct Plan {
    DLTensor tensor;
    std::uint64_t flags;
    detail::Layout own{};                   // of the container
    std::uint64_t capacity = detail::most;  // bytes from data on
    std::uint64_t before = 0;               // bytes of the container before data
  };

  template <class Owner>
  Plan plan(Owner& owner) const noexcept {
    Plan p{tensor_, flags_};
    p.tensor.shape = const_cast<std::int64_t*>(shape_);
    p.tensor.strides = has_strides_ ? const_cast<std::int64_t*>(strides_) : nullptr;
    using In = detail::Contents<Owner>;
    if constexpr (In::known) {
      using Element = typename In::Element;
      if constexpr (In::sized) p.own = own(owner);
      if (has_data_) {
        if constexpr (In::sized) within(p, In::data(owner));
        return p;
      }
      p.tensor.data = address(In::data(owner));
      if (std::is_const<Element>::value) p.flags |= flags::read_only;
      if (!has_dtype_) p.tensor.dtype = dtype_of<Element>;
      if (!has_dtype_ && dtype_of<Element>.bits < DLPACKGEN_PACKED_BELOW) p.flags |= flags::is_subbyte_type_padded;
      if constexpr (In::sized) p.capacity = p.own.covered * sizeof(Element);
    } else if constexpr (detail::points_to_own_layout<Owner>) {
      p.own.row_major = !detail::is_disordered<detail::TargetOf<Owner>>(owner.get(), p.tensor.data);
    }
    return p;
  }

  template <class Owner>
  static detail::Layout own(const Owner& owner) noexcept {
    if constexpr (detail::is_matrix<Owner>) {
      return detail::layout_of(owner);
    } else {
      detail::Layout line;
      line.ndim = 1;
      line.covered = detail::Contents<Owner>::size(owner);
      line.shape[0] = static_cast<std::int64_t>(line.covered);
      line.strides[0] = 1;
      line.row_major = !detail::has_own_layout<Owner>;
      return line;
    }
  }

  // Uses the properties of the container that the caller did not set.
  template <class Owner>
  Error arrange(Plan& p) const noexcept {
    const bool elsewhere =
        has_data_ && detail::Contents<Owner>::known && p.capacity == detail::most;  // not the container's
    if (!has_shape_) {
      if (p.own.ndim == 0 || has_data_) return ErrorCode::no_shape;
      p.tensor.ndim = p.own.ndim;
      p.tensor.shape = p.own.shape;
    }
    if (has_strides_ || elsewhere || p.own.row_major) return Error();
    if (!detail::is_matrix<Owner> || p.before != 0 || !has_own_shape(p)) return ErrorCode::layout;
    p.tensor.strides = p.own.strides;
    return Error();
  }

  static bool has_own_shape(const Plan& p) noexcept {
    if (p.tensor.ndim != p.own.ndim) return false;
    for (std::int32_t i = 0; i < p.own.ndim; ++i) {
      if (p.tensor.shape[i] != p.own.shape[i]) return false;
    }
    return true;
  }

  template <class T>
  static void* address(T* data) noexcept {
    return const_cast<std::remove_const_t<T>*>(data);
  }

  // Data from the caller may be inside the container, whose size is known, or elsewhere.
  template <class Element>
  static void within(Plan& p, const Element* first) noexcept {
    const std::uint64_t all = p.own.covered * sizeof(Element);
    const std::uint64_t at = reinterpret_cast<std::uintptr_t>(p.tensor.data) - reinterpret_cast<std::uintptr_t>(first);
    if (at >= all) return;
    p.before = at;
    p.capacity = all - at;
  }

  template <class Struct, class Owner>
  Result<BasicManaged<Struct>> make(Owner& owner) const {
    static_assert(!detail::holds_bits<Owner>,
                  "its elements are bits, which have no addresses: use a container of char");
    using Block = detail::Block<Struct, Owner>;
    Plan p = plan(owner);
    Error error = error_;
    if (!error) error = arrange<Owner>(p);
    if (!error) error = complete(p, std::is_same<Struct, DLManagedTensor>::value, &owner, sizeof(Owner));
    if (error) return error;
    detail::Storage<Block> storage(Block::head() + 2 * static_cast<std::size_t>(p.tensor.ndim) * sizeof(std::int64_t));
    if (storage.memory == nullptr) return ErrorCode::no_memory;
    error = place(p.tensor, static_cast<char*>(storage.memory) + Block::head());
    if (error) return error;
    auto* const block = ::new (storage.memory) Block{Struct{}, static_cast<Owner&&>(owner)};
    storage.memory = nullptr;
    if (p.tensor.data != nullptr) p.tensor.data = plan(block->owner).tensor.data;  // some move with their owner
    block->managed.dl_tensor = p.tensor;
    block->managed.manager_ctx = block;
    block->managed.deleter = Block::destroy;
    detail::mark(block->managed, p.flags);
    return BasicManaged<Struct>::from_raw_unchecked(&block->managed);
  }

  // All errors are detected before the owner is moved.
  Error complete(Plan& p, bool unversioned, const void* owner, std::size_t width) const noexcept {
    if (has_strides_ && number_of_strides_ != static_cast<std::size_t>(p.tensor.ndim)) {
      return Error(ErrorCode::strides, p.tensor.ndim, static_cast<std::int64_t>(number_of_strides_));
    }
    const Error error = validate(&p.tensor, p.flags, accept_ | Accept::null_strides);
    if (error) return error;
    if (unversioned && (p.flags & ~flags::is_copied) != 0) return ErrorCode::flags;
    const auto inside = reinterpret_cast<std::uintptr_t>(p.tensor.data) - reinterpret_cast<std::uintptr_t>(owner);
    if (has_data_ && p.tensor.data != nullptr && inside < width) return ErrorCode::data_in_owner;
    return fit(p);
  }

  // The byte range must be inside the container; an empty tensor has no data.
  static Error fit(Plan& p) noexcept {
    const ByteRange touched = *byte_range(p.tensor, p.flags);
    if (touched.high == 0) {
      p.tensor.data = nullptr;
      p.tensor.byte_offset = 0;
      return Error();
    }
    const std::uint64_t align = alignment(p.tensor.dtype);
    if (first(p.tensor) % align != 0) {
      return Error(ErrorCode::misaligned, static_cast<std::int64_t>(align),
                   static_cast<std::int64_t>(first(p.tensor) % align));
    }
    const std::uint64_t end = p.tensor.byte_offset + detail::unsign(touched.high);
    if (p.capacity != detail::most &&
        (p.before + p.tensor.byte_offset < dlpackgen_magnitude_(touched.low) || end > p.capacity)) {
      return Error(ErrorCode::too_small, static_cast<std::int64_t>(end), static_cast<std::int64_t>(p.capacity));
    }
    return Error();
  }

  // The address of the first element, or its offset from a handle.
  static std::uint64_t first(const DLTensor& tensor) noexcept {
    const bool named = !is_opaque(tensor.device.device_type);
    return tensor.byte_offset + (named ? reinterpret_cast<std::uintptr_t>(tensor.data) : 0);
  }

  // Copies extents and strides into the block.
  static Error place(DLTensor& tensor, char* memory) noexcept {
    if (tensor.ndim == 0) {
      tensor.shape = tensor.strides = nullptr;
      return Error();
    }
    auto* const extents = ::new (static_cast<void*>(memory)) std::int64_t[2 * static_cast<std::size_t>(tensor.ndim)];
    std::int64_t* const steps = extents + tensor.ndim;
    const Error error = compact_strides(tensor.ndim, tensor.shape, steps);
    for (std::int32_t i = 0; i < tensor.ndim; ++i) {
      extents[i] = tensor.shape[i];
      if (tensor.strides != nullptr) steps[i] = tensor.strides[i];
    }
    const bool has_strides = tensor.strides != nullptr;
    tensor.shape = extents;
    tensor.strides = steps;
    return has_strides ? Error() : error;
  }

  DLTensor tensor_{};
  std::uint64_t flags_ = 0;
  std::size_t number_of_strides_ = 0;
  Error error_;
  Accept accept_ = Accept::nothing;
  bool has_data_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_strides_ = false;
  std::int64_t shape_[max_ndim];
  std::int64_t strides_[max_ndim];
};

/**
 * Converts an unversioned tensor to the versioned struct. The result is read-only, because the
 * unversioned struct cannot declare that memory is writable. After an error, the caller still owns
 * the tensor.
 *
 * \return ErrorCode::null for an empty tensor, such as a rejected or moved one, or an error of
 * Builder.
 */
inline Result<Managed> upgrade(ManagedLegacy&& tensor) noexcept {
  if (!tensor) return ErrorCode::null;
  return Builder::from_view(tensor.view()).build(static_cast<ManagedLegacy&&>(tensor));
}

/** The same, for a caller that knows that the memory is writable. */
inline Result<Managed> upgrade_writable(ManagedLegacy&& tensor) noexcept {
  if (!tensor) return ErrorCode::null;
  return Builder::from_view(tensor.writable_view()).build(static_cast<ManagedLegacy&&>(tensor));
}

/** Converts a tensor to the unversioned struct, unless flags would be lost: ErrorCode::flags. */
inline Result<ManagedLegacy> downgrade(Managed&& tensor) noexcept {
  if (!tensor) return ErrorCode::null;
  return Builder::from_view(tensor.view()).build_legacy(static_cast<Managed&&>(tensor));
}

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_BUILDER_HPP_
