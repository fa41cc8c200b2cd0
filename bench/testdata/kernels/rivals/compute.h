// The computations of the kernels. These lines count for none of the three libraries.
#pragma once

#include <cmath>
#include <cstdint>

template <typename T>
void compute_axpy(T a, const T* x, T* y, std::int64_t size) {
  for (std::int64_t i = 0; i < size; i++) y[i] += a * x[i];
}

template <typename T>
void compute_softmax(const T* x, T* y, std::int64_t size, std::int64_t n) {
  for (std::int64_t row = 0; row < size; row += n) {
    T most = x[row], sum = 0;
    for (std::int64_t i = row; i < row + n; i++) most = x[i] > most ? x[i] : most;
    for (std::int64_t i = row; i < row + n; i++) sum += y[i] = std::exp(x[i] - most);
    for (std::int64_t i = row; i < row + n; i++) y[i] /= sum;
  }
}
