#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace encdec {

// A word of a translation whose source is in several parts.
struct CutWord {
  std::size_t begin = 0, end = 0;   // bytes of the translation
  std::vector<float> weights = {};  // by part of the source: how much of the word comes from it; the sum is 1
};

// Cuts a translation between words into the number of parts that its source has, in order, each with a word if there
// are enough. Returns the places of the cuts: the beginnings of all parts but the first. `shares` are the shares of the
// time before each cut. The cuts have the least sum, in words, of:
// - the weights of words from other parts of the source than the part in which they are,
// - half the difference between the share of the characters before a cut and the share of the time,
// - 0.4 for a cut behind a word of one or two letters, -0.4 for a cut behind a punctuation mark.
// REQUIRES: each word has shares.size() + 1 weights.
std::vector<std::size_t> place_cuts(std::string_view text, std::span<const CutWord> words,
                                    std::span<const double> shares);

}  // namespace encdec
