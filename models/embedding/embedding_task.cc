#include "encdec/models/embedding/embedding_task.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "encdec/engine/base/refuse.h"

namespace encdec {
namespace {

// Returns the rows of the network that vectors of a kind are made of. Throws ConfigError if the model does not give
// such vectors.
TextTask::Reads reads_of(const ModelParts& parts, const SentenceEmbedder& embedder, EmbedOutput output) {
  using enum TextTask::Reads;
  const TransformerConfig& config = parts.network.config;
  embedder.expect(output, config);
  if (output == EmbedOutput::dense) return embedder.reads(config);
  return output == EmbedOutput::sparse && !embedder.reads_lexical() ? weights : rows;
}

// Returns the special tokens around a text, and those for padding and for unknown characters.
TokenIds special_tokens(const ModelParts& parts) {
  TokenIds tokens = parts.tokenizer->encode("");
  for (const auto& token : {parts.tokenizer->unknown_token(), parts.network.config.pad_token}) {
    if (token) tokens.push_back(*token);
  }
  return tokens;
}

}  // namespace

EmbeddingTask::EmbeddingTask(const ModelParts& parts, const SentenceEmbedder& embedder, EmbedOptions options)
    : VectorTask(parts, {.reads = reads_of(parts, embedder, options.output),
                         .prompt = embedder.prompt(options.prompt, options.prompt_name),
                         .max_length = embedder.max_length(),
                         .long_texts = options.long_texts,
                         .batch_size = options.batch_size}),
      embedder_(embedder),
      model_dim_(parts.network.config.model_dim()),
      rows_left_out_(embedder.rows_left_out(parts.tokenizer, prompt())),
      options_(std::move(options)) {
  check_range("dimensions", options_.dimensions, 0, std::numeric_limits<int>::max());
  if (options_.output != EmbedOutput::dense && (options_.dimensions != 0 || options_.normalize)) {
    throw ConfigError(fmt::format("dimensions and normalize: not for {} vectors, expected neither of them",
                                  name_of(kEmbedOutputNames, options_.output)));
  }
  if (options_.output == EmbedOutput::sparse && embedder.reads_lexical()) left_out_ = special_tokens(parts);
}

Dim EmbeddingTask::width() const {
  if (options_.output == EmbedOutput::sparse) return 0;
  if (options_.output == EmbedOutput::tokens) return model_dim_;
  if (options_.output == EmbedOutput::colbert) return embedder_.colbert_width();
  const Dim width = embedder_.width();
  return options_.dimensions > 0 ? std::min<Dim>(width, options_.dimensions) : width;
}

// Returns the weights that are not 0, with their tokens. `input` has weights by token [1, V], or hidden states.
VectorResult EmbeddingTask::sparse(const TokenIds& ids, const Tensor& input) const {
  VectorResult result{.output = EmbedOutput::sparse};
  const auto add = [&result](std::int32_t id, float weight) {
    if (weight == 0) return;
    result.token_ids.push_back(id);
    result.values.push_back(weight);
  };
  if (embedder_.reads_lexical()) {
    for (const auto& [id, weight] : embedder_.lexical_weights(ids, input)) {
      if (std::ranges::find(left_out_, id) == left_out_.end()) add(id, weight);
    }
    return result;
  }
  for (Dim id = 0; id < input.width(); ++id) add(static_cast<std::int32_t>(id), input.row(0)[id]);
  return result;
}

VectorResult EmbeddingTask::compute(const TokenIds& ids, const Tensor& input) const {
  const std::span all(input.data<float>(), static_cast<std::size_t>(input.elements()));
  switch (options_.output) {
    case EmbedOutput::dense: break;
    case EmbedOutput::sparse: return sparse(ids, input);
    case EmbedOutput::colbert:
      return {.output = options_.output,
              .values = embedder_.colbert(input),
              .rows = static_cast<std::size_t>(input.rows() - 1)};
    case EmbedOutput::tokens:
      return {.output = options_.output,
              .values = {all.begin(), all.end()},
              .rows = static_cast<std::size_t>(input.rows())};
  }
  return {.values = embedder_.embed(input, rows_left_out_, options_.dimensions, options_.normalize)};
}

}  // namespace encdec
