#include "encdec/models/embedding/embedding_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {

EmbeddingTask::EmbeddingTask(const ModelParts& parts, const SentenceEmbedder& embedder, EmbedOptions options)
    : parts_(parts), embedder_(embedder), options_(std::move(options)) {
  const TransformerConfig& config = parts.network.config;
  if (config.architecture != Architecture::encoder_only) {
    refuse<ConfigError>(parts.origin, "{} has a decoder, expected an encoder-only model", config.model_type);
  }
  if (parts.tokenizer == nullptr) refuse<TokenizerError>(parts.origin, "no tokenizer files");
  check_batching(options_.batch_size, 1);
  check_range("dimensions", options_.dimensions, 0, std::numeric_limits<int>::max());
  prompt_ = embedder.prompt(options_.prompt, options_.prompt_name);
  limit_ = embedder.max_length();
  if (const auto positions = config.encoder.position_limit()) {
    const auto limit = static_cast<std::size_t>(*positions);
    limit_ = limit_ == 0 ? limit : std::min(limit_, limit);
  }
}

TokenIds EmbeddingTask::tokens(const std::string& text, std::size_t number) const {
  const bool truncates = options_.long_texts == LongSources::truncate;
  TokenIds ids = parts_.tokenizer->encode(prompt_ + text, {.max_length = truncates ? limit_ : 0});
  if (limit_ != 0 && ids.size() > limit_) {
    throw InputError(fmt::format("text {}: {} tokens, expected at most {}", number, ids.size(), limit_));
  }
  check_not_empty(ids, "text", number);  // without a tokenizer's special tokens, an empty text has no tokens
  check_tokens(ids, parts_.network.config.encoder, "text", number);
  return ids;
}

Dim EmbeddingTask::width() const {
  const Dim width = embedder_.width();
  return options_.dimensions > 0 ? std::min<Dim>(width, options_.dimensions) : width;
}

void EmbeddingTask::embed(const Tensor& hidden, float* vector) const {
  std::ranges::copy(embedder_.embed(hidden, options_.dimensions, options_.normalize), vector);
}

}  // namespace encdec
