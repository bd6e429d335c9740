# cmake -D... -P versions.cmake: compares VERSION with the copies of the version in files of SOURCE_DIR.
string(REGEX REPLACE "^([0-9]+\\.[0-9]+).*" "\\1" soversion "${VERSION}")  # SOVERSION of the library while it is 0.x

# expect(FILE EXPRESSION EXPECTED): fails unless the first group of the expression's first match is EXPECTED.
function(expect file expression expected)
  file(READ "${SOURCE_DIR}/${file}" text)
  if(NOT text MATCHES "${expression}" OR NOT CMAKE_MATCH_1 STREQUAL expected)
    message(SEND_ERROR "${file}: version '${CMAKE_MATCH_1}', expected ${expected}")
  endif()
endfunction()

expect(packaging/debian/changelog "^encdec \\(([^)]*)\\)" "${VERSION}")
expect(packaging/debian/control "\nPackage: libencdec([0-9.]+)\n" "${soversion}")
expect(CITATION.cff "\nversion: ([^\n]*)\n" "${VERSION}")
expect(tests/consumer/project/CMakeLists.txt "find_package\\(encdec ([0-9.]+) " "${soversion}")
expect(examples/CMakeLists.txt "find_package\\(encdec ([0-9.]+) " "${soversion}")
expect(CHANGELOG.md "\n## ([0-9.]+)\n" "${VERSION}")
