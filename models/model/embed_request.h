#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encdec/models/embedding/embedding_task.h"
#include "encdec/models/model/request_state.h"

namespace encdec {

// A request for vectors of texts.
class EmbedRequest final : public RequestState {
 public:
  // Throws as Model::embed() does for its options.
  EmbedRequest(Model model, const SentenceEmbedder& embedder, const EmbedOptions& options, EmbedHandlers handlers)
      : RequestState(std::move(model), std::move(handlers.on_failure), std::move(handlers.on_start)),
        task_(parts(), embedder, options),
        handlers_(std::move(handlers)) {}

  // Returns a job for each text, longest first, so that texts of similar length are read together. Throws as
  // Model::embed() does for texts.
  std::vector<DecodeJob> jobs(std::span<const std::string> texts) const {
    std::vector<DecodeJob> jobs;
    jobs.reserve(texts.size());
    for (const std::string& text : texts) {
      DecodeJob& job = jobs.emplace_back(DecodeJob{.index = jobs.size()});
      job.prompt.source = task_.tokens(text, job.index + 1);
      job.prompt.source_tokens = job.prompt.source.size();
    }
    sort_longest_first(jobs);
    return jobs;
  }

  void on_result(const DecodeJob& /*job*/, std::vector<Hypothesis> /*hypotheses*/) override {}
  void on_hidden(const DecodeJob& job, const Tensor& hidden) override {
    complete(job, [&] {
      EmbedResult result{.values = std::vector<float>(static_cast<std::size_t>(task_.width())),
                         .source_tokens = job.prompt.source_tokens};
      task_.embed(hidden, result.values.data());
      return [this, &job, result = std::move(result)]() mutable { handlers_.on_result(job.index, std::move(result)); };
    });
  }

 private:
  EmbeddingTask task_;
  EmbedHandlers handlers_;
};

}  // namespace encdec
