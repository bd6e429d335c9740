#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace encdec {

// Returns all remaining samples of an AudioReader.
std::vector<float> all_samples(auto&& reader) {
  constexpr std::size_t kPiece = 1 << 16;
  std::vector<float> all;
  for (std::size_t count = kPiece; count == kPiece;) {
    const std::size_t had = all.size();
    all.resize(had + kPiece);
    count = reader.read(std::span(all).subspan(had));
    all.resize(had + count);
  }
  return all;
}

}  // namespace encdec
