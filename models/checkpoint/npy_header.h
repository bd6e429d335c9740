#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// What the header of a .npy file says: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

// Parses the Python literal, and nothing but this one dict: the three keys in any order, each once, strings without
// escapes, and up to 32 sizes. Throws FileError, beginning with `where`, for anything else.
NpyHeader parse_npy_header(std::string_view text, const std::string& where);

}  // namespace encdec
