#include <utility>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/speech/transcription/window_attempt.h"

namespace encdec {
namespace {

// Independent samples.
class SampleAttempt final : public WindowAttempt {
 public:
  using WindowAttempt::WindowAttempt;

 private:
  // One token for each sample of the row.
  void choose(std::size_t row, std::span<const float> logits, ProcessorScratch& scratch) override {
    const float normalizer = kernels::log_sum_exp(logits);
    std::vector<Choice>& choices = choices_[row];
    choices.clear();
    scratch.scores.assign(logits.begin(), logits.end());
    for (float& score : scratch.scores) score = static_cast<float>(score / settings_.temperature);
    const std::size_t samples = is_first_step() ? group_ : 1;
    for (std::size_t i = 0; i < samples; ++i) {
      const std::size_t number = is_first_step() ? i : running_[row].number;
      const double uniform = settings_.random.with(number).with(length()).uniform();
      choices.push_back(choice(draw(scratch.scores, uniform), logits, normalizer));
    }
  }

  bool extend(Session& session) override {
    const bool is_first = is_first_step();
    if (is_first) {
      running_.assign(group_, running_.front());
      for (std::size_t i = 0; i < group_; ++i) running_[i].number = i;
      while (targets_.size() < group_) targets_.push_back(session.fork_target(targets_.front()));
    }
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const Choice& choice = is_first ? choices_.front()[i] : choices_[i].front();
      running_[i].sum += choice.log_probability;
      running_[i].tokens.push_back(choice.token);
    }
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (is_end(running_[i].tokens.back()) || is_last_step()) finish_sample(i, session);
    }
    return false;
  }

  void finish_sample(std::size_t i, Session& session) {
    WindowSequence sequence = std::move(running_[i]);
    sequence.has_ended = is_end(sequence.tokens.back());
    if (sequence.has_ended) sequence.tokens.pop_back();
    finished_.push_back(std::move(sequence));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    session.close_target(targets_[i]);
    targets_.erase(targets_.begin() + static_cast<std::ptrdiff_t>(i));
  }
};

}  // namespace

std::unique_ptr<WindowAttempt> make_sample_attempt(const WindowAttempt::Settings& settings, int target) {
  return std::make_unique<SampleAttempt>(settings, target);
}

}  // namespace encdec
