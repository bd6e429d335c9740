# Finds pangocairo, with cairo and what it needs, and defines PangoCairo::PangoCairo. Debian's libpango1.0-dev has
# pkg-config files only.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PangoCairo_PC QUIET IMPORTED_TARGET GLOBAL pangocairo)
  set(PangoCairo_VERSION "${PangoCairo_PC_VERSION}")
  set(PangoCairo_LIBRARIES "${PangoCairo_PC_LINK_LIBRARIES}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PangoCairo
  REQUIRED_VARS PangoCairo_LIBRARIES
  VERSION_VAR PangoCairo_VERSION)

if(PangoCairo_FOUND AND NOT TARGET PangoCairo::PangoCairo)
  add_library(PangoCairo::PangoCairo ALIAS PkgConfig::PangoCairo_PC)
endif()
