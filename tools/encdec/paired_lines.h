#pragma once

#include <string>

#include "line_reader.h"

namespace encdec::cli {

// Two files whose lines belong together, one by one: sources and their targets or prefixes.
class PairedLines {
 public:
  // Keeps references to the readers.
  PairedLines(LineReader& first, LineReader& second) : first_(first), second_(second) {}

  // False at the end of both. Throws InputError if one ends before the other, and as LineReader::next() does.
  bool next(std::string& first, std::string& second);
  // True if next() would return at once.
  bool ready() { return first_.ready() && second_.ready(); }

 private:
  LineReader& first_;
  LineReader& second_;
};

}  // namespace encdec::cli
