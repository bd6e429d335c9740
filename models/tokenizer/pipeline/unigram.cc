#include "encdec/models/tokenizer/pipeline/unigram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/pipeline/byte_pieces.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

constexpr double kUnknownPenalty = 10;

// The best way to cover a word up to some byte: its last piece, and the sum of scores.
struct Step {
  double score = 0;
  std::uint32_t begin = 0;
  std::int32_t id = kNoStep;

  static constexpr std::int32_t kNoStep = -1;

  void offer(double offered, std::size_t from, std::int32_t piece) {
    if (id != kNoStep && offered <= score) return;
    *this = {offered, static_cast<std::uint32_t>(from), piece};
  }
};

}  // namespace

Unigram::Unigram(Options options, const std::string& name)
    : pieces_(std::move(options.pieces)),
      unknown_id_(options.unknown_id),
      byte_fallback_(options.byte_fallback),
      name_(name) {
  if (pieces_.size() > static_cast<std::size_t>(kMaxTokenIds)) {
    throw TokenizerError(fmt::format("{}: {} pieces, expected at most {}", name, pieces_.size(), kMaxTokenIds));
  }
  if (unknown_id_ && (*unknown_id_ < 0 || static_cast<std::size_t>(*unknown_id_) >= pieces_.size())) {
    throw TokenizerError(
        fmt::format("{}: unk_id is {}, expected one of {} pieces", name, *unknown_id_, pieces_.size()));
  }
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t id = 0; id < pieces_.size(); ++id) {
    const auto& [text, score] = pieces_[id];
    if (text.size() > kMaxPieceBytes || !std::isfinite(score)) {
      throw TokenizerError(fmt::format("{}: piece {} has {} bytes and the score {}, expected at most {} and a number",
                                       name, id, text.size(), score, kMaxPieceBytes));
    }
    lowest = std::min(lowest, score);
    trie_.insert(text, static_cast<std::int32_t>(id));
  }
  unknown_score_ = lowest - kUnknownPenalty;
}

void Unigram::tokenize(std::string_view word, std::vector<std::int32_t>& ids) const {
  // Step i covers the first i bytes.
  std::vector<Step> steps(word.size() + 1);
  for (std::size_t begin = 0; begin < word.size();) {
    const double score = steps[begin].score;
    const std::size_t character_bytes = first_character(word.substr(begin)).bytes;
    bool covers_character = false;
    ByteTrie::Node node = ByteTrie::kRoot;
    for (std::size_t end = begin; end < word.size();) {
      node = trie_.step(node, word[end++]);
      if (node == ByteTrie::kNone) break;
      const std::int32_t id = trie_.value(node);
      if (id < 0) continue;
      steps[end].offer(score + pieces_[static_cast<std::size_t>(id)].score, begin, id);
      covers_character |= end == begin + character_bytes;
    }
    if (!covers_character) {
      if (!unknown_id_) {
        throw TokenizerError(
            fmt::format("{}: no piece for '{}', and no unk_id", name_, printable(word.substr(begin, character_bytes))));
      }
      steps[begin + character_bytes].offer(score + unknown_score_, begin, *unknown_id_);
    }
    begin += character_bytes;
  }

  // From the end back to the beginning; unknown pieces in a row become one.
  std::vector<std::string_view> found;
  bool after_unknown = false;
  for (std::size_t end = word.size(); end > 0;) {
    const Step& step = steps[end];
    const std::string_view piece = word.substr(step.begin, end - step.begin);
    const bool is_unknown = step.id == unknown_id_;
    if (is_unknown && after_unknown) {
      found.back() = {piece.data(), piece.size() + found.back().size()};
    } else {
      found.push_back(piece);
    }
    after_unknown = is_unknown;
    end = step.begin;
  }
  for (auto piece = found.rbegin(); piece != found.rend(); ++piece) append(*piece, ids);
}

void Unigram::append(std::string_view piece, std::vector<std::int32_t>& ids) const {
  if (const auto known = trie_.find(piece)) return ids.push_back(*known);
  if (byte_fallback_ && append_byte_pieces(piece, *this, ids)) return;
  ids.push_back(unknown_id_.value());
}

std::optional<std::int32_t> Unigram::id(std::string_view piece) const {
  return trie_.find(piece);
}

const std::string* Unigram::piece(std::int32_t id) const {
  const bool exists = id >= 0 && static_cast<std::size_t>(id) < pieces_.size();
  return exists ? &pieces_[static_cast<std::size_t>(id)].text : nullptr;
}

}  // namespace encdec
