#pragma once

#include <cstddef>
#include <span>

namespace encdec {

// Returns where to cut samples in two: the middle of the quietest 0.1 s in their last third. Of equally quiet places
// takes the last. REQUIRES: there are at least 0.3 s.
std::size_t quiet_cut(std::span<const float> samples);

}  // namespace encdec
