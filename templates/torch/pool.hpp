/**
 * \file pool.hpp
 * A pool of blocks for managed tensors. Each thread keeps blocks for its next exports. A block may
 * be freed by a different thread, and after its thread has ended.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_POOL_HPP_
#define DLPACKGEN_V0_0_PYTORCH_POOL_HPP_

#include "base.hpp"

#include <cstddef>
#include <new>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// The maximum number of blocks that a thread keeps.
inline constexpr int pool_limit = 256;

template <class Block>
class Pool {
 public:
  // Allocates memory for a Block; throws std::bad_alloc.
  static void* take() {
    if (kept_.first == nullptr) return ::operator new(sizeof(Block));
    Slot* const slot = kept_.first;
    kept_.first = slot->next;
    --kept_.count;
    return slot;
  }

  static void give(void* block) noexcept {
    if (kept_.state != State::open && !open()) return ::operator delete(block);
    if (kept_.count >= pool_limit) return ::operator delete(block);
    kept_.first = ::new (block) Slot{kept_.first};
    ++kept_.count;
  }

 private:
  struct Slot {
    Slot* next;
  };
  enum class State : char { fresh, open, closed };

  // Without constructor and destructor, so it exists as long as the thread. Objects that are
  // destroyed after the Closer return their blocks to the heap.
  struct Kept {
    Slot* first;
    int count;
    State state;
  };

  struct Closer {
    ~Closer() {
      kept_.state = State::closed;
      while (kept_.first != nullptr) ::operator delete(take());
    }
  };

  static DLPACKGEN_PYTORCH_SLOW bool open() noexcept {
    if (kept_.state == State::closed) return false;
    thread_local Closer closer;
    static_cast<void>(closer);
    kept_.state = State::open;
    return true;
  }

  static inline DLPACKGEN_PYTORCH_THREAD Kept kept_{nullptr, 0, State::fresh};
};

}  // namespace detail
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_POOL_HPP_
