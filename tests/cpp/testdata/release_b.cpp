// The other half: it uses both releases in one source file; dlpackgen refers to the first one.
#include RELEASE_B
#include RELEASE_A

#include <cstring>
#include <type_traits>
#include <utility>

#include "check.hpp"

dlpackgen::NAMESPACE_A::Managed make_by_a();
const char* name_of_a();

int main() {
  static_assert(std::is_same<dlpackgen::Managed, dlpackgen::NAMESPACE_B::Managed>::value, "the first one is meant");
  static_assert(!std::is_same<dlpackgen::Managed, dlpackgen::NAMESPACE_A::Managed>::value, "they are two types");
  CHECK(std::strcmp(name_of_a(), dlpackgen::NAMESPACE_A::dlpack_release) == 0);
  CHECK(std::strcmp(name_of_a(), dlpackgen::dlpack_release) != 0);
  dlpackgen::NAMESPACE_A::Managed theirs = make_by_a();
  dlpackgen::Managed ours = *dlpackgen::Managed::from_raw(theirs.release());  // through the common struct
  CHECK(ours.view().size() == 6 && ours.get()->version.minor == dlpackgen::NAMESPACE_A::abi_version.minor);
  return testing::report();
}
