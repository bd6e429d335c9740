#include "encdec/models/embedding/embedding_task.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "encdec/engine/base/refuse.h"

namespace encdec {

EmbeddingTask::EmbeddingTask(const ModelParts& parts, const SentenceEmbedder& embedder, EmbedOptions options)
    : VectorTask(parts, {.reads = parts.network.config.gathers_rows && embedder.reads_first_row() ? Reads::first_row
                                                                                                  : Reads::rows,
                         .prompt = embedder.prompt(options.prompt, options.prompt_name),
                         .max_length = embedder.max_length(),
                         .long_texts = options.long_texts,
                         .batch_size = options.batch_size}),
      embedder_(embedder),
      options_(std::move(options)) {
  check_range("dimensions", options_.dimensions, 0, std::numeric_limits<int>::max());
}

Dim EmbeddingTask::width() const {
  const Dim width = embedder_.width();
  return options_.dimensions > 0 ? std::min<Dim>(width, options_.dimensions) : width;
}

void EmbeddingTask::compute(const Tensor& hidden, float* vector) const {
  std::ranges::copy(embedder_.embed(hidden, options_.dimensions, options_.normalize), vector);
}

}  // namespace encdec
