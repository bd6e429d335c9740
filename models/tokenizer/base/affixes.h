#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace encdec {

// The special tokens before and after the ids of a text.
struct Affixes {
  std::vector<std::int32_t> before = {};
  std::vector<std::int32_t> after = {};

  // Shortens `ids` so that ids, `before` and `after` together have at most `max_length` ids. 0 means no limit.
  void cut(std::vector<std::int32_t>& ids, std::size_t max_length) const {
    if (max_length == 0) return;
    ids.resize(std::min(ids.size(), max_length - std::min(before.size() + after.size(), max_length)));
  }
  void put_around(std::vector<std::int32_t>& ids) const {
    ids.insert(ids.begin(), before.begin(), before.end());
    ids.insert(ids.end(), after.begin(), after.end());
  }
};

}  // namespace encdec
