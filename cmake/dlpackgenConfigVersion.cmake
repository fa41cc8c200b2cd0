# The version of the package is that of the program. A build from a checkout, devel, has no version
# and takes the place of any.
include("${CMAKE_CURRENT_LIST_DIR}/dlpackgenProgram.cmake")
set(PACKAGE_VERSION "devel")
if(DLPACKGEN_EXECUTABLE)
  execute_process(COMMAND "${DLPACKGEN_EXECUTABLE}" version OUTPUT_VARIABLE PACKAGE_VERSION
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^dlpackgen v?([^ ]+).*" "\\1" PACKAGE_VERSION "${PACKAGE_VERSION}")
endif()
if(PACKAGE_VERSION STREQUAL "devel")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
elseif(NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
