#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace encdec {

// One buffer of a run: it holds a value from step `first` to step `last`, both included.
struct Lifetime {
  std::size_t bytes = 0;
  int first = 0;
  int last = 0;
};

// Places buffers in one arena so that no two that live at the same step overlap, each at a multiple of
// Tensor::kAlignment: every buffer goes to the lowest offset free of its contemporaries placed before it.
// `offsets` gets the places, resized to match. Returns the size of the arena.
std::size_t plan_memory(std::span<const Lifetime> buffers, std::vector<std::size_t>& offsets);

}  // namespace encdec
