# Finds librsvg-2.0, with cairo and what it needs, and defines LibRSVG::LibRSVG. Debian's librsvg2-dev has pkg-config
# files only.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(LibRSVG_PC QUIET IMPORTED_TARGET GLOBAL librsvg-2.0)
  set(LibRSVG_VERSION "${LibRSVG_PC_VERSION}")
  set(LibRSVG_LIBRARIES "${LibRSVG_PC_LINK_LIBRARIES}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibRSVG
  REQUIRED_VARS LibRSVG_LIBRARIES
  VERSION_VAR LibRSVG_VERSION)

if(LibRSVG_FOUND AND NOT TARGET LibRSVG::LibRSVG)
  add_library(LibRSVG::LibRSVG ALIAS PkgConfig::LibRSVG_PC)
endif()
