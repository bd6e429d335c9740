#include "encdec/models/tokenizer/base/affixes.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"

namespace encdec {

std::pair<std::size_t, std::size_t> pair_lengths(std::size_t first, std::size_t second, std::size_t room,
                                                 Truncation truncation) {
  if (first + second <= room) return {first, second};
  const std::size_t excess = first + second - room;
  if (truncation != Truncation::longest_first) {
    std::size_t& shortened = truncation == Truncation::only_first ? first : second;
    if (shortened <= excess) {
      throw InputError(fmt::format("{} tokens too many, but only {} in the {} text", excess, shortened,
                                   truncation == Truncation::only_first ? "first" : "second"));
    }
    shortened -= excess;
    return {first, second};
  }
  // The longer text gives its tokens first. If both must be cut, the longer one keeps the odd token, or the second one.
  std::size_t shorter = std::min(first, second);
  std::size_t longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  return first > second ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

}  // namespace encdec
