/**
 * \file producer.hpp
 * Creates an exchange table from ordinary C++ functions, for your own Python type. Exceptions do
 * not cross the table: they are converted to a Python exception, or to a report of the allocator.
 */
#ifndef DLPACKGEN_V0_0_PRODUCER_HPP_
#define DLPACKGEN_V0_0_PRODUCER_HPP_

#include "exchange.hpp"
#include "message.hpp"

#include <cstdint>
#include <new>
#include <type_traits>

#ifdef __cpp_exceptions
#include "exceptions.hpp"
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

// The kind of Python exception for a code.
constexpr const char* kind_of(ErrorCode code) noexcept {
  return code == ErrorCode::no_memory       ? "MemoryError"
         : code == ErrorCode::callee_failed ? "RuntimeError"
                                            : "BufferError";
}

// Functions may return a Result, an Error, or a bare value.
template <class T>
Result<T> as_result(Result<T>&& result) noexcept {
  return static_cast<Result<T>&&>(result);
}
template <class T>
Result<T> as_result(T&& value) noexcept {
  return static_cast<T&&>(value);
}

// Reports without throwing, even if the receiver throws.
template <class Report>
void report_safely(Report& report, const char* kind, const char* text) noexcept {
#ifdef __cpp_exceptions
  try {
    report(kind, text);
  } catch (...) {  // the error cannot be reported
    return;
  }
#else
  report(kind, text);
#endif
}

// An error becomes -1 and one report.
template <class Report>
int report_result(const Error& error, Report& report) noexcept {
  if (!error) return 0;
  report_safely(report, kind_of(error.code), Message(error).c_str());
  return -1;
}

// Wraps every function of a table: it returns 0 or -1, and does not throw.
template <class Call, class Report>
int guarded(Call call, Report report) noexcept {
#ifdef __cpp_exceptions
  try {
    return report_result(call(), report);
  } catch (const Exception& e) {
    report_safely(report, kind_of(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    report_safely(report, "MemoryError", out_of_memory);
  } catch (const std::exception& e) {
    report_safely(report, "RuntimeError", e.what());
  } catch (...) {
    report_safely(report, "RuntimeError", unnamed_exception);
  }
  return -1;
#else
  return report_result(call(), report);
#endif
}

}  // namespace detail

/**
 * The result of a producer's borrow() for one of its tensors. A borrowed tensor has no flags, so
 * read-only and padded tensors are rejected with ErrorCode::flags, and must be exported as owned
 * tensors. Tensors with NULL strides are rejected with ErrorCode::strides_null: a table of 1.3 must
 * not export them, and a borrowed tensor has no storage for strides.
 */
inline Error export_borrowed(const TensorView& view, DLTensor& out) noexcept {
  if ((view.flags() & ~flags::is_copied) != 0) return ErrorCode::flags;
  if (view.ndim() > 0 && view.raw().strides == nullptr) return ErrorCode::strides_null;
  out = view.raw();
  return Error();
}

/**
 * Derive from this class, and define these static functions. Each may throw, and may return a
 * Result or the bare value:
 *
 *     Managed from_py_object(void* object);           // owning
 *     void* to_py_object(Managed tensor);             // a new reference
 *     Managed allocate(const DLTensor& prototype);    // type, shape and device are checked
 *     void* current_work_stream(DLDevice device);     // nullptr on the host
 *     Error borrow(void* object, DLTensor& out);      // optional; see export_borrowed()
 *     void set_error(const char* kind, const char* text) noexcept;
 *
 * set_error() sets a Python exception such as "BufferError"; python_error.hpp has an
 * implementation. An Error with ErrorCode::callee_failed means that an exception is already set.
 *
 * to_py_object() receives a validated tensor, which it may destroy at any time. If it fails, the
 * caller of the table still owns the original, as in PyTorch and tvm-ffi.
 */
template <class Derived>
class ExchangeProducer {
 public:
  /**
   * The table, valid until the process ends; the capsule "dlpack_exchange_api" points to it.
   */
  static const DLPackExchangeAPI* table() noexcept {
    static constexpr DLPackExchangeAPI api{
        {abi_version, nullptr}, allocator, from_object, to_object, borrower(), stream};
    return &api;
  }

 private:
  // The Python exception is set only once; after ErrorCode::callee_failed it is already set.
  template <class Call>
  static int python(Call call) noexcept {
    bool reported = false;
    const auto once = [&reported](const char* kind, const char* text) {
      if (!reported) Derived::set_error(kind, text);
    };
    return detail::guarded(
        [&]() -> Error {
          const Error error = call();
          reported = error.code == ErrorCode::callee_failed;
          return error;
        },
        once);
  }

  static int allocator(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                       void (*set_error)(void*, const char*, const char*)) noexcept {
    return detail::guarded(
        [&]() -> Error {
          *out = nullptr;
          if (prototype == nullptr) return ErrorCode::null;
          DLTensor requested = *prototype;
          requested.strides = nullptr;              // which is never read
          const detail::Prototype like(requested);  // because the caller may change its shape meanwhile
          const Error wrong = detail::check_prototype(*like);
          if (wrong) return wrong;
          Result<Managed> made = detail::as_result(Derived::allocate(*like));
          if (!made) return made.error();
          if (!*made) return ErrorCode::no_result;
          const Error other = detail::matches(made->view(), *like);
          if (other) return other;
          *out = made->release();
          return Error();
        },
        [&](const char* kind, const char* text) {
          if (set_error != nullptr) set_error(context, kind, text);
        });
  }

  static int from_object(void* object, DLManagedTensorVersioned** out) noexcept {
    return python([&]() -> Error {
      *out = nullptr;
      Result<Managed> made = detail::as_result(Derived::from_py_object(object));
      if (!made) return made.error();
      if (!*made) return ErrorCode::no_result;
      *out = made->release();
      return Error();
    });
  }

  static int to_object(DLManagedTensorVersioned* tensor, void** out) noexcept {
    detail::Handover* handover = nullptr;
    const int failed = python([&]() -> Error {
      *out = nullptr;
      if (tensor == nullptr) return ErrorCode::null;
      const Error wrong = detail::check_managed(*tensor, Accept::nothing);
      if (wrong) return wrong;
      handover = detail::Handover::of(*tensor);
      if (handover == nullptr) return ErrorCode::no_memory;
      const Result<void*> object =
          detail::as_result(Derived::to_py_object(Managed::from_raw_unchecked(handover->get())));
      *out = *object;
      if (object && *object == nullptr) return ErrorCode::no_result;
      return object.error();
    });
    if (handover != nullptr && failed == 0) handover->give(tensor);
    if (handover != nullptr && failed != 0) handover->keep();
    return failed;
  }

  static int stream(DLDeviceType type, std::int32_t id, void** out) noexcept {
    return python([&]() -> Error {
      *out = nullptr;
      const Result<void*> found = detail::as_result(Derived::current_work_stream(DLDevice{type, id}));
      *out = *found;
      return found.error();
    });
  }

  template <class D>
  static constexpr auto borrows(int) -> decltype(D::borrow(nullptr, detail::any<DLTensor>()), true) {
    return true;
  }
  template <class D>
  static constexpr bool borrows(...) {
    return false;
  }

  template <class D>
  static int borrow(void* object, DLTensor* out) noexcept {
    return python([&]() -> Error {
      if constexpr (std::is_void<decltype(D::borrow(object, *out))>::value) {
        D::borrow(object, *out);
        return Error();
      } else {
        return D::borrow(object, *out);
      }
    });
  }

  static constexpr DLPackDLTensorFromPyObjectNoSync borrower() noexcept {
    if constexpr (borrows<Derived>(0)) {
      return borrow<Derived>;
    } else {
      return nullptr;
    }
  }
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PRODUCER_HPP_
