// Exchange tables: of other libraries, hostile ones too, and our own, whose functions throw. Also
// built with -fno-exceptions.
#include <dlpackgen/builder.hpp>
#include <dlpackgen/producer.hpp>

#include <cstring>
#include <utility>
#ifdef __cpp_exceptions
#include <stdexcept>
#endif

#include "check.hpp"
#include "untrusted.hpp"

using dlpackgen::AllocatorError;
using dlpackgen::Error;
using dlpackgen::ErrorCode;
using dlpackgen::ExchangeAPI;
using dlpackgen::Managed;
using dlpackgen::Result;

static std::int64_t shape[] = {2, 3};
static std::int64_t strides[] = {3, 1};

// The behaviour of another library; each test configures it.
namespace theirs {
static int answer = 0;
static DLManagedTensorVersioned* tensor = nullptr;
static bool drops = false;      // whether to_py_object releases the tensor before it returns
static void* object = nullptr;  // its result
static DLManagedTensorVersioned* taken = nullptr;
static int reports = 1;
static int stream_calls = 0;

static int allocate(DLTensor*, DLManagedTensorVersioned** out, void* context,
                    void (*set_error)(void*, const char*, const char*)) {
  *out = tensor;
  for (int i = 0; answer != 0 && i < reports; ++i) set_error(context, i == 0 ? "MemoryError" : "Other", "no room");
  return answer;
}
static int from_object(void*, DLManagedTensorVersioned** out) {
  *out = tensor;
  return answer;
}
static int to_object(DLManagedTensorVersioned* given, void** out) {
  if (drops) given->deleter(given);
  taken = drops ? nullptr : given;
  *out = object;
  return answer;
}
static int lends(void*, DLTensor* out) {
  *out = untrusted::tensor(2, shape, strides);
  return answer;
}
static int stream(DLDeviceType, std::int32_t, void** out) {
  ++stream_calls;
  *out = &answer;
  return answer;
}

static DLPackExchangeAPI table(std::uint32_t major = 1) {
  return DLPackExchangeAPI{{{major, 3}, nullptr}, allocate, from_object, to_object, lends, stream};
}
}  // namespace theirs

static void tables() {
  DLPackExchangeAPI ours = theirs::table();
  CHECK(ExchangeAPI::find(&ours.header)->get() == &ours);
  CHECK(ExchangeAPI::find(nullptr).code() == ErrorCode::null && !ExchangeAPI());
  const ExchangeAPI none;
  CHECK(none.from_py_object(nullptr).code() == ErrorCode::null &&
        none.to_py_object(Managed()).code() == ErrorCode::null);
  CHECK(none.allocate(untrusted::tensor(2, shape, nullptr)).code() == ErrorCode::null);
  CHECK(none.current_work_stream({kDLCUDA, 0}).code() == ErrorCode::null &&
        none.borrow(nullptr).code() == ErrorCode::exchange_slot);
  Managed some = *Managed::from_raw(untrusted::versioned(untrusted::tensor(2, shape, strides)));
  untrusted::deleted = 0;
  CHECK(none.to_py_object(std::move(some)).code() == ErrorCode::null && untrusted::deleted == 1);
  DLPackExchangeAPIHeader newer{{3, 0}, &ours.header};
  DLPackExchangeAPIHeader newest{{4, 0}, &newer};
  CHECK(ExchangeAPI::find(&newest)->get() == &ours);
  newer.prev_api = &newest;  // circular
  CHECK(ExchangeAPI::find(&newest).code() == ErrorCode::no_exchange_api);
  newer.prev_api = nullptr;
  CHECK(ExchangeAPI::find(&newest).error().got == 4);
  DLPackExchangeAPI gap = theirs::table();
  gap.managed_tensor_allocator = nullptr;
  CHECK(ExchangeAPI::find(&gap.header).code() == ErrorCode::exchange_slot);
  gap = theirs::table();
  gap.managed_tensor_from_py_object_no_sync = nullptr;
  CHECK(ExchangeAPI::find(&gap.header).code() == ErrorCode::exchange_slot);
  gap = theirs::table();
  gap.managed_tensor_to_py_object_no_sync = nullptr;
  CHECK(ExchangeAPI::find(&gap.header).code() == ErrorCode::exchange_slot);
  gap = theirs::table();
  gap.current_work_stream = nullptr;
  CHECK(ExchangeAPI::find(&gap.header).code() == ErrorCode::exchange_slot);
  gap = theirs::table();
  gap.dltensor_from_py_object_no_sync = nullptr;  // the only optional function
  const ExchangeAPI without = *ExchangeAPI::find(&gap.header);
  CHECK(without && !without.can_borrow() && without.borrow(nullptr).code() == ErrorCode::exchange_slot);
}

static void consuming() {
  DLPackExchangeAPI api = theirs::table();
  const ExchangeAPI table = *ExchangeAPI::find(&api.header);
  untrusted::deleted = 0;
  theirs::answer = 0;
  theirs::tensor = untrusted::versioned(untrusted::tensor(2, shape, strides));
  {
    const auto owned = table.from_py_object(nullptr);
    CHECK(owned && owned->view().size() == 6);
  }
  CHECK(untrusted::deleted == 1);
  theirs::tensor = untrusted::versioned(untrusted::tensor(2, nullptr, nullptr), 2);  // of another major version
  CHECK(table.from_py_object(nullptr).code() == ErrorCode::version && untrusted::deleted == 2);
  theirs::tensor = nullptr;
  CHECK(table.from_py_object(nullptr).code() == ErrorCode::no_result);
  // A loan has no flags, so writing requires an explicit request.
  CHECK(table.borrow(nullptr)->is_read_only() && table.borrow(nullptr)->writable_data() == nullptr);
  CHECK(table.borrow(nullptr, dlpackgen::flags::is_copied)->flags() == 3);
  CHECK(table.borrow_writable(nullptr)->writable_data() == untrusted::numbers);
  CHECK(table.borrow_writable(nullptr, dlpackgen::flags::read_only)->is_read_only());
  theirs::answer = -1;
  theirs::tensor = reinterpret_cast<DLManagedTensorVersioned*>(1);  // not used after a failure
  CHECK(table.from_py_object(nullptr).code() == ErrorCode::callee_failed &&
        table.borrow(nullptr).code() == ErrorCode::callee_failed);
  CHECK(table.current_work_stream({kDLCUDA, 0}).code() == ErrorCode::callee_failed);
  theirs::answer = 0;
  CHECK(*table.current_work_stream({kDLCUDA, 0}) == &theirs::answer && theirs::stream_calls == 2);
  for (const DLDeviceType host : {kDLCPU, kDLCUDAHost, kDLROCMHost})
    CHECK(*table.current_work_stream({host, 0}) == nullptr && theirs::stream_calls == 2);
  CHECK(*table.current_work_stream({kDLCUDAManaged, 0}) == &theirs::answer && theirs::stream_calls == 3);
}

static void allocating() {
  DLPackExchangeAPI api = theirs::table();
  const ExchangeAPI table = *ExchangeAPI::find(&api.header);
  const DLTensor prototype = untrusted::tensor(2, shape, nullptr);
  untrusted::deleted = 0;
  theirs::answer = 0;
  const auto allocates = [&](DLTensor t, std::uint64_t set = 0) {
    theirs::tensor = untrusted::versioned(t, 1, 3, set);
    return table.allocate(prototype).code();
  };
  DLTensor t = untrusted::tensor(2, shape, strides);
  CHECK(allocates(t) == ErrorCode::ok);
  t.ndim = 1;
  CHECK(allocates(t) == ErrorCode::ndim_mismatch);
  std::int64_t turned[] = {3, 2};
  CHECK(allocates(untrusted::tensor(2, turned, strides)) == ErrorCode::no_result);
  t = untrusted::tensor(2, shape, strides);
  t.dtype.bits = 64;
  CHECK(allocates(t) == ErrorCode::dtype_mismatch);
  t = untrusted::tensor(2, shape, strides);
  t.device.device_type = kDLCUDA;
  CHECK(allocates(t) == ErrorCode::device);
  CHECK(untrusted::deleted == 5);
  t = untrusted::tensor(2, shape, strides);
  t.device.device_id = 1;
  CHECK(allocates(t) == ErrorCode::device_mismatch);
  CHECK(allocates(untrusted::tensor(2, shape, strides), dlpackgen::flags::read_only) == ErrorCode::read_only);
  CHECK(allocates(untrusted::tensor(2, shape, strides), dlpackgen::flags::is_copied) == ErrorCode::ok);
  std::int64_t columns[] = {1, 2}, still[] = {0, 1};
  CHECK(allocates(untrusted::tensor(2, shape, columns)) == ErrorCode::strides);
  CHECK(allocates(untrusted::tensor(2, shape, still)) == ErrorCode::strides);
  CHECK(untrusted::deleted == 10);
  theirs::tensor = nullptr;
  CHECK(table.allocate(prototype).code() == ErrorCode::no_result);
  theirs::answer = -1;
  for (theirs::reports = 0; theirs::reports < 3; ++theirs::reports) {
    AllocatorError report;
    CHECK(table.allocate(prototype, &report).code() == ErrorCode::callee_failed && report.calls == theirs::reports);
    CHECK(std::strcmp(report.kind, theirs::reports == 0 ? "" : "MemoryError") == 0);
  }
  CHECK(table.allocate(prototype).code() == ErrorCode::callee_failed);
}

// Requests are validated first, and requested strides are compared.
static void prototypes() {
  DLPackExchangeAPI api = theirs::table();
  const ExchangeAPI table = *ExchangeAPI::find(&api.header);
  theirs::answer = 0;
  const auto asks = [&](const DLTensor& prototype, DLTensor made, std::uint64_t set = 0) {
    theirs::tensor = untrusted::versioned(made, 1, 3, set);
    return table.allocate(prototype).code();
  };
  std::int64_t columns[] = {1, 2};
  DLTensor turned = untrusted::tensor(2, shape, columns);
  CHECK(asks(turned, turned) == ErrorCode::ok &&
        asks(turned, untrusted::tensor(2, shape, strides)) == ErrorCode::strides);
  std::int64_t row[] = {1, 3}, odd[] = {99, 1}, none[] = {0, 3};
  CHECK(asks(untrusted::tensor(2, row, nullptr), untrusted::tensor(2, row, odd)) == ErrorCode::ok);
  CHECK(asks(untrusted::tensor(2, none, nullptr), untrusted::tensor(2, none, odd)) == ErrorCode::ok);
  DLTensor narrow = untrusted::tensor(2, shape, nullptr);
  narrow.dtype = dlpackgen::dtypes::int4;
  DLTensor made = untrusted::tensor(2, shape, strides);
  made.dtype = dlpackgen::dtypes::int4;
  CHECK(asks(narrow, made) == ErrorCode::ok &&
        asks(narrow, made, dlpackgen::flags::is_subbyte_type_padded) == ErrorCode::no_result);
  theirs::tensor = nullptr;  // not requested
  std::int64_t minus[] = {-1, 2};
  CHECK(table.allocate(untrusted::tensor(2, nullptr, nullptr)).code() == ErrorCode::shape_null);
  CHECK(table.allocate(untrusted::tensor(65, shape, nullptr)).code() == ErrorCode::ndim);
  CHECK(table.allocate(untrusted::tensor(2, minus, nullptr)).code() == ErrorCode::extent);
  narrow.dtype.lanes = 0;
  CHECK(table.allocate(narrow).code() == ErrorCode::lanes);
}

// The deleter is called once, whatever the callee does.
static void handing_over() {
  DLPackExchangeAPI api = theirs::table();
  const ExchangeAPI table = *ExchangeAPI::find(&api.header);
  int object = 0;
  for (const bool drops : {false, true}) {
    for (const int answer : {0, -1}) {
      for (void* made : {static_cast<void*>(&object), static_cast<void*>(nullptr)}) {
        untrusted::deleted = 0;
        theirs::drops = drops;
        theirs::answer = answer;
        theirs::object = made;
        Managed tensor = *Managed::from_raw(untrusted::versioned(untrusted::tensor(2, shape, strides), 1, 3, 7));
        const auto result = table.to_py_object(std::move(tensor));
        const bool good = answer == 0 && made != nullptr;
        CHECK(static_cast<bool>(result) == good);
        CHECK(untrusted::deleted == (good && !drops ? 0 : 1));  // consumed on success and failure
        if (good && !drops) {
          CHECK(theirs::taken->flags == 7 && theirs::taken->dl_tensor.shape == shape);
          theirs::taken->deleter(theirs::taken);
        }
        CHECK(untrusted::deleted == 1);
      }
    }
  }
  CHECK(table.to_py_object(Managed()).code() == ErrorCode::null);
}

// The behaviour of our own producer; each test configures its failures.
enum class How { works, error, told, nothing, memory, standard, wrapped, odd };
static How how = How::works;
static int errors = 0;
static char kind[32];
static bool teller_throws = false;

static void note(const char* name) {
  ++errors;
  std::strncpy(kind, name, sizeof kind - 1);
#ifdef __cpp_exceptions
  if (teller_throws) throw 7;
#endif
}

static Error fail() {
  switch (how) {
    case How::works:
    case How::nothing: return Error();
    case How::error: return ErrorCode::strides;
    case How::told: note("Own"); return ErrorCode::callee_failed;
#ifdef __cpp_exceptions
    case How::memory: throw std::bad_alloc();
    case How::standard: throw std::out_of_range("too far");
    case How::wrapped: throw dlpackgen::Exception(ErrorCode::dtype_mismatch);
    case How::odd: throw 42;
#else
    default: return ErrorCode::no_memory;
#endif
  }
  return Error();
}

static Result<Managed> tensor_of(const Error& error) {
  if (error) return error;
  if (how == How::nothing) return Managed();
  return Managed::from_raw(untrusted::versioned(untrusted::tensor(2, shape, strides)));
}

class Ours : public dlpackgen::ExchangeProducer<Ours> {
 public:
  static Result<Managed> allocate(const DLTensor&) { return tensor_of(fail()); }
  static Managed from_py_object(void*) { return *tensor_of(fail()); }
  static Result<void*> to_py_object(Managed tensor) {
    const Error error = fail();  // the moved owner is destroyed on return
    if (error) return error;
    if (how == How::nothing) return static_cast<void*>(nullptr);
    kept = static_cast<Managed&&>(tensor);
    return static_cast<void*>(&kept);
  }
  static Error borrow(void*, DLTensor& out) {
    out = untrusted::tensor(2, shape, strides);
    return fail();
  }
  static Result<void*> current_work_stream(DLDevice) {
    const Error error = fail();
    if (error) return error;
    return static_cast<void*>(&errors);
  }
  static void set_error(const char* name, const char* text) {
    CHECK(text[0] != '\0');
    note(name);
  }
  inline static Managed kept;
};

class WithoutBorrow : public dlpackgen::ExchangeProducer<WithoutBorrow> {
 public:
  static Managed allocate(const DLTensor&) { return Managed(); }
  static Managed from_py_object(void*) { return Managed(); }
  static void* to_py_object(Managed) { return nullptr; }
  static void* current_work_stream(DLDevice) { return nullptr; }
  static void set_error(const char*, const char*) noexcept {}
};

static void producing() {
  const DLPackExchangeAPI* api = Ours::table();
  const ExchangeAPI table = *ExchangeAPI::find(&api->header);
  CHECK(table.can_borrow() && !ExchangeAPI::find(&WithoutBorrow::table()->header)->can_borrow());
  how = How::works;
  errors = untrusted::deleted = 0;
  Managed tensor = *table.from_py_object(nullptr);
  CHECK(tensor && table.borrow(nullptr)->size() == 6 && *table.current_work_stream({kDLCUDA, 1}) == &errors);
  CHECK(table.allocate(untrusted::tensor(2, shape, nullptr)));
  CHECK(untrusted::deleted == 1);
  CHECK(*table.to_py_object(std::move(tensor)) == &Ours::kept && untrusted::deleted == 1);
  Ours::kept.reset();
  CHECK(untrusted::deleted == 2 && errors == 0);
}

// Our own table checks the results of its own functions.
static void producer_checks() {
  const DLPackExchangeAPI* api = Ours::table();
  how = How::works;
  DLManagedTensorVersioned* out = nullptr;
  // -1 comes with one report and without a tensor.
  const auto asks = [&](DLTensor prototype) {
    errors = 0;
    const auto report = [](void*, const char* name, const char*) { note(name); };
    const bool good = api->managed_tensor_allocator(&prototype, &out, nullptr, report) == 0;
    CHECK(errors == (good ? 0 : 1) && (out != nullptr) == good);
    Managed::from_raw_unchecked(out).reset();
    return good;
  };
  DLTensor t = untrusted::tensor(2, shape, reinterpret_cast<std::int64_t*>(1));  // never read
  CHECK(asks(t));
  t.device.device_id = 1;
  CHECK(!asks(t));
  std::int64_t other[] = {3, 3};
  CHECK(!asks(untrusted::tensor(2, other, nullptr)) && !asks(untrusted::tensor(2, nullptr, nullptr)));
  CHECK(!asks(untrusted::tensor(1 << 20, shape, nullptr)));
  CHECK(api->managed_tensor_allocator(nullptr, &out, nullptr, nullptr) == -1);
  // A view without a tensor has no bytes, which this requests.
  std::int64_t nothing[] = {0};
  DLTensor bytes = untrusted::tensor(1, nothing, nullptr);
  bytes.dtype = dlpackgen::dtypes::uint8;
  CHECK(WithoutBorrow::table()->managed_tensor_allocator(&bytes, &out, nullptr, nullptr) == -1 && out == nullptr);
  // Wrapped tensors are validated, and the caller keeps rejected ones.
  untrusted::deleted = errors = 0;
  void* object = nullptr;
  DLManagedTensorVersioned* bad = untrusted::versioned(untrusted::tensor(65, shape, strides));
  CHECK(api->managed_tensor_to_py_object_no_sync(bad, &object) == -1 && errors == 1 && untrusted::deleted == 0);
  bad->deleter(bad);
}

// A loan cannot carry flags, so tensors with flags are not lent.
static void lending() {
  using dlpackgen::TensorView;
  const DLTensor t = untrusted::tensor(2, shape, strides);
  DLTensor out{};
  CHECK(dlpackgen::export_borrowed(TensorView::from_raw_unchecked(t, dlpackgen::flags::read_only), out).code ==
            ErrorCode::flags &&
        out.ndim == 0);
  CHECK(dlpackgen::export_borrowed(TensorView::from_raw_unchecked(t, 4), out).code == ErrorCode::flags);
  CHECK(!dlpackgen::export_borrowed(TensorView::from_raw_unchecked(t, dlpackgen::flags::is_copied), out) &&
        out.shape == shape);
  DLTensor bare{};
  const auto old = TensorView::from_raw_unchecked(untrusted::tensor(2, shape, nullptr), 0);
  CHECK(dlpackgen::export_borrowed(old, bare).code == ErrorCode::strides_null && bare.ndim == 0);
  CHECK(!dlpackgen::export_borrowed(TensorView::from_raw_unchecked(untrusted::tensor(0, nullptr, nullptr), 0), bare) &&
        bare.data != nullptr);
}

struct Failing {
  How how;
  const char* kind;
};

// Every function, in every kind of failure, returns -1 and reports once.
static void failing(const Failing& way) {
  const DLPackExchangeAPI* api = Ours::table();
  how = way.how;
  DLTensor prototype = untrusted::tensor(2, shape, strides);
  DLTensor view{};
  void* out = nullptr;
  DLManagedTensorVersioned* managed = nullptr;
  const auto told = [&](int answer) {
    const bool once = answer == -1 && errors == 1 && std::strcmp(kind, way.kind) == 0;
    errors = 0;
    return once;
  };
  errors = untrusted::deleted = 0;
  CHECK(told(api->managed_tensor_from_py_object_no_sync(nullptr, &managed)) && managed == nullptr);
  if (how != How::nothing) {
    CHECK(told(api->dltensor_from_py_object_no_sync(nullptr, &view)));
    CHECK(told(api->current_work_stream(kDLCUDA, 0, &out)) && out == nullptr);
  }
  const auto report = [](void*, const char* name, const char*) { note(name); };
  CHECK(told(api->managed_tensor_allocator(&prototype, &managed, nullptr, report)) && managed == nullptr);
  CHECK(api->managed_tensor_allocator(&prototype, &managed, nullptr, nullptr) == -1 && errors == 0);
  // The tensor stays the caller's.
  DLManagedTensorVersioned* given = untrusted::versioned(untrusted::tensor(2, shape, strides));
  CHECK(told(api->managed_tensor_to_py_object_no_sync(given, &out)) && out == nullptr && untrusted::deleted == 0);
  given->deleter(given);
}

static void all_failing() {
#ifdef __cpp_exceptions
  const Failing ways[] = {{How::error, "BufferError"},   {How::memory, "MemoryError"}, {How::standard, "RuntimeError"},
                          {How::wrapped, "BufferError"}, {How::odd, "RuntimeError"},   {How::nothing, "BufferError"}};
#else
  const Failing ways[] = {{How::nothing, "BufferError"}};
#endif
  for (const bool throws : {false, true}) {
    teller_throws = throws;
    for (const Failing& way : ways) failing(way);
  }
  teller_throws = false;
  how = How::told;  // a function that has set the Python error itself
  void* stream = nullptr;
  errors = 0;
  CHECK(Ours::table()->current_work_stream(kDLCUDA, 0, &stream) == -1 && errors == 1 && std::strcmp(kind, "Own") == 0);
  how = How::works;
  DLManagedTensorVersioned* newer = untrusted::versioned(untrusted::tensor(2, nullptr, nullptr), 2);
  void* out = nullptr;
  untrusted::deleted = 0;
  CHECK(Ours::table()->managed_tensor_to_py_object_no_sync(newer, &out) == -1 && untrusted::deleted == 0);
  newer->deleter(newer);
  CHECK(Ours::table()->managed_tensor_to_py_object_no_sync(nullptr, &out) == -1);
}

int main() {
  tables();
  consuming();
  allocating();
  prototypes();
  producer_checks();
  lending();
  handing_over();
  producing();
  all_failing();
  return testing::report();
}
