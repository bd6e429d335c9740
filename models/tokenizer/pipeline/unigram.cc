#include "encdec/models/tokenizer/pipeline/unigram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/pipeline/best_cut.h"
#include "encdec/models/tokenizer/pipeline/byte_pieces.h"

namespace encdec {
namespace {

constexpr double kUnknownPenalty = 10;

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
  const auto score_of = [&](std::int32_t id, std::size_t) {
    return std::optional(pieces_[static_cast<std::size_t>(id)].score);
  };
  const auto unknown = [&](std::string_view character) {
    if (unknown_id_) return std::pair(unknown_score_, *unknown_id_);
    throw TokenizerError(fmt::format("{}: no piece for '{}', and no unk_id", name_, printable(character)));
  };
  const std::vector<CutPiece> pieces = best_cut<double>(word, trie_, score_of, unknown);
  for (std::size_t i = 0; i < pieces.size();) {
    const CutPiece& first = pieces[i++];
    std::size_t end = first.end;
    for (; first.id == unknown_id_ && i < pieces.size() && pieces[i].id == unknown_id_; ++i) end = pieces[i].end;
    append(word.substr(first.begin, end - first.begin), ids);
  }
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
