#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {

// Calls `take` with each piece of a cut, in order. `last_bytes` has the size of the last piece up to each place.
template <typename Take>
void take_pieces(std::string_view text, std::vector<std::uint16_t> last_bytes, const Take& take) {
  // Going back from the end, move the size of each piece from its end to its beginning.
  std::uint16_t bytes = 0;
  for (std::size_t place = text.size();; place -= bytes) {
    std::swap(bytes, last_bytes[place]);
    if (place == 0) break;
  }
  for (std::size_t begin = 0; begin < text.size(); begin += last_bytes[begin]) {
    take(text.substr(begin, last_bytes[begin]));
  }
}

// Cuts valid UTF-8 into pieces such that the sum of their scores is highest (Viterbi's algorithm). Of several best
// cuts, chooses the one with the longest last piece, then the one with the longest second last piece, and so on. Calls
// `take` with the text of each piece, in order. Needs time linear in the text, and 2 bytes of memory per byte of text.
// - `score_of(id, bytes)` returns an optional<Score> for a piece of `pieces`. A piece without a score is not used.
// - `unknown(character)` returns the score of a character that is not a piece by itself.
// Sums are rounded to Score: two cuts with the same pieces in another order may differ in the last bit.
// REQUIRES: no piece has more than kMaxPieceBytes.
template <typename Score, typename ScoreOf, typename Unknown, typename Take>
void best_cut(std::string_view text, const ByteTrie& pieces, const ScoreOf& score_of, const Unknown& unknown,
              const Take& take) {
  // Best scores of the places from the current one to the furthest that a piece can reach: a ring buffer, indexed by
  // the low bits of the place.
  constexpr std::size_t kScores = 2 * kMaxPieceBytes;
  static_assert((kScores & (kScores - 1)) == 0);
  std::array<Score, kScores> scores;
  const auto score_at = [&](std::size_t place) -> Score& { return scores[place & (kScores - 1)]; };
  // Size of the last piece of the best cut up to each place; 0 if no cut ends there.
  std::vector<std::uint16_t> last_bytes(text.size() + 1);
  score_at(0) = 0;
  std::size_t furthest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    poll_cancelled();
    // Like sentencepiece, restart long sums in single precision at 0, to keep them exact.
    constexpr Score kLargestScore = 100'000;
    if (std::is_same_v<Score, float> && std::abs(score_at(begin)) > kLargestScore) {
      const Score offset = score_at(begin);
      for (std::size_t place = begin; place <= furthest; ++place) {
        if (place == begin || last_bytes[place] > 0) score_at(place) -= offset;
      }
    }
    const auto arrive = [&](std::size_t end, Score score) {
      furthest = std::max(furthest, end);
      const Score sum = score_at(begin) + score;
      if (last_bytes[end] > 0 && !(sum > score_at(end))) return;
      score_at(end) = sum;
      last_bytes[end] = static_cast<std::uint16_t>(end - begin);
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
      arrive(end, *score);
      is_known = is_known || end - begin == character;
    }
    if (!is_known) arrive(begin + character, unknown(text.substr(begin, character)));
    begin += character;
  }
  take_pieces(text, std::move(last_bytes), take);
}

}  // namespace encdec
