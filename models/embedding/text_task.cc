#include "encdec/models/embedding/text_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {

TextTask::TextTask(const ModelParts& parts, Settings settings) : parts_(parts), settings_(std::move(settings)) {
  const TransformerConfig& config = parts.network.config;
  if (config.architecture != Architecture::encoder_only && settings_.reads != Reads::logits) {
    refuse<ConfigError>(parts.origin, "{} has a decoder, expected an encoder-only model", config.model_type);
  }
  if (parts.tokenizer == nullptr) refuse<TokenizerError>(parts.origin, "no tokenizer files");
  check_batching(settings_.batch_size, 1);
  if (const auto positions = config.encoder.position_limit()) {
    const auto limit = static_cast<std::size_t>(*positions);
    settings_.max_length = settings_.max_length == 0 ? limit : std::min(settings_.max_length, limit);
  }
}

std::size_t TextTask::smaller_limit(std::size_t folder, int call) {
  const auto own = static_cast<std::size_t>(std::max(call, 0));
  return folder == 0 || own == 0 ? std::max(folder, own) : std::min(folder, own);
}

Encoding TextTask::read(const std::string& text, const std::string* second, std::size_t number, std::size_t max_length,
                        FirstText& last) const {
  EncodeOptions options{.max_length = max_length, .truncation = settings_.truncation};
  if (settings_.long_texts == LongSources::truncate_left) options.truncation_side = TruncationSide::left;
  if (settings_.long_texts == LongSources::truncate_right) options.truncation_side = TruncationSide::right;
  const Tokenizer& tokenizer = *parts_.tokenizer;
  try {
    if (second != nullptr) {
      if (last.text != &text) last = {&text, tokenizer.encode_segment(settings_.prompt + text)};
      return tokenizer.join_pair(last.tokens, tokenizer.encode_segment(*second), options);
    }
    const std::string first = settings_.prompt + text;
    return settings_.with_ranges ? tokenizer.encode_with_ranges(first, options)
                                 : Encoding{tokenizer.encode(first, options)};
  } catch (const InputError& error) {
    throw InputError(fmt::format("text {}: {}", number, error.what()));
  }
}

void TextTask::check(const TokenIds& ids, std::size_t number) const {
  const std::size_t limit = settings_.max_length;
  if (limit != 0 && ids.size() > limit) {
    throw InputError(fmt::format("text {}: {} tokens, expected at most {}", number, ids.size(), limit));
  }
  check_not_empty(ids, "text", number);  // without a tokenizer's special tokens, an empty text has no tokens
  check_tokens(ids, parts_.network.config.encoder, "text", number);
  check_end(ids, parts_.network.config.head, "text", number);
}

Encoding TextTask::encode(const std::string& text, const std::string* second, std::size_t number,
                          FirstText& last) const {
  const std::size_t max_length = settings_.long_texts == LongSources::error ? 0 : settings_.max_length;
  Encoding encoding = read(text, second, number, max_length, last);
  check(encoding.ids, number);
  return encoding;
}

std::vector<Encoding> TextTask::encode_windows(const std::string& text, std::size_t number) const {
  const std::size_t limit = settings_.max_length, stride = settings_.stride;
  FirstText none;
  if (stride == 0 || limit == 0) return {encode(text, nullptr, number, none)};
  const Encoding whole = read(text, nullptr, number, 0, none);
  const std::size_t special = whole.special_before + whole.special_after, count = whole.ids.size() - special;
  const std::size_t room = limit - std::min(limit, special);
  if (2 * stride > room) {
    throw InputError(
        fmt::format("stride {}, expected at most {}: half of the text tokens of a window", stride, room / 2));
  }
  const auto window_of = [&](const auto& all, std::size_t begin, std::size_t end) {
    const auto text_begin = all.begin() + static_cast<std::ptrdiff_t>(whole.special_before);
    auto part = std::vector(all.begin(), text_begin);
    part.insert(part.end(), text_begin + static_cast<std::ptrdiff_t>(begin),
                text_begin + static_cast<std::ptrdiff_t>(end));
    part.insert(part.end(), all.end() - static_cast<std::ptrdiff_t>(whole.special_after), all.end());
    return part;
  };
  std::vector<Encoding> windows;
  for (std::size_t begin = 0; begin == 0 || begin + stride < count; begin += room - stride) {
    const std::size_t end = std::min(begin + room, count);
    windows.push_back({.ids = window_of(whole.ids, begin, end),
                       .ranges = window_of(whole.ranges, begin, end),
                       .special_before = whole.special_before,
                       .special_after = whole.special_after});
    check(windows.back().ids, number);
  }
  return windows;
}

}  // namespace encdec
