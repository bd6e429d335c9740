#include "paired_lines.h"

#include <encdec/engine/error.h>
#include <fmt/format.h>

namespace encdec::cli {

bool PairedLines::next(std::string& first, std::string& second) {
  const bool has_first = first_.next(first), has_second = second_.next(second);
  if (has_first == has_second) return has_first;
  const LineReader& shorter = has_first ? second_ : first_;
  const LineReader& longer = has_first ? first_ : second_;
  throw InputError(
      fmt::format("{}: {} lines, but {} has more, expected as many", shorter.name(), shorter.lines(), longer.name()));
}

}  // namespace encdec::cli
