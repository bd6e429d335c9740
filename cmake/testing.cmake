# Functions that add tests, for the folder tests/ and for the tests in the folders of slices.
include(GoogleTest)

# Timeout of a test program in seconds, long enough for many parallel programs on few CPUs. Emulated programs and programs
# with a sanitizer get more.
set(test_timeout 900)
if(CMAKE_CROSSCOMPILING OR ENCDEC_SANITIZE)
  set(test_timeout 6000)
endif()

# The tests to leave out, as a GoogleTest filter. Without encdec's own kernels, on an x86 CPU without AVX-512, a row's result
# depends on the other rows: tests that require bitwise identical results cannot pass.
set(filter_of_bits "")
if(NOT ENCDEC_MATMUL_KERNELS AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo avx512 REGEX "avx512f|asimd" LIMIT_COUNT 1)
  if(NOT avx512)
    message(STATUS "oneDNN's rows depend on other rows on this CPU: tests of equal bits are left out")
    string(JOIN ":" filter_of_bits
      "-*LayerContract.NeighboursDoNotChangeABit*" *LayerContract.*GiveTheBits* Precision.AutomaticSelectsInt8*
      Precision.ANoteReportsMissing* *.ScoresOfGeneratedTokensEqual* RequestQueue.SourcesOfManyCallers*
      RequestQueue.ASourceThatFails* RequestQueue.AForkedProcess* Session.TokensAtOnce* Session.ATokenThatDoesNotFit*
      Model.WorkCanBeCancelledAnywhere)
  endif()
endif()

# encdec_test(NAME [AS_ONE] SOURCES file... LIBS library...): adds a test program. Each of its tests becomes a CTest test.
# With AS_ONE the whole program is one CTest test: for many short tests, each of which takes less time than starting a
# process.
function(encdec_test name)
  cmake_parse_arguments(ARG "AS_ONE" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE
    ENCDEC_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden"
    ENCDEC_TOOLS_DIR="${PROJECT_SOURCE_DIR}/tools"
    ENCDEC_PRETRAINED_DIR="${PROJECT_SOURCE_DIR}/models/pretrained"
    ENCDEC_TESTS_READ_PYTORCH=$<IN_LIST:pytorch,${encdec_formats}>)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} encdec_build_options GTest::gtest_main GTest::gmock)
  # Less optimisation of the tests' own code cuts its compile time by a third, and with sanitizers by half.
  target_compile_options(${name} PRIVATE $<IF:$<BOOL:${ENCDEC_SANITIZE}>,-O0,$<$<CONFIG:Release>:-O1>>)
  if(ARG_AS_ONE)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${test_timeout})
  else()
    gtest_discover_tests(${name} TEST_FILTER "${filter_of_bits}" NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${test_timeout})
  endif()
endfunction()

# encdec_steps_test(NAME SOURCES file... LIBRARIES name...): adds a test program that counts steps. The sources of these
# libraries are compiled again, with a call at each basic block. Not with sanitizers, which define the same functions.
function(encdec_steps_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(ENCDEC_SANITIZE OR BUILD_SHARED_LIBS OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  foreach(library IN LISTS ARG_LIBRARIES)
    get_target_property(folder encdec_${library} SOURCE_DIR)
    get_target_property(sources encdec_${library} SOURCES)
    get_target_property(libraries encdec_${library} LINK_LIBRARIES)
    list(TRANSFORM sources PREPEND "${folder}/")
    add_library(counted_${library} OBJECT ${sources})
    target_compile_definitions(counted_${library} PRIVATE
      "$<FILTER:$<TARGET_PROPERTY:encdec_${library},COMPILE_DEFINITIONS>,EXCLUDE,NOTFOUND>")
    target_compile_options(counted_${library} PRIVATE -O0 -fsanitize-coverage=trace-pc)
    target_link_libraries(counted_${library} PUBLIC ${libraries})
  endforeach()
  list(TRANSFORM ARG_LIBRARIES PREPEND counted_)
  encdec_test(${name} AS_ONE
    SOURCES ${ARG_SOURCES} "${PROJECT_SOURCE_DIR}/tests/support/steps.cc"
    LIBS ${ARG_LIBRARIES})
endfunction()

# encdec_lesser_cpu_test(NAME ISA... [FILTER filter]): runs the program again for each ISA, as on an x86 CPU that has
# nothing better; with a GoogleTest filter, only the tests that match it. On emulated arm64, runs it for arm64 CPUs with
# fewer extensions instead. Each run is one CTest test. Adds no tests without encdec's own kernels, because a row's result
# then depends on the other rows; encdec_backend_test() tests that case.
function(encdec_lesser_cpu_test name)
  if(NOT ENCDEC_MATMUL_KERNELS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "FILTER" "" ${ARGN})
  if(NOT ARG_FILTER)
    set(ARG_FILTER *)
  endif()
  set(limit ONEDNN_MAX_CPU_ISA)
  set(values ${ARG_UNPARSED_ARGUMENTS})
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(limit QEMU_CPU)
    set(values "")
    if(CMAKE_CROSSCOMPILING)
      set(values neoverse-n1 cortex-a72)  # the first has int8 dot products only, the second not even those
    endif()
  endif()
  foreach(value IN LISTS values)
    add_test(NAME ${name}.${value} COMMAND ${name} --gtest_brief=1 "--gtest_filter=${ARG_FILTER}")
    set_tests_properties(${name}.${value} PROPERTIES ENVIRONMENT ${limit}=${value} TIMEOUT ${test_timeout})
  endforeach()
endfunction()

# encdec_backend_test(NAME [ISA...]): runs the program again with oneDNN as the backend, and once more for each ISA, as on
# an x86 CPU whose newest instruction set is ISA.
function(encdec_backend_test name)
  add_test(NAME ${name}.onednn COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name}.onednn PROPERTIES ENVIRONMENT ENCDEC_BACKEND=onednn TIMEOUT ${test_timeout})
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    foreach(isa IN LISTS ARGN)
      add_test(NAME ${name}.onednn.${isa} COMMAND ${name} --gtest_brief=1)
      set_tests_properties(${name}.onednn.${isa} PROPERTIES
        ENVIRONMENT "ENCDEC_BACKEND=onednn;ONEDNN_MAX_CPU_ISA=${isa}" TIMEOUT ${test_timeout})
    endforeach()
  endif()
endfunction()

if(ENCDEC_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "ENCDEC_BUILD_FUZZERS needs clang: use the preset fuzz")
  endif()
  # Instrument all of encdec, so that the fuzzer sees which branches an input reaches.
  target_compile_options(encdec_build_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(encdec_build_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# encdec_fuzzer(FORMAT [FOLDER folder] LIBS library... [SOURCES file...] [MUTATOR file]): adds a test that replays the
# corpus and, in the preset fuzz, a libFuzzer target. FOLDER is relative to the caller.
# - FOLDER/FORMAT_fuzzer.cc defines LLVMFuzzerTestOneInput
# - FOLDER/corpus/FORMAT contains the inputs
# - MUTATOR defines LLVMFuzzerCustomMutator
function(encdec_fuzzer format)
  cmake_parse_arguments(ARG "" "FOLDER;MUTATOR" "SOURCES;LIBS" ${ARGN})
  cmake_path(SET folder NORMALIZE "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER}")
  set(replay "${format}_replay")
  add_executable(${replay} "${folder}/${format}_fuzzer.cc" ${ARG_SOURCES} "${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cc")
  target_include_directories(${replay} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${replay} PRIVATE ${ARG_LIBS} encdec_build_options)
  add_test(NAME "Fuzz.Replay/${format}" COMMAND ${replay} "${folder}/corpus/${format}")
  set_tests_properties("Fuzz.Replay/${format}" PROPERTIES TIMEOUT 60)
  if(ENCDEC_BUILD_FUZZERS)
    set(fuzzer "${format}_fuzzer")
    add_executable(${fuzzer} "${folder}/${format}_fuzzer.cc" ${ARG_SOURCES} ${ARG_MUTATOR})
    target_include_directories(${fuzzer} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${fuzzer} PRIVATE ${ARG_LIBS} encdec_build_options)
    target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()
