#pragma once

#include "encdec/models/embedding/sentence_embedder.h"
#include "encdec/models/embedding/text_task.h"

namespace encdec {

// The work of Model::embed() and of its relatives: options.output says which.
class EmbeddingTask final : public VectorTask {
 public:
  // REQUIRES: what `parts` refers to and `embedder` outlive this object.
  // Throws as TextTask does, and ConfigError if an option is out of range or does not go with options.output, the
  // folder has no prompt of the given name, or the model does not give vectors of this kind.
  EmbeddingTask(const ModelParts& parts, const SentenceEmbedder& embedder, EmbedOptions options);

  Dim width() const override;  // the width of one vector
  VectorResult compute(const TokenIds& ids, const Tensor& input) const override;

 private:
  VectorResult sparse(const TokenIds& ids, const Tensor& input) const;

  const SentenceEmbedder& embedder_;
  Dim model_dim_;
  Dim rows_left_out_;  // first rows of a text that pooling skips
  TokenIds left_out_;  // tokens that a sparse vector of lexical weights leaves out
  EmbedOptions options_;
};

}  // namespace encdec
