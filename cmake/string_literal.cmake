# Usage: cmake -DINPUT=file -DOUTPUT=file -P string_literal.cmake
# Writes the text of a file as a C++ string literal, to be included.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "R\"literal(${text})literal\"")
