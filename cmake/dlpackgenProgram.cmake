# Finds the program where archives, Debian's package and wheels (in an environment, or by pip
# --target) have it from here, and then where CMake looks for programs.
find_program(DLPACKGEN_EXECUTABLE dlpackgen NAMES_PER_DIR
  HINTS "${CMAKE_CURRENT_LIST_DIR}/.." "${CMAKE_CURRENT_LIST_DIR}/../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../bin"
    "${CMAKE_CURRENT_LIST_DIR}/../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin"
    "${CMAKE_CURRENT_LIST_DIR}/../../../../Scripts"
  DOC "the program dlpackgen"
  NO_CMAKE_FIND_ROOT_PATH)
