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

// Detects the language in one step. The language is the likeliest language token after the start token.
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
    const float normalizer = log_normalizer_of(scores_);
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

// Decodes one window, like decode_with_fallback in openai/whisper (transcribe.py). Tries one temperature after
// another until a text passes the thresholds. Each attempt forks the target that has read the first prompt tokens.
class WindowSearch final : public Search {
 public:
  WindowSearch(const TranscriptionTask& task, const DecodeJob& job, const WindowPosition& position,
               std::int32_t language, int source, Session& session, std::shared_ptr<DecodedWindow> result)
      : Search(*job.rules, job.prompt, session),
        task_(task),
        prompt_(job.prompt.target),
        draft_text_(job.prompt.draft),
        position_(position),
        language_(language),
        source_number_(source),
        result_(std::move(result)),
        prefix_target_(session.open_target(source)),
        max_new_tokens_(task.max_new_tokens(prompt_.size())) {
    drafters_.emplace_back(Drafter::Settings{.fixed = task.options().num_assistant_tokens.value_or(0),
                                             .lookup = task.options().prompt_lookup_num_tokens,
                                             .vocabulary = session.model().config.decoder.vocabulary});
    // If tokens follow the start token, read up to the start token first, for the no-speech probability.
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
    // Get the no-speech probability from the logits after the start token, before tokens are banned.
    if (attempt_ == nullptr || (attempt_->is_first_step() && prefix_length_ == 0 && row == 0)) {
      const float silence = output.logits[static_cast<std::size_t>(task_.tokens().no_speech)];
      no_speech_ = std::exp(double{silence} - double{log_normalizer_of(output.logits)});
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
    // The attempt is over. Try the next temperature, or close all targets.
    end_attempt(session);
    if (temperature_ + 1 < options.temperatures.size() && result_->needs_fallback(options)) {
      ++temperature_;
      begin_attempt(session);
      return State::running;
    }
    session.close_target(prefix_target_);
    const bool needs_times = options.word_timestamps && !result_->is_silence(options);
    return needs_times || result_->on_decoded ? State::completing : State::finished;
  }

  void complete(Session& session) override {
    if (result_->on_decoded) return result_->on_decoded(session, source_number_);
    const SplitWindow cut = split_window(*result_, position_, task_.tokens());
    result_->words = read_word_times(session, source_number_, task_, language_, position_,
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

  // Starts an attempt at the current temperature, in a fork of prefix_target_.
  void begin_attempt(Session& session) {
    drafters_.front().begin_result(draft_text_);
    attempt_ = make_attempt({.task = task_,
                             .prompt = prompt_,
                             .read = prefix_length_,
                             .max_new_tokens = max_new_tokens_,
                             .temperature = task_.options().temperatures[temperature_],
                             .random = random_.with(position_.first).with(temperature_),
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
                .on_decoded = std::move(result_->on_decoded)};
    result_->tokens = std::move(best.tokens);
  }

  const TranscriptionTask& task_;
  TokenIds prompt_, draft_text_;
  WindowPosition position_;
  std::int32_t language_;
  int source_number_;
  std::shared_ptr<DecodedWindow> result_;
  int prefix_target_;  // has the first prefix_length_ prompt tokens
  std::size_t max_new_tokens_;
  std::size_t prefix_length_ = 0;  // number of prompt tokens up to the start token; 0 if no token follows it
  double no_speech_ = 0;
  std::size_t temperature_ = 0;             // index in TranscribeOptions::temperatures
  std::unique_ptr<WindowAttempt> attempt_;  // null while prefix_target_ reads the prompt
};

}  // namespace

std::unique_ptr<Search> make_language_search(const TranscriptionTask& task, const DecodeJob& job, int source,
                                             Session& session, std::shared_ptr<TranscriptionTask::Detected> result) {
  return std::make_unique<LanguageSearch>(task, job, source, session, std::move(result));
}

std::unique_ptr<Search> make_window_search(const TranscriptionTask& task, const DecodeJob& job,
                                           const WindowPosition& position, std::int32_t language, int source,
                                           Session& session, std::shared_ptr<DecodedWindow> result) {
  return std::make_unique<WindowSearch>(task, job, position, language, source, session, std::move(result));
}

}  // namespace encdec
