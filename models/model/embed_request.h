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
  // Reads the texts. Throws as Model::embed() does.
  EmbedRequest(Model model, const SentenceEmbedder& embedder, std::span<const std::string> texts,
               const EmbedOptions& options, EmbedHandlers handlers)
      : RequestState(std::move(model), std::move(handlers.on_failure)),
        task_(parts(), embedder, options),
        handlers_(std::move(handlers)) {
    for (const std::string& text : texts) {
      const std::size_t index = waiting.size();
      waiting.push_back({.index = index, .prompt = {.source = task_.tokens(text, index + 1)}});
    }
  }

  void on_result(const DecodeJob& /*job*/, std::vector<Hypothesis> /*hypotheses*/) override {}
  void on_hidden(const DecodeJob& job, const Tensor& hidden) override {
    complete(job, [&] {
      EmbedResult result{.values = std::vector<float>(static_cast<std::size_t>(task_.width())),
                         .source_tokens = job.prompt.source.size()};
      task_.embed(hidden, result.values.data());
      return [this, &job, result = std::move(result)]() mutable { handlers_.on_result(job.index, std::move(result)); };
    });
  }
  void on_start(const DecodeJob& job) override {
    if (handlers_.on_start) call([&] { handlers_.on_start(job.index, job.prompt.source.size()); });
  }

 private:
  EmbeddingTask task_;
  EmbedHandlers handlers_;
};

}  // namespace encdec
