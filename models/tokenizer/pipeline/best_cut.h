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

// Cuts valid UTF-8 into pieces so that the sum of their scores is the highest (Viterbi's algorithm); of several best
// ways, the one whose last piece is the longest, and so on from the end. Gives the bytes of each to `take`, in order.
// Takes time linear in the text, and 2 bytes of memory for each of its bytes.
// - `score_of(id, bytes)` is an optional<Score> of a piece of `pieces`, which have at most kMaxPieceBytes; one without
//   a score does not count.
// - `unknown(character)` is the score of a character that is no piece by itself.
// Sums are as exact as Score: two ways with the same pieces in another order may differ in its last bit.
template <typename Score, typename ScoreOf, typename Unknown, typename Take>
void best_cut(std::string_view text, const ByteTrie& pieces, const ScoreOf& score_of, const Unknown& unknown,
              const Take& take) {
  // Scores of the places that a piece can lead to from here; they are told apart by their last bits.
  constexpr std::size_t kScores = 2 * kMaxPieceBytes;
  static_assert((kScores & (kScores - 1)) == 0);
  std::array<Score, kScores> scores;
  const auto score_at = [&](std::size_t place) -> Score& { return scores[place & (kScores - 1)]; };
  // The last piece of the best way to a place in the text; 0 where no way leads.
  std::vector<std::uint16_t> last_bytes(text.size() + 1);
  score_at(0) = 0;
  std::size_t furthest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    poll_cancelled();
    // sentencepiece lets long sums of single precision begin anew, so that they stay exact.
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
  // From the end to the beginning, each piece's size moves to where the piece begins.
  std::uint16_t bytes = 0;
  for (std::size_t place = text.size();; place -= bytes) {
    std::swap(bytes, last_bytes[place]);
    if (place == 0) break;
  }
  for (std::size_t begin = 0; begin < text.size(); begin += last_bytes[begin]) {
    take(text.substr(begin, last_bytes[begin]));
  }
}

}  // namespace encdec
