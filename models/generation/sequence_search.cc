#include <algorithm>
#include <optional>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/search.h"

namespace encdec {

namespace {

// Greedy search or sampling.
// - Greedy: each step takes the token with the largest score; of equal ones the smallest id.
// - Sampling: each step draws a token with probabilities softmax(scores), for num_return_sequences independent
//   sequences. The random numbers depend on the seed, the prompt and the number of the sequence.
//
// Guessed tokens are read together with the last token. At each place a token is chosen from the logits by the same
// rules as without guesses. A choice counts if all guesses before it are what was chosen.
class SequenceSearch final : public Search {
 public:
  SequenceSearch(const SearchRules& rules, const Prompt& prompt, int source, Session& session)
      : Search(rules, prompt, session),
        prefix_length_(prompt.prefix_length),
        pad_token_(session.model().config.decoder.positions.pad_token),
        targets_(*rules.settings.do_sample ? static_cast<std::size_t>(*rules.settings.num_return_sequences) : 1),
        running_{0},
        places_(targets_.size()) {
    drafters_.resize(targets_.size(), Drafter({.fixed = rules.settings.num_assistant_tokens.value_or(0),
                                               .lookup = *rules.settings.prompt_lookup_num_tokens,
                                               .vocabulary = session.model().config.decoder.vocabulary,
                                               .source = source_}));
    for (Drafter& drafter : drafters_) drafter.begin_result(prompt.draft);
    for (Target& target : targets_) target.history = prompt.target;
    targets_.front().number = session.open_target(source);
  }

  void draft(std::size_t most) override {
    if (is_first_step_ && targets_.size() > 1) return;  // one row serves all targets
    for (const std::size_t i : running_) {
      Target& target = targets_[i];
      if (std::ranges::find(unread(i), pad_token_) != unread(i).end()) continue;
      // A step adds one token more than the guesses that are right.
      const std::size_t left = limit_ - generated(target.history).size() - 1;
      drafters_[i].draft(target.history, std::span(target.history).subspan(prompt_length_ - prefix_length_),
                         std::min(most, left), [this](std::int32_t token) { return ends_guess(token); });
    }
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) override {
    std::size_t rows = 0;
    for (const std::size_t i : running_) {
      const std::size_t count = drafters_[i].guessed() + 1;
      inputs.push_back({targets_[i].number, unread(i), count});
      if (places_.size() < rows + count) places_.resize(rows + count);
      for (std::size_t guesses = 0; guesses < count; ++guesses, ++rows) {
        places_[rows].target = i;
        places_[rows].guesses = guesses;
      }
    }
  }

  void read(std::size_t row, const StepOutput& output) override {
    Place& place = places_[row];
    const Target& target = targets_[place.target];
    const std::span history(target.history.data(),
                            target.history.size() + place.guesses - drafters_[place.target].guessed());
    try {
      place.scores.read(rules_, history_of(history), output, StepScores::Scale::logits);
    } catch (const BackendError&) {
      if (place.guesses == 0) throw;
      place.token.reset();
      return;
    }
    if (is_first_step_ && targets_.size() > 1) {
      for (std::size_t i = 0; i < targets_.size(); ++i) choose(i, place.scores, 0, places_[i]);
    } else {
      choose(place.target, place.scores, place.guesses, place);
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
    std::size_t row = 0;
    std::erase_if(running_, [&](std::size_t i) {
      const std::size_t rows = drafters_[i].guessed() + 1;
      const bool ended = accept(i, std::span(places_).subspan(row, rows), session);
      row += rows;
      if (ended) close(i, session);
      return ended;
    });
    return running_.empty() ? State::finished : State::running;
  }

  void abandon(Session& session) override {
    for (const std::size_t i : running_) close(i, session);
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
    int number = -1;   // number in the session
    TokenIds history;  // the prompt, the result and, during a step, the draft tokens
    StepScores draft_scores;
    Hypothesis result;
  };
  // A token of a target, chosen from one row of logits.
  struct Place {
    std::size_t target = 0;   // index into targets_
    std::size_t guesses = 0;  // number of guesses before this token
    StepScores scores;
    std::optional<std::int32_t> token;  // the choice; unset if the scores are NaN
    float score = 0;
    std::vector<TokenScore> top;
  };

  // Returns the tokens to read in the next step: the whole prompt or the token chosen last, and the guesses.
  std::span<const std::int32_t> unread(std::size_t target) const {
    const std::span history(targets_[target].history);
    return is_first_step_ ? history : history.last(drafters_[target].guessed() + 1);
  }

  // Returns whether nothing is guessed after a token: an end, or the pad token.
  bool ends_guess(std::int32_t token) const { return token == pad_token_ || rules_.is_end(token); }

  void read_drafted(std::size_t number, const StepOutput& output) override {
    Drafter& drafter = drafters_[number];
    StepScores& scores = targets_[number].draft_scores;
    try {
      scores.read(rules_, history_of(targets_[number].history), output, StepScores::Scale::logits);
    } catch (const BackendError&) {
      return drafter.stop();  // not a number
    }
    const std::int32_t token = choose(number, drafter.guessed(), scores);
    drafter.take(token, ends_guess(token));
  }

  // Chooses a token of a target from the scores after `guesses` guesses.
  std::int32_t choose(std::size_t target, std::size_t guesses, const StepScores& scores) const {
    const std::size_t length = targets_[target].result.token_scores.size() + guesses;
    const std::int32_t token = *rules_.settings.do_sample
                                   ? draw(scores.ranking(), random_.with(target).with(length).uniform())
                                   : kernels::arg_max(scores.ranking());
    return std::max(token, 0);  // if all are banned, token 0, as in transformers
  }
  void choose(std::size_t target, const StepScores& scores, std::size_t guesses, Place& place) const {
    place.token = choose(target, guesses, scores);
    place.score = scores.log_probability(*place.token);
    if (rules_.settings.top_log_probs > 0) place.top = scores.top();
  }

  void close(std::size_t target, Session& session) {
    session.close_target(targets_[target].number);
    drafters_[target].close();
  }

  // Appends the chosen tokens that count to a target, in place of its guesses. Returns whether the target has ended.
  bool accept(std::size_t number, std::span<Place> places, Session& session) {
    Target& target = targets_[number];
    Hypothesis& result = target.result;
    bool ended = false;
    const auto take = [&](std::size_t i, std::size_t length) {
      result.token_scores.push_back(places[i].score);
      if (rules_.settings.top_log_probs > 0) result.top_log_probs.push_back(std::move(places[i].top));
      return ended = rules_.is_end(*places[i].token) || length - prompt_length_ >= limit_;
    };
    drafters_[number].check(
        target.history, target.number, session, [&](std::size_t i) { return places[i].token; }, take);
    return ended;
  }

  const std::size_t prefix_length_;
  // Unset if pad tokens count as positions. Otherwise nothing is guessed after one: tokens that are read together with
  // a pad token get other positions than tokens that are read later, as in transformers.
  const std::optional<std::int32_t> pad_token_;
  std::vector<Target> targets_;
  std::vector<std::size_t> running_;  // indices into targets_; the first step has one row for all targets
  bool is_first_step_ = true;
  std::vector<Place> places_;  // by row
};

}  // namespace

std::unique_ptr<Search> make_sequence_search(const SearchRules& rules, const Prompt& prompt, int source,
                                             Session& session) {
  return std::make_unique<SequenceSearch>(rules, prompt, source, session);
}

}  // namespace encdec
