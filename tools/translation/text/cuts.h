#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace encdec {

// A word of a translation whose source is split into parts by subtitle boundaries.
struct CutWord {
  std::size_t begin = 0, end = 0;   // byte offsets in the translation
  std::vector<float> weights = {};  // fraction of the word from each source part; the sum is 1
};

// Splits a translation between words into shares.size() + 1 parts. Returns the offsets at which the parts after the
// first part begin. Each part has a word if there are enough words. `shares[i]` is the fraction of the time before
// boundary i. The split minimises, in words, the sum of:
// - the weights of words that come from another source part,
// - per boundary, half the difference between the fraction of characters before the boundary and `shares[i]`,
// - per boundary, 0.4 after a word of one or two letters, -0.4 after a punctuation mark.
// REQUIRES: each word has shares.size() + 1 weights.
std::vector<std::size_t> place_cuts(std::string_view text, std::span<const CutWord> words,
                                    std::span<const double> shares);

}  // namespace encdec
