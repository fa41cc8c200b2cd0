// Calls every kernel of kernels.yaml through the C++ functions. Each error is printed like in
// calls.c: the mistake, the status and the message.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlpackgen/storage.hpp>
#include <fstream>
#include <kernels.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace dlpackgen;

static int failures = 0;
#define EXPECT(condition) \
  ((condition) ? (void)0 : (void)(++failures, std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition)))

static void show(const char* label, const KernelError& e) {
  const std::string sentence = e.text();
  std::printf("%s: %d %s\n", label, e.status(), sentence.substr(0, sentence.find("0x")).c_str());
  const std::string begin = std::string(e.kernel()) + "(): ";
  EXPECT(e && sentence.compare(0, begin.size(), begin) == 0);
  const std::string about = begin + "argument '" + std::string(e.argument()) + "' (";
  // An author's text may resemble a message about an argument.
  const bool is_about =
      sentence.compare(begin.size(), 10, "argument '") == 0 && sentence.find("' (") != std::string::npos;
  EXPECT(e.argument().empty() != is_about);
  EXPECT(!is_about || sentence.compare(0, about.size(), about) == 0);
}

template <class T>
static void show(const char* label, const KernelResult<T>& result) {
  EXPECT(!result);
  show(label, result.error());
}

static void says(const KernelError& e, const char* class_name, const char* text) {
  const bool same = std::strcmp(e.text(), text) == 0 && std::strcmp(e.class_name(), class_name) == 0;
  if (!same) std::fprintf(stderr, "%s: %s\nexpected %s: %s\n", e.class_name(), e.text(), class_name, text);
  EXPECT(same);
}

// A std::vector<bool> contains no bool with an address.
template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<bool> {
  using type = unsigned char;
};

// A tensor over new memory.
template <class T>
static Managed of(std::initializer_list<std::int64_t> shape) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  auto made = Builder().dtype(dtype_of<T>).shape(shape).build(std::vector<typename Stored<T>::type>(size));
  return *std::move(made);
}

static Managed on_cuda(Managed tensor) {
  tensor.get()->dl_tensor.device = DLDevice{kDLCUDA, 0};
  return tensor;
}

template <class T>
static Managed strided(Managed tensor, T first) {
  tensor.get()->dl_tensor.strides[0] = first;
  return tensor;
}

static void scale_calls() {
  float data[6] = {1, 2, 3, 4, 5, 7};
  const std::int64_t shape[] = {2, 3}, compact[] = {3, 1}, columns[] = {1, 2}, same[] = {0, 2};
  const ArrayView<float, 2> x(data, shape, compact);
  EXPECT(!kernels::scale(x, 3));
  EXPECT(data[5] == 21);
  EXPECT(!kernels::scale(x));
  EXPECT(data[5] == 42);
  EXPECT(!kernels::scale(ArrayView<float, 2>(data, shape, columns), 0.5F));
  EXPECT(data[5] == 21);
  show("elements on each other", kernels::scale(ArrayView<float, 2>(data, shape, same)));
  show("missing", kernels::scale(Managed()));
  show("dtype", kernels::scale(of<std::int32_t>({2, 3})));
  show("failure", kernels::scale(of<double>({2, 3}), 0));
  show("device", kernels::scale(on_cuda(of<float>({2, 3}))));
  const auto fixed = Builder(&data[0]).shape({2, 3}).read_only().build();
  show("read-only", kernels::scale(*fixed));
  show("read-only", kernels::scale(fixed->view()));
  DLTensor raw = fixed->view().raw();
  raw.data = reinterpret_cast<char*>(data) + 2;
  show("misaligned", kernels::scale(TensorView::from_raw_unchecked(raw, 0)));
  raw.data = nullptr;
  show("no memory", kernels::scale(TensorView::from_raw_unchecked(raw, 0)));
  const std::int64_t negative[] = {-1, 3};
  raw.shape = const_cast<std::int64_t*>(negative);
  show("invalid", kernels::scale(TensorView::from_raw_unchecked(raw, 0)));
}

// Valid arguments of join.
struct Joined {
  Managed bias = of<float>({4}), x = of<float>({2, 3, 4}), w = of<float>({4, 2, 3}), idx = of<std::int64_t>({2, 5}),
          y = of<float>({2, 3, 4, 10});
  std::optional<std::int64_t> q = std::nullopt;
  KernelResult<std::int64_t> call() const { return kernels::join(bias, x, w, idx, y, q); }
};

template <class Change>
static void join_call(const char* label, Change change) {
  Joined j;
  change(j);
  show(label, j.call());
}

static void join_calls() {
  Joined fits;
  EXPECT(*fits.call() == 240);
  EXPECT(*kernels::join(fits.bias, fits.x, fits.w, fits.idx, fits.y, 9) == 9);
  EXPECT(*kernels::join(std::nullopt, fits.x, fits.w, fits.idx, fits.y) == 240);
  join_call("another dtype before the one that decides", [](Joined& j) { j.bias = of<double>({4}); });
  join_call("another dtype", [](Joined& j) { j.w = of<std::int32_t>({4, 2, 3}); });
  join_call("none of two dtypes", [](Joined& j) { j.idx = of<std::uint64_t>({2, 5}); });
  join_call("a symbol", [](Joined& j) { j.bias = of<float>({5}); });
  join_call("a symbol of the second argument", [](Joined& j) { j.bias = {}, j.w = of<float>({5, 2, 3}); });
  join_call("a number", [](Joined& j) { j.w = of<float>({4, 2, 4}); });
  join_call("rank", [](Joined& j) { j.w = of<float>({4, 2}); });
  join_call("least rank", [](Joined& j) { j.x = of<float>({}); });
  join_call("not solvable", [](Joined& j) { j.w = of<float>({4, 3, 3}); });
  join_call("computed", [](Joined& j) { j.idx = of<std::int64_t>({3, 5}); });
  join_call("and", [](Joined& j) { j.bias = of<float>({3}), j.x = of<float>({2, 3, 3}), j.w = of<float>({3, 2, 3}); });
  join_call("no result", [](Joined& j) { j.y = {}; });
  join_call("dtype of a result", [](Joined& j) { j.y = of<double>({2, 3, 4, 10}); });
  join_call("shape of a result", [](Joined& j) { j.y = of<float>({2, 3, 3, 10}); });
  join_call("rank of a result", [](Joined& j) { j.y = of<float>({2, 3, 40}); });
  join_call("layout of a result", [](Joined& j) { j.y = strided(std::move(j.y), 240); });
  join_call("device of a result", [](Joined& j) { j.y = on_cuda(std::move(j.y)); });
  join_call("a result over an argument", [](Joined& j) { j.y.get()->dl_tensor.data = j.bias.get()->dl_tensor.data; });
  fits.y.get()->flags |= flags::read_only;
  says(fits.call().error(), "BufferError",
       "join(): argument 'y' (6th): it is read-only, but the parameter is writable");
}

static void results_are_allocated() {
  const std::vector<float> line{5, 1, 1, 1};
  auto made = kernels::join_new(std::nullopt, line, of<float>({4, 2, 3}), of<std::int64_t>({2, 5}));
  EXPECT(made && made->rows == 40 && made->y.view().ndim() == 2);
  EXPECT(reinterpret_cast<std::uintptr_t>(made->y.view().data()) % 64 == 0 && !made->y.view().is_read_only());
  EXPECT((*array_of<const float, 2>(made->y.view()))(0, 0) == 5);
  show("a symbol of the second argument",
       kernels::join_new(std::nullopt, line, of<float>({5, 2, 3}), of<std::int64_t>({2, 5})));
  auto none = kernels::groups_new(of<float>({3}), of<float>({0, 3, 4}), std::nullopt, of<std::int8_t>({5}));
  EXPECT(none && none->view().size() == 0 && none->view().ndim() == 3);
  const auto alone = kernels::alone_new();
  EXPECT(alone && (*flat_of<const std::int64_t>(alone->view()))[2] == 5);
  const auto pair = kernels::pair_new(line);
  EXPECT(pair && (*flat_of<const float>(pair->two.view()))[0] == 10);
}

static void results_on_devices() {
  const Managed x = on_cuda(of<float>({2, 3})), y = on_cuda(of<float>({2, 3}));
  int stream = 0;
  says(kernels::on_device_new(x).error(), "NotImplementedError",
       "on_device(): result 'y': results are allocated only on cpu, but the call is on cuda:0: pass a tensor");
  says(kernels::on_device(x, y), "RuntimeError", "on_device(): the kernel failed with status 42");
  says(kernels::on_device(x, y, &stream), "RuntimeError", "on_device(): the kernel failed with status 41");
}

static void layout_call(const char* label, Managed rows, std::int64_t block, std::int64_t column,
                        const OptionalTensorIn& mask) {
  alignas(64) std::uint8_t bytes[5] = {};
  const double numbers[6] = {};
  const std::int16_t shorts[6] = {};
  const std::int64_t shape[] = {2, 3}, by_column[] = {block, 2}, columns[] = {1, column};
  const auto e =
      kernels::layouts(rows, ArrayView<const std::int16_t, 2>(shorts, shape, by_column),
                       ArrayView<const double, 2>(numbers, shape, columns), FlatView<std::uint8_t>(bytes, 5), mask);
  EXPECT((label != nullptr) == static_cast<bool>(e));
  if (label != nullptr) show(label, e);
}

static void layout_calls() {
  const auto rows = [] { return of<float>({2, 3}); };
  layout_call(nullptr, strided(rows(), 8), 1, 2, std::nullopt);
  layout_call("status of a kernel without errors", rows(), 1, 2, std::array<bool, 2>());
  layout_call("an optional argument", rows(), 1, 2, std::array<bool, 3>());
  layout_call("any order", rows(), 3, 2, std::nullopt);
}

static void written_calls() {
  std::vector<float> block(64);
  const auto part = [&](std::size_t at) { return FlatView<float>(&block[at], 4); };
  const std::int64_t shape[] = {3, 4}, strides[] = {4, 1};
  const ArrayView<float, 2> d(&block[32], shape, strides);
  EXPECT(!kernels::written(part(0), part(8), part(16), d));
  EXPECT(!kernels::written(part(0), part(16), part(16), std::nullopt));
  show("overlap of one element", kernels::written(part(19), part(16), part(16), d));
  show("two that are written", kernels::written(part(32), part(8), part(16), d));
}

static void scalar_calls() {
  const Managed z = of<double>({2, 3});
  const std::vector<double> weights{0.5, 0.25};
  (*flat_of<double>(z.view()))[5] = 3;
  EXPECT(*kernels::scalars("mean", {1, 3, 3}, z, weights, true, 3, 20.0) == 1123.75);
  EXPECT((*flat_of<double>(z.view()))[5] == 0);
  EXPECT(*kernels::scalars(std::string("sum"), {1, 3, 3}, z) == 3);
  show("too few items", kernels::scalars("sum", {1, 3, 3}, z, {1.0}));
  show("a list that is too short", kernels::scalars("sum", {1, 3}, z));
  says(kernels::scalars("sum", std::vector<std::int64_t>(), z).error(), "ValueError",
       "scalars(): argument 'sizes' (2nd): expected at least 3 items, got 0");
  says(kernels::scalars("sum", {}, z).error(), "ValueError",
       "scalars(): argument 'sizes' (2nd): expected at least 3 items, got 0");
  says(kernels::scalars("sum", {1, 3, 3}, z, {}).error(), "ValueError",
       "scalars(): argument 'weights' (3rd): expected 2 items, got 0");
  says(kernels::scalars("sum", {1, 3, 3}, z, std::vector<double>()).error(), "ValueError",
       "scalars(): argument 'weights' (3rd): expected 2 items, got 0");
  show("no text", kernels::scalars(static_cast<const char*>(nullptr), {1, 3, 3}, z));
  show("a text", kernels::scalars("median", {1, 3, 3}, z));
  says(kernels::scalars(std::string("su\0m", 4), {1, 3, 3}, z).error(), "ValueError",
       "scalars(): argument 'mode' (1st): expected a string without NUL");
  show("a negative extent", kernels::scalars("sum", {5, 3, 3}, z));
  show("overflow by one", kernels::scalars("sum", {-3037000500, 3, 3}, z));
  show("errors", kernels::scalars_new("sum", {50, 51, 1}, std::nullopt, false, -3));
}

// A tensor of one element.
static Managed of_dtype(const std::string& dtype) {
  if (dtype == "bool") return of<bool>({1});
  if (dtype == "int8") return of<std::int8_t>({1});
  if (dtype == "int16") return of<std::int16_t>({1});
  if (dtype == "int32") return of<std::int32_t>({1});
  if (dtype == "int64") return of<std::int64_t>({1});
  if (dtype == "uint8") return of<std::uint8_t>({1});
  if (dtype == "uint16") return of<std::uint16_t>({1});
  if (dtype == "uint32") return of<std::uint32_t>({1});
  if (dtype == "uint64") return of<std::uint64_t>({1});
  if (dtype == "float16") return of<float16>({1});
  if (dtype == "bfloat16") return of<bfloat16>({1});
  return dtype == "float32" ? of<float>({1}) : of<double>({1});
}

// Each kind of scalar for each dtype; there are no complex numbers.
static void kind_calls() {
  const struct {
    Number number;
    const char *kind, *digits;
  } numbers[] = {
      {true, "bool", ""}, {1, "int", ""}, {std::uint64_t{1} << 63, "int", "9223372036854775808"}, {1.5, "float", ""}};
  std::ifstream table("testdata/kinds.txt");
  int rows = 0;
  for (std::string line, dtype, want; std::getline(table, line);) {
    if (line[0] == '#') continue;
    std::istringstream cells(line);
    cells >> dtype;
    ++rows;
    for (const auto& number : numbers) {
      cells >> want;
      const Managed x = of_dtype(dtype);
      const std::string kernel = dtype[0] == 'i' ? "kinds_int" : dtype[0] == 'u' ? "kinds_uint" : "kinds_other";
      const KernelError e = dtype[0] == 'i'   ? kernels::kinds_int(x, number.number)
                            : dtype[0] == 'u' ? kernels::kinds_uint(x, number.number)
                                              : kernels::kinds_other(x, number.number);
      if (want == "ok") {
        EXPECT(!e);
        continue;
      }
      std::string text = kernel + "(): argument 'a' (2nd): ";
      if (want == "TypeError") text += "expected " + dtype + ", got " + number.kind;
      else text += dtype + " cannot represent " + number.digits;
      says(e, want.c_str(), text.c_str());
    }
  }
  EXPECT(rows == 13);
}

static void number_calls() {
  const Managed shorts = of<std::int16_t>({3}), longs = of<std::uint64_t>({3}), half = of<float16>({3}),
                truths = of<bool>({3});
  const auto twice = kernels::numbers(shorts, -7);
  EXPECT(twice && twice->twice.as<int>() == -14 && twice->size == 3);
  EXPECT(kernels::numbers(longs, INT64_MAX)->twice.as<std::uint64_t>() == UINT64_MAX - 1);
  EXPECT(kernels::numbers(longs, UINT64_MAX)->twice.as<std::uint64_t>() == UINT64_MAX - 1);
  EXPECT(kernels::numbers(longs, UINT64_MAX)->twice.as<double>() > 1.8e19);
  EXPECT(kernels::numbers(half, 1.5)->twice.as<double>() == 3 && kernels::numbers(half, 1.5)->size == 4);
  EXPECT(kernels::numbers(half, 1.5, std::nullopt)->size == -1 && kernels::numbers(half, 1.5, "x")->size == 1);
  EXPECT(kernels::numbers(truths, false)->twice.as<bool>() && !kernels::numbers(truths, 1)->twice.as<bool>());
  EXPECT(kernels::numbers(shorts, -32768) && kernels::numbers(half, 65504) && kernels::numbers(half, HUGE_VAL));
  const auto wrong = [](const Managed& x, Number a, const char* class_name, const char* text) {
    const std::string all = std::string("numbers(): argument 'a' (2nd): ") + text;
    says(kernels::numbers(x, a).error(), class_name, all.c_str());
  };
  wrong(shorts, 32768, "OverflowError", "int16 cannot represent 32768");
  wrong(shorts, -32769, "OverflowError", "int16 cannot represent -32769");
  wrong(longs, -1, "OverflowError", "uint64 cannot represent -1");
  wrong(shorts, UINT64_MAX, "OverflowError", "int16 cannot represent 18446744073709551615");
  wrong(half, 65505, "OverflowError", "float16 cannot represent 65505");
  wrong(half, INT64_MIN, "OverflowError", "float16 cannot represent -9223372036854775808");
  wrong(half, UINT64_MAX, "OverflowError", "float16 cannot represent 18446744073709551615");
  wrong(half, 65505.0, "OverflowError", "float16 cannot represent 65505.0");
  wrong(half, 1e300, "OverflowError", "float16 cannot represent 1e+300");
  wrong(shorts, 1.0, "TypeError", "expected int16, got float");
  wrong(truths, 2, "OverflowError", "bool cannot represent 2");
  wrong(truths, -1, "OverflowError", "bool cannot represent -1");
  wrong(truths, 1.0, "TypeError", "expected bool, got float");
  wrong(shorts, true, "TypeError", "expected int16, got bool");
  says(kernels::numbers(of<std::int32_t>({3}), 1.0).error(), "TypeError",
       "numbers(): argument 'x' (1st): expected float16, int16, uint64 or bool, got int32");
  says(kernels::copies_new(of<float>({1, 1}), 1, 70000.0F).error(), "OverflowError",
       "copies(): argument 'half' (3rd): float16 cannot represent 70000.0");
}

// Tensors that are not C-contiguous are copied; invalid ones are not read.
static void copied_calls() {
  float data[6] = {1, 2, 3, 4, 5, 6};
  const std::int64_t shape[] = {2, 3}, columns[] = {1, 2}, backwards[] = {-3, -1};
  auto made = kernels::copies_new(ArrayView<float, 2>(data, shape, columns));
  EXPECT(made && (*array_of<const float, 2>(made->y.view()))(0, 1) == 3 && made->most == 1 && made->half_of == 0.5);
  made = kernels::copies_new(ArrayView<float, 2>(data + 5, shape, backwards), 7, std::nullopt);
  EXPECT(made && (*array_of<const float, 2>(made->y.view()))(1, 2) == 1 && made->most == 7 && made->half_of == -1);
  const Managed y = of<float>({2, 3});
  const auto written = kernels::copies(ArrayView<const float, 2>(data, shape, columns), y);
  EXPECT(written && written->first && (*array_of<const float, 2>(y.view()))(1, 0) == 2);
  Managed pinned = strided(of<float>({2, 3}), std::int64_t{1});
  pinned.get()->dl_tensor.strides[1] = 2;
  pinned.get()->dl_tensor.device.device_type = kDLCUDAHost;
  EXPECT(kernels::copies_new(pinned));
  const std::int64_t huge[] = {INT64_MAX, INT64_MAX};
  says(kernels::copies_new(ArrayView<float, 2>(data, huge, columns)).error(), "BufferError",
       "copies(): argument 'x' (1st): its library returned an invalid DLPack tensor: the tensor has more "
       "elements or bytes than 63 bits can count");
}

// Padded elements are not copied: the copy of a packed tensor has less memory.
static void packed_calls() {
  std::vector<std::uint8_t> bytes(1000);
  Builder builder(bytes.data(), dtype_of<float4_e2m1fn>);
  show("padded", kernels::packed(*builder.shape({500}).strides({2}).padded().build()));
  EXPECT(*kernels::packed(*builder.shape({500}).strides({1}).padded(false).build()) == 500);
}

static void other_calls() {
  EXPECT(!kernels::divide(-7, 2, -4, 1));
  show("by zero", kernels::divide(3, 0, 0, 0));
  show("a wrong quotient", kernels::divide(-3, 2, -1, -1));
  KernelError kept = kernels::divide(3, 0, 0, 0);
  const KernelError copied = kept;
  const KernelError moved = std::move(kept);
  EXPECT(std::strcmp(copied.text(), moved.text()) == 0);
  kept = copied;
  show("by zero", kept);
  EXPECT(KernelError().text()[0] == '\0');
#ifdef __cpp_exceptions
  try {
    throw_if_error(kernels::divide(3, 0, 0, 0));
    EXPECT(false);
  } catch (const KernelException& e) {
    EXPECT(std::strcmp(e.error().class_name(), "ValueError") == 0 && std::strstr(e.what(), "divides by zero"));
  }
  const Managed made = unwrap(kernels::alone_new());
  EXPECT(made.view().size() == 3);
#endif
}

int main() {
  scale_calls();
  join_calls();
  results_are_allocated();
  results_on_devices();
  layout_calls();
  written_calls();
  scalar_calls();
  number_calls();
  kind_calls();
  copied_calls();
  packed_calls();
  other_calls();
  return failures != 0;
}
