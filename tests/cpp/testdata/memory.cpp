// Every allocation fails once, and every owner's constructor throws once: there are no leaks and no
// double frees, and the caller still owns the failed objects.
#include <dlpackgen/all.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "check.hpp"
#include "untrusted.hpp"

static long live = 0;   // unfreed allocations
static long left = -1;  // the number of allocations before one fails; negative: all succeed
static long failures = 0;

static void* allocate(std::size_t size, std::size_t align) noexcept {
  if (left >= 0 && left-- == 0) {
    ++failures;
    return nullptr;
  }
  void* const memory = std::aligned_alloc(align, (size + align - 1) / align * align);
  live += memory != nullptr;
  return memory;
}

static void release(void* memory) noexcept {
  live -= memory != nullptr;
  std::free(memory);
}

static void* must(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new(std::size_t size) { return must(allocate(size, 16)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 16); }
void* operator new(std::size_t size, std::align_val_t align) {
  return must(allocate(size, static_cast<std::size_t>(align)));
}
void* operator new(std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(align));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

using dlpackgen::Builder;
using dlpackgen::ErrorCode;
using dlpackgen::Managed;

struct alignas(128) Wide {
  std::shared_ptr<int> inner;
};

static int allocate_tensor(DLTensor*, DLManagedTensorVersioned**, void*, void (*)(void*, const char*, const char*)) {
  return -1;
}
static int from_object(void*, DLManagedTensorVersioned**) { return -1; }
static int to_object(DLManagedTensorVersioned* tensor, void** out) {
  tensor->deleter(tensor);
  *out = &live;
  return 0;
}
static int stream(DLDeviceType, std::int32_t, void**) { return -1; }

class Ours : public dlpackgen::ExchangeProducer<Ours> {
 public:
  static Managed allocate(const DLTensor& like) {
    std::vector<float> room(static_cast<std::size_t>(*dlpackgen::size(like.ndim, like.shape)));
    return dlpackgen::unwrap(Builder().shape({like.shape, static_cast<std::size_t>(like.ndim)}).build(std::move(room)));
  }
  static Managed from_py_object(void*) { return allocate(untrusted::tensor(1, extents, extents)); }
  static void* to_py_object(Managed tensor) {
    const std::unique_ptr<int> object(new int(7));
    tensor.reset();
    return &live;
  }
  static void* current_work_stream(DLDevice) { return nullptr; }
  static void set_error(const char*, const char*) noexcept {}
  static inline std::int64_t extents[] = {12};
};

// Runs everything that allocates; returns whether all of it succeeded.
static bool everything() {
  bool whole = true;
  std::vector<float> numbers(6, 1.0F);
  auto shared = std::make_shared<int>(1);
  auto made = Builder().shape({2, 3}).build(std::move(numbers));
  whole = made && whole;
  if (!made) CHECK(made.code() == ErrorCode::no_memory && numbers.size() == 6);  // NOLINT: it is still the caller's
  auto wide = Builder(untrusted::numbers).shape({4, 1, 1, 1, 1, 1, 1, 1, 1, 1}).build_legacy(Wide{shared});
  whole = wide && whole;
  if (wide) whole = dlpackgen::upgrade(std::move(*wide)) && whole;
  const DLPackExchangeAPI api{{{1, 3}, nullptr}, allocate_tensor, from_object, to_object, nullptr, stream};
  const auto table = *dlpackgen::ExchangeAPI::find(&api.header);
  const auto own = *dlpackgen::ExchangeAPI::find(&Ours::table()->header);
  for (const auto& side : {table, own}) {
    if (!made || !*made) continue;
    const auto object = side.to_py_object(std::move(*made));
    whole = object && whole;
    made = own.from_py_object(nullptr);
    whole = made && whole;
  }
  return whole;
}

static void allocations() {
  const long before = live;
  for (long n = 0;; ++n) {
    const long failed = failures;
    left = n;
    bool whole = false;
    try {
      whole = everything();
    } catch (const std::bad_alloc&) {
      whole = false;
    }
    left = -1;
    CHECK(live == before);
    CHECK(whole == (failures == failed));
    if (failures == failed) break;
  }
  CHECK(failures > 12);
}

struct Thrower {
  explicit Thrower(int* count) : alive(count) { ++*alive; }
  Thrower(Thrower&& other) : alive(other.alive) {
    if (throws) throw 1;
    ++*alive;
  }
  Thrower(const Thrower&) = delete;
  ~Thrower() { --*alive; }
  int* alive;
  static inline bool throws = false;
};

static void constructors() {
  int alive = 0;
  const long before = live;
  {
    Thrower owner(&alive);
    for (const bool throws : {true, false}) {
      Thrower::throws = throws;
      bool thrown = false;
      try {
        const auto made = Builder(untrusted::numbers).shape({3}).build(std::move(owner));
        CHECK(made && alive == 2);
      } catch (int) {
        thrown = true;
      }
      CHECK(thrown == throws && alive == 1 && live == before);
    }
  }
  CHECK(alive == 0);
}

int main() {
  allocations();
  constructors();
  return testing::report();
}
