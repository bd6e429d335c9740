#pragma once

#include "encdec/models/embedding/sentence_embedder.h"
#include "encdec/models/embedding/text_task.h"

namespace encdec {

// The work of Model::embed(): a vector is made of a text's hidden states.
class EmbeddingTask final : public VectorTask {
 public:
  // REQUIRES: what `parts` refers to and `embedder` outlive this object.
  // Throws as TextTask does, and ConfigError if an option is out of range or the folder has no prompt of the given
  // name.
  EmbeddingTask(const ModelParts& parts, const SentenceEmbedder& embedder, EmbedOptions options);

  Dim width() const override;
  void compute(const Tensor& hidden, float* vector) const override;

 private:
  const SentenceEmbedder& embedder_;
  EmbedOptions options_;
};

}  // namespace encdec
