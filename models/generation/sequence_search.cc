#include <algorithm>
#include <optional>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/search.h"

namespace encdec {

namespace {

// Greedy search or sampling.
// - Greedy: each step takes the token with the largest score; among equal scores, the smallest id.
// - Sampling: each step draws a token from softmax(scores), for num_return_sequences independent
//   sequences. Random numbers depend on seed, source, prompt, sequence index and token position.
//
// Speculative decoding: one step reads the last token and the draft tokens after it. After each of these tokens the
// model chooses the next token, from one row of logits, by the same rules as without drafts. A draft token is accepted
// if it equals the model's choice. A choice is added to the result if all draft tokens before it are accepted.
class SequenceSearch final : public Search {
 public:
  SequenceSearch(const SearchRules& rules, const Prompt& prompt, int source, Session& session)
      : Search(rules, prompt, session),
        prefix_length_(prompt.prefix_length),
        pad_token_(session.model().config.decoder.positions.pad_token),
        targets_(*rules.settings.do_sample ? static_cast<std::size_t>(*rules.settings.num_return_sequences) : 1),
        running_{0},
        logits_rows_(targets_.size()) {
    drafters_.resize(targets_.size(), Drafter({.fixed = rules.settings.num_assistant_tokens.value_or(0),
                                               .lookup = *rules.settings.prompt_lookup_num_tokens,
                                               .vocabulary = session.model().config.decoder.vocabulary,
                                               .source = source_}));
    for (Drafter& drafter : drafters_) drafter.begin_result(prompt.draft);
    for (Target& target : targets_) target.history = prompt.target;
    targets_.front().number = session.open_target(source);
  }

  void draft(std::size_t most) override {
    if (is_first_step_ && targets_.size() > 1) return;  // all targets share one row
    for (const std::size_t i : running_) {
      Target& target = targets_[i];
      if (std::ranges::find(undecoded(i), pad_token_) != undecoded(i).end()) continue;  // see pad_token_
      // A step adds the accepted draft tokens and one more token.
      const std::size_t left = limit_ - generated(target.history).size() - 1;
      drafters_[i].draft(target.history, std::span(target.history).subspan(prompt_length_ - prefix_length_),
                         std::min(most, left), [this](std::int32_t token) { return ends_draft(token); });
    }
  }

  void add_inputs(std::vector<Session::TargetTokens>& inputs) override {
    // Request one row of logits for the last token, and one row for each draft token.
    std::size_t rows = 0;
    for (const std::size_t i : running_) {
      const std::size_t count = drafters_[i].draft_tokens() + 1;
      inputs.push_back({targets_[i].number, undecoded(i), count});
      if (logits_rows_.size() < rows + count) logits_rows_.resize(rows + count);
      for (std::size_t draft_tokens = 0; draft_tokens < count; ++draft_tokens, ++rows) {
        logits_rows_[rows].target = i;
        logits_rows_[rows].draft_tokens = draft_tokens;
      }
    }
  }

  void read(std::size_t row, const StepOutput& output) override {
    // Pass the history up to and including this row's token to the logits processors.
    LogitsRow& logits_row = logits_rows_[row];
    const Target& target = targets_[logits_row.target];
    const std::span history(target.history.data(), target.history.size() + logits_row.draft_tokens -
                                                       drafters_[logits_row.target].draft_tokens());
    try {
      logits_row.scores.read(rules_, history_of(history), output, StepScores::Scale::logits);
    } catch (const BackendError&) {
      // NaN after a draft token is no error yet: the draft token may be rejected.
      if (logits_row.draft_tokens == 0) throw;
      logits_row.token.reset();
      return;
    }
    if (is_first_step_ && targets_.size() > 1) {
      for (std::size_t i = 0; i < targets_.size(); ++i) choose(i, logits_row.scores, 0, logits_rows_[i]);
    } else {
      choose(logits_row.target, logits_row.scores, logits_row.draft_tokens, logits_row);
    }
  }

  State advance(Session& session) override {
    // All samples begin with the same prompt. Fork the target that has read the prompt.
    if (is_first_step_) {
      for (std::size_t i = 1; i < targets_.size(); ++i) {
        targets_[i].number = session.fork_target(targets_.front().number);
        running_.push_back(i);
      }
      is_first_step_ = false;
    }
    // Verify the draft tokens of each target, and close targets that have ended.
    std::size_t row = 0;
    std::erase_if(running_, [&](std::size_t i) {
      const std::size_t rows = drafters_[i].draft_tokens() + 1;
      const bool ended = accept(i, std::span(logits_rows_).subspan(row, rows), session);
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
  // One result: a sequence that the decoder generates.
  struct Target {
    int number = -1;   // number in the session
    TokenIds history;  // the prompt, the result and, during a step, the draft tokens
    StepScores draft_scores;
    Hypothesis result;
  };
  // A row of logits, and the token that the model chooses from this row.
  struct LogitsRow {
    std::size_t target = 0;        // index into targets_
    std::size_t draft_tokens = 0;  // number of draft tokens before this position
    StepScores scores;
    std::optional<std::int32_t> token;  // the chosen token; unset if the scores are NaN
    float score = 0;
    std::vector<TokenScore> top;
  };

  // Returns the tokens to read in the next step: the prompt or the last token, then the draft tokens.
  std::span<const std::int32_t> undecoded(std::size_t target) const {
    const std::span history(targets_[target].history);
    return is_first_step_ ? history : history.last(drafters_[target].draft_tokens() + 1);
  }

  // Returns whether drafting stops after `token`: an end token or the pad token.
  bool ends_draft(std::int32_t token) const { return token == pad_token_ || rules_.is_end(token); }

  // Chooses a draft token from the draft model's logits, by the rules of the search.
  void read_drafted(std::size_t number, const StepOutput& output) override {
    Drafter& drafter = drafters_[number];
    StepScores& scores = targets_[number].draft_scores;
    try {
      scores.read(rules_, history_of(targets_[number].history), output, StepScores::Scale::logits);
    } catch (const BackendError&) {
      return drafter.stop();  // NaN in the draft model
    }
    const std::int32_t token = choose(number, drafter.draft_tokens(), scores);
    drafter.take(token, ends_draft(token));
  }

  // Chooses a target's token from the scores after `draft_tokens` draft tokens. A draft token and its verification use
  // the same random number, because this number depends only on `target` and on the length.
  std::int32_t choose(std::size_t target, std::size_t draft_tokens, const StepScores& scores) const {
    const std::size_t length = targets_[target].result.token_scores.size() + draft_tokens;
    const std::int32_t token = *rules_.settings.do_sample
                                   ? draw(scores.ranking(), random_.with(target).with(length).uniform())
                                   : kernels::arg_max(scores.ranking());
    return std::max(token, 0);  // token 0 if all tokens are banned, as in transformers
  }
  void choose(std::size_t target, const StepScores& scores, std::size_t draft_tokens, LogitsRow& logits_row) const {
    logits_row.token = choose(target, draft_tokens, scores);
    logits_row.score = scores.log_probability(*logits_row.token);
    if (rules_.settings.top_log_probs > 0) logits_row.top = scores.top();
  }

  void close(std::size_t target, Session& session) {
    session.close_target(targets_[target].number);
    drafters_[target].close();
  }

  // Keeps the accepted draft tokens and adds the model's next choice. Returns whether the target has ended.
  bool accept(std::size_t number, std::span<LogitsRow> logits_rows, Session& session) {
    Target& target = targets_[number];
    Hypothesis& result = target.result;
    bool ended = false;
    const auto take = [&](std::size_t i, std::size_t length) {
      result.token_scores.push_back(logits_rows[i].score);
      if (rules_.settings.top_log_probs > 0) result.top_log_probs.push_back(std::move(logits_rows[i].top));
      return ended = rules_.is_end(*logits_rows[i].token) || length - prompt_length_ >= limit_;
    };
    drafters_[number].check(
        target.history, target.number, session, [&](std::size_t i) { return logits_rows[i].token; }, take);
    return ended;
  }

  const std::size_t prefix_length_;
  // Set if pad tokens do not count as positions. Drafting then stops at a pad token, because after it, tokens have
  // other positions if they are read in the same step than if they are read later, as in transformers.
  const std::optional<std::int32_t> pad_token_;
  std::vector<Target> targets_;
  std::vector<std::size_t> running_;  // indices into targets_; only target 0 in the first step
  bool is_first_step_ = true;
  std::vector<LogitsRow> logits_rows_;  // by row
};

}  // namespace

std::unique_ptr<Search> make_sequence_search(const SearchRules& rules, const Prompt& prompt, int source,
                                             Session& session) {
  return std::make_unique<SequenceSearch>(rules, prompt, source, session);
}

}  // namespace encdec
