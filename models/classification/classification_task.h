#pragma once

#include "encdec/models/classification/classifier.h"
#include "encdec/models/embedding/sentence_embedder.h"
#include "encdec/models/embedding/text_task.h"

namespace encdec {

// The work of Model::classify() and Model::rerank(): a vector is the scores of a text, by label.
class ClassificationTask final : public VectorTask {
 public:
  // `folder` has the limit of tokens, the default prompt and perhaps the head. Throws as TextTask does, and ConfigError
  // if an option is out of range. REQUIRES: what `parts` refers to and `folder` outlive this object, and the model's
  // head is for texts.
  ClassificationTask(const ModelParts& parts, const Classifier& classifier, const SentenceEmbedder& folder,
                     const ClassifyOptions& options);

  Dim width() const override { return labels_; }
  VectorResult compute(const TokenIds& ids, const Tensor& input) const override;

 private:
  const SentenceEmbedder* modules_;  // the head, or null if it is a graph
  Dim rows_left_out_;                // first rows of a text that the pooling of `modules_` skips
  Dim labels_;
  ScoreFunction function_;
};

}  // namespace encdec
