#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {

// A piece of a text: its bytes from `begin` to `end`.
struct CutPiece {
  std::size_t begin;
  std::size_t end;
  std::int32_t id;
};

// Cuts valid UTF-8 into pieces so that the sum of their scores is the highest (Viterbi's algorithm), in time linear in
// the text; of several best ways, the one whose last piece is the longest, and so on from the end.
// - `score_of(id, bytes)` is an optional<Score> of a piece of `pieces`; one without a score does not count.
// - `unknown(character)` is the score and id of a character that is no piece by itself.
// Sums are as exact as Score: two ways with the same pieces in another order may differ in its last bit.
template <typename Score, typename ScoreOf, typename Unknown>
std::vector<CutPiece> best_cut(std::string_view text, const ByteTrie& pieces, const ScoreOf& score_of,
                               const Unknown& unknown) {
  // The best way to a place in the text, and its last piece.
  struct Arrival {
    Score score = 0;
    std::size_t from = ~std::size_t{0};
    std::int32_t id = 0;

    bool is_reached() const { return from != ~std::size_t{0}; }
  };
  std::vector<Arrival> arrivals(text.size() + 1);
  arrivals[0].from = 0;
  std::size_t furthest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    // sentencepiece lets long sums of single precision begin anew, so that they stay exact.
    constexpr Score kLargestScore = 100'000;
    if (std::is_same_v<Score, float> && std::abs(arrivals[begin].score) > kLargestScore) {
      const Score offset = arrivals[begin].score;
      for (std::size_t place = begin; place <= furthest; ++place) {
        if (arrivals[place].is_reached()) arrivals[place].score -= offset;
      }
    }
    const auto arrive = [&](std::size_t end, Score score, std::int32_t id) {
      furthest = std::max(furthest, end);
      const Score sum = arrivals[begin].score + score;
      if (!arrivals[end].is_reached() || sum > arrivals[end].score) arrivals[end] = {sum, begin, id};
    };
    const std::size_t character = first_character(text.substr(begin)).bytes;
    bool is_known = false;
    ByteTrie::Node node = ByteTrie::kRoot;
    for (std::size_t end = begin; end < text.size();) {
      node = pieces.step(node, text[end++]);
      if (node == ByteTrie::kNone) break;
      const std::int32_t id = pieces.value(node);
      if (id < 0) continue;
      const std::optional<Score> score = score_of(id, end - begin);
      if (!score) continue;
      arrive(end, *score, id);
      is_known = is_known || end - begin == character;
    }
    if (!is_known) {
      const auto [score, id] = unknown(text.substr(begin, character));
      arrive(begin + character, score, id);
    }
    begin += character;
  }
  std::vector<CutPiece> cut;
  for (std::size_t end = text.size(); end > 0; end = arrivals[end].from) {
    cut.push_back({arrivals[end].from, end, arrivals[end].id});
  }
  std::reverse(cut.begin(), cut.end());
  return cut;
}

}  // namespace encdec
