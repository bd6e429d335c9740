# Finds Gumbo, an HTML5 parser, and defines Gumbo::gumbo. Debian's libgumbo-dev has a pkg-config file only.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(Gumbo_PC QUIET IMPORTED_TARGET GLOBAL gumbo)
  set(Gumbo_VERSION "${Gumbo_PC_VERSION}")
  set(Gumbo_LIBRARIES "${Gumbo_PC_LINK_LIBRARIES}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Gumbo
  REQUIRED_VARS Gumbo_LIBRARIES
  VERSION_VAR Gumbo_VERSION)

if(Gumbo_FOUND AND NOT TARGET Gumbo::gumbo)
  add_library(Gumbo::gumbo ALIAS PkgConfig::Gumbo_PC)
endif()
