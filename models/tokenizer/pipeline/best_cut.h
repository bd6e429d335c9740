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

// Calls `take` with each subword of a segmentation, in order. `last_bytes[i]` is the size of a subword that ends at i.
template <typename Take>
void take_pieces(std::string_view text, std::vector<std::uint16_t> last_bytes, const Take& take) {
  // From the end to the beginning, move the size of each subword from its end to its start.
  std::uint16_t bytes = 0;
  for (std::size_t position = text.size();; position -= bytes) {
    std::swap(bytes, last_bytes[position]);
    if (position == 0) break;
  }
  for (std::size_t begin = 0; begin < text.size(); begin += last_bytes[begin]) {
    take(text.substr(begin, last_bytes[begin]));
  }
}

// Splits valid UTF-8 into the subwords with the highest sum of scores (Viterbi's algorithm). Of equal sums, the one
// with the longest last subword wins, then the one with the longest second last subword, and so on. Calls `take` with
// the text of each subword, in order. Takes linear time, and 2 bytes of memory per byte of text.
// - `score_of(id, bytes)` returns an optional<Score> for a subword of `pieces`. A subword without a score is not used.
// - `unknown(character)` returns the score of a character that is not a subword.
// Sums are rounded to Score, so the same subwords in another order can have another sum.
// REQUIRES: no subword has more than kMaxPieceBytes.
template <typename Score, typename ScoreOf, typename Unknown, typename Take>
void best_cut(std::string_view text, const ByteTrie& pieces, const ScoreOf& score_of, const Unknown& unknown,
              const Take& take) {
  // A ring buffer of the best scores up to byte offsets, as far as a subword from the current offset can reach.
  constexpr std::size_t kScores = 2 * kMaxPieceBytes;
  static_assert((kScores & (kScores - 1)) == 0);
  std::array<Score, kScores> scores;
  const auto score_at = [&](std::size_t position) -> Score& { return scores[position & (kScores - 1)]; };
  // For each byte offset, the size of the last subword of the best segmentation up to that offset; 0 if there is none.
  std::vector<std::uint16_t> last_bytes(text.size() + 1);
  score_at(0) = 0;
  std::size_t furthest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    poll_cancelled();
    // Like sentencepiece, keep float sums small, and therefore precise, by subtracting the current score.
    constexpr Score kLargestScore = 100'000;
    if (std::is_same_v<Score, float> && std::abs(score_at(begin)) > kLargestScore) {
      const Score offset = score_at(begin);
      for (std::size_t position = begin; position <= furthest; ++position) {
        if (position == begin || last_bytes[position] > 0) score_at(position) -= offset;
      }
    }
    // Records a subword from `begin` to `end` if it improves the best score up to `end`.
    const auto arrive = [&](std::size_t end, Score score) {
      furthest = std::max(furthest, end);
      const Score sum = score_at(begin) + score;
      if (last_bytes[end] > 0 && !(sum > score_at(end))) return;
      score_at(end) = sum;
      last_bytes[end] = static_cast<std::uint16_t>(end - begin);
    };
    // Try all subwords that start at `begin`. If the first character is not a subword, try it as unknown.
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
