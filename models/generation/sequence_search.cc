#include "encdec/models/generation/sequence_search.h"

#include <algorithm>
#include <cmath>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {
namespace {

// The token at which the running sum of the probabilities passes `uniform`; -1 where all are banned.
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

}  // namespace

SequenceSearch::SequenceSearch(const SearchRules& rules, const Prompt& prompt, int source, Session& session)
    : rules_(rules),
      source_(prompt.source),
      prompt_length_(prompt.target.size()),
      limit_(rules.new_token_limit(prompt.target.size(), session.model().config.decoder)),
      random_(RandomKey(rules.config.seed).with(prompt.source).with(prompt.target)),
      sequences_(rules.config.do_sample ? static_cast<std::size_t>(rules.config.num_return_sequences) : 1),
      running_{0},
      scores_(sequences_.size()) {
  for (Sequence& sequence : sequences_) sequence.history = prompt.target;
  sequences_.front().target = session.open_target(source);
}

void SequenceSearch::add_inputs(std::vector<Session::TargetTokens>& inputs) const {
  // The whole prompt first, then each token as it was chosen.
  for (const std::size_t i : running_) {
    const std::span history(sequences_[i].history);
    inputs.push_back({sequences_[i].target, is_first_step_ ? history : history.last(1)});
  }
}

void SequenceSearch::read(std::size_t row, const Output& output) {
  const TokenHistory history{sequences_[running_[row]].history, prompt_length_, source_, limit_};
  StepScores& scores = scores_[row];
  scores.read(rules_, history, output.logits, StepScores::Scale::logits);
  if (is_first_step_) {
    for (std::size_t i = 0; i < sequences_.size(); ++i) choose_next(i, scores);
  } else {
    choose_next(running_[row], scores);
  }
}

void SequenceSearch::choose_next(std::size_t number, const StepScores& scores) {
  Sequence& sequence = sequences_[number];
  GeneratedSequence& result = sequence.result;
  const std::int32_t chosen =
      rules_.config.do_sample ? draw(scores.ranking(), random_.with(number).with(result.token_scores.size()).uniform())
                              : kernels::arg_max(scores.ranking());
  const std::int32_t token = std::max(chosen, 0);  // all are banned: transformers takes the first one too
  sequence.history.push_back(token);
  result.token_scores.push_back(scores.log_probability(token));
  if (rules_.top_log_probs > 0) result.top_log_probs.push_back(scores.top());
}

Search::State SequenceSearch::advance(Session& session) {
  if (is_first_step_) {
    for (std::size_t i = 1; i < sequences_.size(); ++i) {
      sequences_[i].target = session.fork_target(sequences_.front().target);
      running_.push_back(i);
    }
    is_first_step_ = false;
  }
  std::erase_if(running_, [&](std::size_t i) {
    const auto tokens = generated(sequences_[i]);
    const bool ended = rules_.is_end(tokens.back()) || tokens.size() >= limit_;
    if (ended) session.close_target(sequences_[i].target);
    return ended;
  });
  return running_.empty() ? State::finished : State::running;
}

std::vector<GeneratedSequence> SequenceSearch::take_results() {
  std::vector<GeneratedSequence> results;
  for (Sequence& sequence : sequences_) {
    const auto tokens = generated(sequence);
    sequence.result.tokens.assign(tokens.begin(), tokens.end());
    for (const float score : sequence.result.token_scores) sequence.result.score += score;
    results.push_back(std::move(sequence.result));
  }
  std::ranges::stable_sort(results, std::greater(), &GeneratedSequence::score);
  return results;
}

}  // namespace encdec
