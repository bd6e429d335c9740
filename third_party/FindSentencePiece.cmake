# Finds the sentencepiece library (Debian's libsentencepiece-dev has a pkg-config file only, which would also link
# the trainer) and defines SentencePiece::SentencePiece.
find_path(SentencePiece_INCLUDE_DIR sentencepiece_processor.h)
find_library(SentencePiece_LIBRARY sentencepiece)

# Asked by itself: the module would want all that a static library needs, and Debian 13 lacks a part of that.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  execute_process(COMMAND "${PKG_CONFIG_EXECUTABLE}" --modversion sentencepiece
    OUTPUT_VARIABLE SentencePiece_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePiece
  REQUIRED_VARS SentencePiece_LIBRARY SentencePiece_INCLUDE_DIR
  VERSION_VAR SentencePiece_VERSION)
mark_as_advanced(SentencePiece_INCLUDE_DIR SentencePiece_LIBRARY)

if(SentencePiece_FOUND AND NOT TARGET SentencePiece::SentencePiece)
  add_library(SentencePiece::SentencePiece UNKNOWN IMPORTED GLOBAL)
  set_target_properties(SentencePiece::SentencePiece PROPERTIES
    IMPORTED_LOCATION "${SentencePiece_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${SentencePiece_INCLUDE_DIR}")
endif()
