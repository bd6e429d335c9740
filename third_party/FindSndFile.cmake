# Finds libsndfile (Debian's libsndfile1-dev has a pkg-config file only) and defines SndFile::sndfile, as its own CMake
# package does.
find_path(SndFile_INCLUDE_DIR sndfile.h)
find_library(SndFile_LIBRARY sndfile)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_SndFile QUIET sndfile)
  set(SndFile_VERSION "${PC_SndFile_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SndFile
  REQUIRED_VARS SndFile_LIBRARY SndFile_INCLUDE_DIR
  VERSION_VAR SndFile_VERSION)
mark_as_advanced(SndFile_INCLUDE_DIR SndFile_LIBRARY)

if(SndFile_FOUND AND NOT TARGET SndFile::sndfile)
  add_library(SndFile::sndfile UNKNOWN IMPORTED GLOBAL)
  set_target_properties(SndFile::sndfile PROPERTIES
    IMPORTED_LOCATION "${SndFile_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${SndFile_INCLUDE_DIR}")
endif()
