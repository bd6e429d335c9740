#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// Truncates a vector to `count` items. `side` is the side at which items are removed.
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
  std::size_t first_segment = kNoSecondSegment;  // index in `between` at which the second segment begins
};

// The special tokens before and after the ids of a text.
struct Affixes {
  std::vector<std::int32_t> before = {};
  std::vector<std::int32_t> after = {};
  std::optional<PairAffixes> pair = {};  // unset if the tokenizer does not support pairs
  // Spaces at the ends of a token that its TextRange excludes. unless_added: all but a leading space at the beginning
  // of the text, which the tokenizer may have added.
  enum class Trim : std::uint8_t { none, all, unless_added };
  Trim trim = Trim::none;

  // Returns how many of a text's `count` ids fit into `max_length` with `before` and `after`. A `max_length` of 0 means
  // no limit.
  std::size_t shortened(std::size_t count, std::size_t max_length) const {
    if (max_length == 0) return count;
    return std::min(count, max_length - std::min(before.size() + after.size(), max_length));
  }
  void put_around(std::vector<std::int32_t>& ids) const {
    ids.insert(ids.begin(), before.begin(), before.end());
    ids.insert(ids.end(), after.begin(), after.end());
  }
};

// Returns the lengths of a pair of texts, truncated to at most `room` ids in total, like Hugging Face's tokenizers
// 0.23. `first` and `second` are the lengths before truncation. Throws InputError if only_first or only_second would
// leave no ids of that text.
std::pair<std::size_t, std::size_t> pair_lengths(std::size_t first, std::size_t second, std::size_t room,
                                                 Truncation truncation);

}  // namespace encdec
