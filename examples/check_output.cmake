# cmake -DEXPECTED=FILE -DACTUAL=FILE -P check_output.cmake -- PROGRAM ARGUMENT...
# Fails unless the program succeeds and prints exactly the contents of EXPECTED. Writes the program's output to ACTUAL,
# to compare it or to accept it as the new EXPECTED.
set(command "")
set(is_command FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(is_command)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(is_command TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_FILE "${ACTUAL}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${result}: ${command}")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${EXPECTED}" "${ACTUAL}" RESULT_VARIABLE differs)
if(differs)
  file(READ "${ACTUAL}" actual)
  message(FATAL_ERROR "${ACTUAL} differs from ${EXPECTED}:\n${actual}")
endif()
