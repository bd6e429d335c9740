# cmake -D... -P delete_slice.cmake: copies SOURCE_DIR to WORK_DIR without SLICE, configures the copy, and checks its
# includes. An absent folder is an absent slice, so nothing else changes.
file(REMOVE_RECURSE "${WORK_DIR}")
foreach(entry IN ITEMS CMakeLists.txt ARCHITECTURE.md LICENSE cmake docs engine examples layers models python tests third_party tools)
  file(COPY "${SOURCE_DIR}/${entry}" DESTINATION "${WORK_DIR}" PATTERN "build" EXCLUDE PATTERN "__pycache__" EXCLUDE)
endforeach()
file(REMOVE_RECURSE "${WORK_DIR}/tools/${SLICE}" "${WORK_DIR}/python/encdec/${SLICE}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK_DIR}" -B "${WORK_DIR}/build" -G "${GENERATOR}"
  "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-Ddnnl_DIR=${ONEDNN_DIR}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${PYTHON}" "${WORK_DIR}/tests/levels.py" "${WORK_DIR}" COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE "${WORK_DIR}")
