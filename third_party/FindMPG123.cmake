# Finds libmpg123 (Debian's libmpg123-dev has a pkg-config file only) and defines MPG123::libmpg123, as its own CMake
# package does.
find_path(MPG123_INCLUDE_DIR mpg123.h)
find_library(MPG123_LIBRARY mpg123)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_MPG123 QUIET libmpg123)
  set(MPG123_VERSION "${PC_MPG123_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPG123
  REQUIRED_VARS MPG123_LIBRARY MPG123_INCLUDE_DIR
  VERSION_VAR MPG123_VERSION)
mark_as_advanced(MPG123_INCLUDE_DIR MPG123_LIBRARY)

if(MPG123_FOUND AND NOT TARGET MPG123::libmpg123)
  add_library(MPG123::libmpg123 UNKNOWN IMPORTED GLOBAL)
  set_target_properties(MPG123::libmpg123 PROPERTIES
    IMPORTED_LOCATION "${MPG123_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${MPG123_INCLUDE_DIR}")
endif()
