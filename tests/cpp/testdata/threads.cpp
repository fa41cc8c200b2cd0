// Tensors are created, passed to other threads, read and released there.
#include <dlpackgen/all.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"

using dlpackgen::Builder;
using dlpackgen::Managed;

static std::atomic<long> alive{0};

struct Owner {
  Owner() : numbers(64, 1.0F) { ++alive; }
  Owner(Owner&& other) noexcept : numbers(std::move(other.numbers)) { ++alive; }
  Owner(const Owner&) = delete;
  ~Owner() { --alive; }
  float* data() { return numbers.data(); }
  std::size_t size() const { return numbers.size(); }
  std::vector<float> numbers;
};

// A queue from one thread to all others.
class Queue {
 public:
  void push(Managed tensor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(tensor));
  }
  Managed pop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_.empty()) return Managed();
    Managed first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::deque<Managed> waiting_;
};

// A table that retains its arguments, like a Python object.
static std::atomic<long> objects{0};

class Library : public dlpackgen::ExchangeProducer<Library> {
 public:
  static Managed allocate(const DLTensor&) { return from_py_object(nullptr); }
  static Managed from_py_object(void*) { return dlpackgen::unwrap(Builder().build(Owner())); }
  static void* to_py_object(Managed tensor) {
    auto object = std::make_unique<Managed>(std::move(tensor));
    ++objects;
    return object.release();
  }
  static void* current_work_stream(DLDevice) { return nullptr; }
  static void set_error(const char*, const char*) noexcept {}
};

static void work(Queue& queue, std::atomic<long>& sum) {
  const auto table = *dlpackgen::ExchangeAPI::find(&Library::table()->header);
  for (int i = 0; i < 400; ++i) {
    queue.push(*Builder().shape({8, 8}).build(Owner()));
    queue.push(*table.from_py_object(nullptr));
    Managed theirs = queue.pop();
    if (!theirs) continue;
    const auto all = *dlpackgen::flat_of<const float>(theirs.view());
    for (const float x : all) sum += static_cast<long>(x);
    if (i % 2 == 0) theirs = *dlpackgen::upgrade_writable(*dlpackgen::downgrade(std::move(theirs)));
    const auto object = table.to_py_object(std::move(theirs));
    std::thread([held = static_cast<Managed*>(*object)] { delete held; }).join();
  }
}

int main() {
  {
    Queue queue;
    std::atomic<long> sum{0};
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i) all.emplace_back([&] { work(queue, sum); });
    for (auto& thread : all) thread.join();
    CHECK(sum == 64 * objects && objects > 800);
    while (queue.pop()) continue;
  }
  CHECK(alive == 0);
  return testing::report();
}
