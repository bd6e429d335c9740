# Finds the utf8proc library and defines Utf8proc::Utf8proc. Debian's libutf8proc-dev has no CMake package, and a
# pkg-config file with the version of the binary interface, so the version is read from the header.
find_path(Utf8proc_INCLUDE_DIR utf8proc.h)
find_library(Utf8proc_LIBRARY utf8proc)

if(Utf8proc_INCLUDE_DIR)
  file(READ "${Utf8proc_INCLUDE_DIR}/utf8proc.h" Utf8proc_HEADER)
  if(Utf8proc_HEADER MATCHES "UTF8PROC_VERSION_MAJOR ([0-9]+).*UTF8PROC_VERSION_MINOR ([0-9]+)")
    set(Utf8proc_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  endif()
  unset(Utf8proc_HEADER)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Utf8proc
  REQUIRED_VARS Utf8proc_LIBRARY Utf8proc_INCLUDE_DIR
  VERSION_VAR Utf8proc_VERSION)
mark_as_advanced(Utf8proc_INCLUDE_DIR Utf8proc_LIBRARY)

if(Utf8proc_FOUND AND NOT TARGET Utf8proc::Utf8proc)
  add_library(Utf8proc::Utf8proc UNKNOWN IMPORTED GLOBAL)
  set_target_properties(Utf8proc::Utf8proc PROPERTIES
    IMPORTED_LOCATION "${Utf8proc_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Utf8proc_INCLUDE_DIR}")
endif()
