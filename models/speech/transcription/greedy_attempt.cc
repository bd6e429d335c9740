#include <algorithm>
#include <optional>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/logits.h"
#include "encdec/models/speech/transcription/window_attempt.h"

namespace encdec {
namespace {

// The likeliest token at each step. Guessed tokens are read together with the last token; see accept_guesses().
class GreedyAttempt final : public WindowAttempt {
 public:
  GreedyAttempt(const Settings& settings, int target)
      : WindowAttempt(settings, target), history_(settings.prompt.begin(), settings.prompt.end()) {}

  void draft(std::size_t most) override {
    // A step adds one token more than the guesses that are right.
    const std::size_t left = settings_.max_new_tokens - length() - 1;
    settings_.drafter.draft(history_, said_, std::min(most, left),
                            [this](std::int32_t token) { return is_end(token); });
  }
  void read_drafted(const StepOutput& output) override {
    ban(tokens(settings_.drafter.guessed()), output.logits);
    const std::int32_t token = std::max(kernels::arg_max(output.logits), 0);
    settings_.drafter.take(token, is_end(token));
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) override {
    const std::span<const std::int32_t> history(history_);
    const std::size_t rows = settings_.drafter.guessed() + 1;
    inputs.push_back({targets_.front(), is_first_step() ? history.subspan(settings_.read) : history.last(rows), rows});
    choices_.assign(rows, {});
  }
  void read(std::size_t row, const StepOutput& output) override {
    try {
      WindowAttempt::read(row, output);
    } catch (const BackendError&) {
      if (row == 0) throw;  // the other rows follow guesses, which may be wrong
    }
  }

 private:
  // Rows follow 0, 1, 2, ... guesses.
  std::span<const std::int32_t> tokens(std::size_t row) const override {
    return std::span(history_).subspan(settings_.prompt.size(), length() + row);
  }

  void choose(std::size_t row, std::span<const float> logits, ProcessorScratch& /*scratch*/) override {
    choices_[row] = {choice(kernels::arg_max(logits), logits, kernels::log_sum_exp(logits))};
  }

  bool extend(Session& session) override {
    WindowSequence& sequence = running_.front();
    const auto chosen = [&](std::size_t i) {
      return choices_[i].empty() ? std::nullopt : std::optional(choices_[i].front().token);
    };
    const auto take = [&](std::size_t i, std::size_t /*length*/) {
      const Choice& choice = choices_[i].front();
      sequence.sum += choice.log_probability;
      sequence.has_ended = is_end(choice.token);
      if (sequence.has_ended) return true;
      sequence.tokens.push_back(choice.token);
      if (!settings_.task.tokens().is_timestamp(choice.token)) said_.push_back(choice.token);
      return false;
    };
    settings_.drafter.check(history_, targets_.front(), session, chosen, take);
    length_ = history_.size() - settings_.prompt.size() - 1;  // advance() counts one token
    return sequence.has_ended;
  }

  TokenIds history_;  // the prompt, the text and the draft tokens
  TokenIds said_;     // the text without times
};

}  // namespace

std::unique_ptr<WindowAttempt> make_greedy_attempt(const WindowAttempt::Settings& settings, int target) {
  return std::make_unique<GreedyAttempt>(settings, target);
}

}  // namespace encdec
