#include "encdec/models/tokenizer/sentencepiece/sentencepiece_normalizer.h"

#include <utility>

#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

SentencePieceNormalizer::SentencePieceNormalizer(SentencePieceProto::Normalization rules, ByteTrie user_defined)
    : rules_(std::move(rules)), user_defined_(std::move(user_defined)), space_(rules_.escape_spaces ? "▁" : " ") {}

std::string SentencePieceNormalizer::normalize(std::string_view valid) const {
  std::string_view rest = valid;
  while (rules_.remove_extra_spaces && !rest.empty()) {
    const Step step = next(rest);
    if (step.result != " ") break;
    rest.remove_prefix(step.bytes);
  }
  std::string text;
  if (rest.empty()) return text;
  text.reserve(rest.size() + rest.size() / 2);
  if (rules_.add_dummy_prefix && !rules_.space_is_suffix) text += space_;
  for (bool after_space = rules_.remove_extra_spaces; !rest.empty();) {
    Step step = next(rest);
    while (after_space && step.result.starts_with(' ')) step.result.remove_prefix(1);
    for (const char byte : step.result) byte == ' ' ? void(text += space_) : text.push_back(byte);
    if (!step.result.empty()) after_space = rules_.remove_extra_spaces && step.result.ends_with(' ');
    rest.remove_prefix(step.bytes);
    check_rewritten(text.size());
  }
  while (rules_.remove_extra_spaces && text.ends_with(space_)) text.resize(text.size() - space_.size());
  if (rules_.add_dummy_prefix && rules_.space_is_suffix) text += space_;
  return text;
}

SentencePieceNormalizer::Step SentencePieceNormalizer::next(std::string_view text) const {
  if (const std::size_t bytes = user_defined_.longest(text).bytes; bytes > 0) return {text.substr(0, bytes), bytes};
  if (rules_.table) {
    const auto match = rules_.table->find(text, NormalizationTable::Wanted::longest);
    if (match.bytes > 0) return {match.replacement, match.bytes};
  }
  const std::size_t bytes = first_character(text).bytes;
  return {text.substr(0, bytes), bytes};
}

}  // namespace encdec
