#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/models/generation/logits_processor.h"
#include "encdec/models/generation/prompter.h"
#include "encdec/models/generation/random_key.h"
#include "encdec/models/session/session.h"

namespace encdec {

// How to search; what the searches of one call have in common.
struct SearchRules {
  // Takes settings with_neutral_values().
  explicit SearchRules(GenerateOptions settings_);

  // Most tokens that may be generated after a prompt, also by a model with so many positions.
  std::size_t new_token_limit(std::size_t prompt_length, const StackConfig& decoder) const;
  bool is_end(std::int32_t token) const;
  // Sequences that are decoded side by side for one source.
  std::size_t rows_per_source() const;
  bool needs_source_attention() const { return *settings.coverage_penalty != 0; }

  GenerateOptions settings;
  LogitsProcessors processors;         // those that make a distribution to sample from among them
  bool always_changes_scores = false;  // whatever the history
};

// What decoding has given for one input of a step.
struct StepOutput {
  std::span<float> logits;                  // to be changed
  std::span<const float> source_attention;  // see Session; empty unless the rules need it
  RuleMemory& memory;                       // the thread's
};

// The sum of the probabilities that logits stand for, as a logarithm. Throws BackendError where they are not numbers.
float normalizer_of(std::span<const float> logits);

// What one row of logits says, and what the rules make of it.
class StepScores {
 public:
  enum class Scale : std::uint8_t { logits, log_probabilities };

  // Applies the rules to scores on such a scale. The logits are theirs to change, and must last while this is asked.
  // Throws BackendError where they are not numbers.
  void read(const SearchRules& rules, const TokenHistory& history, const StepOutput& output, Scale scale);

  // In the order of the scores that the rules gave, but for a constant that is the same for all tokens.
  std::span<const float> ranking() const { return ranking_; }
  // The log-probability that the rules left a token of.
  float score(std::int32_t token) const { return ranking_[static_cast<std::size_t>(token)] - offset_; }

  // The model's own log-probability of a token that the rules left a score; 0 is always one.
  float log_probability(std::int32_t token) const;
  // The likeliest tokens by the model's own probabilities, as many as the rules ask for.
  const std::vector<TokenScore>& top() const { return top_; }

 private:
  std::span<const float> ranking_;
  float offset_ = 0.0f;
  float normalizer_ = 0.0f;
  float first_logit_ = 0.0f;
  std::vector<float> raw_;  // logits, where rules change more than they ban
  std::vector<TokenScore> top_;
  std::vector<std::int32_t> indices_;
};

// The decoding of one source: which tokens it wants to have decoded next, and what it makes of their logits. Knows
// nothing of others, so its result does not depend on them.
class Search {
 public:
  // The rules must outlive it.
  Search(const SearchRules& rules, const Prompt& prompt, const Session& session);
  virtual ~Search() = default;

  // Adds the targets and tokens of the next step; they stay valid until advance().
  virtual void add_inputs(std::vector<Session::TargetTokens>& inputs) const = 0;
  // Reads the output for its input number `row`; logits and attention last until advance() returns. Rows may be read by
  // several threads at once.
  virtual void read(std::size_t row, const StepOutput& output) = 0;
  enum class State : std::uint8_t { running, completing, finished };
  // All rows are read. A finished search has closed its targets.
  virtual State advance(Session& session) = 0;
  // Called once all others have advanced, where advance() says that this one is completing: now it may have the session
  // decode what it likes, whatever becomes of the logits of the step. It is finished then.
  virtual void complete(Session& /*session*/) {}
  // Closes its targets before it is finished; it is of no more use.
  virtual void abandon(Session& session) = 0;

  // What a finished search has found, best first: tokens after the prompt, and their scores.
  virtual std::vector<Hypothesis> take_results() = 0;
  // Tokens, and the model's log-probability of each, or 0 for a prefix.
  struct ScoredTokens {
    std::span<const std::int32_t> tokens;
    std::span<const float> scores;
  };
  // What the best result begins with, as far as that is certain. Valid until advance().
  virtual ScoredTokens certain_tokens() const = 0;
  // Tokens of the result so far.
  virtual std::size_t length() const = 0;

 protected:
  TokenHistory history_of(const TokenIds& tokens) const { return {tokens, prompt_length_, source_, limit_}; }
  // What of a history was generated.
  std::span<const std::int32_t> generated(const TokenIds& history) const {
    return std::span(history).subspan(prompt_length_);
  }

  const SearchRules& rules_;
  TokenIds source_;
  std::size_t prompt_length_;
  std::size_t limit_;  // most tokens to generate
  RandomKey random_;
};

// The token at which the running sum of the probabilities that scores give passes `uniform`; -1 where all are banned.
std::int32_t draw(std::span<const float> scores, double uniform);

// The search that the rules ask for. `source` is the prompt's, opened in the session.
std::unique_ptr<Search> make_search(const SearchRules& rules, const Prompt& prompt, int source, Session& session);
std::unique_ptr<Search> make_beam_search(const SearchRules& rules, const Prompt& prompt, int source, Session& session);
std::unique_ptr<Search> make_sequence_search(const SearchRules& rules, const Prompt& prompt, int source,
                                             Session& session);

}  // namespace encdec
