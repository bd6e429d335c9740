#include "encdec/models/speech/transcription/window_attempt.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "encdec/models/speech/transcription/timestamp_rules.h"

namespace encdec {
namespace {

// Returns a score that is comparable between lengths.
double comparable_score(const WindowSequence& sequence, std::optional<double> length_penalty) {
  const auto length = static_cast<double>(sequence.tokens.size());
  return double{sequence.sum} / (length_penalty ? std::pow((5 + length) / 6, *length_penalty) : length);
}

}  // namespace

WindowAttempt::WindowAttempt(const Settings& settings, int target) : settings_(settings), targets_({target}) {
  const TranscribeOptions& options = settings.task.options();
  group_ = static_cast<std::size_t>(settings.temperature > 0 ? options.best_of : options.beam_size);
  choices_.resize(group_);
}

void WindowAttempt::add_inputs(std::vector<Session::TargetTokens>& inputs) {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    inputs.push_back({targets_[i], is_first_step() ? settings_.prompt.subspan(settings_.read)
                                                   : std::span<const std::int32_t>(running_[i].tokens).last(1)});
  }
}

void WindowAttempt::read(std::size_t row, const StepOutput& output) {
  normalizer_of(output.logits);  // throws for NaN, before a ban hides it
  ban(tokens(row), output.logits);
  choose(row, output.logits, output.scratch);
}

void WindowAttempt::ban(std::span<const std::int32_t> sampled, std::span<float> logits) const {
  const TranscriptionTask& task = settings_.task;
  for (const std::int32_t token : task.suppressed()) logits[static_cast<std::size_t>(token)] = kBanned;
  if (sampled.empty()) {
    for (const std::int32_t token : task.suppressed_first()) logits[static_cast<std::size_t>(token)] = kBanned;
  }
  if (task.options().timestamps) {
    apply_timestamp_rules(task.tokens(), task.options().max_initial_timestamp, sampled, logits);
  }
}

bool WindowAttempt::advance(Session& session) {
  const bool has_enough = extend(session);
  ++length_;
  return has_enough || running_.empty() || length_ >= settings_.max_new_tokens;
}

WindowSequence WindowAttempt::finish(Session& session) {
  close(session);
  // The best running beams fill up the finished ones. Of equal ones the last is taken, as in openai/whisper.
  std::ranges::stable_sort(running_, {}, &WindowSequence::sum);
  for (; !running_.empty() && finished_.size() < group_; running_.pop_back()) {
    finished_.push_back(std::move(running_.back()));
  }
  // Samples finish in any order. Of equal scores the first sample is taken.
  std::ranges::stable_sort(finished_, {}, &WindowSequence::number);
  return std::move(*std::ranges::max_element(finished_, {}, [this](const WindowSequence& sequence) {
    return comparable_score(sequence, settings_.task.options().length_penalty);
  }));
}

void WindowAttempt::close(Session& session) {
  for (const int target : targets_) session.close_target(target);
  targets_.clear();
}

std::unique_ptr<WindowAttempt> make_attempt(const WindowAttempt::Settings& settings, int target) {
  const auto make = settings.temperature > 0                ? make_sample_attempt
                    : settings.task.options().beam_size > 1 ? make_beam_attempt
                                                            : make_greedy_attempt;
  return make(settings, target);
}

}  // namespace encdec
