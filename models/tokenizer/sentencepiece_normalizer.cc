#include "encdec/models/tokenizer/sentencepiece_normalizer.h"

#include <cstring>

#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceProto& proto)
    : add_dummy_prefix_(proto.add_dummy_prefix),
      remove_extra_spaces_(proto.remove_extra_spaces),
      space_is_suffix_(proto.space_is_suffix),
      space_(proto.escape_spaces ? "▁" : " ") {
  std::string_view table = proto.normalization_table;
  if (std::uint32_t trie_bytes = 0; table.size() >= sizeof trie_bytes) {
    std::memcpy(&trie_bytes, table.data(), sizeof trie_bytes);
    table.remove_prefix(sizeof trie_bytes);
    units_.resize(trie_bytes / sizeof(std::uint32_t));
    if (!units_.empty()) std::memcpy(units_.data(), table.data(), trie_bytes);
    replacements_ = table.substr(trie_bytes);
  }
  for (const SentencePieceProto::Piece& piece : proto.pieces) {
    if (piece.type == SentencePieceProto::PieceType::user_defined) user_defined_.insert(piece.text, 0);
  }
}

std::string SentencePieceNormalizer::normalize(std::string_view valid) const {
  std::string_view rest = valid;
  while (remove_extra_spaces_ && !rest.empty()) {
    const Step step = next(rest);
    if (step.result != " ") break;
    rest.remove_prefix(step.bytes);
  }
  std::string text;
  if (rest.empty()) return text;
  text.reserve(rest.size() + rest.size() / 2);
  if (add_dummy_prefix_ && !space_is_suffix_) text += space_;
  for (bool after_space = remove_extra_spaces_; !rest.empty();) {
    Step step = next(rest);
    while (after_space && step.result.starts_with(' ')) step.result.remove_prefix(1);
    for (const char byte : step.result) byte == ' ' ? void(text += space_) : text.push_back(byte);
    if (!step.result.empty()) after_space = remove_extra_spaces_ && step.result.ends_with(' ');
    rest.remove_prefix(step.bytes);
    check_rewritten(text.size());
  }
  while (remove_extra_spaces_ && text.ends_with(space_)) text.resize(text.size() - space_.size());
  if (add_dummy_prefix_ && space_is_suffix_) text += space_;
  return text;
}

SentencePieceNormalizer::Step SentencePieceNormalizer::next(std::string_view text) const {
  if (const std::size_t bytes = user_defined(text); bytes > 0) return {text.substr(0, bytes), bytes};
  constexpr std::uint32_t kValueBit = 1u << 31;
  const auto children = [&](std::size_t position) {
    const std::uint32_t unit = units_[position];
    return position ^ (unit >> 10 << ((unit & 1u << 9) >> 6));
  };
  Step longest{{}, 0};
  std::size_t position = units_.empty() ? 0 : children(0);
  for (std::size_t i = 0; i < text.size() && !units_.empty(); ++i) {
    const auto label = static_cast<std::uint8_t>(text[i]);
    position ^= label;
    if (position >= units_.size() || (units_[position] & (kValueBit | 0xFFu)) != label) break;
    const bool ends_match = (units_[position] >> 8 & 1) != 0;
    position = children(position);
    if (ends_match) longest = {replacements_.c_str() + (units_[position] & ~kValueBit), i + 1};
  }
  if (longest.bytes > 0) return longest;
  const std::size_t bytes = first_character(text).bytes;
  return {text.substr(0, bytes), bytes};
}

std::size_t SentencePieceNormalizer::user_defined(std::string_view text) const {
  std::size_t longest = 0;
  ByteTrie::Node node = ByteTrie::kRoot;
  for (std::size_t i = 0; i < text.size(); ++i) {
    node = user_defined_.step(node, text[i]);
    if (node == ByteTrie::kNone) break;
    if (user_defined_.value(node) >= 0) longest = i + 1;
  }
  return longest;
}

}  // namespace encdec
