# cmake -D... -P installed.cmake: installs BUILD_DIR into a folder, moves the folder, and runs the programs there. They
# must find their files relative to themselves and not where they were built.
set(prefix "${WORK_DIR}/moved")
file(REMOVE_RECURSE "${WORK_DIR}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/first" --config "${BUILD_TYPE}"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${WORK_DIR}/first" "${prefix}")

foreach(file IN ITEMS man/man1/encdec.1 man/man1/encdec-demo.1 man/man1/encdec-bench.1
                      bash-completion/completions/encdec zsh/site-functions/_encdec fish/vendor_completions.d/encdec.fish
                      doc/encdec/LICENSE doc/encdec/THIRD_PARTY_NOTICES)
  file(SIZE "${prefix}/share/${file}" size)
  if(size EQUAL 0)
    message(FATAL_ERROR "share/${file}: empty")
  endif()
endforeach()

function(run_demo)
  execute_process(COMMAND "${prefix}/bin/encdec-demo" cat
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  set(status "${status}" PARENT_SCOPE)
  set(messages "${output}${errors}" PARENT_SCOPE)
endfunction()
run_demo()
if(NOT status EQUAL 0 OR NOT messages MATCHES "^cat +K AE1 T\n")
  message(FATAL_ERROR "encdec-demo cat: status ${status}, expected the pronunciation, found: ${messages}")
endif()
file(REMOVE_RECURSE "${prefix}/share/encdec")
run_demo()
if(NOT status EQUAL 1 OR NOT messages MATCHES "/moved/share/encdec/pretrained/english-pronunciation")
  message(FATAL_ERROR "encdec-demo without its model: status ${status}, expected an error, found: ${messages}")
endif()
