#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/best_cut.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/merge_pairs.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {
namespace {

constexpr std::string_view kSpaceSymbol = "▁";

// One step of normalisation: `result` replaces the next `bytes` bytes of the text.
struct Normalized {
  std::string_view result;
  std::size_t bytes;
};

// Returns the first step for `text`: a user-defined piece, else a match of the table, else a character.
Normalized next_step(std::string_view text, const SentencePieceProto::Normalization& rules,
                     const ByteTrie& user_defined) {
  poll_cancelled();
  if (const std::size_t bytes = user_defined.longest(text).bytes; bytes > 0) return {text.substr(0, bytes), bytes};
  if (rules.table) {
    const auto match = rules.table->find(text, NormalizationTable::Wanted::longest);
    if (match.bytes > 0) return {match.replacement, match.bytes};
  }
  const std::size_t bytes = first_character(text).bytes;
  return {text.substr(0, bytes), bytes};
}

// Normalises a text like sentencepiece. From left to right, replaces the longest match of the table, but leaves
// user-defined pieces unchanged. Then, if `rules` request it:
// - removes spaces at the ends, and all but one of consecutive spaces
// - adds one space at the beginning or at the end
// - spells spaces as "▁"
std::string normalize(std::string_view valid, const SentencePieceProto::Normalization& rules,
                      const ByteTrie& user_defined) {
  const std::string_view space = rules.escape_spaces ? kSpaceSymbol : " ";
  // Skip leading spaces. If the text has only spaces, the result is empty, without the added space.
  std::string_view rest = valid;
  while (rules.remove_extra_spaces && !rest.empty()) {
    const Normalized step = next_step(rest, rules, user_defined);
    if (step.result != " ") break;
    rest.remove_prefix(step.bytes);
  }
  std::string text;
  if (rest.empty()) return text;
  text.reserve(rest.size() + rest.size() / 2);
  if (rules.add_dummy_prefix && !rules.space_is_suffix) text += space;
  // Normalise the rest, dropping spaces that follow a space.
  for (bool after_space = rules.remove_extra_spaces; !rest.empty();) {
    Normalized step = next_step(rest, rules, user_defined);
    while (after_space && step.result.starts_with(' ')) step.result.remove_prefix(1);
    for (const char byte : step.result) byte == ' ' ? void(text += space) : text.push_back(byte);
    if (!step.result.empty()) after_space = rules.remove_extra_spaces && step.result.ends_with(' ');
    rest.remove_prefix(step.bytes);
    check_rewritten_size(text.size());
  }
  while (rules.remove_extra_spaces && text.ends_with(space)) text.erase(text.size() - space.size());
  if (rules.add_dummy_prefix && rules.space_is_suffix) text += space;
  return text;
}

}  // namespace

SentencePieceModel SentencePieceModel::read(const std::filesystem::path& path) {
  return {read_text_file(path, kMaxSentencePieceBytes), path.string()};
}

SentencePieceModel::SentencePieceModel(std::string_view bytes, std::string name)
    : proto_(SentencePieceProto::parse(bytes, name)), name_(std::move(name)) {
  add_pieces();
  check_samples();
}

// Builds the lookup tables, and checks the pieces.
void SentencePieceModel::add_pieces() {
  constexpr float kUnknownPenalty = 10;  // kUnkPenalty of sentencepiece
  const bool is_unigram = proto_.model_type == ModelType::unigram;
  std::size_t bytes = 0;
  float lowest = std::numeric_limits<float>::max();
  highest_score_ = std::numeric_limits<float>::min();
  std::int32_t id = 0;
  for (const auto& [text, score, type] : proto_.pieces) {
    poll_cancelled();
    const auto refuse = [&, &piece = text](std::string_view what) {
      fail(fmt::format("piece {} '{}' {}", id, printable(piece), what));
    };
    // Pieces of these types can match a text. Pieces of other types are found by name only.
    if (type == PieceType::normal || type == PieceType::user_defined || type == PieceType::unused) {
      if (text_pieces_.find(text)) refuse("is there twice");
      if (text[0] == '\0' && (is_unigram || type == PieceType::user_defined)) refuse("begins with a NUL byte");
      text_pieces_.insert(text, id);
      if (type == PieceType::user_defined) user_defined_.insert(text, 0);
    } else if (!other_pieces_.emplace(text, id).second) {
      refuse("is there twice");
    }
    if (type == PieceType::normal) {
      lowest = std::min(lowest, score);
      highest_score_ = std::max(highest_score_, score);
    }
    // There must be one unknown piece, and with byte_fallback a piece for each byte.
    if (type == PieceType::unknown && std::exchange(unknown_id_, id) >= 0) refuse("is a second unknown piece");
    if (type == PieceType::byte) {
      const auto byte = piece_byte(text);
      if (!byte || byte_piece(*byte) != text) refuse("is a byte piece, expected <0x00> to <0xFF>");
      if (!proto_.byte_fallback) refuse("is a byte piece, but byte_fallback is false");
      ++bytes;
    }
    ++id;
  }
  unknown_score_ = lowest - kUnknownPenalty;
  if (unknown_id_ < 0) fail("no unknown piece");
  if (proto_.byte_fallback && bytes != 256) fail(fmt::format("pieces for {} bytes, expected 256", bytes));
  if (is_unigram && other_pieces_.size() == proto_.pieces.size()) fail("no pieces for text");
}

// Checks the encoding of the file's samples. A unigram model may also choose other pieces with the same total score.
void SentencePieceModel::check_samples() const {
  constexpr double kEpsilon = 1e-7;
  for (const auto& [input, expected] : proto_.samples) {
    if (find_invalid_utf8(input)) fail(fmt::format("its sample '{}' is not valid UTF-8", printable(input)));
    const std::string found = fmt::format("{}", fmt::join(encode(input), " "));
    const bool is_same = proto_.model_type == ModelType::unigram
                             ? std::abs(unigram_score(found) - unigram_score(expected)) <= kEpsilon
                             : found == expected;
    if (!is_same) {
      fail(fmt::format("its sample '{}' becomes '{}', not '{}'", printable(input), printable(found),
                       printable(expected)));
    }
  }
}

double SentencePieceModel::unigram_score(std::string_view pieces) const {
  float sum = 0;
  for (std::size_t begin = 0; begin <= pieces.size();) {
    const std::string_view text = pieces.substr(begin, pieces.find(' ', begin) - begin);
    begin += text.size() + 1;
    const std::int32_t id = id_of(text);
    // sentencepiece scores user-defined pieces differently here than in cut_unigram().
    const bool is_user_defined = at(id).type == PieceType::user_defined;
    const float score = id == unknown_id_ ? unknown_score_ : at(id).score;
    sum += is_user_defined ? static_cast<float>(text.size()) * highest_score_ - 0.1F : score;
  }
  return sum;
}

std::vector<std::string> SentencePieceModel::encode(std::string_view text) const {
  std::vector<std::string> pieces;
  encode(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

void SentencePieceModel::encode(std::string_view text, const PieceSink& take) const {
  check_text(text);
  const std::string normalized = normalize(text, proto_.normalizer, user_defined_);
  // Without byte_fallback, emit each run of unknown pieces as one piece.
  std::string_view unknowns;  // the current run
  cut(normalized, [&](std::string_view piece, std::int32_t id) {
    poll_cancelled();
    const PieceType type = at(id).type;
    if (type == PieceType::control) {
      refuse<TokenizerError>(name_, "the text contains the control piece '{}'", printable(piece));
    }
    const bool is_unknown = type == PieceType::unknown;
    if (is_unknown && proto_.byte_fallback) {
      for (const char byte : piece) take(byte_piece(static_cast<std::uint8_t>(byte)));
    } else if (is_unknown) {
      unknowns = unknowns.empty() ? piece : std::string_view(unknowns.data(), unknowns.size() + piece.size());
    } else {
      if (!unknowns.empty()) take(std::exchange(unknowns, {}));
      take(piece);
    }
  });
  if (!unknowns.empty()) take(unknowns);
}

template <typename Take>
void SentencePieceModel::cut(std::string_view normalized, const Take& take) const {
  const auto take_known = [&](std::string_view piece) { take(piece, id_of(piece)); };
  switch (proto_.model_type) {
    case ModelType::unigram: return cut_unigram(normalized, take);
    case ModelType::bpe: return merge(normalized, take_known);
    case ModelType::word:
    case ModelType::character:
      for (std::string_view rest = normalized; !rest.empty();) {
        const bool is_word = proto_.model_type == ModelType::word;
        const std::size_t end =
            is_word ? rest.find(kSpaceSymbol, first_character(rest).bytes) : first_symbol(rest).bytes;
        const std::string_view piece = rest.substr(0, end);
        take_known(piece);
        rest.remove_prefix(piece.size());
      }
  }
}

template <typename Take>
void SentencePieceModel::cut_unigram(std::string_view normalized, const Take& take) const {
  const auto score_of = [&](std::int32_t id, std::size_t bytes) -> std::optional<float> {
    const SentencePieceProto::Piece& piece = at(id);
    if (piece.type == PieceType::unused) return std::nullopt;
    // User-defined pieces score higher than all other pieces, and long ones score higher than short ones.
    const bool is_user_defined = piece.type == PieceType::user_defined;
    return is_user_defined ? static_cast<float>(0.1 * static_cast<double>(bytes - 1)) : piece.score;
  };
  const auto unknown = [&](std::string_view) { return unknown_score_; };
  best_cut<float>(normalized, text_pieces_, score_of, unknown, [&](std::string_view piece) {
    const auto known = text_pieces_.find(piece);
    take(piece, known && at(*known).type != PieceType::unused ? *known : unknown_id_);
  });
}

// Merges pairs in the order of their results' scores, the highest first. An unused piece can be an intermediate result.
// An unused piece that remains at the end is split into its two parts again.
template <typename Take>
void SentencePieceModel::merge(std::string_view normalized, const Take& take) const {
  using Merge = PairMerge<float>;
  constexpr std::int32_t kMergeable = 0, kWhole = 1;
  SymbolChain chain(normalized.size());
  for (std::size_t begin = 0; begin < normalized.size(); begin = chain.slots()) {
    poll_cancelled();
    const Symbol symbol = first_symbol(normalized.substr(begin));
    chain.add(symbol.is_whole ? kWhole : kMergeable, symbol.bytes);
  }
  const auto find_merge = [&](std::size_t left, std::size_t middle, std::size_t end) -> std::optional<Merge> {
    if (chain.symbol(left) == kWhole || chain.symbol(middle) == kWhole) return std::nullopt;
    const auto id = text_pieces_.find(normalized.substr(left, end - left));
    return id ? std::optional(Merge{-at(*id).score, kMergeable}) : std::nullopt;
  };
  std::unordered_map<std::string_view, std::size_t> fronts;  // size of the first part of each unused piece
  merge_pairs<float>(chain, find_merge, [&](std::size_t left, std::size_t middle, std::size_t end) {
    const std::string_view both = normalized.substr(left, end - left);
    if (at(*text_pieces_.find(both)).type == PieceType::unused) fronts[both] = middle - left;
  });
  // Emit the pieces, and split those that are unused.
  std::vector<std::string_view> rest;  // a stack: the next piece is the last element
  for (std::size_t begin = 0, end = 0; begin < chain.slots(); begin = end) {
    end = chain.end(begin);
    for (rest = {normalized.substr(begin, end - begin)}; !rest.empty();) {
      const std::string_view text = rest.back();
      rest.pop_back();
      const auto front = fronts.find(text);
      if (front == fronts.end() || at(id_of(text)).type != PieceType::unused) {
        take(text);
      } else {
        rest.insert(rest.end(), {text.substr(front->second), text.substr(0, front->second)});
      }
    }
  }
}

SentencePieceModel::Symbol SentencePieceModel::first_symbol(std::string_view text) const {
  const std::size_t whole = user_defined_.longest(text).bytes;
  return {whole > 0 ? whole : first_character(text).bytes, whole > 0};
}

std::string SentencePieceModel::decode(std::span<const std::string> pieces) const {
  const SentencePieceProto::Normalization& rules = proto_.normalizer;
  std::string text;
  std::string bytes;         // the current run of byte pieces
  bool begins = true;        // whether a leading space must still be removed
  bool took_prefix = false;  // whether the added space was removed from the previous piece
  const auto add_bytes = [&] { text += replace_invalid_bytes(std::exchange(bytes, {}), "\uFFFD"); };
  for (const std::string& piece : pieces) {
    const std::int32_t id = id_of(piece);
    const PieceType type = at(id).type;
    if (type == PieceType::byte) {
      bytes += static_cast<char>(*piece_byte(piece));
      continue;
    }
    add_bytes();
    begins = begins && !took_prefix && text.empty();
    took_prefix = false;
    if (type == PieceType::control) continue;
    if (type == PieceType::unknown) {
      text += at(id).text == piece ? proto_.unknown_surface : piece;
      continue;
    }
    // Remove the space that normalisation added at the beginning. If remove_extra_spaces, remove the leading space of
    // every piece until there is text.
    std::string_view rest = piece;
    if (begins && (rules.add_dummy_prefix || rules.remove_extra_spaces) && rest.starts_with(kSpaceSymbol)) {
      rest.remove_prefix(kSpaceSymbol.size());
      took_prefix = !rules.remove_extra_spaces;
    }
    text += replace_all(rest, kSpaceSymbol, " ");
  }
  add_bytes();
  return proto_.denormalizer.table ? normalize(text, proto_.denormalizer, {}) : text;
}

const std::string* SentencePieceModel::piece(int id) const {
  return id >= 0 && static_cast<std::size_t>(id) < proto_.pieces.size() ? &at(id).text : nullptr;
}

// Returns the id of a piece of any type, or the unknown piece's id.
std::int32_t SentencePieceModel::id_of(std::string_view piece) const {
  const auto other = other_pieces_.find(piece);
  return other != other_pieces_.end() ? other->second : text_pieces_.find(piece).value_or(unknown_id_);
}

void SentencePieceModel::fail(std::string_view what) const {
  refuse<TokenizerError>(name_, "not a sentencepiece model: {}", what);
}

}  // namespace encdec
