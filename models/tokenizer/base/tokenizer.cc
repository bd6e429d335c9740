#include "encdec/models/tokenizer/base/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/affixes.h"

namespace encdec {

std::vector<std::string> Tokenizer::pieces(std::span<const std::int32_t> ids, TextSide side) const {
  std::vector<std::string> result;
  result.reserve(ids.size());
  for (const std::int32_t id : ids) result.emplace_back(piece(id, side));
  return result;
}

std::vector<std::int32_t> Tokenizer::encode_segment(std::string_view /*text*/) const {
  throw InputError(fmt::format("a pair of texts, but the tokenizer ({}) reads single texts", kind()));
}

Encoding Tokenizer::encode_with_ranges(std::string_view /*text*/, const EncodeOptions& /*options*/) const {
  throw InputError(fmt::format("the tokenizer ({}) does not know which characters a token stands for", kind()));
}

std::string Tokenizer::join(std::vector<std::string> pieces) const {
  return fmt::format("{}", fmt::join(pieces, ""));
}

std::pair<std::size_t, std::size_t> pair_lengths(std::size_t first, std::size_t second, std::size_t room,
                                                 Truncation truncation) {
  if (first + second <= room) return {first, second};
  const std::size_t excess = first + second - room;
  if (truncation != Truncation::longest_first) {
    std::size_t& shortened = truncation == Truncation::only_first ? first : second;
    if (shortened <= excess) {
      throw InputError(fmt::format("{} tokens too many, but only {} in the {} text", excess, shortened,
                                   truncation == Truncation::only_first ? "first" : "second"));
    }
    shortened -= excess;
    return {first, second};
  }
  // Truncate the longer text first. If both texts must be truncated and `room` is odd, the longer text keeps one token
  // more; if both are equally long, the second text does.
  std::size_t shorter = std::min(first, second);
  std::size_t longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  return first > second ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

void refuse_languages(const EncodeOptions& options, std::string_view name) {
  const std::string& language = options.target_language.empty() ? options.source_language : options.target_language;
  if (!language.empty())
    refuse<InputError>(name, "language '{}', but the tokenizer has no languages", printable(language));
}

std::vector<std::int32_t> encode_target_part(const Tokenizer& tokenizer, std::string_view text,
                                             const EncodeOptions& options) {
  const std::vector<std::int32_t> special = tokenizer.encode_target("", options);
  const std::vector<std::int32_t> whole = tokenizer.encode_target(text, options);
  // `special` does not show which of its tokens come before a text. Try each way to split `special` into a front and a
  // back.
  for (std::size_t before = 0; before <= special.size() && special.size() <= whole.size(); ++before) {
    const auto front = std::span(special).first(before), back = std::span(special).subspan(before);
    const auto part = std::span(whole).subspan(before, whole.size() - special.size());
    if (std::ranges::equal(std::span(whole).first(before), front) &&
        std::ranges::equal(std::span(whole).last(back.size()), back)) {
      return {part.begin(), part.end()};
    }
  }
  return whole;
}

std::vector<std::int32_t> encode_after_space(const Tokenizer& tokenizer, std::string_view phrase,
                                             const EncodeOptions& options) {
  const std::string after_space = ' ' + std::string(phrase);
  // Encode the phrase after a word, then remove the word's ids. A leading space alone is not enough: some tokenizers
  // drop the space, others make it a token.
  const std::string word = "a";
  const auto front = encode_target_part(tokenizer, word, options);
  auto ids = encode_target_part(tokenizer, word + after_space, options);
  // If the tokenizer merged the word with the phrase, encode the phrase with only a leading space.
  if (std::ranges::mismatch(front, ids).in1 != front.end()) return encode_target_part(tokenizer, after_space, options);
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(front.size()));
  return ids;
}

std::string decode_known(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  try {
    return tokenizer.decode(ids);
  } catch (const InputError&) {  // one of the ids is unknown: keep the known ids
    std::vector<std::int32_t> known;
    for (const std::int32_t& id : ids) {
      try {
        tokenizer.piece(id, TextSide::target);
        known.push_back(id);
      } catch (const InputError&) {
        continue;
      }
    }
    return tokenizer.decode(known);
  }
}

}  // namespace encdec
