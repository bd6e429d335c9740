#include "encdec/models/tokenizer/pipeline/bpe.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/pipeline/byte_pieces.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

Bpe::Bpe(Options options, const std::string& name)
    : VocabularyModel(std::move(options.vocabulary), name),
      unknown_token_(std::move(options.unknown_token)),
      continuing_subword_prefix_(std::move(options.continuing_subword_prefix)),
      end_of_word_suffix_(std::move(options.end_of_word_suffix)),
      fuse_unknown_(options.fuse_unknown),
      byte_fallback_(options.byte_fallback),
      ignore_merges_(options.ignore_merges) {
  merges_.reserve(options.merges.size());
  std::string whole;
  for (std::size_t rank = 0; rank < options.merges.size(); ++rank) {
    const std::string& left = options.merges[rank].first;
    const std::string& right = options.merges[rank].second;
    const auto id_of = [&](std::string_view piece) {
      const auto found = vocabulary().id(piece);
      if (found) return *found;
      throw TokenizerError(fmt::format("{}: merge {} of '{}' and '{}': '{}' is not in the vocabulary", name, rank,
                                       printable(left), printable(right), printable(piece)));
    };
    const std::int32_t left_id = id_of(left);
    const std::int32_t right_id = id_of(right);
    // The right part begins with the prefix, which the whole does not have in the middle.
    const std::size_t prefix = continuing_subword_prefix_.size();
    if (right.size() < prefix) {
      throw TokenizerError(fmt::format("{}: merge {}: '{}' is shorter than the prefix '{}'", name, rank,
                                       printable(right), printable(continuing_subword_prefix_)));
    }
    whole.assign(left).append(right, prefix);
    merges_[pair_key(left_id, right_id)] = {static_cast<std::uint32_t>(rank), id_of(whole)};
  }
}

void Bpe::tokenize(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (ignore_merges_) {
    if (const auto whole = vocabulary().id(word)) return ids.push_back(*whole);
  }
  const auto find_merge = [&](std::int32_t left, std::int32_t right) -> std::optional<Merge> {
    const auto found = merges_.find(pair_key(left, right));
    return found != merges_.end() ? std::optional(found->second) : std::nullopt;
  };
  const std::vector<std::int32_t> merged = merge_pairs<std::uint32_t>(symbols(word), find_merge);
  ids.insert(ids.end(), merged.begin(), merged.end());
}

// The characters of a word. An unknown one is put down only when it is known that the next is not joined to it.
std::vector<std::int32_t> Bpe::symbols(std::string_view word) const {
  std::vector<std::int32_t> result;
  bool is_unknown_pending = false;
  std::string decorated;
  for (std::size_t begin = 0, end = 0; begin < word.size(); begin = end) {
    end = begin + first_character(word.substr(begin)).bytes;
    std::string_view symbol = word.substr(begin, end - begin);
    const bool has_prefix = begin > 0 && !continuing_subword_prefix_.empty();
    const bool has_suffix = end == word.size() && !end_of_word_suffix_.empty();
    if (has_prefix || has_suffix) {
      decorated.assign(has_prefix ? continuing_subword_prefix_ : "").append(symbol);
      if (has_suffix) decorated += end_of_word_suffix_;
      symbol = decorated;
    }
    if (const auto known = vocabulary().id(symbol)) {
      if (is_unknown_pending) result.push_back(unknown_id(*unknown_token_));
      is_unknown_pending = false;
      result.push_back(*known);
    } else if (!byte_fallback_ || !append_byte_pieces(symbol, *this, result)) {
      if (is_unknown_pending && !fuse_unknown_) result.push_back(unknown_id(*unknown_token_));
      is_unknown_pending = unknown_token_.has_value();
      if (is_unknown_pending) unknown_id(*unknown_token_);  // throws if there is none
    }
  }
  if (is_unknown_pending) result.push_back(unknown_id(*unknown_token_));
  return result;
}

}  // namespace encdec
