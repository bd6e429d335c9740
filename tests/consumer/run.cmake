# cmake -D... -P run.cmake: see CMakeLists.txt. Stops at the first step that fails.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${result}: ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
if(NOT SOURCE_DIR)
  file(REMOVE_RECURSE "${PREFIX}")
  run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${PREFIX}" --config "${BUILD_TYPE}")
  return()
endif()

set(onednn "-Ddnnl_DIR=${ONEDNN_DIR}")
if(SHARED)
  set(onednn "-DCMAKE_DISABLE_FIND_PACKAGE_dnnl=ON")  # users of the shared library do not need oneDNN
endif()
set(toolchain "")
if(TOOLCHAIN_FILE)
  set(toolchain "-DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN_FILE}")
endif()
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${WORK_DIR}/build" -G "${GENERATOR}"
    "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_FLAGS=${flags}"
    "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" "-DCMAKE_PREFIX_PATH=${PREFIX}" "${onednn}" ${toolchain})
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build" --config "${BUILD_TYPE}")
run("${CMAKE_CTEST_COMMAND}" --test-dir "${WORK_DIR}/build" --build-config "${BUILD_TYPE}" --output-on-failure)
