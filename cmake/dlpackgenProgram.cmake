# Finds the program: beside this package, as archives, Debian's package and the wheel have it, and
# then where CMake looks for programs.
find_program(DLPACKGEN_EXECUTABLE dlpackgen NAMES_PER_DIR
  HINTS "${CMAKE_CURRENT_LIST_DIR}/.." "${CMAKE_CURRENT_LIST_DIR}/../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../bin"
  DOC "the program dlpackgen"
  NO_CMAKE_FIND_ROOT_PATH)
