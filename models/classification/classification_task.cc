#include "encdec/models/classification/classification_task.h"

#include <limits>
#include <vector>

#include "encdec/engine/base/refuse.h"

namespace encdec {
ClassificationTask::ClassificationTask(const ModelParts& parts, const Classifier& classifier,
                                       const SentenceEmbedder& folder, const ClassifyOptions& options)
    : VectorTask(parts, {.reads = folder.is_cross_encoder() ? folder.reads(parts.network.config) : Reads::logits,
                         .prompt = folder.prompt({}, {}),
                         .max_length = smaller_limit(folder.max_length(), options.max_length),
                         .truncation = options.truncation,
                         .long_texts = options.long_texts,
                         .batch_size = options.batch_size}),
      modules_(folder.is_cross_encoder() ? &folder : nullptr),
      rows_left_out_(folder.rows_left_out(parts.tokenizer, prompt())),
      labels_(static_cast<Dim>(classifier.labels().size())),
      function_(options.function.value_or(classifier.function())) {
  check_range("max_length", options.max_length, 0, std::numeric_limits<int>::max());
}

VectorResult ClassificationTask::compute(const TokenIds& /*ids*/, const Tensor& input) const {
  VectorResult result;
  result.values =
      modules_ != nullptr ? modules_->embed(input, rows_left_out_) : std::vector(input.row(0), input.row(0) + labels_);
  to_scores(function_, result.values);
  return result;
}

}  // namespace encdec
