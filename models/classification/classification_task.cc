#include "encdec/models/classification/classification_task.h"

#include <algorithm>
#include <limits>

#include "encdec/engine/base/refuse.h"

namespace encdec {
ClassificationTask::ClassificationTask(const ModelParts& parts, const Classifier& classifier,
                                       const SentenceEmbedder& folder, const ClassifyOptions& options)
    : VectorTask(parts, {.reads = Reads::logits,
                         .prompt = folder.prompt({}, {}),
                         .max_length = smaller_limit(folder.max_length(), options.max_length),
                         .truncation = options.truncation,
                         .long_texts = options.long_texts,
                         .batch_size = options.batch_size}),
      labels_(static_cast<Dim>(classifier.labels().size())),
      function_(options.function.value_or(classifier.function())) {
  check_range("max_length", options.max_length, 0, std::numeric_limits<int>::max());
}

void ClassificationTask::compute(const Tensor& logits, float* vector) const {
  std::copy_n(logits.row(0), labels_, vector);
  to_scores(function_, {vector, static_cast<std::size_t>(labels_)});
}

}  // namespace encdec
