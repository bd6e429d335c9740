# Defines the build options of all targets, and the function that declares a library.

# Warnings and sanitizers, only for encdec's own code: this target is not exported.
# -ffp-contract=off: compilers must not fuse products and sums on their own, because two copies of one loop could then
# round differently, and a result would depend on the other rows of its batch. Kernels use fused multiply-add explicitly.
add_library(encdec_build_options INTERFACE)
target_compile_options(encdec_build_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
  # In a unity build, gcc 12 for arm64 warns that the type of a local lambda in a coroutine has no linkage.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
  -ffp-contract=off
  $<$<BOOL:${ENCDEC_WARNINGS_AS_ERRORS}>:-Werror>)
if(ENCDEC_SANITIZE)
  target_compile_options(encdec_build_options INTERFACE
    -fsanitize=${ENCDEC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # clang 14 cannot compile coroutines with -fsanitize=function: "Cannot represent a difference across sections".
  target_compile_options(encdec_build_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(encdec_build_options INTERFACE -fsanitize=${ENCDEC_SANITIZE})
endif()

# Sources include headers as users do: "encdec/engine/base/tensor.h". These symlinks imitate an installed tree.
list(TRANSFORM encdec_slices PREPEND tools/ OUTPUT_VARIABLE folders)
foreach(folder IN ITEMS engine layers models ${folders})
  cmake_path(GET folder FILENAME name)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include/encdec")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/include/encdec/${name}" SYMBOLIC)
endforeach()

# Sets the properties that users of a library need, in the build tree and after installation.
function(encdec_interface target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
endfunction()

# libencdec, the only shared library. It exports the namespace encdec and no symbols of its dependencies. Before version
# 1.0 each minor version has a different binary interface.
if(BUILD_SHARED_LIBS)
  add_library(encdec_shared SHARED)
  encdec_interface(encdec_shared)
  set_target_properties(encdec_shared PROPERTIES
    OUTPUT_NAME encdec
    EXPORT_NAME encdec
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(NOT APPLE)
    set(exports "${CMAKE_CURRENT_LIST_DIR}/libencdec.map")
    target_link_options(encdec_shared PRIVATE "LINKER:--version-script=${exports}")
    set_target_properties(encdec_shared PROPERTIES LINK_DEPENDS "${exports}")
  endif()
  set_property(GLOBAL PROPERTY ENCDEC_LIBRARIES encdec_shared)
endif()

# encdec_library(NAME [SOURCES file...] [PUBLIC library...] [PRIVATE library...])
# Declares the library encdec_NAME with the public name encdec::NAME, and adds it to the installed package.
# Static builds: a static library or, without sources, an interface library that links the PUBLIC libraries.
# Shared builds: object files of libencdec; encdec::NAME is an alias of libencdec.
function(encdec_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(library encdec_${name})
  if(BUILD_SHARED_LIBS)
    add_library(encdec::${name} ALIAS encdec_shared)
    if(NOT ARG_SOURCES)
      return()
    endif()
    add_library(${library} OBJECT ${ARG_SOURCES})
    set(others ${ARG_PUBLIC})
    list(FILTER others EXCLUDE REGEX "^encdec_")
    target_link_libraries(encdec_shared PUBLIC ${others} PRIVATE ${library})
  else()
    if(ARG_SOURCES)
      add_library(${library} STATIC ${ARG_SOURCES})
    else()
      add_library(${library} INTERFACE)
    endif()
    add_library(encdec::${name} ALIAS ${library})
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
    set_property(GLOBAL APPEND PROPERTY ENCDEC_LIBRARIES ${library})
  endif()
  if(NOT ARG_SOURCES)
    target_link_libraries(${library} INTERFACE ${ARG_PUBLIC})
    return()
  endif()
  encdec_interface(${library})
  target_link_libraries(${library}
    PUBLIC ${ARG_PUBLIC}
    PRIVATE $<BUILD_INTERFACE:encdec_build_options> ${ARG_PRIVATE})
endfunction()
