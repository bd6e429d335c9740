#include "encdec/speech/transcription/window_attempt.h"

#include <cmath>
#include <functional>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/logits.h"

namespace encdec {
namespace {

// Returns a score that makes finished sequences of different lengths comparable.
double comparable_score(const WindowSequence& sequence, std::optional<double> length_penalty) {
  const auto length = static_cast<double>(sequence.tokens.size());
  return double{sequence.sum} / (length_penalty ? std::pow((5 + length) / 6, *length_penalty) : length);
}

// Takes the likeliest token at each step. A step reads the last token and the draft tokens that follow it.
class GreedyAttempt final : public WindowAttempt {
 public:
  GreedyAttempt(const Settings& settings, int target)
      : WindowAttempt(settings, target), history_(settings.prompt.begin(), settings.prompt.end()) {}

  void draft(std::size_t most) override {
    // A step appends the accepted draft tokens and one token after them.
    const std::size_t left = settings_.max_new_tokens - length() - 1;
    settings_.drafter.draft(history_, said_, std::min(most, left),
                            [this](std::int32_t token) { return is_end(token); });
  }
  void read_drafted(const StepOutput& output) override {
    ban(tokens(settings_.drafter.draft_tokens()), output.logits);
    const std::int32_t token = std::max(kernels::arg_max(output.logits), 0);
    settings_.drafter.take(token, is_end(token));
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) override {
    const std::span<const std::int32_t> history(history_);
    const std::size_t rows = settings_.drafter.draft_tokens() + 1;
    inputs.push_back({targets_.front(), is_first_step() ? history.subspan(settings_.read) : history.last(rows), rows});
    choices_.assign(rows, {});
  }
  void read(std::size_t row, const StepOutput& output) override {
    try {
      WindowAttempt::read(row, output);
    } catch (const BackendError&) {
      if (row == 0) throw;  // other rows follow draft tokens, which may be rejected
    }
  }

 private:
  // Row i of a step follows i draft tokens.
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
      if (append(choice, sequence)) return true;
      if (!settings_.task.tokens().is_timestamp(choice.token)) said_.push_back(choice.token);
      return false;
    };
    settings_.drafter.check(history_, targets_.front(), session, chosen, take);
    length_ = history_.size() - settings_.prompt.size() - 1;  // advance() adds 1
    return sequence.has_ended;
  }

  TokenIds history_;  // prompt, text and draft tokens, in this order
  TokenIds said_;     // text tokens without timestamps
};

// Beam search with patience (Kasai et al. 2022).
class BeamAttempt final : public WindowAttempt {
 public:
  BeamAttempt(const Settings& settings, int target) : WindowAttempt(settings, target) {
    const TranscribeOptions& options = settings.task.options();
    pool_ = static_cast<std::size_t>(std::max(std::lrint(options.beam_size * options.patience), 1L));
  }

 private:
  // Chooses the best group_ + 1 tokens, best first, because one of these tokens may be the end token.
  void choose(std::size_t row, std::span<const float> logits, ProcessorScratch& scratch) override {
    const float normalizer = kernels::log_sum_exp(logits);
    kernels::top_k(logits, static_cast<int>(group_) + 1, scratch.tokens);
    choices_[row].clear();
    for (const std::int32_t token : scratch.tokens) {
      choices_[row].push_back(choice(token, logits, normalizer));
    }
  }

  struct Candidate {
    std::size_t parent;
    Choice choice;
    float sum;
  };

  // Visits the continuations, best first. Moves ended continuations to finished_. The first group_ others
  // become the new beams.
  bool extend(Session& session) override {
    rank_candidates();
    std::vector<WindowSequence> next;
    std::vector<int> parents;
    for (std::size_t i = 0; i < candidates_.size() && next.size() < group_; ++i) {
      const Candidate& candidate = candidates_[i];
      WindowSequence sequence = running_[candidate.parent];
      if (!append(candidate.choice, sequence)) {
        next.push_back(std::move(sequence));
        parents.push_back(targets_[candidate.parent]);
      } else if (finished_.size() < pool_) {
        finished_.push_back(std::move(sequence));
      }
    }
    // Assign to each beam a target with the tokens of the beam's parent.
    while (targets_.size() < next.size()) targets_.push_back(session.fork_target(targets_.front()));
    session.reorder_targets(std::span(targets_).first(parents.size()), parents);
    for (; targets_.size() > next.size(); targets_.pop_back()) session.close_target(targets_.back());
    running_ = std::move(next);
    return finished_.size() >= pool_;
  }

  void rank_candidates() {
    candidates_.clear();
    for (std::size_t i = 0; i < running_.size(); ++i) {
      for (const Choice& choice : choices_[i]) {
        candidates_.push_back({i, choice, running_[i].sum + choice.log_probability});
      }
    }
    std::ranges::stable_sort(candidates_, std::greater(), &Candidate::sum);
  }

  std::size_t pool_ = 0;  // number of sequences to finish
  std::vector<Candidate> candidates_;
};

// Draws group_ independent samples.
class SampleAttempt final : public WindowAttempt {
 public:
  using WindowAttempt::WindowAttempt;

 private:
  // Draws the next token of the row's sample. In the first step, all samples share one row; each gets its own draw.
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
    // In the first step, make a sequence and a target for each sample.
    const bool is_first = is_first_step();
    if (is_first) {
      running_.assign(group_, running_.front());
      for (std::size_t i = 0; i < group_; ++i) running_[i].number = i;
      while (targets_.size() < group_) targets_.push_back(session.fork_target(targets_.front()));
    }
    // Move ended samples from running_ to finished_.
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (!append(is_first ? choices_.front()[i] : choices_[i].front(), running_[i])) continue;
      const auto position = static_cast<std::ptrdiff_t>(i);
      finished_.push_back(std::move(running_[i]));
      running_.erase(running_.begin() + position);
      session.close_target(targets_[i]);
      targets_.erase(targets_.begin() + position);
    }
    return false;
  }
};

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
  log_normalizer_of(output.logits);  // throws if a logit is NaN, which ban() might overwrite
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

bool WindowAttempt::append(const Choice& choice, WindowSequence& sequence) const {
  sequence.sum += choice.log_probability;
  sequence.has_ended = is_end(choice.token);
  if (!sequence.has_ended) sequence.tokens.push_back(choice.token);
  return sequence.has_ended;
}

bool WindowAttempt::advance(Session& session) {
  const bool has_enough = extend(session);
  ++length_;
  return has_enough || running_.empty() || length_ >= settings_.max_new_tokens;
}

WindowSequence WindowAttempt::finish(Session& session) {
  close(session);
  // Fill finished_ up to group_ sequences with the best running beams: among equal sums the last, as in openai/whisper.
  std::ranges::stable_sort(running_, {}, &WindowSequence::sum);
  for (; !running_.empty() && finished_.size() < group_; running_.pop_back()) {
    finished_.push_back(std::move(running_.back()));
  }
  // Samples finish in any order. Among equal scores, take the first sample.
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
  if (settings.temperature > 0) return std::make_unique<SampleAttempt>(settings, target);
  if (settings.task.options().beam_size > 1) return std::make_unique<BeamAttempt>(settings, target);
  return std::make_unique<GreedyAttempt>(settings, target);
}

void apply_timestamp_rules(const WhisperTokens& tokens, std::optional<double> max_initial,
                           std::span<const std::int32_t> sampled, std::span<float> logits) {
  const auto ban = [&](std::int32_t first, std::int32_t last) {
    const auto size = static_cast<std::int32_t>(logits.size());
    first = std::clamp(first, 0, size);
    last = std::clamp(last, first, size);
    std::fill(logits.begin() + first, logits.begin() + last, kBanned);
  };
  const auto end = static_cast<std::int32_t>(logits.size());
  const std::int32_t times = tokens.first_timestamp;
  ban(tokens.no_timestamps, tokens.no_timestamps + 1);

  // After two timestamps in a row or an initial timestamp, ban timestamps. After any other timestamp, ban text.
  const std::size_t count = sampled.size();
  const bool last_is_time = count >= 1 && tokens.is_timestamp(sampled[count - 1]);
  const bool before_is_time = count < 2 || tokens.is_timestamp(sampled[count - 2]);
  if (last_is_time) {
    before_is_time ? ban(times, end) : ban(0, tokens.end_of_text);
  }
  const auto last_time =
      std::find_if(sampled.rbegin(), sampled.rend(), [&](std::int32_t token) { return tokens.is_timestamp(token); });
  if (last_time != sampled.rend()) {
    // A segment must end after its start. The next segment may start where this segment ends.
    const bool begins_here = last_is_time && !before_is_time;
    ban(times, *last_time + (begins_here ? 0 : 1));
  }
  // The first token must be a timestamp of at most max_initial.
  if (sampled.empty()) {
    ban(0, times);
    if (max_initial) {
      const auto steps = static_cast<std::int32_t>(std::lround(*max_initial / WhisperTokens::kTimestampSeconds));
      ban(times + steps + 1, end);
    }
  }
  // Ban text if the timestamps together are more probable than the likeliest other token.
  const auto text = logits.first(std::min<std::size_t>(static_cast<std::size_t>(times), logits.size()));
  const auto of_times = logits.subspan(text.size());
  if (!of_times.empty() && kernels::log_sum_exp(of_times) > std::ranges::max(text)) ban(0, times);
}

}  // namespace encdec
