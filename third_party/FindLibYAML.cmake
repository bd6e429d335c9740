# Finds libyaml (Debian's libyaml-dev has a pkg-config file only) and defines LibYAML::LibYAML.
find_path(LibYAML_INCLUDE_DIR yaml.h)
find_library(LibYAML_LIBRARY yaml)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_LibYAML QUIET yaml-0.1)
  set(LibYAML_VERSION "${PC_LibYAML_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibYAML
  REQUIRED_VARS LibYAML_LIBRARY LibYAML_INCLUDE_DIR
  VERSION_VAR LibYAML_VERSION)
mark_as_advanced(LibYAML_INCLUDE_DIR LibYAML_LIBRARY)

if(LibYAML_FOUND AND NOT TARGET LibYAML::LibYAML)
  add_library(LibYAML::LibYAML UNKNOWN IMPORTED GLOBAL)
  set_target_properties(LibYAML::LibYAML PROPERTIES
    IMPORTED_LOCATION "${LibYAML_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LibYAML_INCLUDE_DIR}")
endif()
