# Selects the slices of a build. A slice adds one more use of a model, in a separate folder, such as tools/speech. The
# option ENCDEC_SLICES lists the slices to build. Add a new slice to all_slices; deleted folders are skipped. Sets
# - encdec_slices: the slices of this build, in alphabetical order
# - encdec_left_out_slices: the other slices, which `encdec --help` lists as missing
set(all_slices encoders speech translation)
set(present_slices "")
foreach(slice IN LISTS all_slices)
  if(EXISTS "${PROJECT_SOURCE_DIR}/tools/${slice}/CMakeLists.txt")
    list(APPEND present_slices ${slice})
  endif()
endforeach()
set(ENCDEC_SLICES ALL CACHE STRING "Further uses of models: ALL, or a list of ${present_slices}; empty: generation alone")
set(encdec_slices ${ENCDEC_SLICES})
if(ENCDEC_SLICES STREQUAL "ALL")
  set(encdec_slices ${present_slices})
endif()
foreach(slice IN LISTS encdec_slices)
  if(NOT slice IN_LIST present_slices)
    message(FATAL_ERROR "ENCDEC_SLICES has '${slice}', expected ALL or a list of ${present_slices}")
  endif()
endforeach()
list(SORT encdec_slices)
list(REMOVE_DUPLICATES encdec_slices)
set(encdec_left_out_slices ${all_slices})
list(REMOVE_ITEM encdec_left_out_slices ${encdec_slices})

# Hosts loop over the slices by including slices.inc, which has a line ENCDEC_SLICE(name) for each slice.
list(TRANSFORM encdec_slices REPLACE "(.+)" "ENCDEC_SLICE(\\1)\n" OUTPUT_VARIABLE rows)
list(JOIN rows "" rows)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/slices/slices.inc" CONTENT "${rows}")

# encdec_add_to(HOST SOURCES file... [LIBRARIES library...]): adds sources of a slice, and the libraries that they need, to
# a host: command, server, python, command_tests, server_tests or docs (headers for the C++ reference).
function(encdec_add_to host)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_property(GLOBAL APPEND PROPERTY ENCDEC_${host}_SOURCES ${ARG_SOURCES})
  set_property(GLOBAL APPEND PROPERTY ENCDEC_${host}_LIBRARIES ${ARG_LIBRARIES})
endfunction()

# encdec_take_slices(TARGET HOST): compiles the sources that slices have added to a host into its target. This works
# because tools/CMakeLists.txt adds the slices before the hosts.
function(encdec_take_slices target host)
  get_property(sources GLOBAL PROPERTY ENCDEC_${host}_SOURCES)
  get_property(libraries GLOBAL PROPERTY ENCDEC_${host}_LIBRARIES)
  target_sources(${target} PRIVATE ${sources})
  target_link_libraries(${target} PRIVATE ${libraries})
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/slices")
endfunction()
