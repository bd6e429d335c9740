#pragma once

#include <cstdint>
#include <vector>

namespace encdec {
// Token ids of one sequence.

using TokenIds = std::vector<std::int32_t>;

}  // namespace encdec
