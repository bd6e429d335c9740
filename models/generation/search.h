#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/models/generation/draft.h"
#include "encdec/models/generation/lexical_shortlist.h"
#include "encdec/models/generation/logits_processor.h"
#include "encdec/models/generation/prompter.h"
#include "encdec/models/generation/random_key.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Settings and logits processors of one call, shared by its searches.
struct SearchRules {
  // REQUIRES: `settings_` is the result of with_neutral_values().
  explicit SearchRules(GenerateOptions settings_);

  // Returns the maximum number of new tokens after a prompt, within the decoder's position limit.
  std::size_t new_token_limit(const Prompt& prompt, const StackConfig& decoder) const;
  // Returns the shortlist of a source for the output projection of `model`, or null if all tokens are allowed.
  std::shared_ptr<const VocabularyShortlist> shortlist_for(const TokenIds& source, const Transformer& model) const;
  bool is_end(std::int32_t token) const;
  // Returns the number of sequences (beams or samples) decoded in parallel for one source.
  std::size_t rows_per_source() const;
  bool needs_source_attention() const { return *settings.coverage_penalty != 0; }

  GenerateOptions settings;
  LogitsProcessors processors;                                // sampling processors come last
  bool always_changes_scores = false;                         // a sampling processor changes the scores of every step
  std::shared_ptr<const VocabularyShortlist> shortlist = {};  // shortlist for all sources; may be null
  std::shared_ptr<const LexicalShortlist> lexical_shortlist = {};  // makes a shortlist for each source; may be null
};

// Returns the tokens that must be added to any shortlist: end tokens and forced tokens.
TokenIds required_tokens(const GenerateOptions& settings);

// The decoder's output for one row of a step.
struct StepOutput {
  std::span<float> logits;                  // may be overwritten
  std::span<const float> source_attention;  // see Session; empty unless needs_source_attention()
  ProcessorScratch& scratch;                // scratch buffers of the calling thread
};

// Returns the log-sum-exp of the logits. Throws BackendError if it is NaN.
float log_normalizer_of(std::span<const float> logits);

// The scores of one row of logits, before and after logits processors.
class StepScores {
 public:
  enum class Scale : std::uint8_t { logits, log_probabilities };

  // Applies the logits processors to output.logits in place, as logits or as log-probabilities.
  // Throws BackendError if the logits are NaN.
  // REQUIRES: output.logits stay alive and unchanged while the accessors below are used.
  void read(const SearchRules& rules, const TokenHistory& history, const StepOutput& output, Scale scale);

  // Returns score() of all tokens [V] plus a constant, to compare tokens.
  std::span<const float> ranking() const { return ranking_; }
  float score(std::int32_t token) const { return ranking_[static_cast<std::size_t>(token)] - offset_; }

  // Returns a token's log-probability before the processors.
  // REQUIRES: `token` is not banned, or is token 0, which is chosen if all tokens are banned.
  float log_probability(std::int32_t token) const;
  // Returns the `top_log_probs` likeliest tokens before the processors, best first.
  const std::vector<TokenScore>& top() const { return top_; }

 private:
  std::span<const float> ranking_;
  float offset_ = 0.0f;  // ranking()[token] - score(token)
  float normalizer_ = 0.0f;
  float first_logit_ = 0.0f;  // token 0's logit before the processors
  std::vector<float> raw_;    // all logits before the processors; empty if the processors only ban tokens
  std::vector<TokenScore> top_;
  std::vector<std::int32_t> indices_;
};

// The search for one source. Its result does not depend on other searches in the batch.
// Order of calls: ([draft (add_draft_inputs read_draft*)*] add_inputs read+ advance)+ [complete]
//                 take_results
// - Each repetition of the first group is one step, with one read() for each row that add_inputs() requests.
// - complete() is called only if advance() returned `completing`.
// - abandon() may replace any advance(). No other function may be called after abandon().
class Search {
 public:
  // REQUIRES: `rules` outlives the search.
  Search(const SearchRules& rules, const Prompt& prompt, const Session& session);
  virtual ~Search() = default;

  // Drafts at most `most` tokens per target, if the search can verify them in the next step.
  virtual void draft(std::size_t /*most*/) {}
  // Sets the draft model: its session, this search's source in that session, and the batch's draft length.
  void draft_with(Session& session, int source, DraftLength& length);
  // Appends the draft model's next inputs, one for each target that wants another draft token.
  // After draft(), the batch calls:
  //   while (add_draft_inputs() appends any) { decode in that session; read_draft() each row; }
  void add_draft_inputs(std::vector<Session::TargetTokens>& inputs);
  // Reads the draft model's output for row `row`.
  void read_draft(std::size_t row, const StepOutput& output) { read_drafted(drafting_[row], output); }
  // Appends the targets and tokens of the next step. The tokens stay valid until advance().
  virtual void add_inputs(std::vector<Session::TargetTokens>& inputs) = 0;
  // Reads the output for row `row` of this search. Rows are numbered in the order of the search's inputs.
  // Logits and attention stay valid until advance() returns. Rows may be read concurrently.
  virtual void read(std::size_t row, const StepOutput& output) = 0;
  enum class State : std::uint8_t {
    running,     // needs another step
    completing,  // needs complete()
    finished     // has its results
  };
  // Chooses tokens from the rows that were read. Closes all targets unless it returns `running`.
  virtual State advance(Session& session) = 0;
  // Finishes the search, and may decode for this purpose. Called after all searches of the batch have advanced, because
  // decoding overwrites the step's logits.
  virtual void complete(Session& /*session*/) {}
  // Stops the search early and closes its targets.
  virtual void abandon(Session& session) = 0;

  // Returns the hypotheses of a finished search, best first: tokens after the prompt, and scores.
  virtual std::vector<Hypothesis> take_results() = 0;
  // Tokens and their log-probabilities, which are 0 for the user's prefix.
  struct ScoredTokens {
    std::span<const std::int32_t> tokens;
    std::span<const float> scores;
  };
  // Returns the final tokens at the beginning of the best result. Valid until advance().
  virtual ScoredTokens final_tokens() const = 0;
  virtual std::size_t length() const = 0;  // number of tokens generated so far
  DraftCounts draft_counts() const;

 protected:
  TokenHistory history_of(std::span<const std::int32_t> tokens) const {
    return {tokens, prompt_length_, source_, limit_};
  }
  std::span<const std::int32_t> generated(const TokenIds& history) const {
    return std::span(history).subspan(prompt_length_);
  }

  // Reads the draft model's output for drafters_[number], and calls its take() or stop().
  virtual void read_drafted(std::size_t /*number*/, const StepOutput& /*output*/) {}

  std::vector<Drafter> drafters_;  // by target; empty in a search that cannot verify draft tokens
  const SearchRules& rules_;
  TokenIds source_;
  std::size_t prompt_length_;
  std::size_t limit_;  // maximum number of tokens to generate
  RandomKey random_;

 private:
  std::vector<std::size_t> drafting_;  // indices into drafters_, by row of the draft model
};

// Makes a beam search if num_beams > 1, otherwise a sequence search (greedy or sampling).
// REQUIRES: `source` is the prompt's source, open in `session`.
std::unique_ptr<Search> make_search(const SearchRules& rules, const Prompt& prompt, int source, Session& session);
std::unique_ptr<Search> make_beam_search(const SearchRules& rules, const Prompt& prompt, int source, Session& session);
std::unique_ptr<Search> make_sequence_search(const SearchRules& rules, const Prompt& prompt, int source,
                                             Session& session);

}  // namespace encdec
