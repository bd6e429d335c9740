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
      : WindowAttempt(settings, target),
        history_(settings.prompt.begin(), settings.prompt.end()),
        text_({settings.draft_text.begin(), settings.draft_text.end()}),
        text_length_(settings.task.options().num_assistant_tokens.value_or(0)) {}

  void draft(std::size_t most) override {
    // A step adds one token more than the guesses that are right.
    const std::size_t left = settings_.max_new_tokens - length() - 1;
    for (const std::int32_t token : guess(std::min({most, text_length_.next(), left}))) {
      if (token >= settings_.task.network().config.decoder.vocabulary) break;  // a token of the tokenizer alone
      history_.push_back(token);
      ++guessed_;
      if (is_end(token)) break;
    }
    wanted_ = guessed_ > 0 ? 0 : settings_.draft.begin(std::min(most, left), history_.size());
  }
  void add_draft_inputs(std::vector<Session::TargetTokens>& inputs) override {
    if (guessed_ < wanted_) inputs.push_back(settings_.draft.input(history_));
  }
  void read_draft(const StepOutput& output) override {
    ban(tokens(guessed_), output.logits);
    history_.push_back(std::max(kernels::arg_max(output.logits), 0));
    ++guessed_;
    if (is_end(history_.back())) wanted_ = guessed_;
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) override {
    const std::span<const std::int32_t> history(history_);
    const auto unread = is_first_step() ? history.subspan(settings_.read) : history.last(guessed_ + 1);
    inputs.push_back({targets_.front(), unread, guessed_ + 1});
    choices_.assign(guessed_ + 1, {});
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

  // Returns the guess of a text, or else what followed the last tokens before.
  TokenIds guess(std::size_t most) {
    auto guess = text_.guess(said_, most);
    const auto lookup = static_cast<std::size_t>(settings_.task.options().prompt_lookup_num_tokens);
    if (guess.empty()) guess = guess_by_lookup(history_, std::min(most, lookup));
    return {guess.begin(), guess.end()};
  }

  void choose(std::size_t row, std::span<const float> logits, ProcessorScratch& /*scratch*/) override {
    choices_[row] = {choice(kernels::arg_max(logits), logits, kernels::log_sum_exp(logits))};
  }

  bool extend(Session& session) override {
    WindowSequence& sequence = running_.front();
    const std::size_t guessed = std::exchange(guessed_, 0);
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
    const std::size_t right = accept_guesses(history_, guessed, chosen, take), end = history_.size();
    length_ = end - settings_.prompt.size() - 1;  // advance() counts one token
    if (guessed > 0) {
      session.shorten_target(targets_.front(), static_cast<int>(end) - 1);  // the last token has not been read
      wanted_ > 0 ? settings_.draft.accept(guessed, right, end) : text_length_.tell(guessed, right);
      settings_.draft_counts += {.proposed = guessed, .accepted = right, .rounds = 1};
    }
    return sequence.has_ended;
  }

  TokenIds history_;         // the prompt, the text and the guesses
  std::size_t guessed_ = 0;  // number of guesses at the end of history_
  std::size_t wanted_ = 0;   // number of guesses wanted of the model that guesses
  RepeatedText text_;
  DraftLength text_length_;
  TokenIds said_;  // the text without times
};

}  // namespace

std::unique_ptr<WindowAttempt> make_greedy_attempt(const WindowAttempt::Settings& settings, int target) {
  return std::make_unique<GreedyAttempt>(settings, target);
}

}  // namespace encdec
