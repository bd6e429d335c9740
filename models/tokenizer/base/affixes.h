#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace encdec {

// The ids that stand before and after those of a text.
struct Affixes {
  std::vector<std::int32_t> before = {};
  std::vector<std::int32_t> after = {};

  // Leaves so many of a text's ids that with those around them they are not more than `max_length`; all for 0.
  void cut(std::vector<std::int32_t>& ids, std::size_t max_length) const;
  void put_around(std::vector<std::int32_t>& ids) const;
};

}  // namespace encdec
