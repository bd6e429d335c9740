# Finds the header of xxHash (Debian's libxxhash-dev has a pkg-config file only) and defines XXHash::XXHash. The library
# itself is not needed: the header holds all of it.
find_path(XXHash_INCLUDE_DIR xxhash.h)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_XXHash QUIET libxxhash)
  set(XXHash_VERSION "${PC_XXHash_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XXHash
  REQUIRED_VARS XXHash_INCLUDE_DIR
  VERSION_VAR XXHash_VERSION)
mark_as_advanced(XXHash_INCLUDE_DIR)

if(XXHash_FOUND AND NOT TARGET XXHash::XXHash)
  add_library(XXHash::XXHash INTERFACE IMPORTED GLOBAL)
  target_include_directories(XXHash::XXHash INTERFACE "${XXHash_INCLUDE_DIR}")
endif()
