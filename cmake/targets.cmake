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
  # clang 14 makes no code of coroutines with this one: "Cannot represent a difference across sections".
  target_compile_options(encdec_build_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(encdec_build_options INTERFACE -fsanitize=${ENCDEC_SANITIZE})
endif()

# Sources include each other as users do: "encdec/engine/base/tensor.h". The links stand in for an installed tree.
foreach(folder IN ITEMS engine layers models)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include/encdec")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/include/encdec/${folder}" SYMBOLIC)
endforeach()

# What a library needs of those who use it, here and where it is installed.
function(encdec_interface target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
endfunction()

# libencdec, if there is to be one library: it exports the namespace encdec and nothing of what it is built on. Until
# 1.0 each minor version has another binary interface.
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
# A library encdec_NAME, known to users as encdec::NAME, installed with the package: a static one, or objects of
# libencdec, which encdec::NAME then is. Without sources it stands for those libraries.
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
