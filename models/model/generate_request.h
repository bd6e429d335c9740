#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "encdec/models/generation/generation_settings.h"
#include "encdec/models/generation/generation_task.h"
#include "encdec/models/model/request_state.h"

namespace encdec {

// A request for generated texts. task() makes its jobs.
class GenerateRequest final : public RequestState {
 public:
  enum class Attention : std::uint8_t {
    in_results,  // results contain the attention maps that the options ask for
    left_out,    // the handler calls GenerationTask::add_attention()
  };
  // Throws the errors of Model::generate() for invalid options.
  GenerateRequest(Model model, const GenerateOptions& options, GenerateHandlers handlers,
                  Attention attention = Attention::in_results)
      : RequestState(std::move(model), std::move(handlers.on_failure), std::move(handlers.on_start)),
        task_(parts(), options),
        handlers_(std::move(handlers)),
        attention_(attention) {}

  const GenerationTask& task() const { return task_; }
  // Returns options for a queue that serves this request alone.
  RequestQueueOptions queue_options(const GenerateOptions& options) const {
    const std::size_t rows = static_cast<std::size_t>(options.batch_size) * task_.rules().rows_per_source();
    return {.workers = options.workers, .batch_size = static_cast<int>(std::min<std::size_t>(rows, kMaxTokenCount))};
  }

  void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) override {
    complete(job, handlers_.on_result, [&] {
      GenerateResult result = is_empty(job) ? GenerationTask::empty_result() : task_.result(job, std::move(hypotheses));
      if (attention_ == Attention::in_results) task_.add_attention(result);
      return result;
    });
  }
  void on_tokens(const DecodeJob& job, Search::ScoredTokens tokens) override {
    call([&] { handlers_.on_tokens(job.index, tokens.tokens, tokens.scores); });
  }
  bool wants_tokens() const override { return handlers_.on_tokens != nullptr; }
  bool is_empty(const DecodeJob& job) const override { return job.prompt.target.empty(); }

 private:
  GenerationTask task_;
  GenerateHandlers handlers_;
  Attention attention_;
};

}  // namespace encdec
