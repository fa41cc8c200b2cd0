// Tensors as Eigen maps: every order, every sign of strides, and rejections.
#include <dlpackgen/complex.hpp>
#include <dlpackgen/eigen.hpp>
#include <dlpackgen/message.hpp>

#include <complex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.hpp"

using dlpackgen::assigns_elements;
using dlpackgen::Builder;
using dlpackgen::Error;
using dlpackgen::ErrorCode;
using dlpackgen::Managed;
using dlpackgen::managed_of;
using dlpackgen::map_of;
using dlpackgen::MapOf;
using dlpackgen::own_map_of;
using dlpackgen::OwnedMap;
using dlpackgen::TensorView;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

static double numbers[64];

// A tensor of numbers, from an offset on.
static Managed tensor(std::initializer_list<std::int64_t> shape, std::initializer_list<std::int64_t> strides,
                      std::uint64_t offset = 0) {
  for (int i = 0; i < 64; ++i) numbers[i] = i;
  auto made = Builder(numbers).shape(shape).strides(strides).byte_offset(offset * sizeof(double)).build();
  CHECK(made);
  return std::move(*made);
}

static std::string text(const Error& error) { return dlpackgen::Message(error).c_str(); }

// The map has the same elements as Eigen's own copy.
template <class T>
static void shows(const TensorView& view, const Eigen::MatrixXd& same) {
  const auto map = map_of<T>(view);
  CHECK(map && map->rows() == same.rows() && map->cols() == same.cols() && *map == same && map->row(1) == same.row(1));
}

// The same for expressions over it.
static void computes(const TensorView& view, const Eigen::MatrixXd& same) {
  const auto map = map_of<const Eigen::MatrixXd>(view);
  const Eigen::MatrixXd right = Eigen::MatrixXd::Random(same.cols(), 4);
  const Eigen::VectorXd vector = Eigen::VectorXd::Random(same.cols());
  CHECK(map && map->sum() == same.sum());
  CHECK((*map * right).isApprox(same * right) && (*map * vector).isApprox(same * vector));
}

static Eigen::MatrixXd counted(double first, double by_row, double by_column) {
  Eigen::MatrixXd made(2, 3);
  for (int i = 0; i < 6; ++i) made(i / 3, i % 3) = first + i / 3 * by_row + i % 3 * by_column;
  return made;
}

static void of_any_strides() {
  struct {
    std::int64_t row, column;
    std::uint64_t offset;
  } const all[] = {{3, 1, 0}, {1, 2, 5}, {-3, 1, 9}, {3, -1, 9}, {-3, -1, 20}, {20, 7, 1}, {1, 20, 2}, {-1, -4, 40}};
  for (const auto& a : all) {
    const Managed t = tensor({2, 3}, {a.row, a.column}, a.offset);
    const Eigen::MatrixXd same =
        counted(static_cast<double>(a.offset), static_cast<double>(a.row), static_cast<double>(a.column));
    computes(t.view(), same);
    shows<Eigen::MatrixXd>(t.view(), same);
    shows<RowMajor>(t.view(), same);
    shows<double>(t.view(), same);
    shows<Eigen::Matrix<double, 2, 3>>(t.view(), same);
    auto map = map_of<Eigen::MatrixXd>(t.view());
    *map = same * 2;
    CHECK(numbers[a.offset] == 2.0 * static_cast<double>(a.offset) && *map == same * 2);
  }
  for (const auto& still : {tensor({2, 3}, {0, 1}, 4), tensor({2, 3}, {1, 0}, 4), tensor({2, 3}, {0, 0}, 4)}) {
    const auto& view = still.view();
    computes(view, counted(4, static_cast<double>(view.stride(0)), static_cast<double>(view.stride(1))));
    CHECK(map_of<Eigen::MatrixXd>(view).code() == ErrorCode::overlap);
  }
}

static void lines() {
  for (const std::int64_t step : {1, 3, -2}) {
    const Managed t = tensor({4}, {step}, 10);
    const Eigen::Vector4d same(10, 10 + static_cast<double>(step), 10 + 2 * static_cast<double>(step),
                               10 + 3 * static_cast<double>(step));
    const auto column = map_of<const Eigen::VectorXd>(t.view());
    const auto row = map_of<Eigen::RowVectorXd>(t.view());
    const auto fixed = map_of<Eigen::Vector4d>(t.view());
    const auto any = map_of<const double>(t.view());
    CHECK(column && row && fixed && any);
    CHECK(*column == same && row->transpose() == same && *fixed == same && *any == same && any->cols() == 1);
    CHECK(column->dot(same) == same.squaredNorm() && (Eigen::Matrix4d::Identity() * *column) == same);
    CHECK((*column * *row).isApprox(same * same.transpose()));
    MapOf<Eigen::Vector4d> other = *fixed;
    other[0] = -1;
    CHECK(numbers[10] == -1);
  }
  const Managed one = tensor({1}, {1}, 7);
  CHECK((*map_of<Eigen::Matrix<double, 1, 1>>(one.view()))(0, 0) == 7);
}

static void rejections() {
  const Managed t = tensor({2, 3}, {3, 1}), line = tensor({3}, {1}), cube = tensor({1, 2, 3}, {6, 3, 1});
  CHECK(text(map_of<Eigen::MatrixXd>(line.view()).error()) ==
        "the tensor has a different number of dimensions: expected 2, got 1");
  CHECK(text(map_of<Eigen::VectorXd>(t.view()).error()) ==
        "the tensor has a different number of dimensions: expected 1, got 2");
  CHECK(text(map_of<double>(cube.view()).error()) ==
        "the tensor has a different number of dimensions: expected 2, got 3");
  CHECK(text(map_of<Eigen::MatrixXf>(t.view()).error()) ==
        "the elements have a different type: expected float32, got float64");
  CHECK(text(map_of<Eigen::MatrixXcd>(t.view()).error()) ==
        "the elements have a different type: expected complex128, got float64");
  CHECK(text(map_of<Eigen::Matrix2d>(t.view()).error()) ==
        "a dimension has a different extent: expected 2, got 3, in dimension 1");
  CHECK(text(map_of<Eigen::Matrix3d>(t.view()).error()) ==
        "a dimension has a different extent: expected 3, got 2, in dimension 0");
  CHECK(text(map_of<Eigen::RowVector2d>(line.view()).error()) ==
        "a dimension has a different extent: expected 2, got 3, in dimension 0");
  CHECK(text(map_of<Eigen::Vector2d>(line.view()).error()) ==
        "a dimension has a different extent: expected 2, got 3, in dimension 0");
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 2, 2>;
  CHECK(map_of<Small>(t.view()).code() == ErrorCode::extent_mismatch);
  const auto fixed = Builder(static_cast<const double*>(numbers)).shape({2, 3}).build();
  CHECK(text(map_of<Eigen::MatrixXd>(fixed->view()).error()) == "the tensor is read-only");
  CHECK(map_of<const Eigen::MatrixXd>(fixed->view()));
  const auto far = Builder(numbers).shape({2, 3}).device({kDLCUDA, 0}).build();
  CHECK(map_of<Eigen::MatrixXd>(far->view()).code() == ErrorCode::not_host_readable);
  DLTensor skew = t.view().raw();
  skew.byte_offset = 4;
  CHECK(map_of<Eigen::MatrixXd>(*TensorView::from_raw(&skew, 0)).code() == ErrorCode::misaligned);
}

static void empty_ones() {
  const Managed none = tensor({0, 3}, {3, 1});
  const auto map = map_of<Eigen::MatrixXd>(none.view());
  CHECK(map && map->rows() == 0 && map->cols() == 3 && map->sum() == 0);
  const Managed empty = tensor({0}, {1});
  const auto line = map_of<Eigen::VectorXd>(empty.view());
  CHECK(line && line->size() == 0);
  CHECK(MapOf<const float>().size() == 0 && MapOf<Eigen::VectorXd>().size() == 0);
}

static int freed = 0;

static Managed counted_tensor() {
  auto made = Builder(numbers).shape({2, 3}).build(dlpackgen::on_delete([] { ++freed; }));
  return std::move(*made);
}

static void owners() {
  {
    auto owned = own_map_of<Eigen::MatrixXd>(counted_tensor());
    CHECK(owned && freed == 0);
    OwnedMap<Eigen::MatrixXd> moved = std::move(*owned);
    CHECK(owned->size() == 0 && owned->data() == nullptr && !owned->tensor() && moved.data() == numbers);
    moved.setConstant(2);
    OwnedMap<Eigen::MatrixXd> other = *own_map_of<Eigen::MatrixXd>(counted_tensor());
    other = moved;  // elements, as in Eigen
    CHECK(freed == 0 && moved.tensor() && other.tensor() && numbers[5] == 2);
  }
  CHECK(freed == 2);
  Managed kept = counted_tensor();
  CHECK(own_map_of<Eigen::VectorXd>(std::move(kept)).code() == ErrorCode::ndim_mismatch && kept && freed == 2);
  CHECK(own_map_of<Eigen::VectorXd>(Managed()).code() == ErrorCode::null);
}

template <class Matrix>
static void gives_away() {
  Matrix matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  const double* const data = matrix.data();
  const Matrix same = matrix;
  const auto given = managed_of(std::move(matrix));
  CHECK(given && given->view().ndim() == 2 && *map_of<const double>(given->view()) == same);
  CHECK(Matrix::SizeAtCompileTime != Eigen::Dynamic || given->view().data() == data);  // not copied
  const auto sum = managed_of(same + same);
  CHECK(sum && *map_of<const double>(sum->view()) == same * 2);
  const auto block = managed_of(same.col(1));
  CHECK(block && block->view().ndim() == 1 && (*map_of<Eigen::Vector2d>(block->view()))(1) == 5);
}

static_assert(assigns_elements<MapOf<float>> && assigns_elements<OwnedMap<float>> && !assigns_elements<Managed>, "");
static_assert(!std::is_copy_assignable<dlpackgen::Result<MapOf<float>>>::value &&
                  std::is_move_assignable<dlpackgen::Result<Managed>>::value &&
                  std::is_trivially_copyable<dlpackgen::Result<int>>::value &&
                  sizeof(dlpackgen::Result<Managed>) == sizeof(Managed) + sizeof(Error),
              "a result of a map would assign its elements");
static_assert(std::is_nothrow_move_constructible<OwnedMap<Eigen::Matrix3d>>::value &&
                  !std::is_copy_constructible<OwnedMap<Eigen::Matrix3d>>::value,
              "an owner is not copied");

int main() {
  of_any_strides();
  lines();
  rejections();
  empty_ones();
  owners();
  gives_away<Eigen::MatrixXd>();
  gives_away<RowMajor>();
  gives_away<Eigen::Matrix<double, 2, 3>>();
  return testing::report();
}
