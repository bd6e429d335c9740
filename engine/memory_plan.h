#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace encdec {

// A buffer that holds a value from step `first` to step `last`, both included.
struct Lifetime {
  std::size_t bytes = 0;
  int first = 0;
  int last = 0;
};

// Places buffers in one arena so that no two buffers that live at the same step overlap. In order of `buffers`, each
// buffer goes to the lowest multiple of Tensor::kAlignment where it does not overlap an earlier buffer that lives at
// the same time. Resizes `offsets` and writes the places to it. Returns the size of the arena.
std::size_t plan_memory(std::span<const Lifetime> buffers, std::vector<std::size_t>& offsets);

}  // namespace encdec
