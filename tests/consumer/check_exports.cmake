# cmake -DNM=nm -DLIBRARY=file -P check_exports.cmake: fails if the library exports a symbol outside namespace encdec.
execute_process(COMMAND "${NM}" --dynamic --defined-only --demangle --format=posix "${LIBRARY}"
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n$" "" symbols "${symbols}")
string(REPLACE "\n" ";" symbols "${symbols}")
list(FILTER symbols EXCLUDE REGEX "^((typeinfo|typeinfo name|vtable|VTT|guard variable) for )?encdec::")
if(symbols)
  list(JOIN symbols "\n" symbols)
  message(FATAL_ERROR "${LIBRARY} also exports\n${symbols}")
endif()
