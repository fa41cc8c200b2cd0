// Direct calls of SYCL.
#include "made.h"

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <sycl/ext/oneapi/backend/level_zero.hpp>
#include <sycl/sycl.hpp>
#include <thread>

namespace {

sycl::device device(int n, int part) {
  const sycl::device root = sycl::device::get_devices().at(static_cast<size_t>(n));
  if (part < 0) return root;
  return root
      .create_sub_devices<sycl::info::partition_property::partition_by_affinity_domain>(
          sycl::info::partition_affinity_domain::next_partitionable)
      .at(static_cast<size_t>(part));
}

sycl::context context(const char* kind, const sycl::device& d) {
  static auto& others = *new std::map<std::string, sycl::context>;  // SYCL shuts down before it could be freed
  if (std::strcmp(kind, "other")) return d.get_platform().khr_get_default_context();
  const auto name = d.get_platform().get_info<sycl::info::platform::name>();
  if (!others.count(name)) others.emplace(name, sycl::context(d));
  return others.at(name);
}

std::atomic<int> done{0};
std::atomic<bool> looked{false}, ends{false};

// Returns whether the first thread is waiting.
bool waits() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name = line.rfind(") ");
  return name != std::string::npos && line[name + 2] == 'S';
}

// Ends work after the first thread has waited for a while since it read the work's state: the work
// is then running, and finished after a call that waits, on any machine.
void watch() {
  for (int still = 0, i = 0; still < 20 && i < 30000; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    still = looked && waits() ? still + 1 : 0;
  }
  ends = true;
}

void work() {
  while (!ends) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  done++;
}

void begin(sycl::queue& q) {
  std::thread(watch).detach();
  q.submit([](sycl::handler& h) { h.host_task([] { work(); }); });
  std::atexit([] { ends = true; });  // SYCL, which has registered its shutdown by now, waits for the work there
}

// Recorded graphs, by queue.
using graph = sycl::ext::oneapi::experimental::command_graph<sycl::ext::oneapi::experimental::graph_state::modifiable>;
auto& graphs = *new std::map<void*, graph>;

}  // namespace

void* made_memory(const char* kind, int n, int part) try {
  const sycl::device d = device(n, part);
  const sycl::context c = context(kind, d);
  if (!std::strcmp(kind, "unknown")) return std::calloc(1, 64);
  if (!std::strcmp(kind, "host")) return sycl::malloc_host(64, c);
  return std::strcmp(kind, "shared") ? sycl::malloc_device(64, d, c) : sycl::malloc_shared(64, d, c);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  std::exit(3);
}

void made_free(void* memory, int n) { sycl::free(memory, context("", device(n, -1))); }

void* made_stream(const char* kind, int n, int part) try {
  const sycl::device d = device(n, part);
  const sycl::context c = context(kind, d);
  auto* q =
      std::strcmp(kind, "loose") ? new sycl::queue(c, d, sycl::property::queue::in_order()) : new sycl::queue(c, d);
  if (!std::strcmp(kind, "recorded")) {
    graphs.emplace(q, graph(c, d));
    graphs.at(q).begin_recording(*q);
  }
  return q;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  std::exit(3);
}

// Objects that SYCL reaches through Level Zero.
void* made_root(int n) {
  for (const auto& d : sycl::device::get_devices())
    if (d.get_backend() == sycl::backend::ext_oneapi_level_zero && n-- == 0)
      return sycl::get_native<sycl::backend::ext_oneapi_level_zero>(d);
  return nullptr;
}

// handle:N:e ends the recording of a queue, handle:N:c closes the queue, handle:N:b queues host
// work on it, and handle:N:d prints the completed part: the work continues until a later call
// waits.
int made_step(const char* name, const char* a, const char* b, const char*) {
  auto* q = reinterpret_cast<sycl::queue*>(const_cast<char*>(a));
  if (!std::strcmp(name, "devices")) {
    for (const auto& d : sycl::device::get_devices())
      std::printf("device %s %s\n", d.is_cpu() ? "cpu" : "gpu",
                  d.get_platform().get_info<sycl::info::platform::name>().c_str());
    return 1;
  }
  if (std::strcmp(name, "handle")) return 0;
  if (*b == 'b') begin(*q);
  else if (*b == 'd') std::printf("done %d\n", done.load()), std::fflush(stdout), looked = true;
  else if (*b == 'e') graphs.at(q).end_recording(*q);
  else delete q;
  return 1;
}
