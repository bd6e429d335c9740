#include "encdec/translation/text/cuts.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// Returns the cost of a cut behind a word.
double cost_behind(std::string_view word) {
  if (word.empty() || find_invalid_utf8(word)) return 0;
  const auto last = static_cast<UChar32>(first_character(word.substr(last_character(word))).value);
  if (u_ispunct(last) != 0) return -0.4;
  return code_points(word).size() <= 2 ? 0.4 : 0;
}

}  // namespace

std::vector<std::size_t> place_cuts(std::string_view text, std::span<const CutWord> words,
                                    std::span<const double> shares) {
  const std::size_t parts = shares.size() + 1, count = words.size();
  if (count < parts) {  // the last parts are empty
    std::vector<std::size_t> places;
    for (std::size_t i = 1; i < parts; ++i) places.push_back(i < count ? words[i].begin : text.size());
    return places;
  }
  // costs[part][n]: least cost of the first parts up to `part` if they have the first n words.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> costs(parts, std::vector<double>(count + 1, kNever));
  std::vector<std::vector<std::size_t>> begins(parts, std::vector<std::size_t>(count + 1));
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<double> wrong(count + 1);  // sum of the weights from other parts, of the first words
    for (std::size_t i = 0; i < count; ++i) wrong[i + 1] = wrong[i] + 1 - words[i].weights[part];
    for (std::size_t end = part + 1; end <= count; ++end) {
      double cut = 0;
      if (part + 1 < parts) {
        if (end == count) continue;
        const double characters = static_cast<double>(words[end].begin) / static_cast<double>(text.size());
        const CutWord& last = words[end - 1];
        cut = 0.5 * static_cast<double>(count) * std::abs(characters - shares[part]) +
              cost_behind(text.substr(last.begin, last.end - last.begin));
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
  std::vector<std::size_t> places;
  std::size_t end = count;
  for (std::size_t part = parts; part-- > 1;) {
    end = begins[part][end];
    places.push_back(words[end].begin);
  }
  std::ranges::reverse(places);
  return places;
}

}  // namespace encdec
