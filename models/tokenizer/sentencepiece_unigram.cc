#include "encdec/models/tokenizer/sentencepiece_unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "encdec/models/tokenizer/pipeline/byte_pieces.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

using PieceType = SentencePieceProto::PieceType;

// The best way to a place in the text.
struct Arrival {
  static constexpr std::size_t kNever = ~std::size_t{0};

  std::size_t from = kNever;  // where its last piece begins
  float score = 0;
  bool is_unknown = false;  // the last piece
};

}  // namespace

SentencePieceUnigram::SentencePieceUnigram(const SentencePieceProto& proto)
    : normalizer_(proto), pieces_(proto.pieces), byte_fallback_(proto.byte_fallback) {
  constexpr float kUnknownPenalty = 10;
  float lowest = std::numeric_limits<float>::max();
  std::int32_t id = 0;
  for (const SentencePieceProto::Piece& piece : pieces_) {
    if (piece.type == PieceType::normal) lowest = std::min(lowest, piece.score);
    if (piece.type == PieceType::normal || piece.type == PieceType::user_defined) trie_.insert(piece.text, id);
    ++id;
  }
  unknown_score_ = lowest - kUnknownPenalty;
}

std::vector<std::string> SentencePieceUnigram::encode(std::string_view valid) const {
  constexpr float kLargestScore = 100'000;
  const std::string text = normalizer_.normalize(valid);
  std::vector<Arrival> arrivals(text.size() + 1);
  arrivals[0].from = 0;
  std::size_t furthest = 0;
  const auto arrive = [&](std::size_t place, const Arrival& arrival) {
    furthest = std::max(furthest, place);
    if (arrivals[place].from == Arrival::kNever || arrival.score > arrivals[place].score) arrivals[place] = arrival;
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t character = first_character(std::string_view(text).substr(begin)).bytes;
    // Sums of long texts begin anew, so that they stay exact.
    if (std::abs(arrivals[begin].score) > kLargestScore) {
      const float offset = arrivals[begin].score;
      for (std::size_t place = begin; place <= furthest; ++place) {
        if (arrivals[place].from != Arrival::kNever) arrivals[place].score -= offset;
      }
    }
    const float so_far = arrivals[begin].score;
    bool has_character = false;
    ByteTrie::Node node = ByteTrie::kRoot;
    for (std::size_t end = begin; end < text.size();) {
      node = trie_.step(node, text[end++]);
      if (node == ByteTrie::kNone) break;
      const std::int32_t id = trie_.value(node);
      if (id < 0) continue;
      const SentencePieceProto::Piece& piece = pieces_[static_cast<std::size_t>(id)];
      // User-defined pieces are better than all others, long ones better than short ones.
      const float score = piece.type == PieceType::user_defined
                              ? static_cast<float>(0.1 * static_cast<double>(end - begin - 1))
                              : piece.score;
      arrive(end, {.from = begin, .score = so_far + score});
      has_character = has_character || end - begin == character;
    }
    if (!has_character) {
      arrive(begin + character, {.from = begin, .score = so_far + unknown_score_, .is_unknown = true});
    }
    begin += character;
  }

  std::vector<std::string> pieces;  // from the end
  for (std::size_t end = text.size(); end > 0;) {
    std::size_t begin = arrivals[end].from;
    const bool is_unknown = arrivals[end].is_unknown;
    while (is_unknown && begin > 0 && arrivals[begin].is_unknown) begin = arrivals[begin].from;
    if (is_unknown && byte_fallback_) {
      for (std::size_t i = end; i > begin; --i) pieces.push_back(byte_piece(static_cast<std::uint8_t>(text[i - 1])));
    } else {
      pieces.push_back(text.substr(begin, end - begin));
    }
    end = begin;
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

}  // namespace encdec
