#include <algorithm>
#include <cmath>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/search.h"

namespace encdec {

std::int32_t draw(std::span<const float> scores, double uniform) {
  const float largest = std::ranges::max(scores);
  if (largest == kBanned) return -1;
  const auto weight = [largest](float score) {
    return score == kBanned ? 0.0 : std::exp(static_cast<double>(score) - largest);
  };
  double total = 0;
  for (const float score : scores) total += weight(score);
  const double goal = uniform * total;
  double sum = 0;
  std::int32_t last = -1;
  for (std::size_t i = 0; i < scores.size() && sum <= goal; ++i) {
    const double part = weight(scores[i]);
    if (part > 0) last = static_cast<std::int32_t>(i);
    sum += part;
  }
  return last;
}

namespace {

// Greedy search or sampling.
// - Greedy: each step takes the token with the largest score; of equal ones the smallest id.
// - Sampling: each step draws a token with probabilities softmax(scores), for num_return_sequences independent
//   sequences. The random numbers depend on the seed, the prompt and the number of the sequence.
class SequenceSearch final : public Search {
 public:
  SequenceSearch(const SearchRules& rules, const Prompt& prompt, int source, Session& session)
      : Search(rules, prompt, session),
        targets_(*rules.settings.do_sample ? static_cast<std::size_t>(*rules.settings.num_return_sequences) : 1),
        running_{0},
        scores_(targets_.size()) {
    for (Target& target : targets_) target.history = prompt.target;
    targets_.front().number = session.open_target(source);
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) const override {
    // The first step reads the whole prompt, each later step the token chosen last.
    for (const std::size_t i : running_) {
      const std::span history(targets_[i].history);
      inputs.push_back({targets_[i].number, is_first_step_ ? history : history.last(1)});
    }
  }

  void read(std::size_t row, const StepOutput& output) override {
    StepScores& scores = scores_[row];
    scores.read(rules_, history_of(targets_[running_[row]].history), output, StepScores::Scale::logits);
    if (is_first_step_) {
      for (std::size_t i = 0; i < targets_.size(); ++i) choose_next(i, scores);
    } else {
      choose_next(running_[row], scores);
    }
  }

  State advance(Session& session) override {
    if (is_first_step_) {
      for (std::size_t i = 1; i < targets_.size(); ++i) {
        targets_[i].number = session.fork_target(targets_.front().number);
        running_.push_back(i);
      }
      is_first_step_ = false;
    }
    std::erase_if(running_, [&](std::size_t i) {
      const auto tokens = generated(targets_[i].history);
      const bool ended = rules_.is_end(tokens.back()) || tokens.size() >= limit_;
      if (ended) session.close_target(targets_[i].number);
      return ended;
    });
    return running_.empty() ? State::finished : State::running;
  }

  void abandon(Session& session) override {
    for (const std::size_t i : running_) session.close_target(targets_[i].number);
  }

  std::vector<Hypothesis> take_results() override {
    std::vector<Hypothesis> results;
    for (Target& target : targets_) {
      const auto tokens = generated(target.history);
      target.result.token_ids.assign(tokens.begin(), tokens.end());
      for (const float score : target.result.token_scores) target.result.score += score;
      results.push_back(std::move(target.result));
    }
    std::ranges::stable_sort(results, std::greater(), &Hypothesis::score);
    return results;
  }
  ScoredTokens final_tokens() const override {
    return {generated(targets_.front().history), targets_.front().result.token_scores};
  }
  std::size_t length() const override { return generated(targets_.front().history).size(); }

 private:
  struct Target {
    int number = -1;  // number in the session
    TokenIds history;
    Hypothesis result;
  };

  void choose_next(std::size_t number, const StepScores& scores) {
    Target& target = targets_[number];
    Hypothesis& result = target.result;
    const std::int32_t chosen =
        *rules_.settings.do_sample
            ? draw(scores.ranking(), random_.with(number).with(result.token_scores.size()).uniform())
            : kernels::arg_max(scores.ranking());
    const std::int32_t token = std::max(chosen, 0);  // if all are banned, token 0, as in transformers
    target.history.push_back(token);
    result.token_scores.push_back(scores.log_probability(token));
    if (rules_.settings.top_log_probs > 0) result.top_log_probs.push_back(scores.top());
  }

  std::vector<Target> targets_;
  std::vector<std::size_t> running_;  // by row: index into targets_; the first step has one row for all targets
  bool is_first_step_ = true;
  std::vector<StepScores> scores_;  // by row
};

}  // namespace

std::unique_ptr<Search> make_sequence_search(const SearchRules& rules, const Prompt& prompt, int source,
                                             Session& session) {
  return std::make_unique<SequenceSearch>(rules, prompt, source, session);
}

}  // namespace encdec
