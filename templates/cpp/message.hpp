/**
 * \file message.hpp
 * The message of an error, with the mismatched values. It allocates no memory.
 */
#ifndef DLPACKGEN_V0_0_MESSAGE_HPP_
#define DLPACKGEN_V0_0_MESSAGE_HPP_

#include "dtype.hpp"
#include "error.hpp"

#include <cstddef>
#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** The text of an error: "the elements have a different type: expected float32, got int64". */
class Message {
 public:
  explicit Message(const Error& error) noexcept {
    add(error.text());
    if (error.code == ErrorCode::dtype_mismatch) {
      values([this](std::int64_t n) { type(n); }, error);
    } else if (error.expected != 0) {
      values([this](std::int64_t n) { number(n); }, error);
    } else if (error.got != 0) {
      add(": got ");
      number(error.got);
    }
    if (error.where >= 0) {
      add(", in dimension ");
      number(error.where);
    }
  }

  /** The text, valid as long as this object. */
  const char* c_str() const noexcept { return text_; }

 private:
  void add(const char* text) noexcept {
    while (*text != '\0' && length_ + 1 < sizeof text_) text_[length_++] = *text++;
    text_[length_] = '\0';
  }

  void number(std::int64_t n) noexcept {
    char digits[24];
    char* first = &digits[23];
    *first = '\0';
    std::uint64_t rest = n < 0 ? 0U - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    do {
      *--first = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (n < 0) *--first = '-';
    add(first);
  }

  // float32, or code 2 with 32 bits and 4 lanes.
  void type(std::int64_t packed) noexcept {
    const DLDataType dtype = from_number(packed);
    if (const char* const name = dtype_name(dtype)) return add(name);
    add("code ");
    number(dtype.code);
    add(" with ");
    number(dtype.bits);
    add(" bits and ");
    number(dtype.lanes);
    add(" lanes");
  }

  template <class Write>
  void values(Write write, const Error& error) noexcept {
    add(": expected ");
    write(error.expected);
    add(", got ");
    write(error.got);
  }

  std::size_t length_ = 0;
  char text_[192] = {};
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_MESSAGE_HPP_
