// Functions of every kind, bound by nanobind or, after -DWITH_PYBIND11, by pybind11.
#include <dlpackgen_python.h>

#include <dlpackgen/array_view.hpp>
#include <dlpackgen/eigen.hpp>

#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#ifdef WITH_PYBIND11
#include <dlpackgen/pybind11.hpp>
namespace library = pybind11;
using Failed = pybind11::error_already_set;
static library::object owned(PyObject* made) { return library::reinterpret_steal<library::object>(made); }
#define MODULE PYBIND11_MODULE
#else
#include <nanobind/stl/string.h>
#include <dlpackgen/nanobind.hpp>
namespace library = nanobind;
using Failed = nanobind::python_error;
static library::object owned(PyObject* made) { return library::steal(made); }
#define MODULE NB_MODULE
#endif

using dlpackgen::Access;
using dlpackgen::ArrayView;
using dlpackgen::Builder;
using dlpackgen::Error;
using dlpackgen::ErrorCode;
using dlpackgen::FlatView;
using dlpackgen::Managed;
using dlpackgen::MapOf;
using dlpackgen::Result;
using dlpackgen::TensorView;
using dlpackgen::unwrap;

namespace {

// Functions that do not use Python

int rank(const TensorView& any) { return any.ndim(); }

double total(FlatView<const double> flat) noexcept {
  double sum = 0;
  for (const double x : flat) sum += x;
  return sum;
}

void fill(ArrayView<std::int64_t, 2> rows, std::int64_t value) {
  for (std::int64_t i = 0; i < rows.extent(0); ++i)
    for (std::int64_t j = 0; j < rows.extent(1); ++j) rows(i, j) = value;
}

Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> gram(const MapOf<const double>& a) {
  return a * a.transpose();
}

double trace(MapOf<const Eigen::Matrix2d> a) { return a.trace(); }

std::string named(const std::string& name, MapOf<const double> a, int times) {
  return name + std::to_string(a.size() * times);
}

Result<Managed> halves(MapOf<Eigen::VectorXd> x) {
  if (x.size() % 2 != 0) return ErrorCode::extent_mismatch;
  x /= 2;
  return dlpackgen::managed_of(x.head(x.size() / 2));
}

double sum_by(const Eigen::Ref<const Eigen::MatrixXd>& columns) { return columns.sum(); }

void doubled(Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> rows) { rows *= 2; }

void shifted(Eigen::Ref<Eigen::VectorXd> x, std::optional<MapOf<const Eigen::VectorXd>> by) {
  if (by) x += *by;
}

Eigen::VectorXd either(std::optional<Eigen::Ref<const Eigen::VectorXd>> x, MapOf<const Eigen::VectorXd> y) {
  return x ? Eigen::VectorXd(*x + y) : Eigen::VectorXd(y);
}

// A class with methods.
class Scaler {
 public:
  explicit Scaler(double by) : by_(by) {}
  Eigen::VectorXd scaled(MapOf<const Eigen::VectorXd> x, double more) const { return by_ * more * x; }
  void grow(const MapOf<const Eigen::VectorXd>& x) { by_ += x.sum(); }

 private:
  double by_;
};

Error approve(MapOf<const Eigen::VectorXd> x) {
  return x.size() > 2 ? Error(ErrorCode::extent_mismatch, 2, x.size(), 0) : Error();
}

Result<int> count(TensorView x) { return static_cast<int>(x.size()); }

Managed ones(int n) { return unwrap(dlpackgen::managed_of(Eigen::VectorXd::Ones(n))); }

Managed nothing(TensorView) { return Managed(); }

// Exceptions of these headers, through a class that they do not know.
class Other : public dlpackgen::Raised {
 public:
  explicit Other(const char* name) noexcept : name_(name) {}
  const char* class_name() const noexcept override { return name_; }
  const char* what() const noexcept override { return "another"; }

 private:
  const char* name_;
};

void fails(TensorView x, int how) {
  if (how == 0) unwrap(dlpackgen::map_of<Eigen::MatrixXf>(x));
  if (how == 1) throw std::out_of_range("beyond the end");
  if (how == 2) throw std::bad_alloc();
  if (how == 3) dlpackgen::throw_if_error(ErrorCode::no_memory);
  if (how == 4) dlpackgen::throw_if_error(ErrorCode::callee_failed);
  if (how == 5) throw Other("OverflowError");
  if (how == 6) throw Other("IndexError");
  if (how == 7) throw Other("Unheard");
}

bool has_gil(TensorView) { return PyGILState_Check() != 0; }

// Functions that use python.hpp directly

library::object checked(PyObject* made) {
  if (made == nullptr) throw Failed();
  return owned(made);
}

double sum_of(library::handle x) {
  const Managed tensor = unwrap(dlpackgen::from_object(x.ptr()));
  return unwrap(dlpackgen::map_of<const double>(tensor.view())).sum();
}

void zero(library::handle x) {
  auto map = unwrap(dlpackgen::own_map_of<double>(unwrap(dlpackgen::from_object(x.ptr(), Access::write))));
  map.setZero();
}

// The tensor outlives its object, and is freed on a thread without the GIL.
double later(library::object x) {
  Managed tensor = unwrap(dlpackgen::from_object(x.ptr()));
  x = library::object();
  const double sum = unwrap(dlpackgen::map_of<const double>(tensor.view())).sum();
  Py_BEGIN_ALLOW_THREADS;
  tensor.reset();
  Py_END_ALLOW_THREADS;
  return sum;
}

library::object echo(library::handle x) {
  return checked(dlpackgen::to_object(unwrap(dlpackgen::from_object(x.ptr()))));
}

library::object like(library::handle x, library::handle other) {
  return checked(dlpackgen::to_object(unwrap(dlpackgen::from_object(x.ptr())), other.ptr()));
}

library::object capsule(library::handle x, library::dict keywords) {
  return checked(dlpackgen::to_capsule(unwrap(dlpackgen::from_object(x.ptr())), keywords.ptr()));
}

library::object empty() { return checked(dlpackgen::to_object(Managed())); }
library::object empty_like(library::handle x) { return checked(dlpackgen::to_object(Managed(), x.ptr())); }

// A mistake in the arguments of def() raises an exception when the module is created.
template <class Function, class... Names>
bool rejects(library::module_& m, const char* says, Function function, Names... names) {
  try {
    dlpackgen::def(m, "mistaken", function, names...);
  } catch (const std::invalid_argument& e) {
    return std::string(e.what()) == says;
  }
  return false;
}

}  // namespace

MODULE(more, m) {
  library::register_exception_translator(dlpackgen::exception_translator);
  dlpackgen::def(m, "rank", &rank, "any", "The number of dimensions.");
  dlpackgen::def(m, "total", &total, "flat");
  dlpackgen::def(m, "fill", &fill, "rows", library::arg("value") = 7);
  dlpackgen::def(m, "gram", &gram, "a[m, n]");
  dlpackgen::def(m, "trace", &trace, "a");
  dlpackgen::def(m, "named", &named, "name", "a[n, 3]", "times");
  dlpackgen::def(m, "halves", &halves, "x");
  dlpackgen::def(m, "sum_by", &sum_by, "columns");
  dlpackgen::def(m, "doubled", &doubled, "rows");
  dlpackgen::def(m, "shifted", &shifted, "x[n]", "by[n]");
  dlpackgen::def(m, "either", &either, "x", "y");
  library::class_<Scaler> scaler(m, "Scaler");
  scaler.def(library::init<double>());
  dlpackgen::def(scaler, "scaled", &Scaler::scaled, "x[n]", library::arg("more") = 1, "Scales x.");
  dlpackgen::def(scaler, "grow", &Scaler::grow, "x");
  dlpackgen::def(
      scaler, "both", [](Scaler&, TensorView x, TensorView y) { return x.size() + y.size(); }, "x[n]", "y[n]");
  dlpackgen::def(m, "approve", &approve, "x");
  dlpackgen::def(m, "count", &count, "x");
  dlpackgen::def(m, "ones", &ones, "n");
  dlpackgen::def(m, "nothing", &nothing, "x");
  dlpackgen::def(m, "fails", &fails, "x", "how");
  dlpackgen::def(m, "fails_without_gil", dlpackgen::without_gil(&fails), "x", "how");
  dlpackgen::def(m, "has_gil", &has_gil, "x");
  dlpackgen::def(m, "has_no_gil", dlpackgen::without_gil(&has_gil), "x");
  const double factor = 3;
  dlpackgen::def(m, "tripled", [factor](double x) { return factor * x; }, "x");
  dlpackgen::def(m, "same", [](MapOf<const double> a, MapOf<const double> b) { return a == b; }, "a[n, k]", "b[k, n]");
  dlpackgen::def(m, "none", [](TensorView x) { return x.size(); }, "x[0]");
  dlpackgen::def(m, "is_read_only", [](TensorView x) { return x.is_read_only(); }, "x");
  m.def("sum_of", &sum_of);
  m.def("zero", &zero);
  m.def("later", &later);
  m.def("echo", &echo);
  m.def("like", &like);
  m.def("capsule", &capsule);
  m.def("empty", &empty);
  m.def("empty_like", &empty_like);
  const auto two = [](TensorView a, TensorView b) { return a.ndim() + b.ndim(); };
  m.attr("rejections") =
      rejects(m, "mistaken(): \"a[n\": expected a name and extents, as x[m, n]", &trace, "a[n") &&
      rejects(m, "mistaken(): \"a[n]\": the type of the argument has a different number of dimensions", &trace,
              "a[n]") &&
      rejects(m, "mistaken(): \"a[n, -1]\": an extent is negative", &trace, "a[n, -1]") &&
      rejects(m, "mistaken(): \"a[n, ]\": expected a name or a number", &trace, "a[n, ]") &&
      rejects(m, "mistaken(): \"a[n, [m]\": expected a name or a number", &trace, "a[n, [m]") &&
      rejects(m, "mistaken(): \"a[n, m]]\": expected a name and extents, as x[m, n]", &trace, "a[n, m]]") &&
      rejects(m, "mistaken(): \"b[1,2,3,4,5,6,7,8,9]\": there are more than 8 extents", two, "a",
              "b[1,2,3,4,5,6,7,8,9]") &&
      rejects(m, "mistaken(): \"b[j]\": there are more than 8 names of extents", two, "a[a,b,c,d,e,f,g,h]", "b[j]");
}
