/**
 * \file arguments.hpp
 * The arguments of a kernel during a call.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_ARGUMENTS_HPP_
#define DLPACKGEN_V0_0_PYTORCH_ARGUMENTS_HPP_

#include "base.hpp"

#include <dlpackgen/checker.h>

#include <cstddef>
#include <utility>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// The description of one argument in messages.
struct Site {
  const char* kernel;
  const char* argument;
  std::size_t number;
};

// A message of the checker under construction: the same as in Python modules.
class Sentence {
 public:
  explicit Sentence(const Site& site) : at_{site.kernel, site.argument, static_cast<int>(site.number)} {}
  Sentence(const Sentence&) = delete;
  Sentence& operator=(const Sentence&) = delete;

  const dlpackgen_site* at() const noexcept { return &at_; }
  dlpackgen_message* message() noexcept { return &message_; }
  const char* text() const noexcept { return text_; }

  // Begins a message that the checker does not have.
  Sentence& begin() {
    dlpackgen_put_site(&message_, &at_);
    return *this;
  }

 private:
  char text_[4096];
  dlpackgen_site at_;
  dlpackgen_message message_ = dlpackgen_message_in(text_, sizeof text_);
};

template <class K, std::size_t I>
inline constexpr Site site = {K::name, K::arguments[I], I};

// An argument at an index, as Passed stores it.
template <template <class> class Passed, std::size_t I, class A>
struct Slot {
  Passed<A> passed;
};

template <class K, template <class> class Passed, class Indices, class... A>
struct Arguments;

// All arguments of a call, each constructed in place: a tuple would move them. Written arguments
// come first, because they separate copy-on-write memory. Arguments that only read the same storage
// must be read afterwards, at its new address.
template <class K, template <class> class Passed, std::size_t... I, class... A>
struct Arguments<K, Passed, std::index_sequence<I...>, A...> : Slot<Passed, I, A>... {
  template <class First>
  Arguments(const First& first, A... from) {
    (read<true, I, A>(first, from), ...);
    (read<false, I, A>(first, from), ...);
  }

 private:
  template <bool writes, std::size_t J, class B, class First>
  void read([[maybe_unused]] const First& first, [[maybe_unused]] B from) {
    if constexpr (Passed<B>::writes == writes) {
      static_cast<Slot<Passed, J, B>&>(*this).passed.read(site<K, J>, first, from);
    }
  }
};

}  // namespace detail
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_ARGUMENTS_HPP_
