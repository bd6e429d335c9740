#include <algorithm>
#include <cmath>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/speech/transcription/transcription_task.h"

namespace encdec {
namespace {

// A search of one step after the start token. Its result is the likeliest language.
class LanguageSearch final : public Search {
 public:
  LanguageSearch(const TranscriptionTask& task, const DecodeJob& job, int source, Session& session,
                 std::shared_ptr<TranscriptionTask::Detected> result)
      : Search(*job.rules, job.prompt, session),
        task_(task),
        prompt_(job.prompt.target),
        result_(std::move(result)),
        target_(session.open_target(source)) {}

  void add_inputs(std::vector<Session::TargetTokens>& inputs) override { inputs.push_back({target_, prompt_}); }

  void read(std::size_t /*row*/, const StepOutput& output) override {
    scores_.clear();
    for (const auto& language : task_.tokens().languages) {
      scores_.push_back(output.logits[static_cast<std::size_t>(language.token)]);
    }
    const float normalizer = normalizer_of(scores_);
    const auto best = static_cast<std::size_t>(std::max(kernels::arg_max(scores_), 0));
    *result_ = {.language = task_.tokens().languages[best].token,
                .probability = std::exp(double{scores_[best]} - normalizer)};
  }

  State advance(Session& session) override {
    session.close_target(target_);
    return State::finished;
  }
  void abandon(Session& session) override { session.close_target(target_); }
  std::vector<Hypothesis> take_results() override { return {Hypothesis{}}; }
  ScoredTokens final_tokens() const override { return {}; }
  std::size_t length() const override { return 0; }

 private:
  const TranscriptionTask& task_;
  TokenIds prompt_;
  std::shared_ptr<TranscriptionTask::Detected> result_;
  int target_;
  std::vector<float> scores_;
};

}  // namespace

std::unique_ptr<Search> make_language_search(const TranscriptionTask& task, const DecodeJob& job, int source,
                                             Session& session, std::shared_ptr<TranscriptionTask::Detected> result) {
  return std::make_unique<LanguageSearch>(task, job, source, session, std::move(result));
}

}  // namespace encdec
