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
  if (config.architecture != Architecture::encoder_only) {
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

Encoding TextTask::encode(const std::string& text, const std::string* second, std::size_t number) const {
  const std::size_t limit = settings_.max_length;
  const EncodeOptions options{.max_length = settings_.long_texts == LongSources::truncate ? limit : 0,
                              .truncation = settings_.truncation};
  const std::string first = settings_.prompt + text;
  Encoding encoding;
  try {
    encoding = second != nullptr       ? parts_.tokenizer->encode_pair(first, *second, options)
               : settings_.with_ranges ? parts_.tokenizer->encode_with_ranges(first, options)
                                       : Encoding{parts_.tokenizer->encode(first, options)};
  } catch (const InputError& error) {
    throw InputError(fmt::format("text {}: {}", number, error.what()));
  }
  const TokenIds& ids = encoding.ids;
  if (limit != 0 && ids.size() > limit) {
    throw InputError(fmt::format("text {}: {} tokens, expected at most {}", number, ids.size(), limit));
  }
  check_not_empty(ids, "text", number);  // without a tokenizer's special tokens, an empty text has no tokens
  check_tokens(ids, parts_.network.config.encoder, "text", number);
  return encoding;
}

}  // namespace encdec
