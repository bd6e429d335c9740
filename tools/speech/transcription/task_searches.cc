#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/speech/transcript/hallucination.h"
#include "encdec/speech/transcription/alignment_reader.h"
#include "encdec/speech/transcription/transcription_task.h"
#include "encdec/speech/transcription/window_attempt.h"

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

// The search for one window (openai/whisper transcribe.py, decode_with_fallback): attempts at each temperature in turn
// until a text passes the thresholds. All attempts share a target that has read the prompt up to the start token.
class WindowSearch final : public Search {
 public:
  WindowSearch(const TranscriptionTask& task, const DecodeJob& job, const WindowPlace& place, std::int32_t language,
               int source, Session& session, std::shared_ptr<DecodedWindow> result)
      : Search(*job.rules, job.prompt, session),
        task_(task),
        prompt_(job.prompt.target),
        draft_text_(job.prompt.draft),
        place_(place),
        language_(language),
        source_number_(source),
        result_(std::move(result)),
        prefix_target_(session.open_target(source)),
        max_new_tokens_(task.max_new_tokens(prompt_.size())) {
    drafters_.emplace_back(Drafter::Settings{.fixed = task.options().num_assistant_tokens.value_or(0),
                                             .lookup = task.options().prompt_lookup_num_tokens,
                                             .vocabulary = session.model().config.decoder.vocabulary});
    const auto start = std::ranges::find(prompt_, task.tokens().start);
    const auto after_start = static_cast<std::size_t>(start - prompt_.begin()) + 1;
    if (after_start < prompt_.size()) {
      prefix_length_ = after_start;
    } else {
      begin_attempt(session);
    }
  }

  void draft(std::size_t most) override {
    if (attempt_ != nullptr) attempt_->draft(most);
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) override {
    if (attempt_ != nullptr) return attempt_->add_inputs(inputs);
    inputs.push_back({prefix_target_, std::span(prompt_).first(prefix_length_)});
  }

  void read(std::size_t row, const StepOutput& output) override {
    // The logits after the start token, before any token is banned, hold the no-speech probability.
    if (attempt_ == nullptr || (attempt_->is_first_step() && prefix_length_ == 0 && row == 0)) {
      const float silence = output.logits[static_cast<std::size_t>(task_.tokens().no_speech)];
      no_speech_ = std::exp(double{silence} - double{normalizer_of(output.logits)});
    }
    if (attempt_ != nullptr) attempt_->read(row, output);
  }

  State advance(Session& session) override {
    const TranscribeOptions& options = task_.options();
    if (attempt_ == nullptr) {
      begin_attempt(session);
      return State::running;
    }
    if (!attempt_->advance(session)) return State::running;
    end_attempt(session);
    if (temperature_ + 1 < options.temperatures.size() && result_->needs_fallback(options)) {
      ++temperature_;
      begin_attempt(session);
      return State::running;
    }
    session.close_target(prefix_target_);
    const bool needs_times = options.word_timestamps && !result_->is_silence(options);
    return needs_times || result_->then ? State::completing : State::finished;
  }

  void complete(Session& session) override {
    if (result_->then) return result_->then(session, source_number_);
    const CutWindow cut = cut_window(*result_, place_, task_.tokens());
    result_->words = read_word_times(session, source_number_, task_, language_, place_,
                                     text_tokens(cut.segments, task_.tokens().end_of_text));
  }

  void abandon(Session& session) override {
    drafters_.front().close();
    if (attempt_ != nullptr) attempt_->close(session);
    session.close_target(prefix_target_);
  }

  std::vector<Hypothesis> take_results() override { return {Hypothesis{.token_ids = result_->tokens}}; }
  ScoredTokens final_tokens() const override { return {}; }
  std::size_t length() const override { return attempt_ != nullptr ? attempt_->length() : 0; }

 private:
  void read_drafted(std::size_t /*number*/, const StepOutput& output) override { attempt_->read_drafted(output); }

  void begin_attempt(Session& session) {
    drafters_.front().begin_result(draft_text_);
    attempt_ = make_attempt({.task = task_,
                             .prompt = prompt_,
                             .read = prefix_length_,
                             .max_new_tokens = max_new_tokens_,
                             .temperature = task_.options().temperatures[temperature_],
                             .random = random_.with(place_.first).with(temperature_),
                             .drafter = drafters_.front()},
                            session.fork_target(prefix_target_));
  }

  void end_attempt(Session& session) {
    drafters_.front().close();
    WindowSequence best = attempt_->finish(session);
    *result_ = {.temperature = task_.options().temperatures[temperature_],
                .avg_logprob = double{best.sum} / static_cast<double>(best.tokens.size() + 1),
                .no_speech_prob = no_speech_,
                .compression_ratio = compression_ratio(strip(task_.tokens().text(best.tokens))),
                .has_ended = best.has_ended,
                .then = std::move(result_->then)};
    result_->tokens = std::move(best.tokens);
  }

  const TranscriptionTask& task_;
  TokenIds prompt_, draft_text_;
  WindowPlace place_;
  std::int32_t language_;
  int source_number_;
  std::shared_ptr<DecodedWindow> result_;
  int prefix_target_;              // target that reads the first prefix_length_ tokens; attempts begin as its forks
  std::size_t max_new_tokens_;     // maximum number of tokens to generate
  std::size_t prefix_length_ = 0;  // prompt tokens up to the start token; 0 if no other token follows it
  double no_speech_ = 0;
  std::size_t temperature_ = 0;             // index of the attempt's temperature
  std::unique_ptr<WindowAttempt> attempt_;  // null while prefix_target_ reads its tokens
};

}  // namespace

std::unique_ptr<Search> make_language_search(const TranscriptionTask& task, const DecodeJob& job, int source,
                                             Session& session, std::shared_ptr<TranscriptionTask::Detected> result) {
  return std::make_unique<LanguageSearch>(task, job, source, session, std::move(result));
}

std::unique_ptr<Search> make_window_search(const TranscriptionTask& task, const DecodeJob& job,
                                           const WindowPlace& place, std::int32_t language, int source,
                                           Session& session, std::shared_ptr<DecodedWindow> result) {
  return std::make_unique<WindowSearch>(task, job, place, language, source, session, std::move(result));
}

}  // namespace encdec
