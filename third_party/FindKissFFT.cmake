# Finds the header of kissfft's C++ class and defines KissFFT::KissFFT. The CMake package of kissfft has only its C
# libraries.
find_path(KissFFT_INCLUDE_DIR kissfft/kissfft.hh)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(KissFFT REQUIRED_VARS KissFFT_INCLUDE_DIR)
mark_as_advanced(KissFFT_INCLUDE_DIR)

if(KissFFT_FOUND AND NOT TARGET KissFFT::KissFFT)
  add_library(KissFFT::KissFFT INTERFACE IMPORTED GLOBAL)
  target_include_directories(KissFFT::KissFFT INTERFACE "${KissFFT_INCLUDE_DIR}")
endif()
