// One half of a program that uses the headers of two releases; see release_b.cpp.
#include RELEASE_A

#include <utility>
#include <vector>

dlpackgen::Managed make_by_a();
dlpackgen::Managed make_by_a() { return *dlpackgen::Builder().shape({2, 3}).build(std::vector<float>(6)); }

const char* name_of_a();
const char* name_of_a() { return dlpackgen::dlpack_release; }
