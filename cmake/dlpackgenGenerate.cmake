#[[
dlpackgen_generate(TARGET name
  [CONFIG file | NO_CONFIG] [SPEC file] [OUT folder] [DLPACK release] [PREFIX prefix] [ONLY target...])

Generates the files of a config during the build, and defines the INTERFACE library `name`. A target
that links to `name` finds the headers and is built after them. By default, CONFIG is dlpackgen.yaml
of the current source folder, and OUT the folder `name` of the current binary folder. In the
caller's scope, the lists `name`_OUTPUTS, `name`_HEADERS and `name`_UNITS hold the generated files.
`name`_UNITS are the C sources of the config's kernels.

Each of these targets also compiles one small file. The compilation fails if another dlpack.h, such
as that of a distribution, comes first in the target's include path.
]]
function(dlpackgen_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_CONFIG" "TARGET;CONFIG;SPEC;OUT;DLPACK;PREFIX" "ONLY")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_TARGET OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "dlpackgen_generate(TARGET name [CONFIG file | NO_CONFIG] [SPEC file] [OUT folder] "
                        "[DLPACK release] [PREFIX prefix] [ONLY target...]): ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  _dlpackgen_selection()
  _dlpackgen_list()

  set(base "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.dlpackgen")
  set(command "${DLPACKGEN_EXECUTABLE}" generate --quiet ${selection} --stamp "${base}.stamp" --depfile "${base}.d")
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    list(APPEND command --depfile-outputs) # make ignores byproducts
  endif()
  set(depfile)
  if(CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(depfile DEPFILE "${base}.d")
  endif()
  # Only the stamp is OUTPUT: the rules for make would set a new time for every other one.
  add_custom_command(OUTPUT "${base}.stamp" BYPRODUCTS ${DLPACKGEN_OUTPUTS} COMMAND ${command}
    DEPENDS ${DLPACKGEN_INPUTS} "${DLPACKGEN_EXECUTABLE}" ${depfile}
    COMMENT "Generating ${arg_TARGET} with dlpackgen" VERBATIM)
  set_source_files_properties(${DLPACKGEN_UNITS} PROPERTIES GENERATED TRUE)
  _dlpackgen_library()
  foreach(list OUTPUTS HEADERS UNITS)
    set(${arg_TARGET}_${list} "${DLPACKGEN_${list}}" PARENT_SCOPE)
  endforeach()
endfunction()

# Sets `selection`, the flags that generate and list outputs share. Paths are absolute.
macro(_dlpackgen_selection)
  set(selection)
  if(arg_NO_CONFIG)
    list(APPEND selection --no-config)
  else()
    if(NOT arg_CONFIG)
      set(arg_CONFIG dlpackgen.yaml)
    endif()
    get_filename_component(arg_CONFIG "${arg_CONFIG}" ABSOLUTE)
    list(APPEND selection --config "${arg_CONFIG}")
  endif()
  if(arg_SPEC)
    get_filename_component(arg_SPEC "${arg_SPEC}" ABSOLUTE)
    list(APPEND selection --spec "${arg_SPEC}")
  endif()
  if(NOT arg_OUT)
    set(arg_OUT "${arg_TARGET}")
  endif()
  get_filename_component(arg_OUT "${arg_OUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  list(APPEND selection --out "${arg_OUT}")
  if(arg_DLPACK)
    list(APPEND selection --dlpack "${arg_DLPACK}")
  endif()
  if(arg_PREFIX)
    list(APPEND selection --prefix "${arg_PREFIX}")
  endif()
  if(arg_ONLY)
    string(REPLACE ";" "," only "${arg_ONLY}")
    list(APPEND selection --only "${only}")
  endif()
endmacro()

# Sets the lists of `list outputs`. If an input changes, CMake configures the project again.
macro(_dlpackgen_list)
  set(list_file "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.dlpackgen.cmake")
  execute_process(COMMAND "${DLPACKGEN_EXECUTABLE}" list outputs --format cmake ${selection}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_FILE "${list_file}"
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "dlpackgen list outputs failed (${result}):\n${errors}")
  endif()
  include("${list_file}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${DLPACKGEN_INPUTS} "${DLPACKGEN_EXECUTABLE}")
endmacro()

# Defines the INTERFACE library.
macro(_dlpackgen_library)
  add_custom_target(${arg_TARGET}_generate DEPENDS "${base}.stamp")
  add_library(${arg_TARGET} INTERFACE)
  add_dependencies(${arg_TARGET} ${arg_TARGET}_generate)
  target_include_directories(${arg_TARGET} INTERFACE ${DLPACKGEN_INCLUDE_DIRECTORIES})
  # No test runs MSVC. Without these flags, it compiles C as C89 and defines __cplusplus as 199711.
  target_compile_options(${arg_TARGET} INTERFACE
    "$<$<COMPILE_LANG_AND_ID:C,MSVC>:/std:c11>" "$<$<COMPILE_LANG_AND_ID:CXX,MSVC>:/Zc:__cplusplus>")
  if(DLPACKGEN_HEADERS MATCHES "/([a-z0-9_]*)dlpackgen/abi_check\\.h")
    set(prefix "${CMAKE_MATCH_1}")
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("C" IN_LIST languages)
      set(check dlpackgen_include_check.c)
    else()
      set(check dlpackgen_include_check.cpp)
    endif()
    configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/dlpackgen_include_check.c.in"
      "${CMAKE_CURRENT_BINARY_DIR}/${check}" @ONLY)
    target_sources(${arg_TARGET} INTERFACE "${CMAKE_CURRENT_BINARY_DIR}/${check}")
  endif()
endmacro()
