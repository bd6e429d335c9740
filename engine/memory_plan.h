#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace encdec {

// A buffer that is in use from step `first` to step `last`, both included.
struct Lifetime {
  std::size_t bytes = 0;
  int first = 0;
  int last = 0;
};

// Assigns offsets in one arena to buffers, so that buffers that are in use at the same step do not overlap. Works in
// the order of `buffers`: each buffer gets the lowest offset, a multiple of Tensor::kAlignment, that is free during its
// lifetime. Writes the offsets to `offsets` and returns the size of the arena.
std::size_t plan_memory(std::span<const Lifetime> buffers, std::vector<std::size_t>& offsets);

}  // namespace encdec
