#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace encdec {

// The ids that stand before and after those of a text.
struct Affixes {
  std::vector<std::int32_t> before = {};
  std::vector<std::int32_t> after = {};

  // Leaves so many of a text's ids that with those around them they are not more than `max_length`; all for 0.
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
