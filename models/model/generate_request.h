#pragma once

#include <span>
#include <utility>
#include <vector>

#include "encdec/models/generation/generation_task.h"
#include "encdec/models/model/request_state.h"

namespace encdec {

// A request for texts.
class GenerateRequest final : public RequestState {
 public:
  // Reads the inputs. Throws as Model::generate() does.
  GenerateRequest(Model model, std::span<const GenerateInput> inputs, const GenerateOptions& options,
                  GenerateHandlers handlers)
      : RequestState(std::move(model), std::move(handlers.on_failure), std::move(handlers.on_start)),
        task_(parts(), options),
        handlers_(std::move(handlers)) {
    for (const GenerateInput& input : inputs) waiting.push_back(task_.job(input, waiting.size()));
  }

  void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) override {
    complete(job, [&] {
      GenerateResult result = is_empty(job) ? GenerationTask::empty_result() : task_.result(job, std::move(hypotheses));
      task_.add_attention(result);
      return [this, &job, result = std::move(result)]() mutable { handlers_.on_result(job.index, std::move(result)); };
    });
  }
  void on_tokens(const DecodeJob& job, Search::ScoredTokens tokens) override {
    call([&] { handlers_.on_tokens(job.index, tokens.tokens, tokens.scores); });
  }
  bool wants_tokens() const override { return handlers_.on_tokens != nullptr; }
  bool is_empty(const DecodeJob& job) const override { return job.prompt.target.empty(); }
  const VocabularyShortlist* shortlist() const override { return task_.shortlist(); }

 private:
  GenerationTask task_;
  GenerateHandlers handlers_;
};

}  // namespace encdec
