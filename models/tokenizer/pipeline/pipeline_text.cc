#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

std::ptrdiff_t to_difference(std::size_t index) {
  return static_cast<std::ptrdiff_t>(index);
}

}  // namespace

PipelineText PipelineText::part(std::string_view text, std::size_t begin, std::size_t end, Spans spans) {
  const bool is_first = begin == 0;
  const std::size_t origin = is_first && !text.empty() ? first_character(text).bytes : 0;
  PipelineText part{.text = std::string(text.substr(begin, end - begin)), .origin_bytes = origin, .is_first = is_first};
  for (std::size_t at = begin; spans == Spans::kept && at < end;) {
    const std::size_t bytes = first_character(text.substr(at)).bytes;
    part.spans.insert(part.spans.end(), bytes,
                      {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + bytes)});
    at += bytes;
  }
  return part;
}

PipelineText PipelineText::slice(std::size_t begin, std::size_t end) const& {
  const bool at_origin = begin < origin_bytes;
  PipelineText part{.text = text.substr(begin, end - begin),
                    .origin_bytes = at_origin ? std::min(origin_bytes, end) - begin : 0,
                    .is_first = is_first && at_origin};
  if (!spans.empty()) part.spans.assign(spans.begin() + to_difference(begin), spans.begin() + to_difference(end));
  return part;
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
  if (!spans.empty()) spans.insert(spans.begin(), prefix.size(), spans.front());
  if (origin_bytes > 0) origin_bytes += prefix.size();
}

void PipelineText::to_byte_characters() {
  std::string characters;
  std::vector<ByteSpan> new_spans;
  characters.reserve(text.size() + text.size() / 8);
  std::size_t new_origin_bytes = 0;
  for (std::size_t index = 0; index < text.size(); ++index) {
    poll_cancelled();
    characters += byte_character(static_cast<std::uint8_t>(text[index]));
    if (!spans.empty()) new_spans.resize(characters.size(), spans[index]);
    if (index < origin_bytes) new_origin_bytes = characters.size();
  }
  check_rewritten_size(characters.size());
  text = std::move(characters);
  spans = std::move(new_spans);
  origin_bytes = new_origin_bytes;
}

std::vector<ByteSpan> PipelineText::changed_spans(std::span<const CharacterChange> changes) const {
  std::vector<ByteSpan> result;
  std::size_t next = 0;  // offset of the next old character
  const auto skip = [&] {
    if (next < text.size()) next += first_character(std::string_view(text).substr(next)).bytes;
  };
  for (const auto& [bytes, change] : changes) {
    poll_cancelled();
    // An inserted character gets the span of the previous old character. Any other character gets
    // the span of the next old character.
    const std::size_t from = change > 0 ? next - std::min<std::size_t>(next, 1) : std::min(next, spans.size() - 1);
    result.insert(result.end(), bytes, spans[from]);
    for (std::int32_t i = change; i <= 0; ++i) skip();
  }
  return result;
}

void check_rewritten_size(std::size_t bytes) {
  if (bytes > kMaxRewrittenBytes) {
    throw TokenizerError(fmt::format("the text grows to more than {} bytes while it is rewritten", kMaxRewrittenBytes));
  }
}

void TextRewriter::keep(std::size_t bytes) {
  // The first `origin` kept bytes come from the caller's first character. Append these and the other bytes separately.
  const std::size_t origin = std::clamp(text_.origin_bytes, position_, position_ + bytes) - position_;
  const std::string_view kept = rest().substr(0, bytes);
  append(kept.substr(0, origin), true);
  append(kept.substr(origin), false);
  if (!text_.spans.empty()) {
    const auto first = text_.spans.begin() + to_difference(position_);
    spans_.insert(spans_.end(), first, first + to_difference(kept.size()));
  }
  position_ += bytes;
}

void TextRewriter::drop_origin(std::size_t bytes) {
  position_ += bytes;
  if (text_.origin_bytes > 0) text_.origin_bytes = position_ + (rest().empty() ? 0 : first_character(rest()).bytes);
}

void TextRewriter::replace(std::size_t bytes, std::string_view by) {
  append(by, position_ < text_.origin_bytes);
  append_spans(by.size(), position_);
  position_ += bytes;
}

void TextRewriter::insert(std::string_view added) {
  append(added, position_ == 0 || position_ - 1 < text_.origin_bytes);
  append_spans(added.size(), position_ - std::min<std::size_t>(position_, 1));
}

void TextRewriter::finish() {
  text_.text = std::move(result_);
  text_.spans = std::move(spans_);
  text_.origin_bytes = origin_bytes_;
}

// Appends the span of old byte `from` once for each of `bytes` new bytes.
void TextRewriter::append_spans(std::size_t bytes, std::size_t from) {
  if (!text_.spans.empty()) spans_.insert(spans_.end(), bytes, text_.spans[std::min(from, text_.spans.size() - 1)]);
}

void TextRewriter::append(std::string_view added, bool is_origin) {
  poll_cancelled();
  check_rewritten_size(result_.size() + added.size());
  result_ += added;
  if (is_origin && !added.empty()) origin_bytes_ = result_.size();
}

}  // namespace encdec
