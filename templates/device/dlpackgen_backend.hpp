
// A C++17 wrapper for the table of dlpackgen_backend.h, with exceptions and owning tensors. Objects
// of class backend own nothing, and may be copied and used on any thread.
#ifndef DLPACKGEN_BACKEND_HPP_
#define DLPACKGEN_BACKEND_HPP_

#include "dlpackgen_backend.h"

#include <memory>
#include <stdexcept>
#include <vector>

namespace dlpackgen {
namespace backend_v1 {  // DLPACKGEN_BACKEND_ABI_VERSION

// A failed call; what() returns the text of the error.
class error : public std::runtime_error {
 public:
  explicit error(const dlpackgen_backend_error& e)
      : std::runtime_error(e.text), code_(e.code), driver_code_(e.driver_code) {}
  int code() const noexcept { return code_; }                // dlpackgen_backend_code
  int driver_code() const noexcept { return driver_code_; }  // the driver's number; 0 if the driver was not called

 private:
  int code_, driver_code_;
};

struct deleter {
  void operator()(DLManagedTensorVersioned* t) const noexcept {
    if (t && t->deleter) t->deleter(t);
  }
};

// Owns a tensor. release() transfers it to another owner, which must call the deleter.
using tensor = std::unique_ptr<DLManagedTensorVersioned, deleter>;

// A backend, from the table that its own header returns. A failed call throws `error`.
class backend {
 public:
  explicit backend(const dlpackgen_backend* table) : table_(table) {
    if (!table || table->abi_version != DLPACKGEN_BACKEND_ABI_VERSION || table->size < sizeof(dlpackgen_backend))
      throw std::invalid_argument("the backend's table and dlpackgen_backend.hpp have different versions");
  }

  const char* name() const noexcept { return table_->name; }

  dlpackgen_driver_info probe() const {
    dlpackgen_driver_info info = DLPACKGEN_DRIVER_INFO_INIT;
    call(table_->probe, &info);
    return info;
  }

  // The default stream of a device.
  dlpackgen_stream stream(int32_t device = 0, void* handle = nullptr) const noexcept {
    return {handle, {static_cast<DLDeviceType>(table_->device_type), device}, 0, 0};
  }

  // The stream for a number as for `__dlpack__`; nullptr is None.
  dlpackgen_stream stream_from_dlpack(int32_t device, const int64_t* number) const {
    dlpackgen_stream out{};
    call(table_->stream_from_dlpack, stream(device).device, number, &out);
    return out;
  }

  dlpackgen_stream current_work_stream(const dlpackgen_stream_source& source, int32_t device = 0) const {
    dlpackgen_stream out{};
    call(table_->current_work_stream, &source, stream(device).device, &out);
    return out;
  }

  dlpackgen_pointer_attributes pointer_attributes(const void* pointer) const {
    dlpackgen_pointer_attributes out = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
    call(table_->pointer_attributes, pointer, &out);
    return out;
  }

  // Allocates an uninitialized C-contiguous tensor; `handle` is the stream that uses it first.
  tensor allocate(DLDevice device, DLDataType dtype, const std::vector<int64_t>& shape, void* handle = nullptr,
                  uint64_t flags = 0) const {
    const auto ndim = static_cast<int32_t>(shape.size());
    const dlpackgen_allocation allocation{sizeof allocation, device, dtype, ndim, shape.data(), handle, flags};
    DLManagedTensorVersioned* out = nullptr;
    call(table_->allocate, &allocation, &out);
    return tensor(out);
  }

  void stream_wait(const dlpackgen_stream& consumer, const dlpackgen_stream& producer) const {
    call(table_->stream_wait, &consumer, &producer);
  }

  void keep_until(const tensor& t, const dlpackgen_stream& s) const { call(table_->keep_until, t.get(), &s); }

  void copy(const DLTensor& to, const DLTensor& from, const dlpackgen_stream& s) const {
    call(table_->copy, &to, &from, &s);
  }

  void stream_synchronize(const dlpackgen_stream& s) const { call(table_->stream_synchronize, &s); }

 private:
  template <class Function, class... Arguments>
  static void call(Function* function, Arguments... arguments) {
    dlpackgen_backend_error e;
    if (function(arguments..., &e) != DLPACKGEN_BACKEND_OK) throw error(e);
  }

  const dlpackgen_backend* table_;
};

}  // namespace backend_v1
}  // namespace dlpackgen

#endif  // DLPACKGEN_BACKEND_HPP_
