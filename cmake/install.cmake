# Installs the package for find_package(encdec): libraries, headers, and a config file that finds their dependencies.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY ENCDEC_LIBRARIES)
# Programs must link a static library with the major version of oneDNN that it was compiled with.
get_directory_property(dnnl_major DIRECTORY "${PROJECT_SOURCE_DIR}/third_party" DEFINITION dnnl_VERSION_MAJOR)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/encdec")

install(TARGETS ${libraries} EXPORT encdec-targets)
install(EXPORT encdec-targets NAMESPACE encdec:: DESTINATION "${package_dir}")
list(TRANSFORM encdec_slices PREPEND tools/ OUTPUT_VARIABLE folders)
foreach(folder IN ITEMS engine layers models ${folders})
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/encdec"
          FILES_MATCHING PATTERN "*.h" REGEX "/tools/[a-z]+/(command|server|python|tests)$" EXCLUDE PATTERN "*_inl.h" EXCLUDE PATTERN "backend" EXCLUDE PATTERN "run_state_memory.h" EXCLUDE PATTERN "model_impl.h" EXCLUDE PATTERN "*_request.h" EXCLUDE PATTERN "passage.h" EXCLUDE PATTERN "request_state.h" EXCLUDE PATTERN "pretrained" EXCLUDE)
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/third_party/THIRD_PARTY_NOTICES"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(ENCDEC_BUILD_TOOLS)
  set(tools encdec-demo)
  if(ENCDEC_BUILD_COMMAND)
    list(APPEND tools encdec)
    if(TARGET encdec-server)
      list(APPEND tools encdec-server)
    endif()
  endif()
  if(ENCDEC_BUILD_BENCHMARKS)
    list(APPEND tools encdec-bench)
  endif()
  # The dynamic loader does not search the library folder by default, so the tools need its path.
  if(BUILD_SHARED_LIBS AND NOT CMAKE_INSTALL_FULL_LIBDIR IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    file(RELATIVE_PATH libraries_from_tools "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
    set_target_properties(${tools} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_tools}")
  endif()
  install(TARGETS ${tools})
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/encdec-config.cmake.in"
  "${PROJECT_BINARY_DIR}/encdec-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/encdec-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/encdec-config.cmake" "${PROJECT_BINARY_DIR}/encdec-config-version.cmake"
        DESTINATION "${package_dir}")
if(NOT BUILD_SHARED_LIBS)
  foreach(package IN ITEMS CLD2 Gumbo LibYAML MPG123 PCRE2 SndFile Utf8proc Zstd)
    install(FILES "${PROJECT_SOURCE_DIR}/third_party/Find${package}.cmake" DESTINATION "${package_dir}")
  endforeach()
endif()
