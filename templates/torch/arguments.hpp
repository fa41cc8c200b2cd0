/**
 * \file arguments.hpp
 * The arguments of a kernel while it runs, whichever ABI of torch gives them.
 */
#ifndef DLPACKGEN_V0_0_ATEN_ARGUMENTS_HPP_
#define DLPACKGEN_V0_0_ATEN_ARGUMENTS_HPP_

#include "base.hpp"

#include <cstddef>
#include <utility>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {
namespace detail {

// One argument: what messages say of it, and whether it may have strides.
struct Site {
  const char* kernel;
  const char* argument;
  std::size_t number;
  bool strided;
};

template <class K, std::size_t I>
inline constexpr Site site = {K::name, K::arguments[I], I, K::strided};

// An argument of a certain place, as Passed holds it.
template <template <class> class Passed, std::size_t I, class A>
struct Held {
  Passed<A> passed;
};

template <class K, template <class> class Passed, class Indices, class... A>
struct Arguments;

// All arguments of a call, each made in its place: a tuple would move them there. What is
// written to comes first: that separates memory which is shared until then (copy-on-write),
// and what is read of the same storage must be read where it lies afterwards.
template <class K, template <class> class Passed, std::size_t... I, class... A>
struct Arguments<K, Passed, std::index_sequence<I...>, A...> : Held<Passed, I, A>... {
  template <class Device>
  Arguments(Device device, A... from) {
    (take<true, I, A>(device, from), ...);
    (take<false, I, A>(device, from), ...);
  }

 private:
  template <bool writes, std::size_t J, class B, class Device>
  void take([[maybe_unused]] Device device, [[maybe_unused]] B from) {
    if constexpr (Passed<B>::writes == writes) {
      static_cast<Held<Passed, J, B>&>(*this).passed.take(site<K, J>, device, from);
    }
  }
};

}  // namespace detail
}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_ARGUMENTS_HPP_
