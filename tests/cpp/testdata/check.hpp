// Counts checks, and prints failed ones.
#ifndef DLPACKGEN_TESTS_CHECK_HPP_
#define DLPACKGEN_TESTS_CHECK_HPP_

#include <cstdio>
#include <cstdlib>

namespace testing {

inline long checked = 0;
inline long failed = 0;

inline void check(bool holds, const char* file, int line, const char* text) {
  ++checked;
  if (holds) return;
  if (++failed <= 20) std::printf("%s:%d: %s\n", file, line, text);
}

// The result of main.
inline int report() {
  std::printf("%ld checks, %ld failed\n", checked, failed);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace testing

#define CHECK(...) testing::check(static_cast<bool>(__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)

#endif  // DLPACKGEN_TESTS_CHECK_HPP_
