#include "encdec/translation/text/cuts.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// Returns the cost of a boundary after a word: negative after punctuation, positive after a short word.
double boundary_cost(std::string_view word) {
  if (word.empty() || find_invalid_utf8(word)) return 0;
  const auto last = static_cast<UChar32>(first_character(word.substr(last_character(word))).value);
  if (u_ispunct(last) != 0) return -0.4;
  return code_points(word).size() <= 2 ? 0.4 : 0;
}

}  // namespace

std::vector<std::size_t> place_cuts(std::string_view text, std::span<const CutWord> words,
                                    std::span<const double> shares) {
  // If there are too few words, assign one word to each of the first parts, and leave the other parts empty.
  const std::size_t parts = shares.size() + 1, count = words.size();
  if (count < parts) {
    std::vector<std::size_t> positions;
    for (std::size_t i = 1; i < parts; ++i) positions.push_back(i < count ? words[i].begin : text.size());
    return positions;
  }
  // Dynamic programming. costs[part][n]: least cost of dividing the first n words among parts 0 to `part`.
  // begins[part][n]: index of the first word of `part` in that solution.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> costs(parts, std::vector<double>(count + 1, kNever));
  std::vector<std::vector<std::size_t>> begins(parts, std::vector<std::size_t>(count + 1));
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<double> wrong(count + 1);  // wrong[n]: total weight of other parts in the first n words
    for (std::size_t i = 0; i < count; ++i) wrong[i + 1] = wrong[i] + 1 - words[i].weights[part];
    for (std::size_t end = part + 1; end <= count; ++end) {
      // Compute the cost of the boundary after `part`. The last part has no boundary after it.
      double cut = 0;
      if (part + 1 < parts) {
        if (end == count) continue;
        const double characters = static_cast<double>(words[end].begin) / static_cast<double>(text.size());
        const CutWord& last = words[end - 1];
        cut = 0.5 * static_cast<double>(count) * std::abs(characters - shares[part]) +
              boundary_cost(text.substr(last.begin, last.end - last.begin));
      }
      for (std::size_t begin = part; begin < end; ++begin) {
        const double before = part > 0 ? costs[part - 1][begin] : begin == 0 ? 0 : kNever;
        const double cost = before + wrong[end] - wrong[begin] + cut;
        if (cost < costs[part][end]) {
          costs[part][end] = cost;
          begins[part][end] = begin;
        }
      }
    }
  }
  std::vector<std::size_t> positions;
  // Follow the best solution from the last part back to the first part.
  std::size_t end = count;
  for (std::size_t part = parts; part-- > 1;) {
    end = begins[part][end];
    positions.push_back(words[end].begin);
  }
  std::ranges::reverse(positions);
  return positions;
}

}  // namespace encdec
