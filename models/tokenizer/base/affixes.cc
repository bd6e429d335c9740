#include "encdec/models/tokenizer/base/affixes.h"

#include <algorithm>

namespace encdec {

void Affixes::cut(std::vector<std::int32_t>& ids, std::size_t max_length) const {
  if (max_length == 0) return;
  ids.resize(std::min(ids.size(), max_length - std::min(before.size() + after.size(), max_length)));
}

void Affixes::put_around(std::vector<std::int32_t>& ids) const {
  ids.insert(ids.begin(), before.begin(), before.end());
  ids.insert(ids.end(), after.begin(), after.end());
}

}  // namespace encdec
