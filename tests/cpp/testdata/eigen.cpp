// Exports Eigen matrices, which are column-major unless their type specifies otherwise.
#include <dlpackgen/array_view.hpp>
#include <dlpackgen/builder.hpp>
#include <dlpackgen/message.hpp>

#include <eigen3/Eigen/Dense>
#include <memory>
#include <string>
#include <utility>

#include "check.hpp"

using dlpackgen::array_of;
using dlpackgen::Builder;
using dlpackgen::ErrorCode;
using dlpackgen::Managed;

template <class Matrix>
static Matrix counted() {
  Matrix matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  return matrix;
}

static bool has_all(const Managed& tensor) {
  const auto a = array_of<const double, 2>(tensor.view());
  bool good = a && a->extent(0) == 2 && a->extent(1) == 3;
  for (int i = 0; good && i < 6; ++i) good = (*a)(i / 3, i % 3) == i + 1;
  return good;
}

template <class Matrix>
static void of_either_order() {
  const auto own = Builder().build(counted<Matrix>());
  CHECK(own && has_all(*own));
  const auto named = Builder().shape({2, 3}).build(counted<Matrix>());
  CHECK(named && has_all(*named));
  Matrix matrix = counted<Matrix>();
  double* const data = matrix.data();
  const auto given = Builder(data).shape({2, 3}).build(std::move(matrix));
  CHECK(Matrix::SizeAtCompileTime != Eigen::Dynamic ||
        (given && has_all(*given)));  // a fixed-size matrix moves with its data
  const auto flat = Builder().shape({6}).build(counted<Matrix>());
  CHECK(Matrix::IsRowMajor ? static_cast<bool>(flat) : flat.code() == ErrorCode::layout);
  const auto turned = Builder().shape({3, 2}).build(counted<Matrix>());
  CHECK(Matrix::IsRowMajor ? static_cast<bool>(turned) : turned.code() == ErrorCode::layout);
  CHECK(Builder().shape({6}).strides({1}).build(counted<Matrix>()));  // explicit strides take precedence
}

template <class Matrix>
static std::unique_ptr<Matrix> allocated() {
  return std::make_unique<Matrix>(counted<Matrix>());
}

static void behind_a_pointer() {
  static double other[6] = {1, 2, 3, 4, 5, 6};
  auto matrix = allocated<Eigen::MatrixXd>();
  double* const data = matrix->data();
  CHECK(Builder(data).shape({2, 3}).build(std::move(matrix)).code() == ErrorCode::layout);
  const auto given = Builder(data).shape({2, 3}).strides({1, 2}).build(std::move(matrix));
  CHECK(given && has_all(*given));
  const auto elsewhere = Builder(other).shape({2, 3}).build(allocated<Eigen::MatrixXd>());
  CHECK(elsewhere && has_all(*elsewhere));
  const auto nowhere = Builder(other).shape({2, 3}).build(std::unique_ptr<Eigen::MatrixXd>());
  CHECK(nowhere && has_all(*nowhere));
  auto by_rows = allocated<Eigen::Matrix<double, 2, 3, Eigen::RowMajor>>();
  double* const rows = by_rows->data();
  const auto ordered = Builder(rows).shape({2, 3}).build(std::move(by_rows));
  CHECK(ordered && has_all(*ordered));
}

static void vectors_and_maps() {
  const auto vector = Builder().build(Eigen::VectorXf(5));
  CHECK(vector && vector->view().ndim() == 1 && vector->view().shape(0) == 5);
  const auto row = Builder().build(Eigen::RowVectorXi(4));
  CHECK(row && row->view().ndim() == 1 && row->view().stride(0) == 1);
  const auto column = Builder().shape({5, 1}).build(Eigen::MatrixXd(5, 1));
  CHECK(column && column->view().shape(0) == 5);
  const auto empty = Builder().build(Eigen::MatrixXd(0, 3));
  CHECK(empty && empty->view().size() == 0 && empty->view().ndim() == 2);
  static double padded[12] = {1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0, 0};
  using Padded = Eigen::Map<Eigen::Matrix<double, 2, 3>, 0, Eigen::OuterStride<>>;
  const auto map = Builder().build(Padded(padded, Eigen::OuterStride<>(4)));
  CHECK(map && has_all(*map) && map->view().stride(1) == 4);
}

int main() {
  of_either_order<Eigen::MatrixXd>();
  of_either_order<Eigen::Matrix<double, 2, 3>>();
  of_either_order<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>();
  vectors_and_maps();
  behind_a_pointer();
  const auto rejected = Builder().shape({6}).build(counted<Eigen::MatrixXd>());
  CHECK(dlpackgen::Message(rejected.error()).c_str() ==
        std::string("the owner's elements are not in row-major order: set the strides"));
  return testing::report();
}
