# The package dlpackgen: finds the program, and defines dlpackgen_generate().
cmake_minimum_required(VERSION 3.20)
include("${CMAKE_CURRENT_LIST_DIR}/dlpackgenProgram.cmake")
if(NOT DLPACKGEN_EXECUTABLE)
  set(dlpackgen_FOUND FALSE)
  set(dlpackgen_NOT_FOUND_MESSAGE
      "the program dlpackgen was not found: install it, or pass -DDLPACKGEN_EXECUTABLE=/path/to/dlpackgen")
  return()
endif()
if(NOT TARGET dlpackgen::dlpackgen)
  add_executable(dlpackgen::dlpackgen IMPORTED GLOBAL)
  set_target_properties(dlpackgen::dlpackgen PROPERTIES IMPORTED_LOCATION "${DLPACKGEN_EXECUTABLE}")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/dlpackgenGenerate.cmake")
