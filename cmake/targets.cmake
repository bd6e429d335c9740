# What every target of this project is built with, and the one function that declares a library.

# Warnings and sanitizers: for our own code only, never exported.
# Compilers must not fuse a product and a sum where they see fit: two copies of one loop could then round differently,
# and a result would depend on its neighbours. Where kernels want a fused multiply-add, they say so.
add_library(encdec_build_options INTERFACE)
target_compile_options(encdec_build_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -ffp-contract=off
  $<$<BOOL:${ENCDEC_WARNINGS_AS_ERRORS}>:-Werror>)
if(ENCDEC_SANITIZE)
  target_compile_options(encdec_build_options INTERFACE
    -fsanitize=${ENCDEC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(encdec_build_options INTERFACE -fsanitize=${ENCDEC_SANITIZE})
endif()

# Sources include each other as users do: "encdec/engine/tensor.h". The links stand in for an installed tree.
foreach(folder IN ITEMS engine layers models)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include/encdec")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/include/encdec/${folder}" SYMBOLIC)
endforeach()

# encdec_library(NAME SOURCES file... [PUBLIC library...] [PRIVATE library...])
# A static library encdec_NAME, known to users as encdec::NAME, installed with the package.
function(encdec_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(encdec_${name} STATIC ${ARG_SOURCES})
  add_library(encdec::${name} ALIAS encdec_${name})
  set_target_properties(encdec_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(encdec_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(encdec_${name} PUBLIC cxx_std_20)
  target_link_libraries(encdec_${name}
    PUBLIC ${ARG_PUBLIC}
    PRIVATE $<BUILD_INTERFACE:encdec_build_options> ${ARG_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY ENCDEC_LIBRARIES encdec_${name})
endfunction()
