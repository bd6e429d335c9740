# cmake -DEXPECTED=FILE -DACTUAL=FILE -P check_output.cmake -- PROGRAM ARGUMENT...
# Fails unless the program succeeds and prints exactly what is in the expected file. What it did print is left in the
# other file, to compare or to accept.
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
  message(FATAL_ERROR "${ACTUAL} is not ${EXPECTED}:\n${actual}")
endif()
