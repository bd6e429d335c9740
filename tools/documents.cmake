# Installs the files that come with the programs: manual pages, shell completion, the bundled models. The build tree has
# them at the same relative paths as an installation, so that programs find them in the same way in both.

# encdec_install_documents(PROGRAM WRITER): runs WRITER, which may be PROGRAM itself, to write PROGRAM's manual page and
# completion scripts, and installs them.
function(encdec_install_documents program writer)
  set(page "${PROJECT_BINARY_DIR}/share/man/${program}.1")
  set(completion "${PROJECT_BINARY_DIR}/share/completion")
  set(bash "${completion}/bash/${program}")
  set(zsh "${completion}/zsh/_${program}")
  set(fish "${completion}/fish/${program}.fish")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/man" "${completion}/bash" "${completion}/zsh" "${completion}/fish")
  add_custom_command(OUTPUT "${page}" "${bash}" "${zsh}" "${fish}"
    COMMAND ${writer} --man > "${page}"
    COMMAND ${writer} --completion bash > "${bash}"
    COMMAND ${writer} --completion zsh > "${zsh}"
    COMMAND ${writer} --completion fish > "${fish}"
    DEPENDS ${writer}
    VERBATIM)
  add_custom_target(${program}-documents ALL DEPENDS "${page}" "${bash}" "${zsh}" "${fish}")
  if(ENCDEC_INSTALL)
    install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    install(FILES "${bash}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
    install(FILES "${zsh}" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
    install(FILES "${fish}" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  endif()
endfunction()

# Cross-compiled programs can only write their documents if there is an emulator.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  if(ENCDEC_BUILD_COMMAND)
    if(TARGET encdec-server)
      encdec_install_documents(encdec encdec-server)
    else()
      encdec_install_documents(encdec encdec)
    endif()
  endif()
  encdec_install_documents(encdec-demo encdec-demo)
endif()
if(ENCDEC_BUILD_BENCHMARKS)
  configure_file(bench/encdec-bench.1.in "${PROJECT_BINARY_DIR}/share/man/encdec-bench.1" @ONLY)
endif()

file(RELATIVE_PATH data_from_program "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_DATADIR}/encdec")
target_compile_definitions(encdec-demo PRIVATE ENCDEC_DATA_FROM_PROGRAM="${data_from_program}")
if(ENCDEC_INSTALL)
  if(ENCDEC_BUILD_BENCHMARKS)
    install(FILES "${PROJECT_BINARY_DIR}/share/man/encdec-bench.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  endif()
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/models/pretrained" DESTINATION "${CMAKE_INSTALL_DATADIR}/encdec"
          PATTERN "test_words.tsv" EXCLUDE PATTERN "training" EXCLUDE)
endif()

# In the build tree, a symlink takes the place of the installed models. It is relative, so that the project can be moved
# together with its build folder.
set(data "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${data_from_program}")
get_property(programs_lie_deeper GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(programs_lie_deeper)
  set(data "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/CONFIG/${data_from_program}")
endif()
cmake_path(NORMAL_PATH data)
cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${data}" data_lies_in_build)
if(data_lies_in_build)
  file(MAKE_DIRECTORY "${data}")
  file(RELATIVE_PATH model "${data}" "${PROJECT_SOURCE_DIR}/models/pretrained")
  file(CREATE_LINK "${model}" "${data}/pretrained" SYMBOLIC)
endif()
