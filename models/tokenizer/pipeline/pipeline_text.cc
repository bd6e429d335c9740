#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {

PipelineText PipelineText::part(std::string_view text, std::size_t begin, std::size_t end) {
  const bool is_first = begin == 0;
  const std::size_t origin = is_first && !text.empty() ? first_character(text).bytes : 0;
  return {.text = std::string(text.substr(begin, end - begin)), .origin_bytes = origin, .is_first = is_first};
}

PipelineText PipelineText::slice(std::size_t begin, std::size_t end) const& {
  const bool at_origin = begin < origin_bytes;
  return {.text = text.substr(begin, end - begin),
          .origin_bytes = at_origin ? std::min(origin_bytes, end) - begin : 0,
          .is_first = is_first && at_origin};
}

PipelineText PipelineText::slice(std::size_t begin, std::size_t end) && {
  const PipelineText& self = *this;
  if (begin > 0 || end < text.size()) return self.slice(begin, end);
  is_first = is_first && origin_bytes > 0;
  return std::move(*this);
}

void PipelineText::prepend(std::string_view prefix) {
  if (text.empty()) return;
  check_rewritten_size(text.size() + prefix.size());
  text.insert(0, prefix);
  if (origin_bytes > 0) origin_bytes += prefix.size();
}

void PipelineText::to_byte_characters() {
  std::string characters;
  characters.reserve(text.size() + text.size() / 8);
  std::size_t new_origin_bytes = 0;
  for (std::size_t index = 0; index < text.size(); ++index) {
    poll_cancelled();
    characters += byte_character(static_cast<std::uint8_t>(text[index]));
    if (index < origin_bytes) new_origin_bytes = characters.size();
  }
  check_rewritten_size(characters.size());
  text = std::move(characters);
  origin_bytes = new_origin_bytes;
}

void check_rewritten_size(std::size_t bytes) {
  if (bytes > kMaxRewrittenBytes) {
    throw TokenizerError(fmt::format("the text grows to more than {} bytes while it is rewritten", kMaxRewrittenBytes));
  }
}

void TextRewriter::keep(std::size_t bytes) {
  const std::size_t origin = std::clamp(text_.origin_bytes, position_, position_ + bytes) - position_;
  const std::string_view kept = rest().substr(0, bytes);
  append(kept.substr(0, origin), true);
  append(kept.substr(origin), false);
  position_ += bytes;
}

void TextRewriter::drop_origin(std::size_t bytes) {
  position_ += bytes;
  if (text_.origin_bytes > 0) text_.origin_bytes = position_ + (rest().empty() ? 0 : first_character(rest()).bytes);
}

void TextRewriter::replace(std::size_t bytes, std::string_view by) {
  append(by, position_ < text_.origin_bytes);
  position_ += bytes;
}

void TextRewriter::insert(std::string_view added) {
  append(added, position_ == 0 || position_ - 1 < text_.origin_bytes);
}

void TextRewriter::finish() {
  text_.text = std::move(result_);
  text_.origin_bytes = origin_bytes_;
}

void TextRewriter::append(std::string_view added, bool is_origin) {
  poll_cancelled();
  check_rewritten_size(result_.size() + added.size());
  result_ += added;
  if (is_origin && !added.empty()) origin_bytes_ = result_.size();
}

}  // namespace encdec
