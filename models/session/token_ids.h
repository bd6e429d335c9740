#pragma once

#include <cstdint>
#include <vector>

namespace encdec {

using TokenIds = std::vector<std::int32_t>;

}  // namespace encdec
