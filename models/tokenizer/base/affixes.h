#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// Keeps `count` items of a longer vector and cuts off the others at one side.
template <class Item>
void keep(std::vector<Item>& items, std::size_t count, TruncationSide side) {
  if (count >= items.size()) return;
  if (side == TruncationSide::left) items.erase(items.begin(), items.end() - static_cast<std::ptrdiff_t>(count));
  items.resize(count);
}

// The special tokens around a pair of texts.
struct PairAffixes {
  std::vector<std::int32_t> before = {};
  std::vector<std::int32_t> between = {};
  std::vector<std::int32_t> after = {};
  std::size_t first_segment = kNoSecondSegment;  // number of ids in `between` of the first segment; none: all ids are
};

// The special tokens before and after the ids of a text.
struct Affixes {
  std::vector<std::int32_t> before = {};
  std::vector<std::int32_t> after = {};
  std::optional<PairAffixes> pair = {};  // unset if the tokenizer has no form for pairs
  // Whether spaces at the ends of a piece are left out of its TextRange. unless_added: not the first of a text, which
  // the tokenizer may have added.
  enum class Trim : std::uint8_t { none, all, unless_added };
  Trim trim = Trim::none;

  // Returns how many of `count` ids are left if they, `before` and `after` together have at most `max_length` ids. 0
  // means no limit.
  std::size_t shortened(std::size_t count, std::size_t max_length) const {
    if (max_length == 0) return count;
    return std::min(count, max_length - std::min(before.size() + after.size(), max_length));
  }
  void put_around(std::vector<std::int32_t>& ids) const {
    ids.insert(ids.begin(), before.begin(), before.end());
    ids.insert(ids.end(), after.begin(), after.end());
  }
};

// Returns the numbers of ids that are left of texts of `first` and `second` ids, of at most `room` together, as Hugging
// Face's tokenizers 0.23 does. Throws InputError if a text that alone may be shortened would have no ids left.
std::pair<std::size_t, std::size_t> pair_lengths(std::size_t first, std::size_t second, std::size_t room,
                                                 Truncation truncation);

}  // namespace encdec
