/**
 * \file owned.hpp
 * Converts an at::Tensor to a managed tensor. It owns the storage instead of the tensor, which
 * `t.data = other` and resize_() could change. Shape and strides are copies.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_OWNED_HPP_
#define DLPACKGEN_V0_0_PYTORCH_OWNED_HPP_

#include "pool.hpp"
#include "read.hpp"

#include <c10/core/impl/COW.h>
#include <dlpackgen/managed.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// With more dimensions than this, the numbers are in a separate block.
inline constexpr int roomy_dimensions = 8;

template <class Kept>
struct Export {
  DLManagedTensorVersioned managed;  // the first, so that both have one address
  Kept kept;
  std::unique_ptr<std::int64_t[]> many;
  std::int64_t numbers[2 * roomy_dimensions];

  explicit Export(const Kept& keep) : kept(keep) {}
};

using Owned = Export<c10::Storage>;

// Destroys the contents before the block is returned to the pool, because freeing a storage may run
// code that exports again.
template <class Kept>
void drop(Export<Kept>* owned) noexcept {
  owned->~Export();
  Pool<Export<Kept>>::give(owned);
}

// ATen frees memory of NumPy with the GIL, which cannot be acquired once Python shuts down. The
// memory is then leaked.
inline void delete_owned(DLManagedTensorVersioned* self) noexcept {
  if (Py_IsInitialized() != 0) drop(static_cast<Owned*>(self->manager_ctx));
}

struct Drop {
  template <class Kept>
  void operator()(Export<Kept>* owned) const noexcept {
    drop(owned);
  }
};

template <class Kept>
using Exported = std::unique_ptr<Export<Kept>, Drop>;

// keep may throw; the memory then returns to the pool.
template <class Kept, class Keep>
Exported<Kept> make_export(Keep keep) {
  void* const buffer = Pool<Export<Kept>>::take();
  try {
    return Exported<Kept>(::new (buffer) Export<Kept>(keep()));
  } catch (...) {
    Pool<Export<Kept>>::give(buffer);
    throw;
  }
}

// The last owner of copy-on-write memory writes to it in place. The managed tensor therefore owns a
// lazy clone: an additional owner, which never writes, so that the other owners copy before they
// write.
DLPACKGEN_PYTORCH_SLOW c10::Storage share_lazily(const c10::Storage& storage) {
  auto clone = c10::impl::cow::lazy_clone_storage(*storage.unsafeGetStorageImpl());
  if (!clone) throw BufferError("its memory is copy-on-write and cannot be retained: pass clone()");
  return c10::Storage(std::move(clone));
}

template <Access access>
Exported<c10::Storage> retain_storage(const c10::TensorImpl& impl) {
  const c10::Storage& storage = impl.storage();
  const bool shared = access == Access::read && c10::impl::cow::is_cow_data_ptr(storage.data_ptr());
  return make_export<c10::Storage>([&] { return shared ? share_lazily(storage) : storage; });
}

template <class Kept>
void copy_numbers(Export<Kept>& owned, const DLTensor& view) {
  std::int64_t* numbers = owned.numbers;
  if (view.ndim > roomy_dimensions) {
    owned.many.reset(new std::int64_t[2 * static_cast<std::size_t>(view.ndim)]);
    numbers = owned.many.get();
  }
  std::copy_n(view.shape, view.ndim, numbers);
  std::copy_n(view.strides, view.ndim, numbers + view.ndim);
  owned.managed.dl_tensor.shape = numbers;
  owned.managed.dl_tensor.strides = numbers + view.ndim;
}

using Deleter = void (*)(DLManagedTensorVersioned*);

template <Access access, class Kept>
DLManagedTensorVersioned* fill(Exported<Kept> owned, const DLTensor& view, Deleter deleter) {
  DLManagedTensorVersioned& managed = owned->managed;
  managed.version = abi_version;
  managed.manager_ctx = owned.get();
  managed.deleter = deleter;
  managed.flags = access == Access::read ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  managed.dl_tensor = view;
  copy_numbers(*owned, view);
  return &owned.release()->managed;
}

inline DLManagedTensorVersioned* own_by_aten(const at::Tensor& tensor, Access access) {
#if TORCH_VERSION_MINOR >= 14
  return access == Access::read ? at::toDLPackVersionedReadOnly(tensor) : at::toDLPackVersioned(tensor);
#else
  DLManagedTensorVersioned* const made = at::toDLPackVersioned(tensor);
  if (access == Access::read) made->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  return made;
#endif
}

DLPACKGEN_PYTORCH_SLOW DLManagedTensorVersioned* own_other(const at::Tensor& tensor, Access access) {
  if (!tensor.defined()) throw BufferError(undefined);
  reject_bits(*tensor.unsafeGetTensorImpl());
  Managed made = Managed::from_raw_unchecked(own_by_aten(tensor, access));
  reject_without_memory(made.get()->dl_tensor);
  reject_outside(*tensor.unsafeGetTensorImpl(), made.get()->dl_tensor);
  return made.release();
}

}  // namespace detail

/**
 * Returns a managed tensor that shares the memory of a tensor. The caller must call its deleter, on
 * any thread, with or without the GIL. It has its own shape and strides (in elements). With
 * Access::read, it has the read-only flag.
 *
 * \throws BufferError, or c10::Error for what ATen rejects (sparse, nested and wrapped tensors).
 */
template <Access access = Access::write>
DLManagedTensorVersioned* own(const at::Tensor& tensor) {
  DLTensor view;
  c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (!detail::read_plain<access>(impl, view)) return detail::own_other(tensor, access);
  Managed made = Managed::from_raw_unchecked(
      detail::fill<access>(detail::retain_storage<access>(impl), view, detail::delete_owned));
  detail::reject_outside(impl, made.get()->dl_tensor);  // another thread may have resized it before it was copied
  return made.release();
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_OWNED_HPP_
