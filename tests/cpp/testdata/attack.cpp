// Hostile code at each place of docs/foreign-code.md where these headers run it. The sanitizers
// detect invalid reads, double frees and leaks.
#include <dlpackgen/all.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"

using dlpackgen::AllocatorError;
using dlpackgen::Builder;
using dlpackgen::ErrorCode;
using dlpackgen::ExchangeAPI;
using dlpackgen::Managed;
using dlpackgen::Message;

namespace {

int alive = 0;
int deleted = 0;
std::function<void()> last_words;  // runs in the next deleter, before it frees anything

// A tensor entirely on the heap, so that later accesses are detected.
struct Held {
  DLManagedTensorVersioned managed{};
  std::vector<std::int64_t> shape, strides;
  std::vector<float> numbers;
};

void destroy(DLManagedTensorVersioned* self) {
  auto* const held = static_cast<Held*>(self->manager_ctx);
  const auto words = std::exchange(last_words, nullptr);
  if (words) words();
  std::fill(held->shape.begin(), held->shape.end(), -1);  // for reads before the deleter
  --alive;
  ++deleted;
  delete held;
}

DLManagedTensorVersioned* made(std::vector<std::int64_t> shape = {2, 3}) {
  auto* const held = new Held;
  ++alive;
  held->shape = std::move(shape);
  held->strides.resize(held->shape.size(), 1);
  std::size_t count = 1;
  for (std::size_t i = held->shape.size(); i-- > 0;) {
    held->strides[i] = static_cast<std::int64_t>(count);
    count *= static_cast<std::size_t>(held->shape[i] < 0 ? 0 : held->shape[i]);
  }
  held->numbers.resize(count, 1.5F);
  DLTensor& t = held->managed.dl_tensor;
  t.data = held->numbers.data();
  t.device = DLDevice{kDLCPU, 0};
  t.ndim = static_cast<std::int32_t>(held->shape.size());
  t.dtype = dlpackgen::dtypes::float32;
  t.shape = held->shape.data();
  t.strides = held->strides.data();
  held->managed.version = dlpackgen::abi_version;
  held->managed.manager_ctx = held;
  held->managed.deleter = destroy;
  return &held->managed;
}

// Rejected tensors are freed at once, with everything to which the error refers.
void rejections() {
  const std::vector<std::function<void(DLManagedTensorVersioned&)>> faults = {
      [](auto& m) { m.dl_tensor.ndim = -1; },
      [](auto& m) { m.dl_tensor.shape[1] = -7; },
      [](auto& m) { m.dl_tensor.strides = nullptr; },
      [](auto& m) { m.dl_tensor.dtype.lanes = 0; },
      [](auto& m) { m.dl_tensor.data = nullptr; },
      [](auto& m) { m.version.major = 9; },
      [](auto& m) { m.dl_tensor.shape[0] = m.dl_tensor.shape[1] = INT64_MAX; },
  };
  for (const auto& fault : faults) {
    DLManagedTensorVersioned* const managed = made();
    fault(*managed);
    deleted = 0;
    const auto taken = Managed::from_raw(managed);
    CHECK(!taken && deleted == 1 && alive == 0);
    CHECK(!taken->view().data() && std::strlen(Message(taken.error()).c_str()) > 0);
  }
}

// A deleter may use the object that calls it, which has already given up the tensor.
void deleters_that_come_back() {
  Managed owner = Managed::from_raw_unchecked(made());
  deleted = 0;
  last_words = [&] { CHECK((owner.reset(), !owner)); };
  owner.reset();
  CHECK(deleted == 1 && alive == 0);

  owner = Managed::from_raw_unchecked(made());
  last_words = [&] { CHECK(owner && owner.view().size() == 4), owner = Managed::from_raw_unchecked(made({5})); };
  owner = Managed::from_raw_unchecked(made({4}));  // the first deleter calls the second tensor's deleter
  CHECK(owner && owner.view().size() == 5 && deleted == 3 && alive == 1);

  Managed other;
  last_words = [&] { other = std::move(owner); };
  owner.reset(made({6}));
  CHECK(!owner && other.view().size() == 6 && deleted == 4 && alive == 1);
  other.reset();
  CHECK(alive == 0);
}

// The table of another library.
namespace theirs {
std::function<int(void*, DLManagedTensorVersioned**)> exports;
std::function<int(void*, DLTensor*)> lends;
std::function<int(DLManagedTensorVersioned*, void**)> imports;
using SetError = void (*)(void*, const char*, const char*);
std::function<int(DLTensor*, DLManagedTensorVersioned**, void*, SetError)> allocates;

const DLPackExchangeAPI api{
    {{1, 3}, nullptr},
    [](DLTensor* prototype, DLManagedTensorVersioned** out, void* context, SetError set_error) {
      return allocates(prototype, out, context, set_error);
    },
    [](void* object, DLManagedTensorVersioned** out) { return exports(object, out); },
    [](DLManagedTensorVersioned* tensor, void** out) { return imports(tensor, out); },
    [](void* object, DLTensor* out) { return lends(object, out); },
    [](DLDeviceType, std::int32_t, void** out) { return *out = nullptr, 0; },
};
const ExchangeAPI table = *ExchangeAPI::find(&api.header);
}  // namespace theirs

// Objects of that library: an export retains memory, a loan does not.
struct Object {
  std::vector<std::int64_t> shape{3}, strides{1};
  std::vector<float> numbers{1, 2, 3};
  DLManagedTensorVersioned* exported = nullptr;

  DLTensor lent() {
    return DLTensor{numbers.data(), {kDLCPU, 0}, 1, dlpackgen::dtypes::float32, shape.data(), strides.data(), 0};
  }
  void resize(std::size_t count) {  // moves the numbers, unless they were exported
    if (exported != nullptr) return;
    std::vector<float>(count, 9.0F).swap(numbers);
    std::vector<std::int64_t>{static_cast<std::int64_t>(count)}.swap(shape);
  }
};

// Tensors that are read first are owned, and borrowed tensors are read last, in every order of the
// arguments: exporting one resizes the others.
void exports_that_change_others() {
  for (int borrowed = 0; borrowed < 3; ++borrowed) {
    Object objects[3];
    theirs::exports = [&](void* object, DLManagedTensorVersioned** out) {
      auto* const own = static_cast<Object*>(object);
      for (Object& other : objects) other.resize(other.numbers.size() + 1000);
      own->exported = *out = made({static_cast<std::int64_t>(own->numbers.size())});
      return 0;
    };
    theirs::lends = [&](void* object, DLTensor* out) { return *out = static_cast<Object*>(object)->lent(), 0; };
    std::vector<Managed> owned;
    for (int i = 0; i < 3; ++i) {
      if (i != borrowed) owned.push_back(*theirs::table.from_py_object(&objects[i]));
    }
    const auto view = theirs::table.borrow(&objects[borrowed]);
    CHECK(view && view->size() == 2003 && **view->data_as<const float>() == 9.0F);
    CHECK(owned[0].view().size() == 1003 && owned[1].view().size() == 2003);
    for (const Managed& tensor : owned) CHECK((*tensor.view().data_as<const float>())[1002] == 1.5F);
  }
  CHECK(alive == 0);
}

// The results of a failing function are not used.
void functions_that_fail() {
  theirs::exports = [](void*, DLManagedTensorVersioned** out) {
    *out = made();
    (*out)->deleter(*out);
    return -1;
  };
  CHECK(theirs::table.from_py_object(nullptr).code() == ErrorCode::callee_failed && alive == 0);
  theirs::lends = [](void*, DLTensor* out) { return std::memset(out, 0x7f, sizeof *out), -1; };
  CHECK(theirs::table.borrow(nullptr).code() == ErrorCode::callee_failed);
}

// An importer may delete the tensor before, during or after its return, or not at all, and return
// any result: the tensor is freed once.
void imports_that_delete() {
  enum When { before, elsewhere, after, late };
  for (const When when : {before, elsewhere, after, late}) {
    for (const int answer : {0, -1}) {
      for (const bool has_object : {true, false}) {
        DLManagedTensorVersioned* kept = nullptr;
        theirs::imports = [&](DLManagedTensorVersioned* tensor, void** out) {
          *out = has_object ? &kept : nullptr;
          if (when == before) tensor->deleter(tensor);
          if (when == elsewhere) std::thread([=] { tensor->deleter(tensor); }).join();
          if (when == after || when == late) kept = tensor;
          return answer;
        };
        const bool succeeds = answer == 0 && has_object;
        deleted = 0;
        const auto object = theirs::table.to_py_object(Managed::from_raw_unchecked(made()));
        const bool still = succeeds && (when == after || when == late);
        CHECK(static_cast<bool>(object) == succeeds && deleted == (still ? 0 : 1));
        if (succeeds && when == after) kept->deleter(kept);
        if (succeeds && when == late) std::thread([=] { kept->deleter(kept); }).join();
        CHECK(deleted == 1 && alive == 0);
      }
    }
  }
}

// An allocator may write to the prototype, and then return a tensor that matches the changed one.
void allocators_that_change_what_was_asked() {
  std::int64_t shape[] = {1000, 1000}, strides[] = {1000, 1};
  const DLTensor prototype{nullptr, {kDLCPU, 0}, 2, dlpackgen::dtypes::float32, shape, nullptr, 0};
  DLTensor with_strides = prototype;
  with_strides.strides = strides;
  const std::vector<std::function<void(DLTensor&)>> attacks = {
      [](DLTensor& p) { p.shape[0] = p.shape[1] = 1; },
      [](DLTensor& p) { p.ndim = 1, p.shape[0] = 1; },
      [](DLTensor& p) { p.ndim = 1, p.dtype.bits = 8; },
  };
  for (const DLTensor& asked : {prototype, with_strides}) {
    for (const auto& attack : attacks) {
      theirs::allocates = [&](DLTensor* p, DLManagedTensorVersioned** out, void*, auto) {
        attack(*p);
        if (p->strides != nullptr) p->strides[0] = 1;
        *out = made(std::vector<std::int64_t>(p->shape, p->shape + p->ndim));
        (*out)->dl_tensor.dtype = p->dtype;
        return 0;
      };
      CHECK(!theirs::table.allocate(asked) && alive == 0);
      CHECK(shape[0] == 1000 && shape[1] == 1000 && strides[0] == 1000 && asked.ndim == 2);
    }
  }
}

// An allocator's report is valid only until it returns, and the receiver may be absent.
void allocators_that_report() {
  std::int64_t shape[] = {4};
  const DLTensor prototype{nullptr, {kDLCPU, 0}, 1, dlpackgen::dtypes::float32, shape, nullptr, 0};
  int answer = -1;
  theirs::allocates = [&](DLTensor*, DLManagedTensorVersioned** out, void* context, auto set_error) {
    std::vector<char> kind{'E', '\0'}, text(1000, 'x');
    text.back() = '\0';
    set_error(context, kind.data(), text.data());
    set_error(context, nullptr, nullptr);
    if (answer == 0) *out = made({4});
    return answer;
  };
  AllocatorError report;
  CHECK(theirs::table.allocate(prototype, &report).code() == ErrorCode::callee_failed && report.calls == 2);
  CHECK(std::strcmp(report.kind, "E") == 0 && std::strlen(report.message) == sizeof report.message - 1);
  answer = 0;
  CHECK(theirs::table.allocate(prototype).code() == ErrorCode::ok);
  CHECK(alive == 0);
}

// Our own table, whose functions call back into it, drop their arguments, and throw.
struct Ours : dlpackgen::ExchangeProducer<Ours> {
  static inline std::function<void*(Managed)> imports;
  static inline std::function<Managed(const DLTensor&)> allocates;
  static inline int told = 0;

  static Managed from_py_object(void*) { return Managed::from_raw_unchecked(made()); }
  static void* to_py_object(Managed tensor) { return imports(std::move(tensor)); }
  static Managed allocate(const DLTensor& prototype) { return allocates(prototype); }
  static void* current_work_stream(DLDevice) { return nullptr; }
  static void set_error(const char*, const char*) noexcept { ++told; }
};

void functions_that_throw() {
  const DLPackExchangeAPI* const table = Ours::table();
  void* object = nullptr;
  for (const bool drops : {false, true}) {
    Ours::imports = [&](Managed tensor) -> void* {
      DLManagedTensorVersioned* inner = nullptr;
      CHECK(table->managed_tensor_from_py_object_no_sync(nullptr, &inner) == 0);
      inner->deleter(inner);
      if (!drops) static_cast<void>(tensor.release());  // lost for us, and still the caller's
      throw std::runtime_error("after that");
    };
    DLManagedTensorVersioned* const tensor = made();
    deleted = Ours::told = 0;
    CHECK(table->managed_tensor_to_py_object_no_sync(tensor, &object) == -1 && Ours::told == 1);
    CHECK(object == nullptr && deleted == 1 && alive == 1);
    tensor->deleter(tensor);
  }
  CHECK(alive == 0);
}

// The consumer's numbers may change while our allocator runs.
void prototypes_that_change() {
  const DLPackExchangeAPI* const table = Ours::table();
  std::vector<std::int64_t> shape{4, 4};
  DLTensor prototype{nullptr, {kDLCPU, 0}, 2, dlpackgen::dtypes::float32, shape.data(), nullptr, 0};
  Ours::allocates = [&](const DLTensor& p) {
    std::vector<std::int64_t>{1, 1}.swap(shape);
    CHECK(p.ndim == 2 && p.shape[0] == 4 && p.shape[1] == 4);
    return Managed::from_raw_unchecked(made({p.shape[0], p.shape[1]}));
  };
  DLManagedTensorVersioned* out = nullptr;
  CHECK(table->managed_tensor_allocator(&prototype, &out, nullptr, nullptr) == 0 && out->dl_tensor.shape[0] == 4);
  out->deleter(out);
  prototype.ndim = 1 << 30;
  CHECK(table->managed_tensor_allocator(&prototype, &out, nullptr, nullptr) == -1 && out == nullptr && alive == 0);
}

// The owner of an export is the program's code: it may throw when it is moved, and run any code
// when it is destroyed.
struct Owner {
  std::vector<float> numbers;
  bool* throws;
  Managed other;

  Owner(bool& fails, Managed with) : numbers(6), throws(&fails), other(std::move(with)) {}
  Owner(Owner&& from)
      : numbers((*from.throws ? throw std::runtime_error("not moved") : 0, std::move(from.numbers))),
        throws(from.throws),
        other(std::move(from.other)) {}
  float* data() { return numbers.data(); }
  std::size_t size() const { return numbers.size(); }
};

void owners_that_throw() {
  bool throws = true;
  Owner owner(throws, Managed::from_raw_unchecked(made()));
  try {
    static_cast<void>(Builder().shape({2, 3}).build(std::move(owner)));
    CHECK(false);
  } catch (const std::runtime_error&) {
    CHECK(owner.size() == 6 && owner.other && alive == 1);
  }
  throws = false;
  auto tensor = Builder().shape({2, 3}).build(std::move(owner));
  CHECK(tensor && alive == 1);
  last_words = [&] { CHECK(!*tensor); };
  tensor->reset();
  CHECK(alive == 0);
}

}  // namespace

int main() {
  rejections();
  deleters_that_come_back();
  exports_that_change_others();
  functions_that_fail();
  imports_that_delete();
  allocators_that_change_what_was_asked();
  allocators_that_report();
  functions_that_throw();
  prototypes_that_change();
  owners_that_throw();
  return testing::report();
}
